// SPDX-License-Identifier: Apache-2.0
#include "takt/app/console.h"

#include <array>

#include "takt/app/assets.h"
#include "takt/net/compression.h"

namespace takt::app {
namespace {

constexpr std::size_t kAssetBytesMax = 64 << 20;

/// First segments that are not the console's: an unknown path below them is not found.
constexpr std::array<std::string_view, 14> kReserved = {
    "api",          "ajax-api", "v2",      "v1",           "health",         "healthz",
    "readyz",       "version",  "metrics", "get-artifact", "model-versions", "assets",
    "openapi.json", "graphql"};

const Asset* find_asset(std::string_view path) {
  for (const Asset& asset : console_assets())
    if (asset.path == path) return &asset;
  return nullptr;
}

bool is_reserved(std::string_view path) {
  path.remove_prefix(1);
  const auto first = path.substr(0, path.find('/'));
  for (const std::string_view reserved : kReserved)
    if (first == reserved) return true;
  return false;
}

net::Response asset_response(const Asset& asset, const net::Request& request) {
  const std::string tag = '"' + std::string(asset.digest.substr(0, 32)) + '"';
  const bool is_immutable = asset.path.starts_with("/assets/");
  net::Response response;
  if (request.headers.get("If-None-Match") == tag) {
    response = net::Response::empty(304);
  } else {
    response = asset_bytes(asset, request);
  }
  response.headers.set("ETag", tag);
  response.headers.set("Cache-Control",
                       is_immutable ? "public, max-age=31536000, immutable" : "no-cache");
  response.headers.set(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
      "connect-src 'self'; frame-src 'self'; font-src 'none'; base-uri 'none'; "
      "form-action 'self'; frame-ancestors 'none'");
  return response;
}

}  // namespace

net::Response asset_bytes(const Asset& asset, const net::Request& request) {
  const bool takes_gzip =
      request.headers.get("Accept-Encoding").find("gzip") != std::string_view::npos;
  net::Response response;
  if (!asset.is_gzip || takes_gzip) {
    response = net::Response::bytes(std::string(asset.bytes), std::string(asset.media_type));
    if (asset.is_gzip) response.headers.set("Content-Encoding", "gzip");
  } else {
    auto unfolded = net::decompress(asset.bytes, net::Encoding::kGzip, kAssetBytesMax);
    TAKT_CHECK(unfolded.has_value(), "an embedded file is damaged");
    response = net::Response::bytes(std::move(*unfolded), std::string(asset.media_type));
  }
  response.headers.set("Vary", "Accept-Encoding");
  return response;
}

Result<net::Response> serve_console(net::Request& request) {
  const bool is_get = request.method == net::Method::kGet || request.method == net::Method::kHead;
  const auto not_found = [&] {
    return fail(Code::kNotFound, "nothing is at " + request.path.substr(0, 200),
                "see /openapi.json for the API");
  };
  if (!is_get) return not_found();
  if (const Asset* asset = find_asset(request.path)) return asset_response(*asset, request);
  if (is_reserved(request.path)) return not_found();
  const Asset* index = find_asset("/index.html");
  if (index == nullptr)
    return net::Response::text(
        "takt is running. This build has no console: ./quickstart --no-run builds it in.\n"
        "The API is described at /openapi.json.\n");
  return asset_response(*index, request);
}

}  // namespace takt::app

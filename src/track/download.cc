// SPDX-License-Identifier: Apache-2.0
#include "takt/track/download.h"

#include <algorithm>
#include <array>

#include "takt/store/pull.h"

namespace takt::track {
namespace {

constexpr std::int64_t kWholeBytesMax = 8 << 20;

struct TypeOfEnding {
  std::string_view ending, type;
};
constexpr TypeOfEnding kTypes[] = {
    {"png", "image/png"},  {"jpg", "image/jpeg"},    {"jpeg", "image/jpeg"},
    {"gif", "image/gif"},  {"webp", "image/webp"},   {"pdf", "application/pdf"},
    {"html", "text/html"}, {"svg", "image/svg+xml"}, {"zip", "application/zip"}};
constexpr std::string_view kTextEndings[] = {
    "txt",  "log",   "err",  "cfg",  "conf", "cnf",   "cf",      "ini",      "properties",
    "prop", "hocon", "toml", "yaml", "yml",  "xml",   "json",    "js",       "py",
    "py3",  "csv",   "tsv",  "md",   "rst",  "jsonl", "mlmodel", "mlproject"};

std::string lower_name(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return lower;
}

}  // namespace

std::string_view content_type_of(std::string_view name) {
  // A bare name (MLmodel) counts as its own ending.
  const std::string ending = lower_name(name.substr(name.rfind('.') + 1));
  if (std::ranges::find(kTextEndings, ending) != std::end(kTextEndings))
    return "text/plain; charset=utf-8";
  const auto known = std::ranges::find(kTypes, ending, &TypeOfEnding::ending);
  return known != std::end(kTypes) ? known->type : "application/octet-stream";
}

Result<net::Response> download(store::BlobStore& blobs, const ProjectId& project,
                               const content::Entry& file) {
  const std::string name = file.path.substr(file.path.rfind('/') + 1);
  net::Response response;
  if (file.size <= kWholeBytesMax) {
    auto bytes = blobs.read_bytes(project, file.digest, kWholeBytesMax)
                     .transform_error(while_("reading " + file.path));
    if (!bytes) return std::unexpected(std::move(bytes).error());
    response.body = std::move(*bytes);
  } else {
    response.content_length = file.size;
    response.body = net::PullBody(store::pull_blob(blobs, project, file.digest, file.size));
  }
  response.headers.set("Content-Type", std::string(content_type_of(name)));
  response.headers.set("Content-Disposition",
                       "attachment; filename*=UTF-8''" + net::percent_encode(name));
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Content-Security-Policy", "sandbox; default-src 'none'");
  return response;
}

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// Routes and contract (api/openapi) say the same: nothing is served that is not described, nothing
// described that is not served, and what is anonymous in one is anonymous in the other.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "takt/app/assets.h"
#include "takt/app/platform.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/net/compression.h"
#include "takt/net/testing/raw_client.h"

namespace takt::app {
namespace {

std::string lower(std::string_view text) {
  std::string result;
  for (const char c : text) result += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return result;
}

/// {name...} and {name} are one thing to OpenAPI, and parameters' names are not compared.
std::string without_names(std::string_view pattern) {
  std::string result;
  bool is_inside = false;
  for (const char c : pattern) {
    if (c == '{') is_inside = true;
    if (!is_inside) result += c;
    if (c == '}') {
      is_inside = false;
      result += "{}";
    }
  }
  return result;
}

/// MLflow's own routes are described by MLflow (docs/mlflow.md lists them).
bool is_ours(std::string_view pattern) {
  for (const std::string_view foreign :
       {"/api/2.0/", "/api/3.0/", "/ajax-api/", "/get-artifact", "/model-versions/"})
    if (pattern.starts_with(foreign)) return false;
  return true;
}

using Routes = std::map<std::string, bool>;  // "get /path/{}" -> anonymous

Routes described() {
  const Asset& asset = api_assets().front();
  const auto text = asset.is_gzip ? net::decompress(asset.bytes, net::Encoding::kGzip, 64 << 20)
                                  : Result<std::string>(std::string(asset.bytes));
  EXPECT_TRUE(text);
  const auto document = parse_json(*text);
  EXPECT_TRUE(document) << document.error().text();
  Routes routes;
  const std::set<std::string> methods = {"get", "post", "put", "patch", "delete"};
  for (const auto& [path, item] : (*document)["paths"].as_object())
    for (const auto& [method, operation] : item.as_object())
      if (methods.contains(method)) {
        const Value& security = operation["security"];
        routes[method + " " + without_names(path)] =
            security.is_array() && security.as_array().empty();
      }
  return routes;
}

/// A platform with all its routes, which does not listen.
class Contract : public ::testing::Test {
 protected:
  void SetUp() override {
    auto settings = Settings::load({"--listen", "127.0.0.1:0", "--gateway-listen", "127.0.0.1:0",
                                    "--gateway-grpc-listen", "127.0.0.1:0"},
                                   {});
    ASSERT_TRUE(settings) << settings.error().text();
    settings_ = std::make_unique<Settings>(std::move(*settings));
    auto platform = Platform::open(*settings_, dir_.path(), system_clock());
    ASSERT_TRUE(platform) << platform.error().text();
    platform_ = std::move(*platform);
    ASSERT_TRUE(platform_->register_routes());
  }
  testing::TempDir dir_;
  std::unique_ptr<Settings> settings_;
  std::unique_ptr<Platform> platform_;
};

/// Knows nobody.
class Stranger final : public net::Authenticator {
 public:
  Result<net::Caller> authenticate(const net::Credentials&) override {
    return fail(Code::kUnauthenticated, "who are you");
  }
};

TEST_F(Contract, no_route_of_any_protocol_opens_without_credentials) {
  Stranger stranger;
  const auto server =
      net::Server::start({.listen = "127.0.0.1:0"}, platform_->router(), &stranger, system_clock());
  ASSERT_TRUE(server) << server.error().text();
  EXPECT_EQ(net::testing::routes_open_to_anyone(platform_->router(), (*server)->port()),
            std::vector<std::string>{});
}

TEST_F(Contract, routes_and_description_are_the_same) {
  Routes served;
  for (const auto& route : platform_->router().routes())
    if (is_ours(route.pattern))
      served[lower(net::method_name(route.method)) + " " + without_names(route.pattern)] =
          route.access == net::Access::kAnonymous;
  const Routes contract = described();
  for (const auto& [route, is_anonymous] : served) {
    ASSERT_TRUE(contract.contains(route)) << route << " is served but not described in api/openapi";
    EXPECT_EQ(contract.at(route), is_anonymous) << route << ": anonymous in one, not in the other";
  }
  for (const auto& [route, is_anonymous] : contract)
    EXPECT_TRUE(served.contains(route)) << route << " is described but not served";
  EXPECT_GT(served.size(), 60u);
}

}  // namespace
}  // namespace takt::app

// SPDX-License-Identifier: Apache-2.0
// A server on an ephemeral port with a one-token authenticator, for tests.
#pragma once

#include <memory>
#include <string>

#include "takt/net/http.h"

namespace takt::net::testing {

/// Takes `Authorization: Bearer good` as the user "tester" of the project "default".
class OneToken final : public Authenticator {
 public:
  Result<Caller> authenticate(const Credentials& credentials) override {
    if (credentials.authorization != "Bearer good") {
      return fail(Code::kUnauthenticated, "the token is missing, wrong or expired");
    }
    Caller caller;
    caller.user = {"tester"};
    caller.project = {credentials.project.empty() ? "default" : credentials.project};
    return caller;
  }
};

/// Router, authenticator and server in the right order of life. Fill `router`, then start().
struct TestServer {
  Router router;
  OneToken authenticator;
  ServerOptions options;
  std::unique_ptr<Server> server;

  int start() {
    auto started = Server::start(options, router, &authenticator, system_clock());
    TAKT_CHECK(started.has_value(), "the test server must start");
    server = std::move(*started);
    return server->port();
  }
};

}  // namespace takt::net::testing

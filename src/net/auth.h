// SPDX-License-Identifier: Apache-2.0
// Who is calling. Implemented by access; asked by the deny-by-default filter before any body is
// read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"

namespace takt::net {

/// What a token allows beyond its user's role: everything, or one job's own things.
enum class Scope { kFull, kJob };

/// An authenticated caller. `project` is the one this request acts in (?project=, else the
/// token's).
struct Caller {
  UserId user;
  ProjectId project;
  TokenId token;
  Scope scope = Scope::kFull;
  JobId job;              // for kJob
  bool is_admin = false;  // server-wide
};

/// The credentials as they came.
struct Credentials {
  std::string authorization;   // the header's value
  std::string session_cookie;  // takt_session
  std::string project;         // ?project=, empty if none
  std::string remote_address;
};

class Authenticator {
 public:
  virtual ~Authenticator() = default;
  /// kUnauthenticated when the credentials are missing, wrong or expired; kDenied for a project the
  /// caller has no part in. Called on a network thread: must not block (tokens are cached in
  /// memory).
  virtual Result<Caller> authenticate(const Credentials& credentials) = 0;
};

}  // namespace takt::net

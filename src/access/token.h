// SPDX-License-Identifier: Apache-2.0
// The text forms of credentials. A stored token is KIND_id_secret; a job's carries its own claims,
// signed with a key of the server, so that nothing about it needs storing.
#pragma once

#include <string>
#include <string_view>

#include "takt/access/access.h"

namespace takt::access {

inline constexpr std::string_view kTokenPrefix = "takt_";
inline constexpr std::string_view kSessionPrefix = "taktsession_";
inline constexpr std::string_view kJobPrefix = "taktjob_";

/// A stored credential split into its parts.
struct TokenText {
  TokenId id;
  std::string secret;
};
/// The text of a new token with that id.
std::string render_token(std::string_view prefix, const TokenId& id, std::string_view secret);
/// kUnauthenticated when the text has another form. Says nothing about validity.
Result<TokenText> parse_token(std::string_view prefix, std::string_view text);

/// What a job's token says.
struct JobClaims {
  ProjectId project;
  UserId user;
  JobId job;
  int attempt = 0;
  UnixMs expires_ms = 0;
};
std::string render_job_token(const JobClaims& claims, std::string_view key);
/// kUnauthenticated unless the signature fits; expiry is the caller's to check.
Result<JobClaims> parse_job_token(std::string_view text, std::string_view key);

/// What an Authorization header presents: Bearer TOKEN, or Basic with the token as the password and
/// its user's name (or its id, or nothing) as the user.
struct Presented {
  std::string user;  // "" when the form has none
  std::string token;
};
Result<Presented> parse_authorization(std::string_view header);

}  // namespace takt::access

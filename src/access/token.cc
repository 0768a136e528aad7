// SPDX-License-Identifier: Apache-2.0
#include "takt/access/token.h"

#include "takt/base/digest.h"
#include "takt/base/value.h"

namespace takt::access {
namespace {

std::unexpected<Error> malformed_token() {
  return fail(Code::kUnauthenticated, "the token is malformed",
              "use a token as `takt token create` printed it");
}

bool starts_with_word(std::string_view text, std::string_view word) {
  if (text.size() <= word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = text[i];
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower != word[i]) return false;
  }
  return text[word.size()] == ' ';
}

}  // namespace

std::string render_token(std::string_view prefix, const TokenId& id, std::string_view secret) {
  return std::string(prefix) + id.value + "_" + std::string(secret);
}

Result<TokenText> parse_token(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return malformed_token();
  text.remove_prefix(prefix.size());
  const auto split = text.find('_');
  if (split == std::string_view::npos || split == 0 || split + 1 == text.size())
    return malformed_token();
  return TokenText{TokenId{std::string(text.substr(0, split))},
                   std::string(text.substr(split + 1))};
}

std::string render_job_token(const JobClaims& claims, std::string_view key) {
  const Value body(Object{{"a", claims.attempt},
                          {"e", claims.expires_ms},
                          {"j", claims.job.value},
                          {"p", claims.project.value},
                          {"u", claims.user.value}});
  const std::string hex = to_hex(dump_json(body));
  return std::string(kJobPrefix) + hex + "_" + hmac_sha256_hex(key, hex);
}

Result<JobClaims> parse_job_token(std::string_view text, std::string_view key) {
  TAKT_ASSIGN(const TokenText parts, parse_token(kJobPrefix, text));
  if (!equal_constant_time(parts.secret, hmac_sha256_hex(key, parts.id.value)))
    return fail(Code::kUnauthenticated, "the job token's signature does not fit this server");
  TAKT_ASSIGN(const std::string json, from_hex(parts.id.value));
  TAKT_ASSIGN(const Value body, parse_json(json));
  JobClaims claims;
  claims.attempt = static_cast<int>(body.int_or("a", 0));
  claims.expires_ms = body.int_or("e", 0);
  claims.job.value = body.int_or("j", 0);
  claims.project.value = body.text_or("p", "");
  claims.user.value = body.text_or("u", "");
  return claims;
}

Result<Presented> parse_authorization(std::string_view header) {
  if (starts_with_word(header, "bearer")) return Presented{"", std::string(header.substr(7))};
  if (starts_with_word(header, "basic")) {
    auto decoded = base64_decode(header.substr(6));
    if (!decoded) return malformed_token();
    const auto colon = decoded->find(':');
    if (colon == std::string::npos) return malformed_token();
    return Presented{decoded->substr(0, colon), decoded->substr(colon + 1)};
  }
  return fail(Code::kUnauthenticated, "the Authorization header is neither Bearer nor Basic",
              "send `Authorization: Bearer TOKEN`");
}

}  // namespace takt::access

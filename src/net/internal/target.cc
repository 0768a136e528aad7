// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/target.h"

#include <algorithm>

#include "takt/base/limits.h"

namespace takt::net::internal {
namespace {

bool is_target_char(char c) {
  auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7f && c != '#' && c != '\\';
}

// Form encoding: '+' is a space in the query (and only there).
Result<std::string> decode_query_part(std::string_view part) {
  std::string spaced(part);
  std::ranges::replace(spaced, '+', ' ');
  return percent_decode(spaced);
}

Status parse_query(std::string_view query, Request& request) {
  while (!query.empty()) {
    std::size_t end = query.find('&');
    std::string_view pair = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    if (pair.empty()) continue;
    std::size_t equals = pair.find('=');
    TAKT_ASSIGN(std::string key, decode_query_part(pair.substr(0, equals)));
    std::string value;
    if (equals != std::string_view::npos) {
      TAKT_ASSIGN(value, decode_query_part(pair.substr(equals + 1)));
    }
    request.query.emplace_back(std::move(key), std::move(value));
  }
  return {};
}

}  // namespace

Status parse_target(std::string_view target, Request& request) {
  request.target = target;
  std::size_t question = target.find('?');
  std::string_view path = target.substr(0, question);
  request.path = path;
  if (path.empty() || path[0] != '/') {
    return fail(Code::kInvalid, "the request target must begin with /");
  }
  if (path.size() > limits::kPathBytesMax) {
    return fail(Code::kTooLarge, "the path has " + std::to_string(path.size()) +
                                     " bytes, the limit is " +
                                     std::to_string(limits::kPathBytesMax));
  }
  if (!std::ranges::all_of(target, is_target_char)) {
    return fail(Code::kInvalid, "the request target has characters that must be escaped");
  }
  if (path.find('%') != std::string_view::npos) {
    TAKT_RETURN_IF_ERROR(percent_decode(path));  // bad escapes and %00, whatever the route
  }
  if (question == std::string_view::npos) return {};
  return parse_query(target.substr(question + 1), request);
}

}  // namespace takt::net::internal

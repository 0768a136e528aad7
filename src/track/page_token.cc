// SPDX-License-Identifier: Apache-2.0
#include "takt/track/page_token.h"

#include "takt/base/digest.h"

namespace takt::track {
namespace {

std::string mark_of_search(std::string_view search) { return sha256(search).value.substr(0, 16); }

}  // namespace

std::string make_page_token(std::string_view search, Value place) {
  return base64_encode(dump_json(Object{{"p", std::move(place)}, {"s", mark_of_search(search)}}));
}

Result<Value> read_page_token(std::string_view token, std::string_view search) {
  const auto refuse = [](std::string why) {
    return fail(Code::kInvalid, "Invalid page token, " + std::move(why),
                "take it from next_page_token", "page_token");
  };
  const auto decoded = base64_decode(token);
  if (!decoded) return refuse("could not base64-decode");
  const auto value = parse_json(*decoded);
  if (!value || !value->is_object() || !value->has("p")) return refuse("could not be read");
  if (value->text_or("s", "") != mark_of_search(search))
    return refuse("it belongs to another search");
  return (*value)["p"];
}

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
#include "takt/net/http.h"

#include <charconv>

#include "takt/net/internal/text.h"

namespace takt::net {

std::string_view method_name(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
    case Method::kOptions:
      return "OPTIONS";
  }
  return "GET";
}

void Headers::set(std::string_view name, std::string value) {
  auto found = items_.end();
  for (auto it = items_.begin(); it != items_.end();) {
    if (!internal::equal_no_case(it->first, name)) {
      ++it;
    } else if (found == items_.end()) {
      found = it++;
    } else {
      it = items_.erase(it);
    }
  }
  if (found == items_.end()) {
    items_.emplace_back(std::string(name), std::move(value));
  } else {
    found->second = std::move(value);
  }
}

std::string_view Headers::get(std::string_view name) const {
  for (const auto& [key, value] : items_) {
    if (internal::equal_no_case(key, name)) return value;
  }
  return {};
}

bool Headers::has(std::string_view name) const {
  for (const auto& item : items_) {
    if (internal::equal_no_case(item.first, name)) return true;
  }
  return false;
}

const std::string& Request::path_param(std::string_view name) const {
  auto found = path_params.find(name);
  TAKT_CHECK(found != path_params.end(), "the pattern has no such parameter");
  return found->second;
}

std::string_view Request::query_param(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) return value;
  }
  return {};
}

std::vector<std::string> Request::query_params(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

Result<std::int64_t> Request::query_integer(std::string_view name, std::int64_t fallback,
                                            std::int64_t min, std::int64_t max) const {
  std::string_view text = query_param(name);
  if (text.empty()) return fallback;
  std::int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < min || value > max) {
    return fail(Code::kInvalid,
                "query parameter " + std::string(name) + " must be an integer in " +
                    std::to_string(min) + ".." + std::to_string(max) + ", got \"" +
                    std::string(text.substr(0, 64)) + "\"",
                {}, std::string(name));
  }
  return value;
}

Result<Value> Request::json() const {
  std::string_view type = headers.get("Content-Type");
  type = internal::trim(type.substr(0, type.find(';')));
  if (!internal::equal_no_case(type, "application/json")) {
    return fail(
        Code::kInvalid,
        "the body must be JSON, got content type \"" + std::string(type.substr(0, 64)) + "\"",
        "send Content-Type: application/json");
  }
  TAKT_ASSIGN(Value value, parse_json(body));
  if (!value.is_object()) {
    return fail(Code::kInvalid,
                "the body must be a JSON object, got " + std::string(value.type_name()));
  }
  return value;
}

Response Response::json(const Value& value, int status) {
  Response response;
  response.status = status;
  response.headers.add("Content-Type", "application/json");
  response.body = dump_json(value);
  return response;
}

Response Response::text(std::string text, int status) {
  Response response;
  response.status = status;
  response.headers.add("Content-Type", "text/plain; charset=utf-8");
  response.body = std::move(text);
  return response;
}

Response Response::empty(int status) {
  Response response;
  response.status = status;
  return response;
}

Response Response::bytes(std::string bytes, std::string content_type) {
  Response response;
  response.headers.add("Content-Type", std::move(content_type));
  response.body = std::move(bytes);
  return response;
}

Response Response::error(const Error& error, std::string_view request_id) {
  const CodeNames& names = code_names(error.code);
  Object body{{"code", names.name}, {"message", error.message}};
  if (!error.hint.empty()) body["hint"] = error.hint;
  if (!error.field.empty()) body["field"] = error.field;
  if (!request_id.empty()) body["request_id"] = request_id;
  return json(Object{{"error", Value(std::move(body))}}, names.http_status);
}

std::string sse_frame(std::string_view event, std::string_view id, std::string_view data) {
  std::string frame;
  frame.reserve(data.size() + event.size() + id.size() + 32);
  auto field = [&frame](std::string_view name, std::string_view value) {
    frame.append(name).append(": ");
    for (char c : value) {
      if (c != '\n' && c != '\r' && c != '\0') frame.push_back(c);
    }
    frame.push_back('\n');
  };
  if (!event.empty()) field("event", event);
  if (!id.empty()) field("id", id);
  while (true) {  // each line of the data is a field of its own
    std::size_t end = data.find('\n');
    field("data", data.substr(0, end));
    if (end == std::string_view::npos) break;
    data.remove_prefix(end + 1);
  }
  frame.push_back('\n');
  return frame;
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size() + 8);
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                 c == '-' || c == '.' || c == '_' || c == '~' || (keep_slash && c == '/');
    if (plain) {
      out.push_back(c);
    } else {
      auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

Result<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out.push_back(text[i]);
      continue;
    }
    int high = i + 2 < text.size() ? internal::hex_value(text[i + 1]) : -1;
    int low = i + 2 < text.size() ? internal::hex_value(text[i + 2]) : -1;
    if (high < 0 || low < 0 || (high == 0 && low == 0)) {
      return fail(Code::kInvalid,
                  "the address has a bad escape \"" + std::string(text.substr(i, 3)) + "\"");
    }
    out.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return out;
}

}  // namespace takt::net

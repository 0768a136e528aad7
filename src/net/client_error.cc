// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "takt/net/client.h"

namespace takt::net {
namespace {

constexpr std::array kAllCodes{
    Code::kInvalid,  Code::kUnauthenticated, Code::kDenied,   Code::kNotFound,    Code::kConflict,
    Code::kTooLarge, Code::kExhausted,       Code::kInternal, Code::kUnavailable, Code::kTimeout};

Code code_of_status(int status) {
  switch (status) {
    case 401:
      return Code::kUnauthenticated;
    case 403:
      return Code::kDenied;
    case 404:
      return Code::kNotFound;
    case 408:
    case 504:
      return Code::kTimeout;
    case 409:
      return Code::kConflict;
    case 413:
    case 414:
    case 431:
      return Code::kTooLarge;
    case 429:
    case 507:
      return Code::kExhausted;
    case 502:
    case 503:
      return Code::kUnavailable;
    default:
      return status >= 500 ? Code::kInternal : Code::kInvalid;
  }
}

Code code_of_mlflow_name(std::string_view name, int status) {
  for (Code code : kAllCodes) {
    if (code_names(code).mlflow == name && code_names(code).http_status == status) return code;
  }
  return code_of_status(status);
}

}  // namespace

Error error_from_response(const ClientResponse& response) {
  Error error{.code = code_of_status(response.status), .message = {}};
  if (auto body = parse_json(response.body); body && body->is_object()) {
    const Value& inner = (*body)["error"];
    if (inner.is_object()) {
      error.code = code_from_name(inner.text_or("code", code_names(error.code).name));
      error.message = inner.text_or("message", "");
      error.hint = inner.text_or("hint", "");
      error.field = inner.text_or("field", "");
    } else if (inner.is_string()) {
      error.message = inner.as_string();
    } else if ((*body)["error_code"].is_string()) {
      error.code = code_of_mlflow_name((*body)["error_code"].as_string(), response.status);
      error.message = body->text_or("message", "");
    }
  }
  if (error.message.empty()) {
    error.message = "the server answered with HTTP status " + std::to_string(response.status);
  }
  return error;
}

}  // namespace takt::net

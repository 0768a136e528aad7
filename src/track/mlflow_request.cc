// SPDX-License-Identifier: Apache-2.0
#include "takt/track/mlflow_request.h"

#include <charconv>
#include <cmath>

#include "takt/track/checks.h"

namespace takt::track {
namespace {

constexpr std::string_view kSeeDocs =
    " See the API docs for more information about request parameters.";

std::string_view python_type(const Value& value) {
  if (value.is_string()) return "str";
  if (value.is_int()) return "int";
  if (value.is_double()) return "float";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "list";
  return value.is_object() ? "dict" : "NoneType";
}

std::optional<std::int64_t> whole_number(const Value& value) {
  if (value.is_int()) return value.as_int();
  if (value.is_double()) {
    const double number = value.as_number();
    if (std::floor(number) != number || std::abs(number) >= 9.2e18) return std::nullopt;
    return static_cast<std::int64_t>(number);
  }
  if (!value.is_string()) return std::nullopt;
  std::int64_t whole = 0;
  const std::string& text = value.as_string();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return whole;
}

std::optional<double> any_number(const Value& value) {
  if (value.is_number()) return value.as_number();
  if (!value.is_string()) return std::nullopt;
  const std::string& text = value.as_string();
  if (text == "NaN") return std::nan("");
  if (text == "Infinity") return INFINITY;
  if (text == "-Infinity") return -INFINITY;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Value query_object(const net::Request& request) {
  Value object{Object{}};
  for (const auto& [key, value] : request.query) {
    Value& member = object[key];
    if (member.is_null())
      member = value;
    else if (member.is_array())
      member.push_back(value);
    else
      member = Array{member, Value(value)};
  }
  return object;
}

}  // namespace

Result<MlflowArgs> MlflowArgs::of(const net::Request& request) {
  if (request.method == net::Method::kGet || request.method == net::Method::kHead)
    return MlflowArgs(query_object(request), "");
  const bool is_checked =
      request.method == net::Method::kPost || request.method == net::Method::kPut;
  if (is_checked) {
    TAKT_ASSIGN(Value body, request.json());
    return MlflowArgs(std::move(body), "");
  }
  // Some clients send the arguments of a DELETE in the query.
  Value object = query_object(request);
  if (!request.body.empty()) {
    TAKT_ASSIGN(const Value body, parse_json(request.body));
    if (!body.is_object())
      return fail(Code::kInvalid,
                  "the body must be a JSON object, got " + std::string(body.type_name()));
    for (const auto& [key, value] : body.as_object()) object[key] = value;
  }
  return MlflowArgs(std::move(object), "");
}

std::string MlflowArgs::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void MlflowArgs::reject(std::unexpected<Error> error) {
  if (status_) status_ = std::move(error);
}

void MlflowArgs::wrong_type(std::string_view key, const Value& value) {
  Error error = invalid_value(path_of(key), value,
                              " Hint: Value was of type '" + std::string(python_type(value)) + "'.")
                    .error();
  error.message += kSeeDocs;
  reject(std::unexpected(std::move(error)));
}

std::string MlflowArgs::text(std::string_view key) {
  std::string value = text(key, "");
  if (value.empty()) {
    Error error = missing_value(path_of(key)).error();
    error.message += kSeeDocs;
    reject(std::unexpected(std::move(error)));
  }
  return value;
}

std::string MlflowArgs::text(std::string_view key, std::string_view fallback) {
  const Value& value = std::as_const(object_)[key];
  if (value.is_null()) return std::string(fallback);
  if (value.is_string()) return value.as_string();
  wrong_type(key, value);
  return std::string(fallback);
}

std::int64_t MlflowArgs::integer(std::string_view key) {
  if (!has(key)) {
    Error error = missing_value(path_of(key)).error();
    error.message += kSeeDocs;
    reject(std::unexpected(std::move(error)));
    return 0;
  }
  return integer(key, 0);
}

std::int64_t MlflowArgs::integer(std::string_view key, std::int64_t fallback) {
  const Value& value = std::as_const(object_)[key];
  if (value.is_null()) return fallback;
  if (const auto whole = whole_number(value)) return *whole;
  wrong_type(key, value);
  return fallback;
}

bool MlflowArgs::boolean(std::string_view key, bool fallback) {
  const Value& value = std::as_const(object_)[key];
  if (value.is_null()) return fallback;
  if (value.is_bool()) return value.as_bool();
  if (value == Value("true") || value == Value("True")) return true;
  if (value == Value("false") || value == Value("False")) return false;
  wrong_type(key, value);
  return fallback;
}

double MlflowArgs::number(std::string_view key) {
  const Value& value = std::as_const(object_)[key];
  if (value.is_null()) {
    Error error = missing_value(path_of(key)).error();
    error.message += kSeeDocs;
    reject(std::unexpected(std::move(error)));
    return 0;
  }
  if (const auto number = any_number(value)) return *number;
  wrong_type(key, value);
  return 0;
}

std::vector<std::string> MlflowArgs::texts(std::string_view key) {
  const Value& value = std::as_const(object_)[key];
  std::vector<std::string> list;
  if (value.is_null()) return list;
  if (value.is_string()) return {value.as_string()};
  if (!value.is_array()) {
    wrong_type(key, value);
    return list;
  }
  for (const Value& item : value.as_array()) {
    if (item.is_string())
      list.push_back(item.as_string());
    else if (item.is_int())
      list.push_back(std::to_string(item.as_int()));
    else
      wrong_type(key, value);
  }
  return list;
}

const Array& MlflowArgs::array(std::string_view key) {
  static const Array kNone;
  const Value& value = std::as_const(object_)[key];
  if (value.is_null()) return kNone;
  if (value.is_array()) return value.as_array();
  wrong_type(key, value);
  return kNone;
}

RunId MlflowArgs::run_id() {
  const std::string old_name = text("run_uuid", "");
  if (!has("run_id") && !old_name.empty()) return RunId{old_name};
  std::string id = text("run_id", "");
  if (id.empty()) id = old_name;
  if (id.empty()) return RunId{text("run_id")};
  return RunId{id};
}

std::vector<std::pair<std::string, std::string>> MlflowArgs::words(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> words;
  const Array& items = array(key);
  for (std::size_t i = 0; i < items.size(); ++i) {
    MlflowArgs item(items[i], path_of(key) + "[" + std::to_string(i) + "]");
    if (!items[i].is_object()) {
      wrong_type(key, std::as_const(object_)[key]);
      return words;
    }
    std::string name = item.text("key");
    words.emplace_back(std::move(name), item.text("value", ""));
    if (const Status status = item.done(); !status) reject(std::unexpected(status.error()));
  }
  return words;
}

net::Response mlflow_error(const Error& error, const net::Request& request) {
  if (request.route.empty() && error.code == Code::kNotFound)
    return net::Response::text("Not Found\n", 404);
  const CodeNames& names = code_names(error.code);
  // A conflict is always a name that is taken; over a limit is a wrong value, as the peer has it.
  const bool is_taken = error.code == Code::kConflict;
  const bool is_wrong = is_taken || error.code == Code::kTooLarge;
  std::string message = error.message;
  if (!error.hint.empty()) message += (message.ends_with('.') ? " " : "; ") + error.hint;
  return net::Response::json(
      Object{{"error_code", is_taken ? std::string_view("RESOURCE_ALREADY_EXISTS") : names.mlflow},
             {"message", message}},
      is_wrong ? 400 : names.http_status);
}

void add_mlflow_route(net::Router& router, net::Method method, std::string_view path,
                      const net::Handler& handler) {
  for (const std::string_view prefix : {"/api/2.0/mlflow/", "/ajax-api/2.0/mlflow/"})
    router.add(method, std::string(prefix) + std::string(path), handler,
               {.error_form = mlflow_error});
}

void set_mlflow_error_form(net::Router& router) {
  for (const char* prefix :
       {"/api/2.0/", "/api/3.0/", "/ajax-api/", "/get-artifact", "/model-versions/", "/v1/traces"})
    router.set_error_form(prefix, mlflow_error);
}

Result<RunView> mlflow_view(const MlflowArgs& args, std::string_view key) {
  const Value& value = args.object()[key];
  const auto is = [&](std::string_view name, int number) {
    return value == Value(name) || value == Value(number) || value == Value(std::to_string(number));
  };
  if (value.is_null() || is("ACTIVE_ONLY", 1)) return RunView::kActive;
  if (is("DELETED_ONLY", 2)) return RunView::kDeleted;
  if (is("ALL", 3)) return RunView::kAll;
  return invalid_value(key, value);
}

Value mlflow_words(const Words& words) {
  Array array;
  for (const auto& [key, value] : words) array.push_back(Object{{"key", key}, {"value", value}});
  return array;
}

Value mlflow_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

}  // namespace takt::track

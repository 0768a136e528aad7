// SPDX-License-Identifier: Apache-2.0
// What all of MLflow's REST routes share: both prefixes, arguments, the error form.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/net/http.h"
#include "takt/track/run.h"
#include "takt/track/run_search_store.h"

namespace takt::track {

/// Reads arguments as protobuf's JSON has them; the first error is kept and given by done().
/// Getters return their fallback after an error. Unknown fields are ignored.
class MlflowArgs {
 public:
  /// GET: the query (a repeated key is a list); else the JSON body. Bodies of POST and PUT must be
  /// application/json, those of PATCH and DELETE may be anything or nothing.
  static Result<MlflowArgs> of(const net::Request& request);
  MlflowArgs(Value object, std::string path) : object_(std::move(object)), path_(std::move(path)) {}

  bool has(std::string_view key) const { return object_.has(key); }
  std::string text(std::string_view key);  // required, not empty
  std::string text(std::string_view key, std::string_view fallback);
  std::int64_t integer(std::string_view key);
  std::int64_t integer(std::string_view key, std::int64_t fallback);
  bool boolean(std::string_view key, bool fallback);
  /// A number, or NaN, Infinity, -Infinity as text. Required.
  double number(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  const Array& array(std::string_view key);
  /// run_id, or its old name run_uuid.
  RunId run_id();
  /// [{key, value}]
  std::vector<std::pair<std::string, std::string>> words(std::string_view key);
  /// Records an error, if none came before.
  void reject(std::unexpected<Error> error);
  Status done() const { return status_; }
  const Value& object() const { return object_; }
  std::string path_of(std::string_view key) const;

 private:
  void wrong_type(std::string_view key, const Value& value);
  Value object_;
  std::string path_;
  Status status_;
};

/// {"error_code", "message"}; a path that no route has gets a plain 404, as clients' fallbacks
/// need.
net::Response mlflow_error(const Error& error, const net::Request& request);

/// Adds the route under /api/2.0/mlflow/ and /ajax-api/2.0/mlflow/.
void add_mlflow_route(net::Router& router, net::Method method, std::string_view path,
                      const net::Handler& handler);
/// Sets MLflow's error form for all its prefixes. Once.
void set_mlflow_error_form(net::Router& router);

/// ACTIVE_ONLY, DELETED_ONLY or ALL, or their numbers 1, 2, 3, also as text; active by default.
Result<RunView> mlflow_view(const MlflowArgs& args, std::string_view key);

inline net::Response mlflow_empty() { return net::Response::json(Object{}); }
Value mlflow_words(const Words& words);
/// A metric's value: a number, or its name as text.
Value mlflow_number(double value);

}  // namespace takt::track

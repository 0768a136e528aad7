// SPDX-License-Identifier: Apache-2.0
// One run of the command line: which server, as whom, in which project, how to print.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"
#include "takt/net/client.h"

namespace takt::cli {

/// The flags that every command takes.
struct CommonFlags {
  std::string url;      // --url; else TAKT_URL, else the login file, else http://127.0.0.1:8700
  std::string project;  // --project; else TAKT_PROJECT, else the token's
  bool json = false;    // --json: exactly one JSON document on standard output
};

/// Where `takt login` keeps what it learnt: $XDG_CONFIG_HOME/takt/login.json, mode 0600.
std::filesystem::path login_file();

class Session {
 public:
  static Result<Session> open(const CommonFlags& flags);

  // Calls of the API with the project added to the path's query.
  Result<Value> get(const std::string& path);
  Result<Value> post(const std::string& path, const Value& body);
  Result<Value> put(const std::string& path, const Value& body);
  Result<Value> patch(const std::string& path, const Value& body);
  Result<Value> del(const std::string& path);
  net::Client& client() { return *client_; }
  std::string with_project(const std::string& path) const;
  const std::string& url() const { return url_; }
  bool json() const { return json_; }

 private:
  std::string url_, project_;
  bool json_ = false;
  std::shared_ptr<net::Client> client_;
};

/// One segment of a path.
std::string segment(std::string_view text);
/// NAME@N or NAME into a path below /api/v1/datasets or /api/v1/models: "NAME/versions/N|latest".
Result<std::string> version_path(const std::string& reference);

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// A real PostgreSQL of the test program's own: fresh folder, unix socket only, no fsync.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "takt/base/error.h"
#include "takt/base/testing/temp_dir.h"

namespace takt::store::testing {

/// Runs from the first use to the end of the program; dies with it, whatever ends it.
/// As root it runs as the user `postgres`, which PostgreSQL's package creates.
class PostgresServer {
 public:
  /// The program's one server; started by the first call. The error is kept.
  static Result<PostgresServer*> shared();
  static Result<std::unique_ptr<PostgresServer>> start();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// A new empty database; its URI.
  Result<std::string> create_database();
  /// Ends its sessions first.
  Status drop_database(const std::string& uri);
  /// Ends all sessions of a database, as a failing network or an administrator does.
  Status cut_connections(const std::string& uri);

 private:
  PostgresServer() = default;
  std::string uri_of(const std::string& database) const;
  Status run_sql(const std::string& sql);
  Status wait_until_ready();

  takt::testing::TempDir folder_;
  pid_t pid_ = 0;
};

}  // namespace takt::store::testing

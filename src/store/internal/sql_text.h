// SPDX-License-Identifier: Apache-2.0
// From SQLite's spelling to PostgreSQL's, token by token. No parser: rooms keep to the common
// subset that README.md lists, and every statement is run on both databases in the tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace takt::store::internal {

/// N of the highest `?N`.
std::size_t count_parameters(std::string_view sql);

struct PostgresStatement {
  std::string sql;  // `?N` -> `$N`, types of CAST mapped
  std::string
      probe;  // `sql` with `$N IS NULL` tests made constant: PostgreSQL can infer types from it
  bool has_null_tests = false;
  std::vector<bool> used_elsewhere;  // per parameter: it also stands outside of null tests
};
PostgresStatement to_postgres(std::string_view sql);

/// A migration: INTEGER -> BIGINT, REAL -> DOUBLE PRECISION, BLOB -> BYTEA, TEXT -> TEXT COLLATE
/// "C"; `INTEGER PRIMARY KEY` numbers itself as in SQLite; STRICT and WITHOUT ROWID go.
std::string to_postgres_schema(std::string_view script);

}  // namespace takt::store::internal

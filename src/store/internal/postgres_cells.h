// SPDX-License-Identifier: Apache-2.0
// Between cells and PostgreSQL's types, and its errors as codes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/store/database.h"

namespace takt::store::internal {

// Stable ids of built-in types (pg_type.dat).
inline constexpr unsigned kPgBool = 16;
inline constexpr unsigned kPgBytea = 17;
inline constexpr unsigned kPgInt8 = 20;
inline constexpr unsigned kPgInt2 = 21;
inline constexpr unsigned kPgInt4 = 23;
inline constexpr unsigned kPgText = 25;
inline constexpr unsigned kPgFloat4 = 700;
inline constexpr unsigned kPgFloat8 = 701;
inline constexpr unsigned kPgNumeric = 1700;

/// 0 for null: the server is to infer it.
unsigned postgres_type_of(const Cell& cell);

/// Parameters in the shape that libpq takes; points into the cells it was made of.
struct PostgresParams {
  explicit PostgresParams(const Params& params);
  std::vector<std::string> numbers;  // texts of integers and doubles
  std::vector<const char*> values;
  std::vector<int> lengths;
  std::vector<int> formats;
};

/// A row as a line of COPY's text format.
void append_copy_line(std::string& to, const Row& row);

Cell cell_from_postgres(unsigned type, std::string_view text);

/// From SQLSTATE, the server's message and the violated constraint's name.
Error postgres_error(std::string_view state, std::string message, std::string_view constraint,
                     std::string_view sql);

}  // namespace takt::store::internal

// SPDX-License-Identifier: Apache-2.0
// What a person reads: tables, progress, errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"

namespace takt::cli {

void print_line(std::string_view text);
void print_json(const Value& value);

/// Columns as wide as their cells, two spaces apart; a column whose cells are all numbers is
/// right-aligned.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  void print() const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<std::string>> rows_;
};

/// A bar on standard error when that is a terminal, nothing otherwise.
class Progress {
 public:
  Progress(std::string what, std::int64_t total_bytes);
  ~Progress();
  void add(std::int64_t bytes);

 private:
  std::string what_;
  std::int64_t total_, done_ = 0, shown_ = -1;
  bool is_terminal_;
};

/// "error: MESSAGE" and "  hint: HINT" on standard error.
void print_error(const Error& error);
/// "14:36:05" of today, else "2026-11-30 14:36", in the local zone; "" for "".
std::string short_time(const std::string& rfc3339);
/// Text of a member for a table cell, "" when absent.
std::string cell(const Value& object, std::string_view key);
/// A number for people, with at most six digits that count; other values as cell() has them.
std::string short_number(const Value& value);

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// What a table holds, column by column, in one pass.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"
#include "takt/data/table.h"

namespace takt::data {

/// Gathers one column. Distinct values are counted up to kDistinctMax.
class ColumnProfile {
 public:
  static constexpr std::size_t kDistinctMax = 1000;
  void add(const std::optional<std::string>& cell);
  /// Rows that came before the column did.
  void add_missing(std::int64_t rows) { missing_ += rows; }
  std::int64_t present() const { return present_; }
  std::int64_t missing() const { return missing_; }
  bool is_distinct_capped() const { return is_capped_; }
  const std::map<std::string, std::int64_t>& counts() const { return counts_; }
  /// As api/openapi/data.yaml has it.
  Value to_value(std::string_view name) const;

 private:
  std::string_view type() const;
  void add_number(std::string_view cell);
  std::int64_t present_ = 0, missing_ = 0;
  std::int64_t numbers_ = 0, integers_ = 0, booleans_ = 0;
  double min_ = 0, max_ = 0, sum_ = 0;
  std::map<std::string, std::int64_t> counts_;
  bool is_capped_ = false;
};

/// Gathers the tables of one version.
class TableProfiler {
 public:
  /// Starts the next table; its rows go to the scan this returns.
  std::unique_ptr<TableScan> begin(std::string path, TableFormat format);
  /// Ends the table; a problem (broken row) is noted with it and its rows so far do not count.
  void end(const Status& scanned);
  std::int64_t rows() const { return rows_; }
  bool empty() const { return tables_.empty(); }
  /// {tables, class_balance?}; the class column is called label, target, class or y.
  Value to_value() const;

 private:
  struct Table {
    std::string path;
    std::int64_t rows = 0;
    std::vector<std::string> names;
    std::vector<ColumnProfile> columns;
    std::string problem;
  };
  std::vector<Table> tables_;
  std::int64_t rows_ = 0;
};

}  // namespace takt::data

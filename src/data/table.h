// SPDX-License-Identifier: Apache-2.0
// Tables inside dataset versions: CSV (RFC 4180, header line) and JSON Lines, read as a stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/error.h"

namespace takt::data {

enum class TableFormat { kNone, kCsv, kJsonLines };
/// By the file's ending: .csv, .tsv is not a table; .jsonl and .ndjson.
TableFormat table_format(std::string_view path);

/// One row: a cell per column, none where the value is missing (empty field, null, absent key).
using Cells = std::vector<std::optional<std::string>>;
/// Called per row with the columns known so far (JSON Lines may add some later).
using RowSink = std::function<Status(const std::vector<std::string>& columns, const Cells& cells)>;

/// Push parser: feed(bytes)… finish(). Errors name the row. A row or field over the limit is
/// kTooLarge.
class TableScan {
 public:
  static constexpr std::size_t kRowBytesMax = 16 << 20;
  static constexpr std::size_t kColumnsMax = 10'000;

  virtual ~TableScan() = default;
  static std::unique_ptr<TableScan> make(TableFormat format, RowSink sink);
  virtual Status feed(std::string_view bytes) = 0;
  virtual Status finish() = 0;
};

/// The first rows of a table. What follows them is not looked at, so nothing there can be wrong.
class TableHead {
 public:
  TableHead(TableFormat format, std::size_t rows_max);
  Status feed(std::string_view bytes);
  Status finish();
  const std::vector<std::string>& columns() const { return columns_; }
  const std::vector<Cells>& rows() const { return rows_; }

 private:
  bool is_full() const { return rows_.size() >= rows_max_; }
  std::size_t rows_max_;
  std::vector<std::string> columns_;
  std::vector<Cells> rows_;
  std::unique_ptr<TableScan> scan_;
};

/// What a cell is counted under: itself, or when it is long its beginning and its hash.
std::string counting_key(const std::string& cell);

/// The number a cell stands for, if it is one (finite, whole cell).
std::optional<double> cell_number(std::string_view cell);

}  // namespace takt::data

// SPDX-License-Identifier: Apache-2.0
#include "takt/data/table.h"

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "takt/base/utf8.h"
#include "takt/base/value.h"

namespace takt::data {
namespace {

std::unexpected<Error> row_error(std::int64_t row, std::string message) {
  return fail(Code::kInvalid, "row " + std::to_string(row) + " " + std::move(message));
}

/// State machine over characters; fields may be quoted, quotes inside doubled.
class CsvScan final : public TableScan {
 public:
  explicit CsvScan(RowSink sink) : sink_(std::move(sink)) {}

  Status feed(std::string_view bytes) override {
    for (const char c : bytes) {
      if (++row_bytes_ > kRowBytesMax)
        return fail(Code::kTooLarge, "row " + std::to_string(row_) + " is over " +
                                         std::to_string(kRowBytesMax) + " bytes");
      TAKT_RETURN_IF_ERROR(take(c));
    }
    return {};
  }

  Status finish() override {
    if (state_ == State::kQuoted) return row_error(row_, "ends inside a quoted field");
    if (field_.empty() && cells_.empty() && state_ == State::kFieldStart) return {};
    end_field();
    return end_row();
  }

 private:
  enum class State { kFieldStart, kPlain, kQuoted, kQuoteInQuoted };

  Status take(char c) {
    if (state_ == State::kQuoted) {
      if (c == '"')
        state_ = State::kQuoteInQuoted;
      else
        field_ += c;
      return {};
    }
    if (state_ == State::kQuoteInQuoted && c == '"') {
      field_ += c;
      state_ = State::kQuoted;
      return {};
    }
    if (c == ',') {
      end_field();
      return {};
    }
    if (c == '\n') {
      const bool is_blank_line =
          cells_.empty() && field_.empty() && state_ != State::kQuoteInQuoted;
      if (is_blank_line) {
        row_bytes_ = 0;
        return {};
      }
      end_field();
      return end_row();
    }
    if (c == '\r') return {};
    if (state_ == State::kQuoteInQuoted) return row_error(row_, "has text after a closing quote");
    if (c == '"' && state_ == State::kFieldStart) {
      state_ = State::kQuoted;
      return {};
    }
    field_ += c;
    state_ = State::kPlain;
    return {};
  }

  void end_field() {
    if (field_.empty())
      cells_.emplace_back(std::nullopt);
    else
      cells_.emplace_back(std::move(field_));
    field_.clear();
    state_ = State::kFieldStart;
  }

  Status end_row() {
    row_bytes_ = 0;
    Cells cells = std::move(cells_);
    cells_.clear();
    if (columns_.empty()) return take_header(cells);
    if (cells.size() != columns_.size())
      return row_error(row_, "has " + std::to_string(cells.size()) + " fields, the header has " +
                                 std::to_string(columns_.size()));
    ++row_;
    return sink_(columns_, cells);
  }

  Status take_header(const Cells& cells) {
    if (cells.size() > kColumnsMax)
      return fail(Code::kTooLarge, "the header has " + std::to_string(cells.size()) +
                                       " columns, over " + std::to_string(kColumnsMax));
    for (std::size_t i = 0; i < cells.size(); ++i)
      columns_.push_back(cells[i] ? *cells[i] : "column_" + std::to_string(i + 1));
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (columns_.front().starts_with(kByteOrderMark))
      columns_.front().erase(0, kByteOrderMark.size());
    return {};
  }

  RowSink sink_;
  State state_ = State::kFieldStart;
  std::string field_;
  Cells cells_;
  std::vector<std::string> columns_;
  std::int64_t row_ = 1;
  std::size_t row_bytes_ = 0;
};

class JsonLinesScan final : public TableScan {
 public:
  explicit JsonLinesScan(RowSink sink) : sink_(std::move(sink)) {}

  Status feed(std::string_view bytes) override {
    while (!bytes.empty()) {
      const auto end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (line_.size() > kRowBytesMax)
        return fail(Code::kTooLarge, "row " + std::to_string(row_) + " is over " +
                                         std::to_string(kRowBytesMax) + " bytes");
      if (end == std::string_view::npos) return {};
      bytes.remove_prefix(end + 1);
      TAKT_RETURN_IF_ERROR(end_line());
    }
    return {};
  }
  Status finish() override { return end_line(); }

 private:
  Status end_line() {
    const std::string line = std::move(line_);
    line_.clear();
    if (line.find_first_not_of(" \t\r") == std::string::npos) return {};
    const auto value = parse_json(line);
    if (!value) return row_error(row_, "is no JSON: " + value.error().message);
    if (!value->is_object()) return row_error(row_, "is no JSON object");
    Cells cells(columns_.size());
    for (const auto& [key, member] : value->as_object()) {
      const auto [known, is_new] = places_.emplace(key, columns_.size());
      if (is_new) {
        if (columns_.size() == kColumnsMax)
          return fail(Code::kTooLarge, "over " + std::to_string(kColumnsMax) + " different keys");
        columns_.push_back(key);
        cells.emplace_back();
      }
      if (!member.is_null())
        cells[known->second] = member.is_string() ? member.as_string() : dump_json(member);
    }
    ++row_;
    return sink_(columns_, cells);
  }

  RowSink sink_;
  std::string line_;
  std::vector<std::string> columns_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::int64_t row_ = 1;
};

}  // namespace

TableFormat table_format(std::string_view path) {
  if (path.ends_with(".csv")) return TableFormat::kCsv;
  if (path.ends_with(".jsonl") || path.ends_with(".ndjson")) return TableFormat::kJsonLines;
  return TableFormat::kNone;
}

std::unique_ptr<TableScan> TableScan::make(TableFormat format, RowSink sink) {
  TAKT_CHECK(format != TableFormat::kNone, "no table");
  if (format == TableFormat::kCsv) return std::make_unique<CsvScan>(std::move(sink));
  return std::make_unique<JsonLinesScan>(std::move(sink));
}

TableHead::TableHead(TableFormat format, std::size_t rows_max)
    : rows_max_(rows_max),
      scan_(TableScan::make(
          format, [this](const std::vector<std::string>& columns, const Cells& cells) -> Status {
            if (is_full()) return {};
            if (columns_.size() != columns.size()) columns_ = columns;
            rows_.push_back(cells);
            return {};
          })) {}

Status TableHead::feed(std::string_view bytes) {
  if (is_full()) return {};
  const Status fed = scan_->feed(bytes);
  return is_full() ? Status{} : fed;
}

Status TableHead::finish() { return is_full() ? Status{} : scan_->finish(); }

std::string counting_key(const std::string& cell) {
  constexpr std::size_t kWholeMax = 256;
  constexpr std::size_t kShown = 200;
  if (cell.size() <= kWholeMax) return cell;
  return shorten(cell, kShown) + " #" + std::to_string(std::hash<std::string>{}(cell));
}

std::optional<double> cell_number(std::string_view cell) {
  double number = 0;
  const char* end = cell.data() + cell.size();
  if (!cell.empty() && cell.front() == '+') cell.remove_prefix(1);
  const auto [at, error] = std::from_chars(cell.data(), end, number);
  if (error != std::errc() || at != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

}  // namespace takt::data

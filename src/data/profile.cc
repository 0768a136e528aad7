// SPDX-License-Identifier: Apache-2.0
#include "takt/data/profile.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace takt::data {
namespace {

constexpr int kHistogramBins = 10;
constexpr std::size_t kClassesMax = 100;
constexpr std::array<std::string_view, 4> kClassColumns = {"label", "target", "class", "y"};

bool is_boolean_cell(std::string_view cell) {
  return cell == "true" || cell == "false" || cell == "True" || cell == "False";
}

}  // namespace

void ColumnProfile::add(const std::optional<std::string>& cell) {
  if (!cell) {
    ++missing_;
    return;
  }
  ++present_;
  add_number(*cell);
  if (is_boolean_cell(*cell)) ++booleans_;
  std::string key = counting_key(*cell);
  if (const auto known = counts_.find(key); known != counts_.end()) {
    ++known->second;
  } else if (counts_.size() < kDistinctMax) {
    counts_.emplace(std::move(key), 1);
  } else {
    is_capped_ = true;
  }
}

void ColumnProfile::add_number(std::string_view cell) {
  const auto number = cell_number(cell);
  if (!number) return;
  if (numbers_ == 0) min_ = max_ = *number;
  min_ = std::min(min_, *number);
  max_ = std::max(max_, *number);
  sum_ += *number;
  ++numbers_;
  if (cell.find_first_of(".eE") == std::string_view::npos) ++integers_;
}

std::string_view ColumnProfile::type() const {
  if (present_ == 0) return "empty";
  if (integers_ == present_) return "integer";
  if (numbers_ == present_) return "number";
  return booleans_ == present_ ? "boolean" : "text";
}

Value ColumnProfile::to_value(std::string_view name) const {
  Object object{{"name", name},
                {"type", type()},
                {"missing", missing_},
                {"distinct", static_cast<std::int64_t>(counts_.size())},
                {"is_distinct_capped", is_capped_}};
  if (numbers_ == 0 || numbers_ != present_) return object;
  object["min"] = min_;
  object["max"] = max_;
  if (std::isfinite(sum_)) object["mean"] = sum_ / static_cast<double>(numbers_);
  const double width = max_ / 2 - min_ / 2;  // halves, as the whole may be over a double's range
  if (is_capped_ || !(width > 0)) return object;
  std::array<std::int64_t, kHistogramBins> bins{};
  for (const auto& [cell, count] : counts_) {
    const double place = (cell_number(cell).value_or(min_) / 2 - min_ / 2) / width * kHistogramBins;
    bins[std::min<std::size_t>(static_cast<std::size_t>(place), kHistogramBins - 1)] += count;
  }
  Array histogram;
  for (const std::int64_t bin : bins) histogram.push_back(bin);
  object["histogram"] = std::move(histogram);
  return object;
}

std::unique_ptr<TableScan> TableProfiler::begin(std::string path, TableFormat format) {
  tables_.push_back({.path = std::move(path)});
  return TableScan::make(
      format, [this](const std::vector<std::string>& names, const Cells& cells) -> Status {
        Table& table = tables_.back();
        for (std::size_t i = table.names.size(); i < names.size(); ++i) {
          table.names.push_back(names[i]);
          table.columns.emplace_back().add_missing(table.rows);
        }
        for (std::size_t i = 0; i < names.size(); ++i)
          table.columns[i].add(i < cells.size() ? cells[i] : std::nullopt);
        ++table.rows;
        return {};
      });
}

void TableProfiler::end(const Status& scanned) {
  Table& table = tables_.back();
  if (!scanned) {
    table = Table{.path = table.path, .problem = scanned.error().message};
    return;
  }
  rows_ += table.rows;
}

Value TableProfiler::to_value() const {
  Array tables;
  Value balance;
  for (const Table& table : tables_) {
    Array columns;
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      columns.push_back(table.columns[i].to_value(table.names[i]));
    Object object{{"path", table.path}, {"rows", table.rows}, {"columns", std::move(columns)}};
    if (!table.problem.empty()) object["problem"] = table.problem;
    tables.push_back(std::move(object));
    for (std::size_t i = 0; i < table.columns.size() && balance.is_null(); ++i) {
      const bool is_class = std::ranges::find(kClassColumns, table.names[i]) != kClassColumns.end();
      const auto& counts = table.columns[i].counts();
      if (!is_class || counts.size() > kClassesMax || table.columns[i].is_distinct_capped())
        continue;
      Array classes;
      for (const auto& [value, count] : counts)
        classes.push_back(Object{{"value", value}, {"count", count}});
      balance = Object{{"column", table.names[i]}, {"classes", std::move(classes)}};
    }
  }
  Object profile{{"tables", std::move(tables)}};
  if (!balance.is_null()) profile["class_balance"] = std::move(balance);
  return profile;
}

}  // namespace takt::data

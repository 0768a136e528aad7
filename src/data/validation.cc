// SPDX-License-Identifier: Apache-2.0
#include "takt/data/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "takt/base/utf8.h"

namespace takt::data {
namespace {

constexpr std::size_t kBalanceClassesMax = 1000;
constexpr std::size_t kCellShown = 100;
constexpr std::int64_t kUnbounded = std::numeric_limits<std::int64_t>::max();

std::string in_numbers(double number) {
  constexpr double kWholeMax = 9007199254740992.0;  // beyond it not every whole number exists
  const bool is_whole = std::abs(number) <= kWholeMax && std::trunc(number) == number;
  return dump_json(is_whole ? Value(static_cast<std::int64_t>(number)) : Value(number));
}

class RowCountCheck final : public RuleCheck {
 public:
  RowCountCheck(std::int64_t min, std::int64_t max) : min_(min), max_(max) {}
  void row(const std::string&, std::int64_t, const std::vector<std::string>&,
           const Cells&) override {}
  Verdict verdict(std::int64_t rows) const override {
    const std::string bounds = (min_ > 0 ? " at least " + std::to_string(min_) : "") +
                               (max_ != kUnbounded ? " at most " + std::to_string(max_) : "");
    return {rows >= min_ && rows <= max_, Object{{"rows", rows}},
            std::to_string(rows) + " rows, wanted" + bounds};
  }

 private:
  std::int64_t min_, max_;
};

/// Which columns a name (or a prefix ending in *) means, table by table.
class ColumnMatch {
 public:
  explicit ColumnMatch(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  bool fits(std::string_view column) const {
    if (name_.ends_with('*'))
      return column.starts_with(std::string_view(name_).substr(0, name_.size() - 1));
    return column == name_;
  }
  /// The places of fitting columns; notes tables that have none.
  const std::vector<std::size_t>& places(const std::string& path,
                                         const std::vector<std::string>& columns) {
    if (path != path_ || columns.size() != width_) {
      path_ = path;
      width_ = columns.size();
      places_.clear();
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (fits(columns[i])) places_.push_back(i);
      if (places_.empty())
        without_.insert(path);
      else
        without_.erase(path);
    }
    return places_;
  }
  /// "" or which tables lack it.
  std::string problem(std::int64_t rows) const {
    if (rows == 0) return "column " + name_ + ": no rows to look at";
    if (without_.empty()) return "";
    return "column " + name_ + " is missing in " + *without_.begin();
  }

 private:
  std::string name_, path_;
  std::size_t width_ = 0;
  std::vector<std::size_t> places_;
  std::set<std::string> without_;
};

class BetweenCheck final : public RuleCheck {
 public:
  BetweenCheck(std::string column, double low, double high)
      : column_(std::move(column)), low_(low), high_(high) {}
  void row(const std::string& path, std::int64_t number, const std::vector<std::string>& columns,
           const Cells& cells) override {
    for (const std::size_t i : column_.places(path, columns)) {
      if (i >= cells.size() || !cells[i]) continue;
      ++values_;
      const auto value = cell_number(*cells[i]);
      if (value) {
        min_ = min_ ? std::min(*min_, *value) : *value;
        max_ = max_ ? std::max(*max_, *value) : *value;
      }
      if (value && *value >= low_ && *value <= high_) continue;
      if (outside_++ == 0)
        example_ =
            shorten(*cells[i], kCellShown) + " in " + path + " row " + std::to_string(number);
    }
  }
  Verdict verdict(std::int64_t rows) const override {
    Object observed{{"outside", outside_}};
    if (min_) observed["min"] = *min_;
    if (max_) observed["max"] = *max_;
    if (const std::string problem = column_.problem(rows); !problem.empty())
      return {false, std::move(observed), problem};
    const std::string range = in_numbers(low_) + ".." + in_numbers(high_);
    std::string message = "column " + column_.name() + ": " + std::to_string(outside_) + " of " +
                          std::to_string(values_) + " values lie outside " + range;
    if (outside_ > 0) message += ", e.g. " + example_;
    return {outside_ == 0, std::move(observed), std::move(message)};
  }

 private:
  ColumnMatch column_;
  double low_, high_;
  std::optional<double> min_, max_;
  std::int64_t values_ = 0, outside_ = 0;
  std::string example_;
};

class MissingCheck final : public RuleCheck {
 public:
  MissingCheck(std::string column, std::int64_t max) : column_(std::move(column)), max_(max) {}
  void row(const std::string& path, std::int64_t, const std::vector<std::string>& columns,
           const Cells& cells) override {
    for (const std::size_t i : column_.places(path, columns))
      if (i >= cells.size() || !cells[i]) ++missing_;
  }
  Verdict verdict(std::int64_t rows) const override {
    Object observed{{"missing", missing_}};
    if (const std::string problem = column_.problem(rows); !problem.empty())
      return {false, std::move(observed), problem};
    return {missing_ <= max_, std::move(observed),
            "column " + column_.name() + ": " + std::to_string(missing_) +
                " missing values, at most " + std::to_string(max_) + " allowed"};
  }

 private:
  ColumnMatch column_;
  std::int64_t max_, missing_ = 0;
};

class BalanceCheck final : public RuleCheck {
 public:
  BalanceCheck(std::string column, double min_share, double max_share)
      : column_(std::move(column)), min_share_(min_share), max_share_(max_share) {}
  void row(const std::string& path, std::int64_t, const std::vector<std::string>& columns,
           const Cells& cells) override {
    for (const std::size_t i : column_.places(path, columns)) {
      if (i >= cells.size() || !cells[i]) continue;
      ++total_;
      const std::string key = counting_key(*cells[i]);
      if (counts_.size() <= kBalanceClassesMax || counts_.contains(key)) ++counts_[key];
    }
  }
  Verdict verdict(std::int64_t rows) const override {
    Object shares;
    double smallest = 1, largest = 0;
    std::string smallest_class, largest_class;
    for (const auto& [value, count] : counts_) {
      const double share = static_cast<double>(count) / static_cast<double>(total_);
      if (shares.size() < kBalanceClassesMax) shares[value] = share;
      if (share <= smallest) smallest = share, smallest_class = value;
      if (share >= largest) largest = share, largest_class = value;
    }
    Object observed{{"classes", std::move(shares)}, {"smallest", smallest}, {"largest", largest}};
    if (const std::string problem = column_.problem(rows); !problem.empty())
      return {false, std::move(observed), problem};
    const std::string name = "column " + column_.name() + ": ";
    if (total_ == 0) return {false, std::move(observed), name + "has no values"};
    if (counts_.size() > kBalanceClassesMax)
      return {false, std::move(observed),
              name + "over " + std::to_string(kBalanceClassesMax) + " classes"};
    if (smallest < min_share_)
      return {false, std::move(observed),
              name + "class " + smallest_class + " holds a share of " + in_numbers(smallest) +
                  ", at least " + in_numbers(min_share_) + " wanted"};
    return {largest <= max_share_, std::move(observed),
            name + "class " + largest_class + " holds a share of " + in_numbers(largest) +
                ", at most " + in_numbers(max_share_) + " wanted"};
  }

 private:
  ColumnMatch column_;
  double min_share_, max_share_;
  std::int64_t total_ = 0;
  std::map<std::string, std::int64_t> counts_;
};

Result<std::unique_ptr<RuleCheck>> parse_row_count(const Value& bounds, const std::string& path) {
  Fields fields(bounds, path + ".rows");
  const std::int64_t min = fields.integer("min", 0, 0, kUnbounded);
  const std::int64_t max = fields.integer("max", kUnbounded, 0, kUnbounded);
  if (!fields.has("min") && !fields.has("max"))
    fields.reject("min", "neither min nor max is given");
  TAKT_RETURN_IF_ERROR(fields.done());
  return std::make_unique<RowCountCheck>(min, max);
}

Result<std::unique_ptr<RuleCheck>> parse_balance(const Value& with, const std::string& path) {
  Fields fields(with, path + ".class_balance");
  const std::string column = fields.text("column");
  const double min_share = fields.number("min_share", 0);
  const double max_share = fields.number("max_share", 1);
  if (!fields.has("min_share") && !fields.has("max_share"))
    fields.reject("min_share", "neither min_share nor max_share is given");
  if (min_share < 0 || min_share > 1) fields.reject("min_share", "must lie in 0..1");
  if (max_share < 0 || max_share > 1) fields.reject("max_share", "must lie in 0..1");
  TAKT_RETURN_IF_ERROR(fields.done());
  return std::make_unique<BalanceCheck>(column, min_share, max_share);
}

Result<std::unique_ptr<RuleCheck>> parse_column_rule(Fields& fields) {
  const std::string column = fields.text("column");
  if (fields.has("between")) {
    const Array& range = fields.array("between");
    const bool is_range = range.size() == 2 && range[0].is_number() && range[1].is_number();
    if (!is_range) fields.reject("between", "must be two numbers, [LOW, HIGH]");
    TAKT_RETURN_IF_ERROR(fields.done());
    return std::make_unique<BetweenCheck>(column, range[0].as_number(), range[1].as_number());
  }
  Fields bounds(fields.any("missing"), fields.path_of("missing"));
  const std::int64_t max = bounds.integer("max", 0, 0, kUnbounded);
  if (!fields.has("missing")) fields.reject("column", "a column rule needs between or missing");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_RETURN_IF_ERROR(bounds.done());
  return std::make_unique<MissingCheck>(column, max);
}

Result<std::unique_ptr<RuleCheck>> parse_rule(const Value& written, const std::string& path) {
  Fields fields(written, path);
  if (fields.has("rows")) {
    const Value& bounds = fields.any("rows");
    TAKT_RETURN_IF_ERROR(fields.done());
    return parse_row_count(bounds, path);
  }
  if (fields.has("class_balance")) {
    const Value& with = fields.any("class_balance");
    TAKT_RETURN_IF_ERROR(fields.done());
    return parse_balance(with, path);
  }
  return parse_column_rule(fields);
}

}  // namespace

Result<std::vector<Rule>> parse_rules(const Value& with) {
  Fields fields(with, "with");
  const Array& written = fields.array("rules");
  TAKT_RETURN_IF_ERROR(fields.done());
  if (written.empty())
    return fail(Code::kInvalid, "validate has no rules", "give at least one, e.g. {rows: {min: 1}}",
                "with.rules");
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < written.size(); ++i) {
    TAKT_ASSIGN(auto check, parse_rule(written[i], "with.rules[" + std::to_string(i) + "]"));
    rules.push_back({written[i], std::move(check)});
  }
  return rules;
}

Value make_report(const std::vector<Rule>& rules, std::string_view dataset_ref, std::int64_t rows,
                  bool has_table, std::string_view problem) {
  Array entries;
  bool all_passed = true;
  for (const Rule& rule : rules) {
    RuleCheck::Verdict verdict = rule.check->verdict(rows);
    if (!has_table) verdict = {false, Object{}, "the version holds no table (CSV or JSON Lines)"};
    if (!problem.empty()) verdict = {false, Object{}, std::string(problem)};
    all_passed = all_passed && verdict.passed;
    entries.push_back(Object{{"rule", rule.written},
                             {"passed", verdict.passed},
                             {"observed", std::move(verdict.observed)},
                             {"message", std::move(verdict.message)}});
  }
  return Object{{"passed", all_passed},
                {"dataset", dataset_ref},
                {"rows", rows},
                {"rules", std::move(entries)}};
}

std::string failed_messages(const Value& report) {
  std::string text;
  for (const Value& entry : report["rules"].as_array())
    if (!entry["passed"].as_bool())
      text += (text.empty() ? "" : "; ") + entry.text_or("message", "");
  return text;
}

}  // namespace takt::data

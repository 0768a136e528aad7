// SPDX-License-Identifier: Apache-2.0
// The search grammar: MLflow's clauses `entity.key op value`, joined by AND, OR, NOT and
// parentheses (docs/formats/filter.md).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "takt/base/error.h"

namespace takt::track {

enum class Entity { kAttribute, kMetric, kParam, kTag, kDataset };
enum class Compare {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kLike,
  kILike,
  kIn,
  kNotIn,
  kIsNull,
  kIsNotNull,
};

using FilterValue = std::variant<std::monostate, double, std::string, std::vector<std::string>,
                                 std::vector<double>>;

struct Clause {
  Entity entity = Entity::kAttribute;
  std::string key;  // canonical: aliases are resolved
  Compare compare = Compare::kEqual;
  FilterValue value;
};

/// A clause, or parts that all, any or not must hold. Without parts, kAll holds for everything.
struct Filter {
  enum class Kind { kAll, kAny, kNot, kClause };
  Kind kind = Kind::kAll;
  Clause clause;
  std::vector<Filter> parts;

  bool empty() const { return kind == Kind::kAll && parts.empty(); }
};

enum class AttributeKind {
  kText,
  kNumber,
  kId,  // a number that is written as a quoted text; compared with = != IN NOT IN
};
struct FilterAttribute {
  std::string_view name;
  std::string_view canonical;
  AttributeKind kind = AttributeKind::kText;
  bool may_be_absent = false;  // takes IS NULL
};
/// What a kind of thing may be searched by.
struct FilterRules {
  std::vector<FilterAttribute> attributes;
  bool has_metrics = false, has_params = false, has_tags = true, has_datasets = false;
  bool may_quote_numbers = false;  // version_number = '3'
  // MLflow's words for an entity, and for an order key, that it does not know; "{}" is the word.
  std::string_view unknown_entity;
  std::string_view unknown_order_key;
};
const FilterRules& run_filter_rules();
const FilterRules& experiment_filter_rules();
const FilterRules& logged_model_filter_rules();
const FilterRules& registered_model_filter_rules();
const FilterRules& model_version_filter_rules();

inline constexpr std::size_t kFilterBytesMax = 256 << 10;
inline constexpr std::size_t kFilterClausesMax = 200;
inline constexpr std::size_t kFilterDepthMax = 24;     // NOTs and parentheses in one another
inline constexpr std::size_t kFilterListMax = 10'000;  // values in all lists together
inline constexpr std::size_t kOrderTermsMax = 20;

/// kInvalid (field `filter`): the message is MLflow's, the hint begins "at character N" and says
/// what to write instead. "" holds for everything.
Result<Filter> parse_filter(std::string_view text, const FilterRules& rules);

struct OrderTerm {
  Entity entity = Entity::kAttribute;
  std::string key;
  bool is_descending = false;
};
/// `key [ASC|DESC]`, or `-key`; each key once. Datasets cannot order.
Result<std::vector<OrderTerm>> parse_order(const std::vector<std::string>& texts,
                                           const FilterRules& rules);

/// The filter in one spelling: equal for filters that are written differently but mean the same
/// clauses in the same order.
std::string text_of(const Filter& filter);

/// A thing's own value: none when it has no such key.
using Held = std::variant<std::monostate, double, std::string>;
/// Does the clause hold for the value? What is absent matches IS NULL only. Pure.
bool clause_holds(const Clause& clause, const Held& held);
/// Does the filter hold, when `holds` answers for the clauses? Pure.
bool filter_holds(const Filter& filter, const std::function<bool(const Clause&)>& holds);
/// Orders values: numbers, then not-a-number, then absent, whatever the direction. Pure.
int compare_held(const Held& a, const Held& b, bool is_descending);
/// SQL's LIKE: % and _. Pure.
bool is_like(std::string_view text, std::string_view pattern, bool ignores_case);
/// The number that a param's or tag's text is: 12, -0.5, 1e-4; none for other texts. Pure.
std::optional<double> number_in_text(std::string_view text);

}  // namespace takt::track

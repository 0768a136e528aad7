// SPDX-License-Identifier: Apache-2.0
// The search grammar of MLflow's clients: `entity.key op value AND …` (docs/formats/filter.md).
#pragma once

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

using FilterValue = std::variant<std::monostate, double, std::string, std::vector<std::string>>;

struct Clause {
  Entity entity = Entity::kAttribute;
  std::string key;  // canonical: aliases are resolved
  Compare compare = Compare::kEqual;
  FilterValue value;
};
/// All must hold.
using Filter = std::vector<Clause>;

struct FilterAttribute {
  std::string_view name;
  std::string_view canonical;
  bool is_number = false;
  bool takes_list = false;
};
/// What a kind of thing may be searched by.
struct FilterRules {
  std::vector<FilterAttribute> attributes;
  bool has_metrics = false, has_params = false, has_tags = true, has_datasets = false;
  bool has_null_tests = false;
};
const FilterRules& run_filter_rules();
const FilterRules& experiment_filter_rules();
const FilterRules& logged_model_filter_rules();
const FilterRules& registered_model_filter_rules();
const FilterRules& model_version_filter_rules();

inline constexpr std::size_t kFilterBytesMax = 256 << 10;
inline constexpr std::size_t kFilterClausesMax = 200;

/// kInvalid (field `filter`) names the word that is wrong. "" has no clauses.
Result<Filter> parse_filter(std::string_view text, const FilterRules& rules);

struct OrderTerm {
  Entity entity = Entity::kAttribute;
  std::string key;
  bool is_descending = false;
};
/// `key [ASC|DESC]`, or `-key`; each key once. Datasets cannot order.
Result<std::vector<OrderTerm>> parse_order(const std::vector<std::string>& texts,
                                           const FilterRules& rules);

/// A thing's own value: none when it has no such key.
using Held = std::variant<std::monostate, double, std::string>;
/// Does the clause hold for the value? What is absent matches IS NULL only. Pure.
bool clause_holds(const Clause& clause, const Held& held);
/// Orders values: numbers, then not-a-number, then absent, whatever the direction. Pure.
int compare_held(const Held& a, const Held& b, bool is_descending);
/// SQL's LIKE: % and _. Pure.
bool is_like(std::string_view text, std::string_view pattern, bool ignores_case);

}  // namespace takt::track

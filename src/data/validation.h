// SPDX-License-Identifier: Apache-2.0
// The rules of the action `validate` and their verdicts. Grammar: docs/formats/validation-rules.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"
#include "takt/data/table.h"

namespace takt::data {

/// One parsed rule that watches rows go by and gives its verdict at the end.
class RuleCheck {
 public:
  virtual ~RuleCheck() = default;
  virtual void row(const std::string& path, std::int64_t number,
                   const std::vector<std::string>& columns, const Cells& cells) = 0;
  struct Verdict {
    bool passed = false;
    Value observed;
    std::string message;
  };
  virtual Verdict verdict(std::int64_t rows) const = 0;
};

struct Rule {
  Value written;  // as in the spec
  std::unique_ptr<RuleCheck> check;
};
/// From `with:`; kInvalid names `rules[i]` and the nearest known key.
Result<std::vector<Rule>> parse_rules(const Value& with);

/// The report as docs/formats/validation-rules.md has it.
Value make_report(const std::vector<Rule>& rules, std::string_view dataset_ref, std::int64_t rows,
                  bool has_table, std::string_view problem);
/// The messages of the failed rules, joined.
std::string failed_messages(const Value& report);

}  // namespace takt::data

// SPDX-License-Identifier: Apache-2.0
// What the filter's and the order's parsers share: words, and the subjects that words name.
#pragma once

#include <string>
#include <string_view>

#include "takt/track/filter.h"

namespace takt::track::internal {

enum class WordKind { kEnd, kIdentifier, kText, kNumber, kOperator, kOpen, kClose, kComma };

struct Word {
  WordKind kind = WordKind::kEnd;
  std::string text;   // as written
  std::string value;  // of a text, or of a name in double quotes: without quotes
  std::size_t at = 0;
};

/// Cuts a text into words, one at a time.
class WordScan {
 public:
  explicit WordScan(std::string_view text) : text_(text) {}
  Result<Word> next();

 private:
  bool is_number_start() const;
  Word number();
  Result<std::string> quoted(char quote);
  Result<Word> quoted_text();
  Result<Word> identifier();
  Word symbol();

  std::string_view text_;
  std::size_t at_ = 0;
};

bool is_space_char(char c);
std::string upper_of(std::string_view text);
/// As errors quote it; "the end" at the end.
std::string shown_word(const Word& word);
/// kInvalid at that place: "at character 7: REMEDY" is the hint.
std::unexpected<Error> refuse_filter(std::string message, std::size_t at, std::string remedy);

struct Subject {
  Entity entity = Entity::kAttribute;
  std::string key;
  const FilterAttribute* attribute = nullptr;
};
/// `metrics.acc`, `"start_time"`, `run_id` as written at that place of the filter.
Result<Subject> parse_subject(std::string_view written, std::size_t at, const FilterRules& rules);
bool is_numeric(const Subject& subject);
std::string_view entity_word(Entity entity);

}  // namespace takt::track::internal

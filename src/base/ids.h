// SPDX-License-Identifier: Apache-2.0
// Every id type of the platform. Rooms refer to each other's things by these, never by object.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "takt/base/error.h"

namespace takt {

/// A text id that cannot be mistaken for another kind's.
template <class Tag>
struct Id {
  std::string value;
  auto operator<=>(const Id&) const = default;
  bool empty() const { return value.empty(); }
};

using ProjectId = Id<struct ProjectTag>;        // the project's name
using UserId = Id<struct UserTag>;              // the user's name
using TokenId = Id<struct TokenTag>;            // public part of a token
using RunId = Id<struct RunTag>;                // 32 lower-case hex digits
using ExperimentId = Id<struct ExperimentTag>;  // decimal text, as MLflow has it
using Digest = Id<struct DigestTag>;            // SHA-256, 64 lower-case hex digits

/// Jobs are numbered per server, 1, 2, 3 …
struct JobId {
  std::int64_t value = 0;
  auto operator<=>(const JobId&) const = default;
};

/// NAME@N of something versioned.
struct VersionId {
  std::string name;
  std::int64_t number = 0;
  auto operator<=>(const VersionId&) const = default;
  std::string text() const { return name + "@" + std::to_string(number); }
};
struct DatasetVersionId : VersionId {};
struct ModelVersionId : VersionId {};

/// A thing as text: kind and path, `dataset/digits@3`. The one form in events, lineage and `takt
/// why`.
struct Ref {
  std::string kind;
  std::string path;
  auto operator<=>(const Ref&) const = default;
  std::string text() const { return kind + "/" + path; }
};
Ref ref_of(const DatasetVersionId& id);
Ref ref_of(const ModelVersionId& id);
Ref ref_of(JobId id);
Ref ref_of(const RunId& id);
Ref ref_of(const UserId& id);
/// Splits at the first slash; kInvalid when there is none or the kind is empty.
Result<Ref> parse_ref(std::string_view text);

/// NAME, NAME@3 or NAME@word, as people write it in specs. An all-digit word is a version number.
struct VersionSelector {
  std::string name;
  std::int64_t number = 0;  // 0: by alias, or the latest when `alias` is empty too
  std::string alias;
};
Result<VersionSelector> parse_version_selector(std::string_view text);

/// Checks a name that users give: 1–128 of [A-Za-z0-9._-], starting with a letter or digit.
/// `what` stands in the message ("dataset name").
Status check_name(std::string_view what, std::string_view name);
/// As check_name, and not all digits, not "latest", not v<digits>.
Status check_alias(std::string_view alias);

bool is_digest(std::string_view text);

}  // namespace takt

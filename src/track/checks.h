// SPDX-License-Identifier: Apache-2.0
// What may be logged: names, lengths, counts. The messages are those that MLflow's clients know.
#pragma once

#include <string>
#include <string_view>

#include "takt/base/value.h"
#include "takt/track/run.h"

namespace takt::track {

inline constexpr std::size_t kKeyBytesMax = 250;
inline constexpr std::size_t kParamBytesMax = 6000;
inline constexpr std::size_t kTagBytesMax = 8000;
inline constexpr std::size_t kExperimentTagBytesMax = 20'000;
inline constexpr std::size_t kExperimentNameBytesMax = 500;
inline constexpr std::size_t kMetricsPerBatchMax = 1000;
inline constexpr std::size_t kParamsPerBatchMax = 100;
inline constexpr std::size_t kTagsPerBatchMax = 100;
inline constexpr std::size_t kEntitiesPerBatchMax = 1000;

/// "Invalid value <compact JSON> for parameter '<path>' supplied[: why]"
std::unexpected<Error> invalid_value(std::string_view path, const Value& value,
                                     std::string_view why = {});
/// "Missing value for required parameter '<path>'."
std::unexpected<Error> missing_value(std::string_view path);

/// A metric's, param's or tag's key at `path` in the request.
Status check_key(std::string_view path, std::string_view key);
Status check_length(std::string_view path, std::string_view text, std::size_t bytes_max);
/// The text, cut at the limit between characters: long values are kept in part, as the peer does.
std::string cut_text(std::string_view text, std::size_t bytes_max);
Status check_experiment_name(std::string_view name);
/// Refuses what could not be a place for artifacts (`#`, `..`, queries).
Status check_artifact_location(std::string_view location);

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// The verbs that track writes into the event log. Points, parameters, tags and artifacts are data.
#pragma once

#include <string_view>

#include "takt/store/event_log.h"
#include "takt/track/run.h"

namespace takt::track {

/// subject experiment/ID; details: {name}.
inline constexpr std::string_view kExperimentCreated = "experiment.created";
inline constexpr std::string_view kExperimentRenamed = "experiment.renamed";
inline constexpr std::string_view kExperimentDeleted = "experiment.deleted";
inline constexpr std::string_view kExperimentRestored = "experiment.restored";
/// subject run/ID; details: {name, experiment}.
inline constexpr std::string_view kRunCreated = "run.created";
/// details: {name, status, duration_ms}.
inline constexpr std::string_view kRunEnded = "run.ended";
inline constexpr std::string_view kRunResumed = "run.resumed";
inline constexpr std::string_view kRunDeleted = "run.deleted";
inline constexpr std::string_view kRunRestored = "run.restored";

store::Event run_event(std::string_view verb, const ProjectId& project, const UserId& actor,
                       const Run& run);

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// The variables that a job's command sees: built from nothing, so that no secret of the server
// leaks.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "takt/jobs/attempt_folder.h"
#include "takt/jobs/job.h"

namespace takt::jobs {

struct EnvironmentFacts {
  std::string server_url;
  std::string token;  // of the job; empty for endless kinds
};
std::map<std::string, std::string> build_environment(const Job& job, const Attempt& attempt,
                                                     const AttemptFolder& folder,
                                                     const EnvironmentFacts& facts);

/// Where an input lies and an output is to be written; JSON ones are files.
std::filesystem::path input_path(const AttemptFolder& folder, const std::string& name,
                                 actions::PortKind kind);
std::filesystem::path output_path(const AttemptFolder& folder, const std::string& name,
                                  actions::PortKind kind);

/// "learning-rate" -> "LEARNING_RATE"
std::string variable_name(std::string_view name);

/// `python` as the first word means the spec's interpreter; in endless kinds ${NAME} stands for a
/// variable.
std::vector<std::string> build_command(const JobSpec& spec,
                                       const std::map<std::string, std::string>& environment);

}  // namespace takt::jobs

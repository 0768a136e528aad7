// SPDX-License-Identifier: Apache-2.0
// What a submission records of where it was made: code, interpreter, packages, git.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "takt/cli/session.h"

namespace takt::cli {

/// Uploads the folder without what .taktignore names; its tree.
Result<Digest> capture_code(Session& session, const std::filesystem::path& folder);

struct CapturedEnvironment {
  std::string python;  // path of the interpreter; a virtual environment's link is kept as it is
  Digest lock;         // blob: interpreter version and installed packages, one per line
};
/// The interpreter that `word` (python, python3 or a path) means here, with its lock uploaded.
/// kNotFound when it cannot be run.
Result<CapturedEnvironment> capture_environment(Session& session, const std::string& word);

/// Is this the first word of a Python command?
bool is_python(const std::string& word);

/// Fills `code`, `environment` and git facts into the spec of a Job document.
Status complete_job_spec(Session& session, Value& spec, const std::filesystem::path& folder);

/// Fills the interpreter into every job node that runs Python; the environment's lock, if any did.
Result<std::optional<Digest>> complete_pipeline(Session& session, Value& definition);

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// The client reads the client's files: hash, ask what is missing, pack, upload.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "takt/cli/session.h"
#include "takt/content/snapshot.h"

namespace takt::cli {

struct Uploaded {
  Digest tree;
  std::int64_t files = 0, bytes = 0;
  std::int64_t sent_bytes = 0;  // what the server did not have yet
};

/// Uploads the files and their manifest; what an interrupted upload sent counts when it is
/// repeated.
Result<Uploaded> upload_files(Session& session, const std::vector<content::SourceFile>& files,
                              const std::string& what);
/// One object in memory.
Result<Digest> upload_bytes(Session& session, const std::string& bytes);

/// The files of several paths as one list: a lone folder's content stands at the root, a file under
/// its own name, and with several paths each folder under its name.
Result<std::vector<content::SourceFile>> collect(const std::vector<std::string>& paths);

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// How an attempt is kept from the server's files, and what it may see.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "takt/base/value.h"
#include "takt/jobs/executor.h"

namespace takt::jobs {

enum class IsolationKind { kNamespace, kBubblewrap, kNone };
std::string_view isolation_name(IsolationKind kind);

struct IsolationProbe {
  IsolationKind kind = IsolationKind::kNone;
  std::string warning;  // why it is none, and what helps
};
/// Own mounts when root and the kernel lets us, else bubblewrap if it works, else nothing.
IsolationProbe probe_isolation(const std::filesystem::path& shim,
                               const std::filesystem::path& data_dir);

/// What the command may reach below the hidden data folder: its own things, inputs read-only; and
/// the interpreter or program it is started with, should it lie in a private folder.
struct VisibleFolders {
  std::vector<std::string> writable;
  std::vector<std::string> read_only;
};
VisibleFolders visible_folders(const Launch& launch);

/// `command` behind bubblewrap, with the same view of the file system.
std::vector<std::string> wrap_in_bubblewrap(const Launch& launch,
                                            const std::filesystem::path& data_dir);

}  // namespace takt::jobs

// SPDX-License-Identifier: Apache-2.0
// Does loading a version's files execute code? Pickles are read opcode by opcode, never loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"
#include "takt/content/manifest.h"
#include "takt/models/pickle.h"
#include "takt/store/blobs.h"

namespace takt::models {

struct FileScan {
  std::string path;                  // "data.pkl" inside "weights.pt" is "weights.pt!data.pkl"
  std::vector<std::string> globals;  // not known to be harmless: "os.system"
  std::string trouble;               // why it could not be walked to its end
  bool executes() const { return !globals.empty() || !trouble.empty(); }
};
struct CodeScan {
  std::vector<FileScan> files;  // the pickles among the version's files
  /// none: no pickle; safe: pickles of harmless names only; executes: one names something else, or
  /// could not be walked.
  std::string_view verdict() const;
};
Value to_value(const CodeScan& scan);

/// Of all files of a tree.
Result<CodeScan> scan_files(store::BlobStore& blobs, const ProjectId& project,
                            const content::Manifest& files);
/// Of one file; nothing is added when it is no pickle. The error is that of `read`.
Status scan_file(std::string_view path, const ReadAt& read, std::int64_t size, CodeScan& scan);

}  // namespace takt::models

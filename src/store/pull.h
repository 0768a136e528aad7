// SPDX-License-Identifier: Apache-2.0
// Blobs as the bodies of downloads.
#pragma once

#include <cstdint>

#include "takt/store/blobs.h"

namespace takt::store {

/// Pulls a whole blob of `size` bytes in order. The last bytes of a corrupted one are an error, so
/// that no download of it ever looks whole. `blobs` has to outlive it.
ReadBytes pull_blob(BlobStore& blobs, const ProjectId& project, const Digest& digest,
                    std::int64_t size);

}  // namespace takt::store

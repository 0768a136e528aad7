// SPDX-License-Identifier: Apache-2.0
// A stored file as an HTTP answer that a browser cannot be made to run.
#pragma once

#include <string>
#include <string_view>

#include "takt/content/manifest.h"
#include "takt/net/http.h"
#include "takt/store/blobs.h"

namespace takt::track {

/// By the name's ending; never what the uploader said.
std::string_view content_type_of(std::string_view name);
/// Small files are read whole, so that a corrupted one is an error and never a body; large ones
/// stream.
Result<net::Response> download(store::BlobStore& blobs, const ProjectId& project,
                               const content::Entry& file);

}  // namespace takt::track

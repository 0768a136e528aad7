// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/store/blobs.h"

namespace takt::spine {

/// Upload and download of content by digest.
void register_blob_routes(net::Router& router, store::BlobStore& blobs, access::Policy& policy);

}  // namespace takt::spine

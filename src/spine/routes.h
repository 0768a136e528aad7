// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/spine/event_stream.h"
#include "takt/spine/line.h"
#include "takt/spine/why.h"
#include "takt/store/blobs.h"

namespace takt::spine {

struct Services {
  store::Database& db;
  store::BlobStore& blobs;
  access::Policy& policy;
  EventStream& events;
  WhyService& why;
  LineService& line;
};

/// blobs, events, lineage, why, go, line (api/openapi/spine.yaml).
void register_routes(net::Router& router, const Services& services);

}  // namespace takt::spine

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/services/station.h"

namespace takt::services {

/// Services, their traffic and figures (api/openapi/services.yaml).
void register_routes(net::Router& router, Station& station, access::Policy& policy);

}  // namespace takt::services

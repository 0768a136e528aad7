// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/data/dataset_service.h"
#include "takt/net/http.h"

namespace takt::data {

/// datasets and their versions (api/openapi/data.yaml).
void register_routes(net::Router& router, DatasetService& datasets, access::Policy& policy);

}  // namespace takt::data

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/pipelines/pipeline_service.h"

namespace takt::pipelines {

/// pipelines, their runs and decisions (api/openapi/pipelines.yaml).
void register_routes(net::Router& router, PipelineService& pipelines, access::Policy& policy);

}  // namespace takt::pipelines

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/models/model_registry.h"
#include "takt/net/http.h"

namespace takt::models {

/// takt's own views (api/openapi/models.yaml) and MLflow's registry routes. track's routes must be
/// registered too: they set MLflow's error form.
void register_routes(net::Router& router, ModelRegistry& registry, access::Policy& policy);
/// MLflow's part of it.
void register_mlflow_registry(net::Router& router, ModelRegistry& registry, access::Policy& policy);

}  // namespace takt::models

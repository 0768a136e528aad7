// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/models/model_registry.h"
#include "takt/net/http.h"

namespace takt::models {

/// takt's own views (api/openapi/models.yaml) and MLflow's registry routes. track's routes must be
/// registered too: they set MLflow's error form.
void register_routes(net::Router& router, ModelRegistry& registry, access::Policy& policy);
/// Rules, checks, approvals, evidence, rollback.
void register_gate_routes(net::Router& router, ModelRegistry& registry, access::Policy& policy);
/// A version as the API shows it.
Value to_value(const ModelVersion& version);
/// NAME and VERSION of the path: a number, an alias or latest.
Result<VersionSelector> version_of_path(const net::Request& request);
/// MLflow's part of it.
void register_mlflow_registry(net::Router& router, ModelRegistry& registry, access::Policy& policy);

}  // namespace takt::models

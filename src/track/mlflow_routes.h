// SPDX-License-Identifier: Apache-2.0
// MLflow's tracking routes: each file registers one family.
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/track_service.h"

namespace takt::track {

void register_mlflow_experiments(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_runs(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_searches(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_logged_models(net::Router& router, LoggedModelService& models,
                                   ArtifactService& artifacts, access::Policy& policy);
void register_mlflow_artifacts(net::Router& router, TrackService& track, ArtifactService& artifacts,
                               access::Policy& policy);

Value mlflow_run(const Run& run);
Value mlflow_run_info(const Run& run);
Value mlflow_experiment(const Experiment& experiment);

}  // namespace takt::track

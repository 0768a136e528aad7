// SPDX-License-Identifier: Apache-2.0
// MLflow's tracking routes: each file registers one family.
#pragma once

#include "takt/access/access.h"
#include "takt/base/json_writer.h"
#include "takt/net/http.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/track_service.h"

namespace takt::track {

void register_mlflow_experiments(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_runs(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_searches(net::Router& router, TrackService& track, access::Policy& policy);
void register_mlflow_logged_models(net::Router& router, TrackService& track,
                                   LoggedModelService& models, ArtifactService& artifacts,
                                   access::Policy& policy);
void register_mlflow_artifacts(net::Router& router, TrackService& track, ArtifactService& artifacts,
                               access::Policy& policy);

// mlflow_json.cc
void write_point(JsonWriter& out, const RunId& run, std::string_view key, const Point& point);
void write_run_info(JsonWriter& out, const Run& run);
void write_run(JsonWriter& out, const Run& run);
/// {"run": …}
net::Response run_response(const Run& run);
net::Response json_response(JsonWriter& out);

Value mlflow_experiment(const Experiment& experiment);

}  // namespace takt::track

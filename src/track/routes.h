// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/track_service.h"

namespace takt::track {

/// The three services of the room, as app makes them.
struct TrackServices {
  TrackService& track;
  LoggedModelService& logged_models;
  ArtifactService& artifacts;
};

/// takt's own views (api/openapi/track.yaml) and MLflow's tracking and artifact routes.
void register_routes(net::Router& router, TrackServices services, access::Policy& policy);
/// Part of them.
void register_curve_routes(net::Router& router, TrackService& track, access::Policy& policy);

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// How traffic moves between a service's revisions: each step changes the row in hand and says what
// was decided. Pure; the caller stores both in one transaction.
#pragma once

#include "takt/services/service.h"
#include "takt/services/service_store.h"

namespace takt::services {

/// How long the revision before runs on after a promotion.
inline constexpr std::int64_t kKeepPreviousMs = 10 * 60 * 1000;

/// `revision` becomes the candidate: as a rollout that takes all, or as a canary with `share`.
Decided begin_rollout(ServiceRow& service, const RevisionRow& revision, UnixMs now);
Decided begin_canary(ServiceRow& service, const RevisionRow& revision, double share, UnixMs now);
/// kConflict without an open canary.
Result<Decided> set_share(ServiceRow& service, const RevisionRow* candidate, double share);
/// The candidate takes all. kConflict without one, or while it is not ready.
Result<Decided> promote(ServiceRow& service, const RevisionRow* candidate, UnixMs now);
Result<Decided> abort_canary(ServiceRow& service, std::string_view why);
/// To the revision before; at once when it is ready still. Aborts an open canary instead.
Result<Decided> roll_back(ServiceRow& service, const RevisionRow* previous, UnixMs now);
Decided stop(ServiceRow& service);
/// The candidate got ready: takes its share.
Decided candidate_ready(ServiceRow& service, const RevisionRow& candidate, UnixMs now);

}  // namespace takt::services

// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/events.h"

namespace takt::jobs::events {

Status append(store::Tx& tx, const Job& job, std::string_view verb, const UserId& actor,
              Object more) {
  store::Event event;
  event.project = job.project;
  event.actor = actor;
  event.verb = verb;
  event.subject = ref_of(job.id);
  more["name"] = job.spec.name;
  more["state"] = job_state_name(job.state);
  more["kind"] = job_kind_name(job.spec.kind);
  if (!job.run.empty()) more["run"] = job.run.value;
  event.details = Value(std::move(more));
  TAKT_RETURN_IF_ERROR(store::append_event(tx, std::move(event)));
  return {};
}

}  // namespace takt::jobs::events

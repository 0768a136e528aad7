// SPDX-License-Identifier: Apache-2.0
#include "takt/jobs/plan.h"

#include <algorithm>
#include <array>

#include "takt/base/units.h"

namespace takt::jobs {
namespace {

constexpr std::size_t kHoldersNamed = 5;

// One kind of resource: how to read it and how people see it.
struct Dimension {
  std::string_view field;
  std::int64_t Resources::* amount;
  std::string (*render)(std::int64_t);
  std::string_view noun;
};

std::string render_millicores(std::int64_t millicores) { return std::to_string(millicores) + "m"; }
std::string render_gpus(std::int64_t gpus) { return std::to_string(gpus); }

const std::array<Dimension, 3> kDimensions{{
    {"cpu", &Resources::cpu_millicores, &render_millicores, " CPU"},
    {"memory", &Resources::memory_bytes, &format_bytes, " memory"},
    {"gpus", &Resources::gpus, &render_gpus, " GPUs"},
}};

Resources plus(Resources a, const Resources& b) {
  for (const Dimension& d : kDimensions) a.*d.amount += b.*d.amount;
  return a;
}

bool fits(const Resources& asked, const Resources& used, const Resources& capacity) {
  return std::ranges::all_of(kDimensions, [&](const Dimension& d) {
    return asked.*d.amount == 0 || used.*d.amount + asked.*d.amount <= capacity.*d.amount;
  });
}

// "1500m of 2000m are reserved by job 3 (1000m), job 4 (500m)"
std::string describe_holders(const Dimension& d, const std::vector<PlacedJob>& placed,
                             const Resources& used, const Resources& capacity) {
  if (used.*d.amount == 0) return "this machine has " + d.render(capacity.*d.amount);
  std::vector<const PlacedJob*> holders;
  for (const PlacedJob& job : placed)
    if (job.resources.*d.amount > 0) holders.push_back(&job);
  std::ranges::stable_sort(holders, [&](const PlacedJob* a, const PlacedJob* b) {
    return a->resources.*d.amount > b->resources.*d.amount;
  });
  std::string text =
      d.render(used.*d.amount) + " of " + d.render(capacity.*d.amount) + " are reserved by ";
  for (std::size_t i = 0; i < holders.size() && i < kHoldersNamed; ++i) {
    text += (i == 0 ? "job " : ", job ") + std::to_string(holders[i]->id.value) + " (" +
            d.render(holders[i]->resources.*d.amount) + ")";
  }
  if (holders.size() > kHoldersNamed)
    text += " and " + std::to_string(holders.size() - kHoldersNamed) + " more";
  return text;
}

std::string describe_shortage(const Resources& asked, const std::vector<PlacedJob>& placed,
                              const Resources& used, const Resources& capacity) {
  std::string text;
  for (const Dimension& d : kDimensions) {
    if (asked.*d.amount == 0 || used.*d.amount + asked.*d.amount <= capacity.*d.amount) continue;
    if (!text.empty()) text += "; ";
    text += "needs " + d.render(asked.*d.amount) + std::string(d.noun) + "; " +
            describe_holders(d, placed, used, capacity);
  }
  return text;
}

// The walk over the queue: what is placed and used grows with each decision.
struct Planner {
  const Resources& capacity;
  UnixMs now;
  std::int64_t hold_after_ms;
  std::vector<PlacedJob> placed;
  Resources used;
  const QueuedJob* holder = nullptr;  // has waited so long that nothing passes it

  Decision decide(const QueuedJob& job) {
    if (job.not_before_ms > now)
      return Wait{
          job.id,
          "waits " + format_duration_ms(job.not_before_ms - now) + " more before its next attempt",
          job.not_before_ms};
    if (const Status possible = check_fits(job.resources, capacity); !possible)
      return Wait{job.id, possible.error().message};
    if (holder != nullptr)
      return Wait{job.id, "job " + std::to_string(holder->id.value) +
                              " is before it and has waited " +
                              format_duration_ms(now - holder->submitted_ms) +
                              ", so nothing passes it any more"};
    if (!fits(job.resources, used, capacity)) {
      const UnixMs held_from = job.submitted_ms + hold_after_ms;
      if (now >= held_from) holder = &job;
      return Wait{job.id, describe_shortage(job.resources, placed, used, capacity),
                  now < held_from ? held_from : 0};
    }
    placed.push_back({job.id, job.resources});
    used = plus(used, job.resources);
    return Place{job.id};
  }
};

}  // namespace

Resources sum(const std::vector<PlacedJob>& placed) {
  Resources total{0, 0, 0};
  for (const PlacedJob& job : placed) total = plus(total, job.resources);
  return total;
}

Status check_fits(const Resources& asked, const Resources& capacity) {
  for (const Dimension& d : kDimensions) {
    if (asked.*d.amount <= capacity.*d.amount) continue;
    return fail(
        Code::kInvalid,
        "it can never run here: needs " + d.render(asked.*d.amount) + std::string(d.noun) +
            ", this machine has " + d.render(capacity.*d.amount),
        "lower resources." + std::string(d.field) + " to at most " + d.render(capacity.*d.amount),
        "spec.resources." + std::string(d.field));
  }
  return {};
}

std::vector<Decision> plan(const QueueView& view, const Resources& capacity, UnixMs now,
                           std::int64_t hold_after_ms) {
  std::vector<const QueuedJob*> queue;
  for (const QueuedJob& job : view.waiting) queue.push_back(&job);
  std::ranges::sort(queue, [](const QueuedJob* a, const QueuedJob* b) {
    return a->priority != b->priority ? a->priority > b->priority : a->id < b->id;
  });
  Planner planner{capacity, now, hold_after_ms, view.placed, sum(view.placed)};
  std::vector<Decision> decisions;
  for (const QueuedJob* job : queue) decisions.push_back(planner.decide(*job));
  return decisions;
}

}  // namespace takt::jobs

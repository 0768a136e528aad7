// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/routes_table.h"

#include <algorithm>

#include "takt/base/digest.h"
#include "takt/gateway/request_id.h"

namespace takt::gateway {
namespace {

constexpr std::int64_t kAvoidUs = 500'000;
constexpr std::size_t kRetiredMax = 256;  // counters of revisions that are gone from the snapshot

std::string key_of(const ReplicaEndpoint& endpoint) { return endpoint.http + " " + endpoint.grpc; }

bool can_speak(const Replica& replica, Wire wire) {
  return wire == Wire::kHttp || !replica.endpoint.grpc.empty();
}

bool has_replicas(const RevisionRoute& revision, Wire wire) {
  return std::ranges::any_of(revision.replicas,
                             [&](const auto& replica) { return can_speak(*replica, wire); });
}

/// A revision by weight among those with replicas; null when there is none.
const RevisionRoute* pick_revision(const ServiceRoute& service, Wire wire, Rng& rng) {
  double total = 0;
  for (const RevisionRoute& revision : service.revisions)
    if (has_replicas(revision, wire)) total += revision.share;
  if (total <= 0) return nullptr;
  double at = rng.uniform() * total;
  const RevisionRoute* last = nullptr;
  for (const RevisionRoute& revision : service.revisions) {
    if (revision.share <= 0 || !has_replicas(revision, wire)) continue;
    last = &revision;
    if (at < revision.share) break;
    at -= revision.share;
  }
  return last;
}

std::unexpected<Error> no_replica(std::string_view service) {
  return fail(Code::kUnavailable, "service '" + std::string(service) + "' has no ready replica",
              "see takt why service/" + std::string(service));
}

}  // namespace

Choice::Choice(std::int64_t revision_number, std::uint32_t hash, std::shared_ptr<Replica> replica,
               std::shared_ptr<RevisionCounters> counters)
    : revision(revision_number),
      service_hash(hash),
      replica_(std::move(replica)),
      counters_(std::move(counters)) {
  replica_->outstanding.fetch_add(1, std::memory_order_relaxed);
}

Rng& thread_rng() {
  thread_local Rng rng(std::stoull(random_hex(8), nullptr, 16));
  return rng;
}

Routes::Routes(const Clock& clock) : clock_(clock), table_(std::make_shared<const Table>()) {}

std::vector<ReplicaEndpoint> Routes::apply(const Snapshot& snapshot) {
  auto table = std::make_shared<Table>();
  table->version = snapshot.version;
  table->token_hashes = snapshot.token_hashes;
  const std::lock_guard guard(mutex_);
  std::map<std::string, std::shared_ptr<Replica>> replicas;
  std::map<RevisionKey, std::shared_ptr<RevisionCounters>> live;
  for (const ServiceEntry& service : snapshot.services) {
    ServiceRoute route{service.name, hash_service(service.name), {}};
    for (const RevisionEntry& revision : service.revisions) {
      auto& counters = counters_[{service.name, revision.number}];
      if (!counters) counters = std::make_shared<RevisionCounters>();
      live[{service.name, revision.number}] = counters;
      RevisionRoute target{revision.number, revision.share, {}, counters};
      for (const ReplicaEndpoint& endpoint : revision.replicas) {
        auto& replica = replicas[key_of(endpoint)];
        if (const auto known = replicas_.find(key_of(endpoint)); known != replicas_.end())
          replica = known->second;
        if (!replica) replica = std::make_shared<Replica>(endpoint);
        target.replicas.push_back(replica);
      }
      route.revisions.push_back(std::move(target));
    }
    table->services.emplace(service.name, std::move(route));
  }
  if (counters_.size() > live.size() + kRetiredMax) counters_ = std::move(live);
  std::vector<ReplicaEndpoint> gone;
  for (const auto& [key, replica] : replicas_)
    if (!replicas.contains(key)) gone.push_back(replica->endpoint);
  replicas_ = std::move(replicas);
  table_.store(std::move(table), std::memory_order_release);
  return gone;
}

std::unique_ptr<Choice> Routes::take(const ServiceRoute& service, const RevisionRoute& revision,
                                     const Replica* except, Wire wire, Rng& rng) const {
  const std::int64_t now = clock_.mono().us;
  const std::size_t count = revision.replicas.size();
  const std::size_t start = count > 1 ? rng.below(count) : 0;  // ties go to either
  std::shared_ptr<Replica> best;
  std::pair<bool, int> best_rank;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& replica = revision.replicas[(start + i) % count];
    if (replica.get() == except || !can_speak(*replica, wire)) continue;
    const std::pair rank{replica->avoid_until_us.load(std::memory_order_relaxed) > now,
                         replica->outstanding.load(std::memory_order_relaxed)};
    if (best && rank >= best_rank) continue;
    best = replica;
    best_rank = rank;
  }
  if (!best) return nullptr;
  return std::make_unique<Choice>(revision.number, service.hash, std::move(best),
                                  revision.counters);
}

Result<std::unique_ptr<Choice>> Routes::choose(std::string_view service, Wire wire,
                                               Rng& rng) const {
  const auto table = this->table();
  const auto found = table->services.find(service);
  if (found == table->services.end()) {
    std::vector<std::string> names;
    for (const auto& [name, route] : table->services) names.push_back(name);
    const std::string near = nearest_name(service, names);
    return fail(Code::kNotFound, "no service '" + std::string(service.substr(0, 128)) + "'",
                near.empty() ? "the model name in a request is the name of a service"
                             : "did you mean '" + near + "'?");
  }
  const RevisionRoute* revision = pick_revision(found->second, wire, rng);
  if (revision == nullptr) return no_replica(service);
  return take(found->second, *revision, nullptr, wire, rng);
}

Result<std::unique_ptr<Choice>> Routes::choose_again(std::string_view service, Wire wire,
                                                     const Choice& failed, Rng& rng) const {
  const auto table = this->table();
  const auto found = table->services.find(service);
  if (found == table->services.end()) return no_replica(service);
  const RevisionRoute* same = nullptr;
  for (const RevisionRoute& revision : found->second.revisions)
    if (revision.number == failed.revision && revision.share > 0) same = &revision;
  std::unique_ptr<Choice> choice;
  if (same != nullptr) choice = take(found->second, *same, &failed.replica(), wire, rng);
  for (const RevisionRoute& revision : found->second.revisions)
    if (!choice && &revision != same && revision.share > 0)
      choice = take(found->second, revision, &failed.replica(), wire, rng);
  if (!choice && same != nullptr) choice = take(found->second, *same, nullptr, wire, rng);
  if (!choice) return no_replica(service);
  return choice;
}

Result<std::unique_ptr<Choice>> Routes::choose_any(Wire wire, Rng& rng) const {
  const auto table = this->table();
  for (const auto& [name, service] : table->services)
    if (const RevisionRoute* revision = pick_revision(service, wire, rng))
      return take(service, *revision, nullptr, wire, rng);
  return fail(Code::kUnavailable, "no service has a ready replica", "see takt services");
}

void Routes::avoid(Replica& replica) const {
  replica.avoid_until_us.store(clock_.mono().us + kAvoidUs, std::memory_order_relaxed);
}

std::map<RevisionKey, RevisionCounts> Routes::counts() const {
  std::map<RevisionKey, RevisionCounts> counts;
  const std::lock_guard guard(mutex_);
  for (const auto& [key, counters] : counters_) counts.emplace(key, counters->load());
  return counts;
}

}  // namespace takt::gateway

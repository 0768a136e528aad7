// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/why.h"

#include <algorithm>
#include <deque>
#include <set>

namespace takt::spine {
namespace {

constexpr int kEdgesMax = 500;

/// Distances from `start` in one direction only: an origin's other results are cousins, not
/// lineage.
void walk_one_way(const Ref& start, const std::vector<store::Edge>& edges, bool to_origins,
                  std::map<Ref, int>& depths, std::vector<bool>& is_used) {
  std::deque<Ref> open{start};
  std::map<Ref, int> seen{{start, 0}};
  while (!open.empty()) {
    const Ref here = open.front();
    open.pop_front();
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const Ref& near_end = to_origins ? edges[i].from : edges[i].to;
      const Ref& far_end = to_origins ? edges[i].to : edges[i].from;
      if (near_end != here) continue;
      is_used[i] = true;
      const int depth = seen[here] + (to_origins ? -1 : 1);
      if (seen.emplace(far_end, depth).second) open.push_back(far_end);
    }
  }
  for (const auto& [ref, depth] : seen) depths.emplace(ref, depth);
}

}  // namespace

LineageGraph layer_lineage(const Ref& start, std::vector<store::Edge> edges) {
  std::map<Ref, int> depths{{start, 0}};
  std::vector<bool> is_used(edges.size(), false);
  walk_one_way(start, edges, true, depths, is_used);
  walk_one_way(start, edges, false, depths, is_used);
  LineageGraph graph;
  for (const auto& [ref, depth] : depths) graph.nodes.push_back({ref, depth});
  std::ranges::stable_sort(graph.nodes, {}, &LineageNode::depth);
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (is_used[i]) graph.edges.push_back(std::move(edges[i]));
  return graph;
}

void WhyService::add(std::shared_ptr<Explainer> explainer) {
  for (const std::string& kind : explainer->kinds()) explainers_[kind] = explainer;
}

Result<LineageGraph> WhyService::lineage(const access::CanRead& by, const Ref& ref, int depth) {
  std::vector<store::Edge> edges;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(edges, store::walk_lineage(reader, by.project(), ref, depth, kEdgesMax));
    return {};
  }));
  return layer_lineage(ref, std::move(edges));
}

Result<std::vector<Ref>> WhyService::candidates(const access::CanRead& by,
                                                const std::string& word) {
  std::vector<Ref> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(found, store::find_refs(reader, by.project(), word));
    return {};
  }));
  std::set<Ref> unique(found.begin(), found.end());
  for (const auto& [kind, explainer] : explainers_) {
    const Ref guess{kind, word};
    const auto explained = explainer->explain(by.project(), guess);
    if (explained) unique.insert(explained->ref.kind.empty() ? guess : explained->ref);
  }
  return std::vector<Ref>(unique.begin(), unique.end());
}

Result<WhyAnswer> WhyService::why(const access::CanRead& by, const std::string& thing, int depth) {
  if (const auto ref = parse_ref(thing); ref && explainers_.contains(ref->kind))
    return answer(by, *ref, depth);
  TAKT_ASSIGN(std::vector<Ref> fits, candidates(by, thing));
  if (fits.empty()) {
    std::string kinds;
    for (const auto& [kind, explainer] : explainers_) kinds += (kinds.empty() ? "" : ", ") + kind;
    return fail(Code::kNotFound, "nothing here is called '" + thing + "'",
                "name it as KIND/NAME, with KIND one of " + kinds);
  }
  if (fits.size() > 1) {
    WhyAnswer several;
    several.candidates = std::move(fits);
    return several;
  }
  return answer(by, fits.front(), depth);
}

Result<WhyAnswer> WhyService::answer(const access::CanRead& by, const Ref& ref, int depth) {
  WhyAnswer result;
  result.ref = ref;
  if (const auto found = explainers_.find(ref.kind); found != explainers_.end()) {
    TAKT_ASSIGN(result.explanation, found->second->explain(by.project(), ref));
    if (!result.explanation.ref.kind.empty()) result.ref = result.explanation.ref;
  }
  TAKT_ASSIGN(result.lineage, lineage(by, result.ref, depth));
  return result;
}

}  // namespace takt::spine

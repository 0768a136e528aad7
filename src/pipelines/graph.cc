// SPDX-License-Identifier: Apache-2.0
#include "takt/pipelines/graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "takt/pipelines/spec.h"

namespace takt::pipelines {
namespace {

std::map<std::string, std::size_t> places_by_name(const PipelineSpec& spec) {
  std::map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) places[spec.nodes[i].name] = i;
  return places;
}

/// Walks back along needs from an unordered node until one comes again.
std::string describe_cycle(const PipelineSpec& spec, const std::set<std::size_t>& unordered) {
  const auto places = places_by_name(spec);
  std::vector<std::size_t> way{*unordered.begin()};
  while (true) {
    for (const std::string& need : spec.nodes[way.back()].needs) {
      if (!unordered.contains(places.at(need))) continue;
      way.push_back(places.at(need));
      break;
    }
    const auto first = std::ranges::find(way, way.back());
    if (first == way.end() - 1) continue;
    std::string text;
    for (auto at = way.rbegin(); at != way.rend() && &*at >= &*first; ++at)
      text += (text.empty() ? "" : " -> ") + spec.nodes[*at].name;
    return text;
  }
}

}  // namespace

Result<std::vector<std::size_t>> topological_order(const PipelineSpec& spec) {
  const auto places = places_by_name(spec);
  std::vector<std::size_t> order;
  std::set<std::size_t> unordered;
  for (std::size_t i = 0; i < spec.nodes.size(); ++i) unordered.insert(i);
  while (!unordered.empty()) {
    std::vector<std::size_t> ready;
    for (const std::size_t i : unordered)
      if (std::ranges::none_of(spec.nodes[i].needs, [&](const std::string& need) {
            return unordered.contains(places.at(need));
          }))
        ready.push_back(i);
    if (ready.empty())
      return fail(Code::kInvalid, "the nodes form a cycle: " + describe_cycle(spec, unordered),
                  "remove one of its `needs` or inputs", "spec.nodes");
    for (const std::size_t i : ready) {
      order.push_back(i);
      unordered.erase(i);
    }
  }
  return order;
}

std::vector<Place> layout(const PipelineSpec& spec) {
  const auto places = places_by_name(spec);
  std::vector<Place> result(spec.nodes.size());
  const auto order = topological_order(spec);
  TAKT_CHECK(order.has_value(), "a checked pipeline has no cycle");
  std::map<int, std::vector<std::size_t>> ranks;
  for (const std::size_t i : *order) {
    for (const std::string& need : spec.nodes[i].needs)
      result[i].y = std::max(result[i].y, result[places.at(need)].y + 1);
    ranks[result[i].y].push_back(i);
  }
  for (auto& [rank, members] : ranks) {
    const auto barycentre = [&](std::size_t i) {
      double sum = 0;
      for (const std::string& need : spec.nodes[i].needs) sum += result[places.at(need)].x;
      return spec.nodes[i].needs.empty() ? 0.0
                                         : sum / static_cast<double>(spec.nodes[i].needs.size());
    };
    std::ranges::stable_sort(members, {}, barycentre);
    for (std::size_t at = 0; at < members.size(); ++at)
      result[members[at]].x = static_cast<int>(at);
  }
  return result;
}

std::vector<GraphEdge> edges_of(const PipelineSpec& spec) {
  std::vector<GraphEdge> edges;
  for (const NodeSpec& node : spec.nodes) {
    std::map<std::string, std::string> labels;
    for (const std::string& need : node.needs) labels[need];
    for (const auto& [input, value] : node.inputs)
      if (const auto reference = output_reference(value)) {
        std::string& label = labels[reference->node];
        if (label.find(reference->output) == std::string::npos)
          label += (label.empty() ? "" : ", ") + reference->output;
      }
    for (const auto& [need, label] : labels) edges.push_back({need, node.name, label});
  }
  return edges;
}

}  // namespace takt::pipelines

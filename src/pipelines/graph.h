// SPDX-License-Identifier: Apache-2.0
// The graph of a pipeline: order, cycles, and where to draw what.
#pragma once

#include <string>
#include <vector>

#include "takt/pipelines/pipeline.h"

namespace takt::pipelines {

/// Indexes into spec.nodes, every node after those it needs; kInvalid names a cycle in full.
Result<std::vector<std::size_t>> topological_order(const PipelineSpec& spec);

struct Place {
  int x = 0;  // column
  int y = 0;  // rank: the longest way from a start
};
/// One place per node. Ranks by longest path; within a rank, nodes stand near the mean of those
/// they need (one barycentre sweep: Sugiyama, Tagawa, Toda 1981).
std::vector<Place> layout(const PipelineSpec& spec);

struct GraphEdge {
  std::string from, to, label;
};
std::vector<GraphEdge> edges_of(const PipelineSpec& spec);

}  // namespace takt::pipelines

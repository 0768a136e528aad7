// SPDX-License-Identifier: Apache-2.0
// Who was made of what: an edge list written in the transactions that make the things.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/store/database.h"

namespace takt::store {

/// `from` stands on the side of the result: from "run/9f" relation "used" to "dataset/digits@3".
struct Edge {
  Ref from;
  /// used, made-by, came-from, serves, used-code, used-environment, approved-by, part-of,
  /// reproduces
  std::string relation;
  Ref to;
  UnixMs time_ms = 0;
};

/// Idempotent: the same edge again changes nothing.
Status add_edge(Tx& tx, const ProjectId& project, const Ref& from, std::string_view relation,
                const Ref& to);
/// Edges whose `from` (towards the origins) or `to` (towards the results) is `ref`.
Result<std::vector<Edge>> edges_from(Reader& reader, const ProjectId& project, const Ref& ref);
Result<std::vector<Edge>> edges_to(Reader& reader, const ProjectId& project, const Ref& ref);
/// Everything reachable both ways, breadth first, at most `limit` edges.
Result<std::vector<Edge>> walk_lineage(Reader& reader, const ProjectId& project, const Ref& start,
                                       int depth, int limit);
/// Refs that end in `/path` or whose path is `path`; for resolving a bare word.
Result<std::vector<Ref>> find_refs(Reader& reader, const ProjectId& project, std::string_view path);

}  // namespace takt::store

// SPDX-License-Identifier: Apache-2.0
#include "takt/store/lineage.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "takt/store/sql.h"

namespace takt::store {
namespace {

constexpr std::int64_t kEdgesMax = 10'000;
constexpr std::int64_t kRefsMax = 1'000;

std::string last_word(std::string_view ref) {
  const std::size_t slash = ref.rfind('/');
  return std::string(slash == std::string_view::npos ? ref : ref.substr(slash + 1));
}

Result<std::vector<Edge>> query_edges(Reader& reader, std::string_view sql,
                                      const ProjectId& project, const Ref& ref) {
  TAKT_ASSIGN(const Rows rows, reader.query(sql, {project.value, ref.text(), kEdgesMax}));
  std::vector<Edge> edges;
  edges.reserve(rows.size());
  for (const Row& row : rows) {
    TAKT_ASSIGN(Ref from, parse_ref(row.text(0)));
    TAKT_ASSIGN(Ref to, parse_ref(row.text(2)));
    edges.push_back({std::move(from), row.text(1), std::move(to), row.integer(3)});
  }
  return edges;
}

/// One direction of the walk, level by level.
class LineageWalk {
 public:
  LineageWalk(Reader& reader, const ProjectId& project, std::size_t limit)
      : reader_(reader), project_(project), limit_(limit) {}

  Status walk(const Ref& start, bool towards_origins, int depth) {
    std::set<Ref> seen{start};
    std::deque<Ref> level{start};
    for (; depth > 0 && !level.empty() && edges_.size() < limit_; --depth) {
      std::deque<Ref> next;
      for (const Ref& ref : level) {
        TAKT_ASSIGN(auto found, towards_origins ? edges_from(reader_, project_, ref)
                                                : edges_to(reader_, project_, ref));
        for (Edge& edge : found) {
          const Ref& other = towards_origins ? edge.to : edge.from;
          if (seen.insert(other).second) next.push_back(other);
          keep(std::move(edge));
        }
      }
      level = std::move(next);
    }
    return {};
  }

  std::vector<Edge> take() { return std::move(edges_); }

 private:
  void keep(Edge edge) {
    if (edges_.size() >= limit_) return;
    if (known_.emplace(edge.from, edge.relation, edge.to).second) edges_.push_back(std::move(edge));
  }

  Reader& reader_;
  const ProjectId& project_;
  const std::size_t limit_;
  std::set<std::tuple<Ref, std::string, Ref>> known_;
  std::vector<Edge> edges_;
};

}  // namespace

Status add_edge(Tx& tx, const ProjectId& project, const Ref& from, std::string_view relation,
                const Ref& to) {
  const std::string from_text = from.text();
  const std::string to_text = to.text();
  return tx
      .exec(sql::kInsertEdge, {project.value, from_text, std::string(relation), to_text,
                               last_word(from_text), last_word(to_text), tx.now_ms()})
      .transform([](std::int64_t) {});
}

Result<std::vector<Edge>> edges_from(Reader& reader, const ProjectId& project, const Ref& ref) {
  return query_edges(reader, sql::kEdgesFrom, project, ref);
}

Result<std::vector<Edge>> edges_to(Reader& reader, const ProjectId& project, const Ref& ref) {
  return query_edges(reader, sql::kEdgesTo, project, ref);
}

Result<std::vector<Edge>> walk_lineage(Reader& reader, const ProjectId& project, const Ref& start,
                                       int depth, int limit) {
  // Origins and results apart: walking both ways from every thing would also gather siblings,
  // which share an origin with `start` but did not make it nor come from it.
  LineageWalk walk(reader, project, static_cast<std::size_t>(std::max(limit, 0)));
  TAKT_RETURN_IF_ERROR(walk.walk(start, true, depth));
  TAKT_RETURN_IF_ERROR(walk.walk(start, false, depth));
  return walk.take();
}

Result<std::vector<Ref>> find_refs(Reader& reader, const ProjectId& project,
                                   std::string_view path) {
  // The last word is indexed; longer paths are told apart here.
  TAKT_ASSIGN(const Rows rows,
              reader.query(sql::kRefsByWord, {project.value, last_word(path), kRefsMax}));
  const std::string ending = "/" + std::string(path);
  std::vector<Ref> refs;
  for (const Row& row : rows) {
    if (!row.text(0).ends_with(ending)) continue;
    TAKT_ASSIGN(Ref ref, parse_ref(row.text(0)));
    refs.push_back(std::move(ref));
  }
  return refs;
}

}  // namespace takt::store

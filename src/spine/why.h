// SPDX-License-Identifier: Apache-2.0
// "Why?": the reason of one thing and its lineage both ways, whichever station owns it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/spine/explain.h"
#include "takt/store/database.h"
#include "takt/store/lineage.h"

namespace takt::spine {

/// A thing in the lineage; depth 0 is the one asked about, negative are origins, positive results.
struct LineageNode {
  Ref ref;
  int depth = 0;
};
struct LineageGraph {
  std::vector<LineageNode> nodes;
  std::vector<store::Edge> edges;
};

struct WhyAnswer {
  Ref ref;
  Explanation explanation;  // empty title when no station explains this kind
  LineageGraph lineage;
  std::vector<Ref> candidates;  // more than one thing fits the word: nothing else is filled
};

/// Collects the stations' explainers (registered by app before the server starts).
class WhyService {
 public:
  explicit WhyService(store::Database& db) : db_(db) {}
  void add(std::shared_ptr<Explainer> explainer);
  /// `thing` is KIND/PATH, or a bare word: then what it fits is looked up.
  Result<WhyAnswer> why(const access::CanRead& by, const std::string& thing, int depth);
  Result<LineageGraph> lineage(const access::CanRead& by, const Ref& ref, int depth);
  /// The things that a bare word may mean.
  Result<std::vector<Ref>> candidates(const access::CanRead& by, const std::string& word);

 private:
  Result<WhyAnswer> answer(const access::CanRead& by, const Ref& ref, int depth);
  store::Database& db_;
  std::map<std::string, std::shared_ptr<Explainer>, std::less<>> explainers_;
};

/// Places nodes by their distance from `start` along the edges. Pure.
LineageGraph layer_lineage(const Ref& start, std::vector<store::Edge> edges);

}  // namespace takt::spine

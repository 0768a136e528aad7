// SPDX-License-Identifier: Apache-2.0
// Searches over experiments.
#pragma once

#include <string>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/filter.h"
#include "takt/track/run.h"
#include "takt/track/run_search_store.h"

namespace takt::track {

struct ExperimentSearch {
  Filter filter;
  std::vector<OrderTerm> order;  // then newest first, then id
  RunView view = RunView::kActive;
  std::int64_t limit = 1000;
  std::string page_token;
  bool counts = false;
};
struct ExperimentPage {
  std::vector<Experiment> experiments;
  std::string next_page_token;  // "" on the last page
  std::int64_t total = -1;      // when asked for
};

/// With their tags. kInvalid for a token of another search.
Result<ExperimentPage> search_experiments(store::Reader& reader, const ProjectId& project,
                                          const ExperimentSearch& search);

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// Searches over logged models.
#pragma once

#include <string>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/filter.h"
#include "takt/track/logged_model.h"
#include "takt/track/run_search_store.h"

namespace takt::track {

/// Metrics on one dataset only; of any digest when that is empty.
struct DatasetChoice {
  std::string name, digest;
};
struct LoggedModelSearch {
  RunScope scope;
  Filter filter;
  std::vector<DatasetChoice> datasets;        // metrics count only on these; empty: on any
  std::vector<OrderTerm> order;               // then newest first, then id
  std::vector<DatasetChoice> order_datasets;  // one per term; without a name: any
  std::int64_t limit = 100;
  std::string page_token;
  bool counts = false;
};
struct LoggedModelPage {
  std::vector<LoggedModel> models;
  std::string next_page_token;  // "" on the last page
  std::int64_t total = -1;      // when asked for
};

/// Whole models. A clause on a metric holds when any of its values on the datasets does; an order
/// goes by the latest. kInvalid for a token of another search.
Result<LoggedModelPage> search_logged_models(store::Reader& reader, const ProjectId& project,
                                             const LoggedModelSearch& search);

}  // namespace takt::track

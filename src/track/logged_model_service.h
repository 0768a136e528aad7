// SPDX-License-Identifier: Apache-2.0
// Logged models as clients see them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "takt/access/access.h"
#include "takt/store/database.h"
#include "takt/track/logged_model.h"
#include "takt/track/logged_model_search_store.h"

namespace takt::track {

using WordList = std::vector<std::pair<std::string, std::string>>;

struct NewLoggedModel {
  ExperimentId experiment;
  std::string name;  // empty: a made one
  std::string model_type;
  RunId run;
  WordList params, tags;
};
class LoggedModelService {
 public:
  explicit LoggedModelService(store::Database& db) : db_(db) {}

  Result<LoggedModel> create(const access::CanWrite& by, const NewLoggedModel& model);
  /// kNotFound for a deleted one, unless asked for.
  Result<LoggedModel> get(const access::CanRead& by, std::string_view id,
                          bool allow_deleted = false);
  Result<LoggedModel> set_status(const access::CanWrite& by, std::string_view id,
                                 std::string_view status, std::string_view message);
  Status remove(const access::CanWrite& by, std::string_view id);
  Status log_params(const access::CanWrite& by, std::string_view id, const WordList& params);
  Status set_tags(const access::CanWrite& by, std::string_view id, const WordList& tags);
  Status delete_tag(const access::CanWrite& by, std::string_view id, std::string_view key);
  Result<LoggedModelPage> search(const access::CanRead& by, const LoggedModelSearch& search);

 private:
  store::Database& db_;
};

}  // namespace takt::track

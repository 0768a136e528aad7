// SPDX-License-Identifier: Apache-2.0
// The door of pipelines for people: store, plan, run, approve.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/pipelines/pipeline.h"
#include "takt/store/database.h"

namespace takt::pipelines {

enum class Verdict { kFresh, kCached, kWillRun, kBlocked };
std::string_view verdict_name(Verdict verdict);
struct PlannedNode {
  std::string name;
  Verdict verdict = Verdict::kWillRun;
  std::string reason;
};

struct ApplyPipeline {
  Value definition;
  Digest code, environment;
  std::optional<bool> arm;  // none: as it is (a new one is not armed)
};

class PipelineService {
 public:
  PipelineService(store::Database& db, const actions::Registry& registry, access::Policy& policy);

  Result<Pipeline> apply(const access::CanWrite& by, const ApplyPipeline& request);
  Result<std::vector<Pipeline>> list(const access::CanRead& by);
  Result<Pipeline> get(const access::CanRead& by, std::string_view name);
  /// fresh: the last run made these outputs; cached: another run did; will run; blocked (by whom).
  Result<std::vector<PlannedNode>> plan(const access::CanRead& by, std::string_view name,
                                        const Object& params);

  Result<PipelineRun> start_run(const access::CanWrite& by, std::string_view name,
                                const Object& params, std::string_view request_key);
  Result<PipelineRun> get_run(const access::CanRead& by, std::string_view name,
                              std::int64_t number);
  Result<std::vector<PipelineRun>> list_runs(const access::CanRead& by, std::string_view name,
                                             std::int64_t before, int limit);
  Result<PipelineRun> cancel(const access::CanWrite& by, std::string_view name,
                             std::int64_t number);
  /// Denied for the submitter where the node says not-submitter; asked again after it happened is
  /// answered with the run as it is.
  Result<PipelineRun> approve(const access::CanOperate& by, std::string_view name,
                              std::int64_t number, std::string_view node, std::string note);
  Result<PipelineRun> reject(const access::CanOperate& by, std::string_view name,
                             std::int64_t number, std::string_view node, std::string note);

  const actions::Registry& registry() const { return registry_; }
  store::Database& db() { return db_; }

 private:
  Result<PipelineRun> decide(const access::CanOperate& by, std::string_view name,
                             std::int64_t number, std::string_view node, std::string note,
                             bool is_approval);
  store::Database& db_;
  const actions::Registry& registry_;
  access::Policy& policy_;
};

}  // namespace takt::pipelines

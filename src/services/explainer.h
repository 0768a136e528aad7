// SPDX-License-Identifier: Apache-2.0
// What services give to `why` and the Line page.
#pragma once

#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/services/service_desk.h"
#include "takt/spine/explain.h"

namespace takt::services {

/// Kinds service, revision and request (by the id in an answer's Takt-Request-Id).
class ServiceExplainer final : public spine::Explainer, public spine::LineSource {
 public:
  ServiceExplainer(ServiceDesk& desk, access::Policy& policy) : desk_(desk), policy_(policy) {}
  std::vector<std::string> kinds() const override { return {"service", "revision", "request"}; }
  Result<spine::Explanation> explain(const ProjectId& project, const Ref& ref) override;
  Result<spine::LineCard> line_card(const ProjectId& project, std::int64_t since_ms) override;

 private:
  Result<spine::Explanation> explain_revision(const access::CanRead& by, const std::string& service,
                                              std::int64_t number);
  Result<spine::Explanation> explain_request(const access::CanRead& by, const std::string& id);
  ServiceDesk& desk_;
  access::Policy& policy_;
};

}  // namespace takt::services

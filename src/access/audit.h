// SPDX-License-Identifier: Apache-2.0
// The event log as its auditor sees it: every project, and whether it is what was written.
#pragma once

#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/store/event_chain.h"
#include "takt/store/event_log.h"

namespace takt::access {

/// Stateless; thread-safe.
class AuditService {
 public:
  explicit AuditService(store::Database& db) : db_(db) {}
  /// Newest first.
  Result<std::vector<store::Event>> list(const CanAdminister& by, const store::EventFilter& filter,
                                         int limit);
  /// Walks the whole log; `expected` is a hash kept from an earlier look, or empty.
  Result<store::ChainCheck> verify(const CanAdminister& by, const std::string& expected);

 private:
  store::Database& db_;
};

}  // namespace takt::access

// SPDX-License-Identifier: Apache-2.0
// The registry as the gate of the line: promotion rules, what is known of a version, who approved
// it, and the way back.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/models/alias_gate.h"
#include "takt/models/gate_store.h"
#include "takt/models/model_registry.h"

namespace takt::models {

class ModelGate {
 public:
  explicit ModelGate(ModelRegistry& registry) : registry_(registry), db_(registry.db()) {}

  Result<StoredRules> rules(const access::CanRead& by, std::string_view model);
  /// Replaces all rules; makes the model when there is none of the name. An operator's: whoever
  /// may only write could take the gate away else.
  Result<StoredRules> set_rules(const access::CanOperate& by, std::string_view model,
                                const std::vector<Rule>& rules);
  Result<GateCheck> check(const access::CanRead& by, const ModelVersionId& id,
                          std::string_view alias);
  /// Approves or rejects the version for the alias. Whoever submitted it may say so too, but a rule
  /// that asks for approval does not count it.
  Result<Approval> decide(const access::CanOperate& by, const ModelVersionId& id,
                          std::string_view alias, bool is_approval, std::string_view comment);
  /// Back to the version that held the alias before; rules do not stop it. kConflict when there is
  /// none.
  Result<ModelVersion> roll_back(const access::CanWrite& by, std::string_view model,
                                 std::string_view alias, std::string_view reason);
  /// Who held the alias, oldest first.
  Result<std::vector<AliasMove>> moves(const access::CanRead& by, std::string_view model,
                                       std::string_view alias);

  struct Measured {
    std::string data;    // NAME@N, or ""
    std::string source;  // run/ID, or ""
    std::map<std::string, double> metrics;
  };
  Status measure(const access::CanWrite& by, const ModelVersionId& id, const Measured& measured);
  /// kind: parity ({verdict: pass|fail, …}) or load-test ({p99_ms: …, …}).
  Status report(const access::CanWrite& by, const ModelVersionId& id, std::string_view kind,
                const Value& report);
  struct WholeEvidence {
    Evidence evidence;
    Origin origin;
    Value signature;  // {inputs, outputs, params} of its MLmodel, null when it has none
  };
  Result<WholeEvidence> evidence(const access::CanRead& by, const ModelVersionId& id);

  ModelRegistry& registry() { return registry_; }

 private:
  ModelRegistry& registry_;
  store::Database& db_;
};

}  // namespace takt::models

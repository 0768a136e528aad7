// SPDX-License-Identifier: Apache-2.0
// What a pipeline step is. Stations implement StepRunner; pipelines runs any that app registered.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/base/value.h"

namespace takt::actions {

/// What an edge of a pipeline carries.
enum class PortKind { kDataset, kModel, kArtifact, kJson, kModelVersion, kService, kReport };
std::string_view port_kind_name(PortKind kind);
Result<PortKind> parse_port_kind(std::string_view name);
/// May a value of `from` enter a port of `to`? (equal, or an artifact port takes any tree)
bool port_accepts(PortKind to, PortKind from);

/// A value on an edge, passed by reference. `digest` names its bytes (or its identity, for a
/// service) and is what caching compares; `ref` is what people see.
struct PortValue {
  PortKind kind = PortKind::kArtifact;
  Ref ref;
  Digest digest;
  Value json;  // the content itself for kJson and kReport (small), else null
};
Value to_value(const PortValue& port);
Result<PortValue> port_value_from(const Value& value);

struct Port {
  std::string name;
  PortKind kind = PortKind::kArtifact;
  bool required = true;
};

/// A step as the pipeline's author wrote it, before anything runs.
struct StepDefinition {
  std::string name;  // node name
  Value with;        // options of the action, or the job's spec; parameters already filled in
  std::map<std::string, Port> outputs_declared;  // from the node's `outputs:`
};

struct StepPorts {
  std::vector<Port> inputs;  // empty and `inputs_open`: takes any names
  std::vector<Port> outputs;
  bool inputs_open = false;
  bool cacheable = true;  // false: acts on the world (register, deploy, promote)
};

/// Who and what a running step belongs to.
struct StepRequest {
  ProjectId project;
  UserId actor;     // who started the pipeline run
  UserId approver;  // empty when the node asks for no approval
  Ref node;         // node/PIPELINE/N/NODE: the idempotency key of everything the step creates
  int attempt = 1;  // grows with the node's retries
  StepDefinition definition;
  std::map<std::string, PortValue> inputs;
  Digest code;             // code snapshot of the pipeline; empty if none
  Digest environment;      // environment lock; empty if none
  std::string experiment;  // where runs go: the pipeline's name by default
};

enum class StepState { kRunning, kDone, kFailed, kStopped };  // kStopped: a gate said no

struct StepProgress {
  StepState state = StepState::kRunning;
  std::map<std::string, PortValue> outputs;  // when done
  std::string reason;                        // when failed, stopped, or waiting: with numbers
  Ref work;                                  // the job, service … that does it, for links
};

/// One kind of step. start() and poll() may be called again after a crash with the same request:
/// what exists already under `request.node` and attempt is found, not made twice.
/// Called on the pipeline engine's thread; must not block for longer than a transaction.
class StepRunner {
 public:
  virtual ~StepRunner() = default;
  virtual std::string_view action() const = 0;  // "job", "validate", …
  /// Checks the definition; kInvalid names the field. Run when a pipeline is stored or planned.
  virtual Result<StepPorts> describe(const StepDefinition& definition) const = 0;
  virtual Status start(const StepRequest& request) = 0;
  virtual Result<StepProgress> poll(const StepRequest& request) = 0;
  virtual Status cancel(const StepRequest& request) = 0;
};

/// Turns a reference in a spec into the thing it means now; implemented by the owning room.
class RefResolver {
 public:
  virtual ~RefResolver() = default;
  virtual PortKind kind() const = 0;
  /// "NAME", "NAME@3", "NAME@alias". kNotFound names the nearest known name.
  virtual Result<PortValue> resolve(const ProjectId& project, std::string_view reference) const = 0;
};

/// The runners and resolvers that app registered. Filled before the server starts, then constant.
class Registry {
 public:
  void add(std::unique_ptr<StepRunner> runner);
  void add(std::unique_ptr<RefResolver> resolver);
  StepRunner* find_runner(std::string_view action) const;
  const RefResolver* find_resolver(PortKind kind) const;
  std::vector<std::string> action_names() const;
  /// `text` as a reference of `kind`; kInvalid when nobody resolves that kind.
  Result<PortValue> resolve(const ProjectId& project, PortKind kind, std::string_view text) const;

 private:
  std::map<std::string, std::unique_ptr<StepRunner>, std::less<>> runners_;
  std::map<PortKind, std::unique_ptr<RefResolver>> resolvers_;
};

}  // namespace takt::actions

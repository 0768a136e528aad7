// SPDX-License-Identifier: Apache-2.0
#include "takt/models/gate.h"

#include <algorithm>
#include <cmath>

#include "takt/models/checks.h"
#include "takt/models/events.h"
#include "takt/models/model_store.h"
#include "takt/store/lineage.h"

namespace takt::models {
namespace {

constexpr std::size_t kCommentBytesMax = 4'000;
constexpr std::size_t kMetricsMax = 1'000;
constexpr std::size_t kMetricNameBytesMax = 250;
constexpr std::size_t kReportBytesMax = 1 << 20;
constexpr std::int64_t kMlmodelBytesMax = 1 << 20;

Status check_comment(std::string_view comment, std::string_view field) {
  if (comment.size() <= kCommentBytesMax) return {};
  return fail(Code::kTooLarge,
              std::string(field) + " has " + std::to_string(comment.size()) + " bytes, at most " +
                  std::to_string(kCommentBytesMax) + " are allowed",
              "", std::string(field));
}

Status check_measured(const ModelGate::Measured& measured) {
  if (measured.metrics.empty() || measured.metrics.size() > kMetricsMax)
    return fail(Code::kInvalid,
                std::to_string(measured.metrics.size()) + " metrics, 1 to " +
                    std::to_string(kMetricsMax) + " are wanted",
                "", "metrics");
  for (const auto& [key, value] : measured.metrics) {
    if (key.empty() || key.size() > kMetricNameBytesMax)
      return fail(Code::kInvalid, "a metric's name has 1 to 250 bytes", "", "metrics");
    if (!std::isfinite(value))
      return fail(Code::kInvalid, "metric '" + key + "' is no finite number", "", "metrics");
  }
  if (!measured.data.empty()) {
    const auto selector = parse_version_selector(measured.data);
    if (!selector || selector->number == 0)
      return fail(Code::kInvalid, "data '" + measured.data + "' is not NAME@N", "", "data");
  }
  if (!measured.source.empty()) TAKT_RETURN_IF_ERROR(parse_ref(measured.source));
  return {};
}

Status check_report(std::string_view kind, const Value& report) {
  if (kind != kParityReport && kind != kLoadTestReport)
    return fail(Code::kInvalid, "'" + std::string(kind) + "' is no kind of report",
                "one of parity, load-test", "kind");
  if (!report.is_object()) return fail(Code::kInvalid, "a report is a JSON object", "", "");
  if (dump_json(report).size() > kReportBytesMax)
    return fail(Code::kTooLarge, "the report is over 1 MiB",
                "keep the numbers here and the rest as an artifact of the run");
  const std::string verdict = report.text_or("verdict", "");
  if (kind == kParityReport && verdict != "pass" && verdict != "fail")
    return fail(Code::kInvalid, "the verdict of a parity report must be pass or fail", "",
                "verdict");
  return {};
}

/// The signature block of MLflow's MLmodel file, whose parts are JSON texts.
Result<Value> signature_of(store::BlobStore& blobs, const ProjectId& project, const Digest& tree) {
  if (tree.empty()) return Value();
  TAKT_ASSIGN(const content::Manifest files, blobs.read_tree(project, tree));
  const content::Entry* file = files.find("MLmodel");
  if (file == nullptr || file->size > kMlmodelBytesMax) return Value();
  TAKT_ASSIGN(const std::string text, blobs.read_bytes(project, file->digest));
  const auto document = parse_yaml(text);
  if (!document || !(*document)["signature"].is_object()) return Value();
  Object signature;
  for (const auto& [part, columns] : (*document)["signature"].as_object()) {
    const auto parsed = columns.is_string() ? parse_json(columns.as_string()) : Result<Value>();
    if (parsed && !parsed->is_null()) signature[part] = *parsed;
  }
  return Value(std::move(signature));
}

}  // namespace

Result<StoredRules> ModelGate::rules(const access::CanRead& by, std::string_view model) {
  TAKT_RETURN_IF_ERROR(registry_.get(by, model));
  StoredRules stored;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(stored, load_rules(reader, by.project(), model));
    return {};
  }));
  return stored;
}

Result<StoredRules> ModelGate::set_rules(const access::CanOperate& by, std::string_view model,
                                         const std::vector<Rule>& rules) {
  TAKT_RETURN_IF_ERROR(check_model_name(model));
  Array names;
  for (const Rule& rule : rules) names.push_back(rule.name);
  StoredRules stored;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const auto known, load_models(tx, by.project(), model));
    const Ref subject{"model", std::string(model)};
    if (known.empty()) {
      TAKT_RETURN_IF_ERROR(insert_model(tx, by.project(), model, ""));
      TAKT_RETURN_IF_ERROR(
          append_registry_event(tx, kModelCreated, by.project(), by.user(), subject));
    }
    TAKT_RETURN_IF_ERROR(store_rules(tx, by.project(), model, rules, by.user()));
    TAKT_ASSIGN(stored, load_rules(tx, by.project(), model));
    return append_registry_event(tx, kRulesSet, by.project(), by.user(), subject,
                                 Object{{"rules", names}});
  }));
  return stored;
}

Result<GateCheck> ModelGate::check(const access::CanRead& by, const ModelVersionId& id,
                                   std::string_view alias) {
  TAKT_RETURN_IF_ERROR(check_model_alias(alias));
  GateCheck result;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(result, check_gate(reader, by.project(), id, alias));
    return {};
  }));
  return result;
}

Result<Approval> ModelGate::decide(const access::CanOperate& by, const ModelVersionId& id,
                                   std::string_view alias, bool is_approval,
                                   std::string_view comment) {
  TAKT_RETURN_IF_ERROR(check_model_alias(alias));
  TAKT_RETURN_IF_ERROR(check_comment(comment, "comment"));
  Approval approval{std::string(alias), by.user(), is_approval, std::string(comment), 0};
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_version(tx, by.project(), id));
    TAKT_RETURN_IF_ERROR(store_approval(tx, by.project(), id, approval));
    if (is_approval)
      TAKT_RETURN_IF_ERROR(
          store::add_edge(tx, by.project(), ref_of(id), "approved-by", ref_of(by.user())));
    approval.time_ms = tx.now_ms();
    Object details{{"alias", alias}};
    if (!comment.empty()) details["comment"] = comment;
    return append_registry_event(tx, is_approval ? kVersionApproved : kVersionRejected,
                                 by.project(), by.user(), ref_of(id), std::move(details));
  }));
  return approval;
}

Result<ModelVersion> ModelGate::roll_back(const access::CanWrite& by, std::string_view name,
                                          std::string_view alias, std::string_view reason) {
  TAKT_RETURN_IF_ERROR(check_comment(reason, "reason"));
  ModelVersion version;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const Model model, load_model(tx, by.project(), name));
    TAKT_ASSIGN(const auto moves, load_alias_moves(tx, by.project(), name, alias));
    TAKT_ASSIGN(const auto versions, load_versions(tx, by.project(), name));
    const std::int64_t number = previous_holder(moves, [&](std::int64_t held) {
      return std::ranges::any_of(versions, [&](const auto& one) { return one.id.number == held; });
    });
    const auto before = model.aliases.find(std::string(alias));
    if (number == 0)
      return fail(Code::kConflict,
                  "no earlier version held " + std::string(alias) + " of " + model.name,
                  "see `takt models history " + model.name + " " + std::string(alias) + "`");
    const ModelVersionId id{{model.name, number}};
    TAKT_RETURN_IF_ERROR(store_alias(tx, by.project(), name, alias, number));
    TAKT_RETURN_IF_ERROR(
        store_alias_move(tx, by.project(), name, alias,
                         {number, MoveKind::kRolledBack, by.user(), std::string(reason), 0}));
    Object details{{"alias", alias}};
    if (before != model.aliases.end()) details["before"] = before->second;
    if (!reason.empty()) details["reason"] = reason;
    TAKT_RETURN_IF_ERROR(append_registry_event(tx, kAliasRolledBack, by.project(), by.user(),
                                               ref_of(id), std::move(details)));
    TAKT_ASSIGN(version, load_version(tx, by.project(), id));
    return {};
  }));
  return version;
}

Result<std::vector<AliasMove>> ModelGate::moves(const access::CanRead& by, std::string_view model,
                                                std::string_view alias) {
  TAKT_RETURN_IF_ERROR(registry_.get(by, model));
  std::vector<AliasMove> all;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(all, load_alias_moves(reader, by.project(), model, alias));
    return {};
  }));
  return all;
}

Status ModelGate::measure(const access::CanWrite& by, const ModelVersionId& id,
                          const Measured& measured) {
  TAKT_RETURN_IF_ERROR(check_measured(measured));
  Object metrics;
  for (const auto& [key, value] : measured.metrics) metrics[key] = value;
  Object details{{"metrics", std::move(metrics)}};
  if (!measured.data.empty()) details["data"] = measured.data;
  if (!measured.source.empty()) details["source"] = measured.source;
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_version(tx, by.project(), id));
    for (const auto& [key, value] : measured.metrics)
      TAKT_RETURN_IF_ERROR(store_measurement(
          tx, by.project(), id, {measured.data, key, value, measured.source, by.user(), 0}));
    return append_registry_event(tx, kVersionMeasured, by.project(), by.user(), ref_of(id),
                                 details);
  });
}

Status ModelGate::report(const access::CanWrite& by, const ModelVersionId& id,
                         std::string_view kind, const Value& report) {
  TAKT_RETURN_IF_ERROR(check_report(kind, report));
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(load_version(tx, by.project(), id));
    TAKT_RETURN_IF_ERROR(store_report(tx, by.project(), id, kind, report, by.user()));
    Object details{{"kind", kind}};
    if (report.has("verdict")) details["verdict"] = report["verdict"];
    return append_registry_event(tx, kReportAdded, by.project(), by.user(), ref_of(id),
                                 std::move(details));
  });
}

Result<ModelGate::WholeEvidence> ModelGate::evidence(const access::CanRead& by,
                                                     const ModelVersionId& id) {
  WholeEvidence whole;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(ModelVersion version, load_version(reader, by.project(), id));
    TAKT_ASSIGN(whole.origin, load_origin(reader, by.project(), version));
    TAKT_ASSIGN(whole.evidence, load_evidence(reader, by.project(), std::move(version)));
    return {};
  }));
  TAKT_ASSIGN(whole.signature,
              signature_of(registry_.blobs(), by.project(), whole.evidence.version.tree));
  return whole;
}

}  // namespace takt::models

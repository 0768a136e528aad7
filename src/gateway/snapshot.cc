// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/snapshot.h"

namespace takt::gateway {
namespace {

constexpr std::int64_t kFormat = 1;

Value to_value(const RevisionEntry& revision) {
  Array replicas;
  for (const ReplicaEndpoint& replica : revision.replicas)
    replicas.push_back(Object{{"http", replica.http}, {"grpc", replica.grpc}});
  return Object{
      {"number", revision.number}, {"share", revision.share}, {"replicas", std::move(replicas)}};
}

const Array& items(const Value& value, std::string_view key) {
  static const Array kNone;
  return value[key].is_array() ? value[key].as_array() : kNone;
}

Result<RevisionEntry> parse_revision(const Value& value) {
  RevisionEntry revision;
  revision.number = value.int_or("number", 0);
  revision.share = value.number_or("share", 0);
  if (revision.number < 1 || !(revision.share >= 0))
    return fail(Code::kInvalid, "snapshot: a revision needs a number from 1 and a share from 0");
  for (const Value& replica : items(value, "replicas")) {
    revision.replicas.push_back({replica.text_or("http", ""), replica.text_or("grpc", "")});
    if (revision.replicas.back().http.empty())
      return fail(Code::kInvalid, "snapshot: a replica of revision " +
                                      std::to_string(revision.number) + " has no http endpoint");
  }
  return revision;
}

}  // namespace

std::string render_snapshot(const Snapshot& snapshot) {
  Array services, hashes;
  for (const ServiceEntry& service : snapshot.services) {
    Array revisions;
    for (const RevisionEntry& revision : service.revisions) revisions.push_back(to_value(revision));
    services.push_back(Object{{"name", service.name}, {"revisions", std::move(revisions)}});
  }
  for (const std::string& hash : snapshot.token_hashes) hashes.push_back(hash);
  return dump_json(Object{{"format", kFormat},
                          {"version", snapshot.version},
                          {"token_hashes", std::move(hashes)},
                          {"services", std::move(services)}}) +
         "\n";
}

Result<Snapshot> parse_snapshot(std::string_view text) {
  TAKT_ASSIGN(const Value json, parse_json(text).transform_error(while_("snapshot")));
  if (json.int_or("format", 0) != kFormat)
    return fail(Code::kInvalid, "snapshot: format must be " + std::to_string(kFormat));
  Snapshot snapshot;
  snapshot.version = json.int_or("version", 0);
  for (const Value& hash : items(json, "token_hashes"))
    if (hash.is_string()) snapshot.token_hashes.push_back(hash.as_string());
  for (const Value& value : items(json, "services")) {
    ServiceEntry service{.name = value.text_or("name", "")};
    if (service.name.empty()) return fail(Code::kInvalid, "snapshot: a service has no name");
    for (const Value& entry : items(value, "revisions")) {
      TAKT_ASSIGN(RevisionEntry revision, parse_revision(entry));
      service.revisions.push_back(std::move(revision));
    }
    snapshot.services.push_back(std::move(service));
  }
  return snapshot;
}

}  // namespace takt::gateway

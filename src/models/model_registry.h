// SPDX-License-Identifier: Apache-2.0
// Registered models, their versions and aliases: the one truth under MLflow's registry routes,
// takt's own routes and the `register` step.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/base/ids.h"
#include "takt/base/value.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::models {

struct ModelVersion {
  ModelVersionId id;
  Digest tree;                 // what a replica loads; empty when the source holds no files here
  std::string source;          // as the client gave it
  RunId run;
  std::string description;
  std::map<std::string, std::string> tags;
  std::vector<std::string> aliases;
  std::map<std::string, double> metrics;   // evaluation metrics recorded at registration
  UserId created_by;
  UnixMs created_ms = 0, updated_ms = 0;
};
struct Model {
  std::string name;
  std::string description;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::int64_t> aliases;
  std::int64_t latest = 0;
  UnixMs created_ms = 0, updated_ms = 0;
};

struct NewVersion {
  std::string model;           // created when absent
  Digest tree;
  std::string source;
  RunId run;
  std::map<std::string, double> metrics;
  std::map<std::string, std::string> tags;
  std::string owner;           // idempotency key; the same again returns the existing version
};

class ModelRegistry {
 public:
  ModelRegistry(store::Database& db, store::BlobStore& blobs);
  Result<ModelVersion> add_version(const access::CanWrite& by, const NewVersion& version);
  Result<std::vector<Model>> list(const access::CanRead& by);
  Result<Model> get(const access::CanRead& by, std::string_view name);
  Result<std::vector<ModelVersion>> versions(const access::CanRead& by, std::string_view name);
  /// By number, alias or latest. kNotFound names what exists.
  Result<ModelVersion> resolve(const access::CanRead& by, const VersionSelector& selector);
  Status set_alias(const access::CanWrite& by, std::string_view name, std::string_view alias,
                   std::int64_t number);
  Status delete_alias(const access::CanWrite& by, std::string_view name, std::string_view alias);

 private:
  store::Database& db_;
  store::BlobStore& blobs_;
};

}  // namespace takt::models

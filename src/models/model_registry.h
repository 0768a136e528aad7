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
#include "takt/track/filter.h"

namespace takt::models {

struct ModelVersion {
  ModelVersionId id;
  Digest tree;         // what a replica loads; empty when the source holds no files here
  std::string source;  // as the client gave it
  RunId run;
  std::string description;
  std::map<std::string, std::string> tags;
  std::vector<std::string> aliases;
  std::map<std::string, double> metrics;  // evaluation metrics recorded at registration
  UserId created_by;
  UnixMs created_ms = 0, updated_ms = 0;
  std::int64_t files = 0, bytes = 0;
  std::string storage;       // URI of the source's files
  std::string logged_model;  // m-… it was made from, if any
  std::string run_link;
  std::string stage = "None";  // MLflow's old stages; takt itself goes by aliases
  std::string code_verdict;    // none, safe, executes; empty: its files were not looked through
  std::vector<std::string> code_globals;  // what its pickles name that is not known to be harmless
  bool has_code_scan() const { return !code_verdict.empty(); }
};
struct Model {
  std::string name;
  std::string description;
  std::map<std::string, std::string> tags;
  std::map<std::string, std::int64_t> aliases;
  std::int64_t latest = 0;
  UnixMs created_ms = 0, updated_ms = 0;
  std::int64_t versions = 0;
};

struct NewVersion {
  std::string model;  // created when absent
  Digest tree;
  std::string source;
  RunId run;
  std::map<std::string, double> metrics;
  std::string metrics_data;    // NAME@N of the dataset that they were measured on, if known
  std::string metrics_source;  // run/ID that measured them, if any
  std::map<std::string, std::string> tags;
  std::string owner;  // idempotency key; the same again returns the existing version
  std::string description;
  std::string alias;  // set to the version in the same transaction, if its rules let it
};
/// As MLflow's clients register: always a new number, of a model that exists.
struct SourceVersion {
  std::string model;
  std::string source;  // runs:/…, models:/…, mlflow-artifacts:/…, or a foreign URI
  RunId run;
  std::string logged_model;
  std::string run_link, description;
  std::map<std::string, std::string> tags;
};

struct RegistrySearch {
  track::Filter filter;
  std::vector<track::OrderTerm> order;
  std::int64_t limit = 100;
  std::string page_token;
  bool counts = false;  // also how many there are on all pages
};
struct FoundModel {
  Model model;  // without counts of versions
  std::vector<ModelVersion> latest_of_stages;
};
struct ModelPage {
  std::vector<FoundModel> models;
  std::string next_page_token;  // "" on the last page
  std::int64_t total = -1;      // when asked for
};
struct VersionPage {
  std::vector<ModelVersion> versions;
  std::string next_page_token;
  std::int64_t total = -1;
};

class ModelRegistry {
 public:
  ModelRegistry(store::Database& db, store::BlobStore& blobs);
  Result<ModelVersion> add_version(const access::CanWrite& by, const NewVersion& version);
  /// The same tree (or owner) as an existing version of the model gives that one, `created` false.
  struct Added {
    ModelVersion version;
    bool created = false;
  };
  Result<Added> add(const access::CanWrite& by, const NewVersion& version);
  /// Registers a folder or file of a run's artifacts.
  Result<Added> add_from_run(const access::CanWrite& by, NewVersion version, const RunId& run,
                             std::string_view path);
  Result<ModelVersion> add_from_source(const access::CanWrite& by, const SourceVersion& version);

  Result<std::vector<Model>> list(const access::CanRead& by);
  Result<Model> get(const access::CanRead& by, std::string_view name);
  Result<std::vector<ModelVersion>> versions(const access::CanRead& by, std::string_view name);
  Result<ModelPage> search(const access::CanRead& by, const RegistrySearch& search);
  Result<VersionPage> search_versions(const access::CanRead& by, const RegistrySearch& search);
  /// By number, alias or latest. kNotFound names what exists.
  Result<ModelVersion> resolve(const access::CanRead& by, const VersionSelector& selector);
  /// kDenied names the promotion rule that the version does not pass (gate.h).
  Status set_alias(const access::CanWrite& by, std::string_view name, std::string_view alias,
                   std::int64_t number, std::string_view reason = {});
  Status delete_alias(const access::CanWrite& by, std::string_view name, std::string_view alias);

  /// kConflict when the name is taken.
  Result<Model> create_model(const access::CanWrite& by, std::string_view name,
                             std::string_view description,
                             const std::map<std::string, std::string>& tags);
  Result<Model> describe_model(const access::CanWrite& by, std::string_view name,
                               std::string_view description);
  Result<Model> rename_model(const access::CanWrite& by, std::string_view name,
                             std::string_view new_name);
  /// With all its versions. Not forced: kConflict while one of them is used.
  Status remove_model(const access::CanWrite& by, std::string_view name, bool force);
  Status set_model_tag(const access::CanWrite& by, std::string_view name, std::string_view key,
                       std::string_view value);
  Status delete_model_tag(const access::CanWrite& by, std::string_view name, std::string_view key);

  Result<ModelVersion> describe_version(const access::CanWrite& by, const ModelVersionId& id,
                                        std::string_view description);
  /// None, Staging, Production, Archived; may archive the others of the stage.
  Result<ModelVersion> set_stage(const access::CanWrite& by, const ModelVersionId& id,
                                 std::string_view stage, bool archive_others);
  Status set_version_tag(const access::CanWrite& by, const ModelVersionId& id, std::string_view key,
                         std::string_view value);
  Status delete_version_tag(const access::CanWrite& by, const ModelVersionId& id,
                            std::string_view key);
  Status remove_version(const access::CanWrite& by, const ModelVersionId& id, bool force);

  /// What of these versions was made since then, of how many.
  struct Counts {
    std::int64_t versions = 0, since = 0;
  };
  Result<Counts> counts(const access::CanRead& by, UnixMs since_ms);
  store::Database& db() { return db_; }
  store::BlobStore& blobs() { return blobs_; }

 private:
  store::Database& db_;
  store::BlobStore& blobs_;
};

/// Where a client can read the version's files: the tree when there is one, else the source's
/// place.
std::string download_uri(const ModelVersion& version);

}  // namespace takt::models

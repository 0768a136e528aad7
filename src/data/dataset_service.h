// SPDX-License-Identifier: Apache-2.0
// Datasets and their immutable versions. A version is a tree plus its profile.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/base/ids.h"
#include "takt/base/value.h"
#include "takt/content/manifest.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::data {

struct Dataset {
  std::string name;
  std::int64_t latest = 0;  // version number
  std::int64_t versions = 0;
  UnixMs created_ms = 0, updated_ms = 0;
};

struct DatasetVersion {
  DatasetVersionId id;
  Digest tree;
  std::int64_t files = 0, bytes = 0;
  std::int64_t rows = -1;  // -1: not a table
  Value profile;           // columns, types, missing, class balance; null when not a table
  Value checks;            // last validation report, null if none
  std::string note;
  UserId created_by;
  UnixMs created_ms = 0;
  Ref made_by;  // job/N or empty
};

class DatasetService {
 public:
  DatasetService(store::Database& db, store::BlobStore& blobs);

  /// The tree's blobs must be in the store. The same tree as an existing version of this dataset
  /// returns that version (`created` false). Profiles CSV and JSON Lines.
  struct Added {
    DatasetVersion version;
    bool created = false;
  };
  Result<Added> add_version(const access::CanWrite& by, std::string_view name, const Digest& tree,
                            const Ref& made_by, std::string note);
  Result<std::vector<Dataset>> list(const access::CanRead& by);
  Result<std::vector<DatasetVersion>> versions(const access::CanRead& by, std::string_view name);
  /// number 0: the latest. kNotFound names the nearest dataset or the versions that exist.
  Result<DatasetVersion> get(const access::CanRead& by, std::string_view name, std::int64_t number);
  Result<content::Manifest> files(const access::CanRead& by, const DatasetVersion& version);
  /// Refused while lineage shows a user of it, unless `force`.
  Status remove(const access::CanWrite& by, std::string_view name, std::int64_t number, bool force);
  Status save_checks(const access::CanWrite& by, const DatasetVersionId& id, const Value& report);

  /// Streams one file of a version; a corrupted blob is kInternal and names the file.
  Status read_file(const access::CanRead& by, const content::Entry& file,
                   const store::WriteBytes& write);
  store::Database& db() { return db_; }
  store::BlobStore& blobs() { return blobs_; }

 private:
  Result<DatasetVersion> describe_tree(const ProjectId& project, std::string_view name,
                                       const Digest& tree);
  store::Database& db_;
  store::BlobStore& blobs_;
};

}  // namespace takt::data

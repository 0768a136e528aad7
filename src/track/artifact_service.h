// SPDX-License-Identifier: Apache-2.0
// Files of runs and logged models by the paths that MLflow's clients use; bytes go to the blob
// store.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "takt/access/access.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"
#include "takt/track/artifact_store.h"

namespace takt::track {

/// Where a path below `mlflow-artifacts:/` lies:
///   EXP/RUN/artifacts/PATH, EXP/models/MODEL/artifacts/PATH   rows of that run or logged model
///   trees/DIGEST/PATH                                         a stored tree; read only
///   anything else                                             rows of the project's root `other`
struct ArtifactPlace {
  std::string root;  // of the rows; empty for a tree
  Digest tree;
  std::string path;  // below the root; "" is the root itself
};
ArtifactPlace parse_artifact_place(std::string_view path);

/// Refuses paths that leave their root, also when decoded again and again. "" is allowed.
Status check_artifact_path(std::string_view path);
/// The URI under which clients can read a tree: mlflow-artifacts:/trees/DIGEST
std::string tree_uri(const Digest& tree);
/// The path in mlflow-artifacts:/PATH (or mlflow-artifacts://host/PATH); kInvalid for other URIs.
Result<std::string> path_of_artifact_uri(std::string_view uri);

class ArtifactService {
 public:
  ArtifactService(store::Database& db, store::BlobStore& blobs) : db_(db), blobs_(blobs) {}

  /// Streams the bytes in and names them; an old file of that name is replaced.
  Status put(const access::CanWrite& by, std::string_view path, const store::ReadBytes& read);
  /// Nothing there: an empty list.
  Result<std::vector<ArtifactItem>> list(const access::CanRead& by, std::string_view path);
  /// kNotFound for folders too.
  Result<content::Entry> find(const access::CanRead& by, std::string_view path);
  Status remove(const access::CanWrite& by, std::string_view path);

  // The same by root, for routes that know the run.
  Result<std::vector<ArtifactItem>> list_in(const access::CanRead& by, const ArtifactPlace& place);
  Result<content::Entry> find_in(const access::CanRead& by, const ArtifactPlace& place);
  Status put_in(const access::CanWrite& by, const ArtifactPlace& place,
                const store::ReadBytes& read);

  store::BlobStore& blobs() { return blobs_; }
  store::Database& db() { return db_; }

 private:
  store::Database& db_;
  store::BlobStore& blobs_;
};

}  // namespace takt::track

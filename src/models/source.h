// SPDX-License-Identifier: Apache-2.0
// Where the files of a new version lie, by the URI that a client gives.
#pragma once

#include <string>
#include <string_view>

#include "takt/content/manifest.h"
#include "takt/models/model_registry.h"
#include "takt/store/database.h"

namespace takt::models {

struct ResolvedSource {
  RunId run;  // of the request, or of what the URI names
  std::string logged_model;
  std::string storage;      // URI under which the files can be read
  content::Manifest files;  // empty: none are here (yet), or an older version's `tree` holds them
  Digest tree;              // of an older version
};

/// runs:/RUN/PATH, models:/m-ID, models:/NAME/N, models:/NAME@ALIAS, mlflow-artifacts:/PATH, and
/// URIs of other stores, which are kept as they are. Local paths and relative parts are refused:
/// the server opens no path that a client names.
Result<ResolvedSource> resolve_source(store::Reader& reader, const ProjectId& project,
                                      const SourceVersion& asked);

}  // namespace takt::models

// SPDX-License-Identifier: Apache-2.0
// Health, versions, metrics, the API's description, backups.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>

#include "takt/access/access.h"
#include "takt/net/http.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"

namespace takt::app {

struct SystemParts {
  store::Database& db;
  store::BlobStore& blobs;
  access::Policy& policy;
  std::filesystem::path data_dir;
  const std::atomic<bool>& is_ready;
  std::function<net::Server::Stats()> http_stats;
};

/// healthz, readyz, health, version, /api/v1/version, metrics, openapi.json, /api/v1/backups.
void register_system_routes(net::Router& router, SystemParts parts);

}  // namespace takt::app

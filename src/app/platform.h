// SPDX-License-Identifier: Apache-2.0
// Every object of the server, made in the order of the layers. Read platform.cc to see how the
// rooms fit together.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "takt/app/settings.h"
#include "takt/base/clock.h"
#include "takt/net/http.h"
#include "takt/store/migration.h"

namespace takt::app {

/// Of all rooms, in the order of their names.
std::vector<store::Migration> all_migrations();

class Platform {
 public:
  static Result<std::unique_ptr<Platform>> open(const Settings& settings,
                                                const std::filesystem::path& data_dir,
                                                Clock& clock);
  virtual ~Platform() = default;
  /// Makes the stations and their routes; part of start().
  virtual Status register_routes() = 0;
  /// Recovers what an earlier process left, then listens.
  virtual Status start() = 0;
  /// Drains; jobs, replicas and the gateway go on.
  virtual void stop() = 0;
  /// Where this server's own clients reach it: http://127.0.0.1:8700.
  virtual std::string url() const = 0;
  /// Every route, once registered; for the tests that hold routes against the contract.
  virtual const net::Router& router() const = 0;
};

}  // namespace takt::app

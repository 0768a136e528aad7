// SPDX-License-Identifier: Apache-2.0
// Whether a database and its blobs are what was written: pages, references, the chain of events,
// and every stored byte against its digest. Reads only, so a server may run meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "takt/store/database.h"

namespace takt::store {

struct CheckOptions {
  std::string database;          // path or URI
  std::filesystem::path blobs;   // DATA/blobs
  std::int64_t read_blobs = -1;  // how many are read back, spread evenly; -1: all
  bool is_quick = false;         // leave out what SQLite checks of its indexes
};

/// What was looked at, and what is wrong with it.
struct CheckReport {
  std::string dialect;
  std::int64_t tables = 0, rows = 0;
  std::int64_t events = 0;
  std::string head;  // hash of the last event that fits
  std::int64_t blobs = 0, packs = 0, blobs_read = 0, bytes_read = 0;
  std::int64_t orphans = 0, orphan_bytes = 0;  // files that no row names: they only take space
  std::int64_t problems_found = 0;
  std::vector<std::string> problems;  // the first kCheckProblemsMax of them

  void add_problem(std::string text);
};
inline constexpr std::size_t kCheckProblemsMax = 100;

/// Fails only where nothing can be said at all; a damaged store is a report with problems.
Result<CheckReport> check_store(const CheckOptions& options, const Clock& clock);

}  // namespace takt::store

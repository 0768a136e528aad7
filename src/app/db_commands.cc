// SPDX-License-Identifier: Apache-2.0
#include "takt/app/db_commands.h"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "takt/app/platform.h"
#include "takt/app/server.h"
#include "takt/app/settings.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/base/units.h"
#include "takt/store/check.h"
#include "takt/store/move.h"

namespace takt::app {
namespace {

namespace fs = std::filesystem;

constexpr int kFoundProblems = 1;
constexpr int kWrongUse = 2;

struct DbOptions {
  std::string data_dir, database, config, blobs = "all", to;
  bool is_quick = false, is_json = false;
};

/// Where the store is, as `takt server` would find it.
struct Place {
  fs::path data_dir;
  std::string database;
};
Result<Place> place_of(const DbOptions& options,
                       const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words;
  for (const auto& [flag, value] :
       std::initializer_list<std::pair<std::string, std::string>>{{"--config", options.config},
                                                                  {"--data-dir", options.data_dir},
                                                                  {"--database", options.database}})
    if (!value.empty()) words.insert(words.end(), {flag, value});
  TAKT_ASSIGN(const Settings settings, Settings::load(words, environment));
  Place place{fs::absolute(data_dir_of(settings.text("data_dir"))), settings.text("database")};
  if (place.database.empty()) place.database = (place.data_dir / "takt.db").string();
  return place;
}

Result<std::int64_t> blob_count(const std::string& text) {
  if (text == "all") return -1;
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0)
    return fail(Code::kInvalid, "--blobs: '" + text + "' is neither a number nor all");
  return count;
}

Value json_of(const store::CheckReport& report) {
  Array problems;
  for (const std::string& problem : report.problems) problems.push_back(problem);
  return Object{{"database", report.dialect},
                {"tables", report.tables},
                {"rows", report.rows},
                {"events", report.events},
                {"head", report.head},
                {"blobs", report.blobs},
                {"packs", report.packs},
                {"blobs_read", report.blobs_read},
                {"bytes_read", report.bytes_read},
                {"orphans", report.orphans},
                {"orphan_bytes", report.orphan_bytes},
                {"problems_found", report.problems_found},
                {"problems", std::move(problems)}};
}

void print_report(const store::CheckReport& report) {
  std::printf("database  %s: %lld tables, %lld rows\n", report.dialect.c_str(),
              static_cast<long long>(report.tables), static_cast<long long>(report.rows));
  std::printf("events    %lld, head %s\n", static_cast<long long>(report.events),
              report.head.empty() ? "none" : report.head.c_str());
  std::printf("blobs     %lld in %lld packs and alone; read back %lld (%s)\n",
              static_cast<long long>(report.blobs), static_cast<long long>(report.packs),
              static_cast<long long>(report.blobs_read), format_bytes(report.bytes_read).c_str());
  if (report.orphans > 0)
    std::printf("orphans   %lld files that nothing names take %s; they harm nothing\n",
                static_cast<long long>(report.orphans), format_bytes(report.orphan_bytes).c_str());
  for (const std::string& problem : report.problems) std::printf("PROBLEM   %s\n", problem.c_str());
  if (report.problems_found == 0)
    std::printf("no problem found\n");
  else
    std::printf("%lld problems found; restore a backup (takt restore) or what they name\n",
                static_cast<long long>(report.problems_found));
}

Result<int> check(const DbOptions& options, const std::map<std::string, std::string>& environment) {
  TAKT_ASSIGN(const Place place, place_of(options, environment));
  store::CheckOptions wanted;
  wanted.database = place.database;
  wanted.blobs = place.data_dir / "blobs";
  wanted.is_quick = options.is_quick;
  TAKT_ASSIGN(wanted.read_blobs, blob_count(options.blobs));
  TAKT_ASSIGN(const store::CheckReport report, store::check_store(wanted, system_clock()));
  if (options.is_json)
    std::printf("%s\n", dump_json_pretty(json_of(report)).c_str());
  else
    print_report(report);
  return report.problems_found == 0 ? 0 : kFoundProblems;
}

Result<int> migrate(const DbOptions& options,
                    const std::map<std::string, std::string>& environment) {
  TAKT_ASSIGN(const Place place, place_of(options, environment));
  const std::string source = (place.data_dir / "takt.db").string();
  if (std::error_code error; !fs::exists(source, error))
    return fail(Code::kNotFound, "there is no SQLite database " + source,
                "name the data folder with --data-dir");
  const auto lock = lock_file(place.data_dir / "server.lock");
  if (!lock && lock.error().code == Code::kConflict)
    return fail(Code::kConflict, "a takt server runs on " + place.data_dir.string(),
                "stop the server first (takt stop): it must not write meanwhile");
  if (!lock) return fail(lock.error());
  const auto migrations = all_migrations();
  TAKT_ASSIGN(const store::MoveReport report,
              store::move_to_postgres(source, options.to, migrations, system_clock()));
  if (options.is_json) {
    Array tables;
    for (const store::MovedTable& table : report.tables)
      tables.push_back(
          Object{{"name", table.name}, {"rows", table.rows}, {"digest", table.digest}});
    std::printf(
        "%s\n",
        dump_json_pretty(Object{{"rows", report.rows}, {"tables", std::move(tables)}}).c_str());
    return 0;
  }
  for (const store::MovedTable& table : report.tables)
    if (table.rows > 0)
      std::printf("%-28s %12lld rows  %.16s\n", table.name.c_str(),
                  static_cast<long long>(table.rows), table.digest.c_str());
  std::printf(
      "moved %lld rows; count and digest of every table are the same on both sides\n"
      "start the server with --database (or TAKT_DATABASE) and the same data folder; %s is as it "
      "was\n",
      static_cast<long long>(report.rows), source.c_str());
  return 0;
}

void add_places(CLI::App* app, DbOptions& options) {
  app->add_option("--data-dir", options.data_dir, "data folder; default: as takt server has it");
  app->add_option("--config", options.config, "the server's file of settings");
  app->add_flag("--json", options.is_json, "print one JSON document");
}

}  // namespace

int db_command(const std::vector<std::string>& words,
               const std::map<std::string, std::string>& environment) {
  DbOptions options;
  CLI::App app{"check a store, or move it to PostgreSQL", "takt db"};
  app.require_subcommand(1);
  auto* checking = app.add_subcommand(
      "check",
      "read everything back; exit code 1 when something is damaged. Changes nothing, and "
      "a server may run meanwhile");
  add_places(checking, options);
  checking->add_option("--database", options.database, "postgresql://…, if it is not SQLite");
  checking->add_option("--blobs", options.blobs,
                       "how many blobs to hold against their digests: all, or a number, spread");
  checking->add_flag("--quick", options.is_quick, "do not hold indexes against their tables");
  auto* moving = app.add_subcommand(
      "migrate",
      "copy a stopped server's SQLite database into an unused PostgreSQL one: all of it, "
      "verified, or nothing");
  add_places(moving, options);
  moving->add_option("--to", options.to, "postgresql://USER@HOST/DATABASE")->required();
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    const bool is_wrong = error.get_exit_code() != 0;
    app.exit(error);
    return is_wrong ? kWrongUse : 0;
  }
  log_setup(LogLevel::kWarn, LogFormat::kAuto);
  const auto code =
      checking->parsed() ? check(options, environment) : migrate(options, environment);
  if (code) return *code;
  std::fprintf(stderr, "takt db: %s\n", code.error().text().c_str());
  return code_names(code.error().code).exit_code;
}

}  // namespace takt::app

// SPDX-License-Identifier: Apache-2.0
// Fills a database with runs, through the services that clients' calls go through, and times
// searches over them without a network:
//   bench-seed-runs LOCATION --create --runs 100000 [--experiments 4] [--keys 10] [--tags 5]
//   bench-seed-runs LOCATION --measure [--repeats 5]
// LOCATION is a SQLite file or postgresql://…; without --create one that a server made, stopped.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "takt/store/database.h"
#include "takt/track/filter.h"
#include "takt/track/migrations.h"
#include "takt/track/track_service.h"

namespace {

using namespace takt;
using track::RunSearch;

struct Options {
  std::string location;
  int runs = 0, experiments = 4, keys = 10, tags = 5, repeats = 5;
  bool measures = false, creates = false;
};

struct BenchPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

int give_up(std::string_view doing, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", std::string(doing).c_str(), error.text().c_str());
  return 1;
}

struct Bench {
  explicit Bench(store::Database& db) : track(db) {}
  BenchPolicy policy;
  access::CanRead read = policy.as_server<access::Right::kRead>(ProjectId{"default"}, UserId{"b"});
  access::CanWrite write =
      policy.as_server<access::Right::kWrite>(ProjectId{"default"}, UserId{"b"});
  track::TrackService track;

  /// Most runs are in the first experiment, the rest spread over the others.
  std::vector<ExperimentId> experiments(int count) {
    std::vector<ExperimentId> ids;
    for (int i = 0; i < count; ++i) {
      track::Experiment asked;
      asked.name = "bench " + std::to_string(i);
      if (const auto made = track.create_experiment(write, asked)) {
        ids.push_back(made->id);
      } else if (const auto known = track.experiment_by_name(read, asked.name)) {
        ids.push_back(known->id);
      }
    }
    return ids;
  }

  Status add_run(const Options& options, const ExperimentId& experiment, int number,
                 std::mt19937& random) {
    track::ClientRun asked;
    asked.experiment = experiment;
    asked.name = "run-" + std::to_string(number);
    asked.start_ms = 1'700'000'000'000 + number * std::int64_t{1000};
    TAKT_ASSIGN(const track::Run run, track.create_run(write, asked));
    track::Batch batch;
    std::uniform_real_distribution<double> uniform(0, 1);
    for (int i = 0; i < options.keys; ++i) {
      const std::string key = std::to_string(i);
      batch.metrics.push_back({"m" + key, {asked.start_ms, 1, uniform(random)}, "", "", ""});
      batch.params.emplace_back("p" + key, std::to_string(random() % 100));
    }
    for (int i = 0; i < options.tags; ++i)
      batch.tags.emplace_back("t" + std::to_string(i), std::to_string(random() % 10));
    return track.log_batch(write, run.id, batch);
  }

  Status seed(const Options& options) {
    const auto ids = experiments(std::max(options.experiments, 1));
    std::atomic<int> next = 0;
    std::atomic<bool> failed = false;
    Status first;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < 8; ++t)
      threads.emplace_back([&, t] {
        std::mt19937 random(t);
        for (int i = next++; i < options.runs && !failed; i = next++) {
          const std::size_t other = static_cast<std::size_t>(i) % ids.size();
          const Status added = add_run(options, ids[i % 10 < 8 ? 0 : other], i, random);
          if (!added && !failed.exchange(true)) first = added;
        }
      });
    threads.clear();
    return first;
  }
};

struct Case {
  const char* name;
  const char* filter;
  std::vector<std::string> order;
  std::int64_t limit = 100;
  bool is_all = false, counts = false, is_whole = true;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"100 newest", "", {}},
      {"100 newest of all experiments", "", {}, 100, true},
      {"100, filter and order by metric", "metrics.m1 > 0.5", {"metrics.m0 DESC"}},
      {"100, filter and order by the same metric", "metrics.m0 > 0.5", {"metrics.m0 DESC"}},
      {"100, filter and order by metric, all", "metrics.m1 > 0.5", {"metrics.m0"}, 100, true},
      {"100, rare param, order by metric", "params.p0 = '7' AND params.p1 = '8'", {"metrics.m0"}},
      {"100, OR and NOT", "(metrics.m1 > 0.9 OR params.p1 = '3') AND NOT tags.t1 = '4'", {}},
      {"1,000 full runs", "", {}, 1000},
      {"1,000 runs, rows only", "", {}, 1000, false, false, false},
      {"count", "", {}, 1, false, true},
      {"count of all experiments", "", {}, 1, true, true},
      {"count with filter", "metrics.m1 > 0.5", {}, 1, false, true},
  };
  return all;
}

int measure(Bench& bench, const Options& options) {
  const auto ids = bench.experiments(1);
  std::printf("| search | median ms | least | found |\n|---|---|---|---|\n");
  for (const Case& one : cases()) {
    RunSearch search;
    search.scope = {one.is_all, {ids.front().value}};
    search.filter = *track::parse_filter(one.filter, track::run_filter_rules());
    search.order = *track::parse_order(one.order, track::run_filter_rules());
    search.limit = one.limit;
    search.counts = one.counts;
    track::RunColumns columns;
    columns.is_restricted = !one.is_whole;
    std::vector<double> times;
    std::int64_t found = 0;
    for (int i = 0; i < options.repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const auto page = bench.track.search(bench.read, search, columns, one.is_whole);
      if (!page) return give_up(one.name, page.error());
      const auto taken = std::chrono::steady_clock::now() - start;
      times.push_back(std::chrono::duration<double, std::milli>(taken).count());
      found = one.counts ? page->total : static_cast<std::int64_t>(page->runs.size());
    }
    std::ranges::sort(times);
    std::printf("| %s | %.1f | %.1f | %lld |\n", one.name, times[times.size() / 2], times.front(),
                static_cast<long long>(found));
    std::fflush(stdout);
  }
  return 0;
}

Options options_of(int argc, char** argv) {
  Options options;
  const std::pair<const char*, int Options::*> numbers[] = {
      {"--runs", &Options::runs},
      {"--experiments", &Options::experiments},
      {"--keys", &Options::keys},
      {"--tags", &Options::tags},
      {"--repeats", &Options::repeats}};
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--measure") options.measures = true;
    if (word == "--create") options.creates = true;
    if (!word.starts_with("--") && options.location.empty()) options.location = word;
    for (const auto& [name, member] : numbers)
      if (word == name && i + 1 < argc)
        std::from_chars(argv[i + 1], argv[i + 1] + std::strlen(argv[i + 1]), options.*member);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  if (options.location.empty() || (options.runs == 0 && !options.measures)) {
    std::fprintf(stderr, "bench-seed-runs LOCATION --runs N | --measure\n");
    return 2;
  }
  const auto db =
      store::Database::open({.location = options.location, .sync_full = false}, system_clock());
  if (!db) return give_up("opening", db.error());
  if (options.creates)
    if (const Status done = (*db)->migrate(track::migrations()); !done)
      return give_up("migrating", done.error());
  Bench bench(**db);
  if (options.runs > 0)
    if (const Status done = bench.seed(options); !done) return give_up("seeding", done.error());
  return options.measures ? measure(bench, options) : 0;
}

// SPDX-License-Identifier: Apache-2.0
// A table of small worlds as text: machine, placed and waiting jobs above the line, decisions
// below.
//   machine CPU MEMORY GPUS | run ID CPU MEMORY GPUS | job ID PRIORITY CPU MEMORY GPUS AGE_S
//   [BACKOFF_S]
#include "takt/jobs/plan.h"

#include <gtest/gtest.h>

#include <sstream>

#include "takt/base/units.h"

namespace takt::jobs {
namespace {

constexpr UnixMs kNow = 1'000'000'000;

Resources read_resources(std::istringstream& in) {
  std::string cpu, memory;
  Resources resources;
  in >> cpu >> memory >> resources.gpus;
  resources.cpu_millicores = parse_cpu(cpu).value();
  resources.memory_bytes = parse_bytes(memory).value();
  return resources;
}

std::string decide(const std::string& world) {
  QueueView view;
  Resources machine;
  std::istringstream lines(world);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream in(line);
    std::string word;
    in >> word;
    if (word == "machine") machine = read_resources(in);
    if (word == "run") {
      PlacedJob job;
      in >> job.id.value;
      job.resources = read_resources(in);
      view.placed.push_back(job);
    }
    if (word == "job") {
      QueuedJob job;
      std::int64_t age_s = 0, backoff_s = 0;
      in >> job.id.value >> job.priority;
      job.resources = read_resources(in);
      in >> age_s >> backoff_s;
      job.submitted_ms = kNow - age_s * 1000;
      if (backoff_s > 0) job.not_before_ms = kNow + backoff_s * 1000;
      view.waiting.push_back(job);
    }
  }
  std::string text;
  for (const Decision& decision : plan(view, machine, kNow)) {
    if (const auto* place = std::get_if<Place>(&decision))
      text += "place " + std::to_string(place->job.value) + "\n";
    else
      text += "wait " + std::to_string(std::get<Wait>(decision).job.value) + ": " +
              std::get<Wait>(decision).reason + "\n";
  }
  return text;
}

struct World {
  const char* name;
  const char* given;
  const char* then;
};

const World kWorlds[] = {
    {"an_empty_queue_gives_nothing", "machine 2 4GiB 0", ""},
    {"all_that_fit_are_placed_by_number",
     "machine 2 4GiB 0\njob 2 5 500m 1GiB 0 1\njob 1 5 500m 1GiB 0 2", "place 1\nplace 2\n"},
    {"higher_priority_goes_first", "machine 1 4GiB 0\njob 1 5 1 1GiB 0 9\njob 2 9 1 1GiB 0 1",
     "place 2\nwait 1: needs 1000m CPU; 1000m of 1000m are reserved by job 2 (1000m)\n"},
    {"a_waiting_job_says_who_holds_what",
     "machine 2 4GiB 0\nrun 4 500m 1GiB 0\nrun 3 1 1GiB 0\njob 5 5 2 1GiB 0 1",
     "wait 5: needs 2000m CPU; 1500m of 2000m are reserved by job 3 (1000m), job 4 (500m)\n"},
    {"all_blockers_are_named", "machine 2 4GiB 1\nrun 1 1500m 3.5GiB 1\njob 2 5 1 1GiB 1 1",
     "wait 2: needs 1000m CPU; 1500m of 2000m are reserved by job 1 (1500m); needs 1 GiB memory; "
     "3.5 GiB of 4 GiB are reserved by job 1 (3.5 GiB); needs 1 GPUs; 1 of 1 are reserved by job 1 "
     "(1)\n"},
    {"a_smaller_one_passes_a_blocked_one",
     "machine 2 4GiB 0\nrun 1 1 1GiB 0\njob 2 5 2 1GiB 0 9\njob 3 5 1 1GiB 0 1",
     "wait 2: needs 2000m CPU; 1000m of 2000m are reserved by job 1 (1000m)\nplace 3\n"},
    {"nothing_passes_one_that_waited_ten_minutes",
     "machine 2 4GiB 0\nrun 1 1 1GiB 0\njob 2 5 2 1GiB 0 600\njob 3 5 1 1GiB 0 1",
     "wait 2: needs 2000m CPU; 1000m of 2000m are reserved by job 1 (1000m)\n"
     "wait 3: job 2 is before it and has waited 10 min, so nothing passes it any more\n"},
    {"a_retry_waits_for_its_back_off_and_holds_nobody",
     "machine 1 4GiB 0\njob 1 9 1 1GiB 0 900 30\njob 2 5 1 1GiB 0 1",
     "wait 1: waits 30 s more before its next attempt\nplace 2\n"},
    {"one_that_never_fits_holds_nobody",
     "machine 1 4GiB 0\njob 1 9 2 1GiB 0 900\njob 2 5 1 1GiB 0 1",
     "wait 1: it can never run here: needs 2000m CPU, this machine has 1000m\nplace 2\n"},
    {"a_job_without_gpus_starts_on_a_machine_whose_gpus_are_gone",
     "machine 2 4GiB 1\nrun 1 1 1GiB 1\njob 2 5 1 1GiB 0 1", "place 2\n"},
    {"many_holders_are_counted",
     "machine 700m 8GiB 0\nrun 1 100m 1MiB 0\nrun 2 100m 1MiB 0\nrun 3 100m 1MiB 0\nrun 4 100m "
     "1MiB 0\n"
     "run 5 100m 1MiB 0\nrun 6 100m 1MiB 0\nrun 7 100m 1MiB 0\njob 8 5 100m 1MiB 0 1",
     "wait 8: needs 100m CPU; 700m of 700m are reserved by job 1 (100m), job 2 (100m), job 3 "
     "(100m), "
     "job 4 (100m), job 5 (100m) and 2 more\n"},
};

TEST(Plan, decides_each_world_as_its_table_says) {
  for (const World& world : kWorlds) EXPECT_EQ(decide(world.given), world.then) << world.name;
}

TEST(Plan, a_blocked_job_says_when_time_alone_changes_things) {
  QueueView view;
  view.placed.push_back({JobId{1}, {1000, 1, 0}});
  view.waiting.push_back({JobId{2}, 5, {1000, 1, 0}, kNow, 0});
  const auto decisions = plan(view, {1000, 1 << 30, 0}, kNow);
  EXPECT_EQ(std::get<Wait>(decisions.at(0)).until_ms, kNow + kHoldAfterMs);
}

TEST(Plan, what_can_never_fit_is_refused_with_field_and_numbers) {
  const Status status = check_fits({8000, 1, 0}, {2000, 1 << 30, 0});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().field, "spec.resources.cpu");
  EXPECT_EQ(status.error().message,
            "it can never run here: needs 8000m CPU, this machine has 2000m");
  EXPECT_EQ(status.error().hint, "lower resources.cpu to at most 2000m");
}

}  // namespace
}  // namespace takt::jobs

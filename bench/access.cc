// SPDX-License-Identifier: Apache-2.0
// What a request pays for being known, and an event for being chained: one JSON line each.
//   bench-access [FOLDER]        FOLDER: where the databases go; default: the system's temporary
//   one
#include "takt/access/access.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "takt/access/migrations.h"
#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/store/event_chain.h"
#include "takt/store/event_log.h"

namespace {

using namespace takt;  // NOLINT: a program of one file
using Clock = std::chrono::steady_clock;

constexpr int kCalls = 200'000;
constexpr int kEvents = 100'000;

template <class T>
T must(Result<T> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", result.error().text().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

template <class Fn>
void measure(const char* what, long tokens, int calls, Fn fn) {
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) fn(i);
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  std::printf("{\"what\": \"%s\", \"tokens\": %ld, \"us_per_call\": %.3f}\n", what, tokens,
              us / calls);
  std::fflush(stdout);
}

void measure_checks(access::AccessService& access, const std::string& secret, long tokens) {
  const auto ask = [&](const net::Credentials& credentials) {
    if (!access.authenticate(credentials)) std::exit(2);
  };
  const net::Credentials bearer{.authorization = "Bearer " + secret};
  const net::Credentials basic{.authorization = "Basic " + base64_encode("admin:" + secret)};
  const net::Credentials session{.session_cookie = must(access.sign_in(secret))};
  const net::Credentials job{
      .authorization = "Bearer " + must(access.job_token(ProjectId{"default"}, UserId{"admin"},
                                                         JobId{1}, 1, 3600'000))};
  measure("bearer", tokens, kCalls, [&](int) { ask(bearer); });
  measure("basic", tokens, kCalls, [&](int) { ask(basic); });
  measure("session", tokens, kCalls, [&](int) { ask(session); });
  measure("job", tokens, kCalls, [&](int) { ask(job); });
}

void measure_access(store::Database& db, const std::filesystem::path& folder) {
  const auto access = must(
      access::AccessService::open(db, {.admin_token_file = (folder / "admin-token").string()}));
  std::string secret = must(read_file(folder / "admin-token"));
  secret.pop_back();
  measure_checks(*access, secret, 1);
  net::Caller admin;
  admin.user.value = "admin";
  admin.project.value = "default";
  admin.is_admin = true;
  for (int i = 0; i < 10'000; ++i) must(access->create_token(admin, {.user = UserId{"admin"}}));
  measure_checks(*access, secret, 10'000);
}

store::Event sample_event(int i) {
  return {.project = ProjectId{"default"},
          .actor = UserId{"admin"},
          .verb = "run.ended",
          .subject = Ref{"run", "0123456789abcdef0123456789abcdef"},
          .details = Object{{"status", "FINISHED"}, {"number", i}, {"seconds", 12.5}}};
}

void measure_events(store::Database& db) {
  const std::string details = dump_json(sample_event(1).details);
  std::string head;
  measure("hash of an event", 0, kEvents, [&](int i) {
    head = store::chain_hash(head, {i, 1, "default", "admin", "run.ended",
                                    "run/0123456789abcdef0123456789abcdef", "", "", details});
  });
  must(db.write([&](store::Tx& tx) -> Status {
    measure("event appended", 0, kEvents,
            [&](int i) { must(store::append_event(tx, sample_event(i))); });
    return {};
  }));
  measure("durable commit of one event", 0, 1000, [&](int i) {
    must(db.write([&](store::Tx& tx) -> Status {
      TAKT_RETURN_IF_ERROR(store::append_event(tx, sample_event(i)));
      return {};
    }));
  });
  const auto start = Clock::now();
  const store::ChainCheck found = must(store::verify_event_chain(db));
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  std::printf(
      "{\"what\": \"event verified\", \"intact\": %s, \"events\": %lld, \"us_per_call\": "
      "%.3f}\n",
      found.is_intact() ? "true" : "false", static_cast<long long>(found.events),
      us / static_cast<double>(found.events));
}

}  // namespace

int main(int argc, char** argv) {
  const std::filesystem::path parent =
      argc > 1 ? std::filesystem::path(argv[1]) : std::filesystem::temp_directory_path();
  const std::filesystem::path folder = parent / ("bench-access-" + random_hex(4));
  std::filesystem::create_directories(folder);
  {
    const auto db =
        must(store::Database::open({.location = (folder / "takt.db").string()}, system_clock()));
    const auto migrations = access::migrations();
    must(db->migrate({migrations.begin(), migrations.end()}));
    measure_access(*db, folder);
    measure_events(*db);
  }
  std::filesystem::remove_all(folder);
  return 0;
}

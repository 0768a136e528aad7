// SPDX-License-Identifier: Apache-2.0
// takt audit ls | verify
#include <CLI/CLI.hpp>

#include <memory>

#include "takt/base/clock.h"
#include "takt/base/units.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

struct AuditOptions {
  std::string of_project, actor, verb, subject, since, expect;
  int limit = 50;
};

/// "2h" before now, or a time as it stands.
Result<std::string> since_time(const std::string& since) {
  if (since.empty() || since.find('T') != std::string::npos) return since;
  TAKT_ASSIGN(const std::int64_t span_ms, parse_duration_ms(since));
  return format_time(system_clock().now_ms() - span_ms);
}

Status list_audit(Session& session, const AuditOptions& o) {
  TAKT_ASSIGN(const std::string since, since_time(o.since));
  std::string path = "/api/v1/audit?limit=" + std::to_string(o.limit);
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, std::string>>{{"of_project", o.of_project},
                                                                  {"actor", o.actor},
                                                                  {"verb", o.verb},
                                                                  {"subject", o.subject},
                                                                  {"since", since}})
    if (!value.empty()) path += std::string("&") + key + "=" + segment(value);
  TAKT_ASSIGN(const Value answer, session.get(path));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table({"SEQUENCE", "WHEN", "PROJECT", "ACTOR", "VERB", "SUBJECT", "DETAILS"});
  const Array& items = answer["items"].as_array();
  for (auto event = items.rbegin(); event != items.rend(); ++event)
    table.add({cell(*event, "sequence"), short_time(cell(*event, "time_at")),
               cell(*event, "project"), cell(*event, "actor"), cell(*event, "verb"),
               cell(*event, "subject"), cell(*event, "details")});
  table.print();
  return {};
}

Status verify_audit(Session& session, const std::string& expect) {
  TAKT_ASSIGN(const Value found,
              session.get("/api/v1/audit/verify" + (expect.empty() ? "" : "?expect=" + expect)));
  const bool is_intact = found.bool_or("intact", false);
  const bool is_known = expect.empty() || found.int_or("expected_sequence", 0) > 0;
  if (session.json()) {
    print_json(found);
  } else {
    if (is_intact)
      print_line("the log is intact: " + cell(found, "events") + " events");
    else
      print_line("the log is NOT intact: " + cell(found["broken"], "reason"));
    if (!expect.empty())
      print_line(is_known ? "the expected hash is that of event " + cell(found, "expected_sequence")
                          : "NO event has the expected hash: what it stood for was changed");
    print_line("head: event " + cell(found["head"], "sequence") + "  " +
               cell(found["head"], "hash"));
  }
  return is_intact && is_known ? Status{} : fail(work_failed());
}

}  // namespace

void add_audit_commands(CLI::App& app, Chosen& chosen) {
  const auto o = std::make_shared<AuditOptions>();
  auto* audit = app.add_subcommand("audit", "who did what, and whether the log of it is intact");
  audit->require_subcommand(1);
  auto* list = audit->add_subcommand("ls", "the log of all projects (admin only)");
  list->add_option("--of-project", o->of_project, "only of this project");
  list->add_option("--actor", o->actor, "only by this user");
  list->add_option("--verb", o->verb, "beginning of the verb, such as token. or access.denied");
  list->add_option("--subject", o->subject, "beginning of the subject, such as model/");
  list->add_option("--since", o->since, "such as 2h, or a time");
  list->add_option("--limit", o->limit, "how many");
  declare(list, chosen, [o](Session& s) { return list_audit(s, *o); });
  auto* verify = audit->add_subcommand(
      "verify", "walk the chain of hashes; exit code 1 when an event was changed");
  verify->add_option("--expect", o->expect, "a head's hash that you kept: it must still be there");
  declare(verify, chosen, [o](Session& s) { return verify_audit(s, o->expect); });
}

}  // namespace takt::cli

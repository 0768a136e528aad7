// SPDX-License-Identifier: Apache-2.0
// takt why | line | events | apply | backup | doctor
#include <CLI/CLI.hpp>

#include <memory>

#include "takt/base/clock.h"
#include "takt/base/units.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

void print_lineage(const Value& lineage) {
  const Array& edges = lineage["edges"].as_array();
  if (edges.empty()) return;
  print_line("");
  print_line("lineage");
  Table table({"FROM", "RELATION", "TO", "WHEN"});
  for (const Value& edge : edges)
    table.add({cell(edge, "from"), cell(edge, "relation"), cell(edge, "to"),
               short_time(cell(edge, "time_at"))});
  table.print();
}

Status why(Session& session, const std::string& thing, int depth) {
  TAKT_ASSIGN(const Value answer,
              session.get("/api/v1/why?ref=" + segment(thing) + "&depth=" + std::to_string(depth)));
  // The answer may be of any of several things: the caller has to say which.
  const Array& candidates = answer["candidates"].as_array();
  std::string refs;
  for (const Value& candidate : candidates) refs += "\n  " + candidate.as_string();
  if (session.json()) print_json(answer);
  if (!refs.empty())
    return fail(Code::kInvalid, "'" + thing + "' may mean:" + refs, "name one of them");
  if (session.json()) return {};
  print_line(cell(answer, "title").empty() ? cell(answer, "ref") : cell(answer, "title"));
  for (const Value& line : answer["lines"].as_array()) print_line("  " + line.as_string());
  for (const Value& next : answer["next"].as_array()) print_line("  next: " + next.as_string());
  print_lineage(answer["lineage"]);
  return {};
}

Status line(Session& session, const std::string& since) {
  TAKT_ASSIGN(const Value view, session.get("/api/v1/line?since=" + segment(since)));
  if (session.json()) {
    print_json(view);
    return {};
  }
  Table table({"STATION", "TOTAL", "MOVING", "", ""});
  for (const Value& card : view["cards"].as_array()) {
    std::vector<std::string> row{cell(card, "station"), cell(card, "total"), cell(card, "moving"),
                                 "", ""};
    const Array& lines = card["lines"].as_array();
    for (std::size_t i = 0; i < lines.size() && i < 2; ++i) row[3 + i] = lines[i].as_string();
    table.add(std::move(row));
  }
  table.print();
  print_line("");
  const Array& stops = view["stops"].as_array();
  if (stops.empty()) print_line("nothing waits");
  for (const Value& stop : stops) {
    print_line(cell(stop, "text"));
    print_line("  next: " + cell(stop, "action"));
  }
  return {};
}

/// One event a line; with --json a JSON document a line, as a follower can read them.
void print_event(const Value& event, bool is_json) {
  if (is_json) {
    print_line(dump_json(event));
    return;
  }
  print_line(cell(event, "sequence") + "  " + short_time(cell(event, "time_at")) + "  " +
             cell(event, "actor") + "  " + cell(event, "verb") + "  " + cell(event, "subject") +
             (event["details"].is_object() && !event["details"].as_object().empty()
                  ? "  " + cell(event, "details")
                  : ""));
}

Status events(Session& session, const std::string& subject, int limit, bool is_following) {
  TAKT_ASSIGN(Value answer, session.get("/api/v1/events?limit=" + std::to_string(limit) +
                                        "&subject=" + segment(subject)));
  if (session.json() && !is_following) {
    print_json(answer);
    return {};
  }
  const Array& items = answer["items"].as_array();
  for (auto event = items.rbegin(); event != items.rend(); ++event)
    print_event(*event, session.json());
  std::int64_t after = answer.int_or("last_sequence", 0);
  while (is_following) {
    TAKT_ASSIGN(answer, session.get("/api/v1/events?limit=1000&after=" + std::to_string(after)));
    for (const Value& event : answer["items"].as_array()) {
      after = event.int_or("sequence", after);
      if (subject.empty() || cell(event, "subject").starts_with(subject))
        print_event(event, session.json());
    }
    std::fflush(stdout);
    takt::system_clock().sleep_ms(500);
  }
  return {};
}

Status doctor(Session& session) {
  TAKT_ASSIGN(const Value version, session.get("/api/v1/version"));
  TAKT_ASSIGN(const Value who, session.get("/api/v1/whoami"));
  TAKT_ASSIGN(const Value capacity, session.get("/api/v1/capacity"));
  if (session.json()) {
    print_json(Object{
        {"server", session.url()}, {"version", version}, {"caller", who}, {"jobs", capacity}});
    return {};
  }
  print_line("server     " + session.url() + ", takt " + cell(version, "version"));
  print_line("you        " + cell(who, "user") + " (" + cell(who, "role") + ") in project " +
             cell(who, "project"));
  print_line("isolation  jobs are kept from the server's files by: " + cell(capacity, "isolation"));
  print_line("memory     caps are enforced by: " + cell(capacity, "memory_cap"));
  print_line("stopping   a job's process tree is ended by: " + cell(capacity, "tree_kill"));
  if (capacity["warnings"].is_array())
    for (const Value& warning : capacity["warnings"].as_array())
      print_line("warning: " + warning.as_string());
  return {};
}

Status apply_file(Session& session, const std::string& file) {
  TAKT_ASSIGN(const auto documents, read_documents(file));
  const std::vector<std::string> kinds = {"Job", "Service", "Pipeline", "Model"};
  for (const Value& document : documents) {
    const std::string kind = document.text_or("kind", "");
    if (kind == "Job") {
      TAKT_RETURN_IF_ERROR(submit_document(session, document, folder_of(file)));
    } else if (kind == "Service") {
      TAKT_RETURN_IF_ERROR(apply_service(session, document));
    } else if (kind == "Model") {
      TAKT_RETURN_IF_ERROR(apply_model(session, document));
    } else if (kind == "Pipeline") {
      const bool has_trigger = document["spec"].has("on");
      TAKT_ASSIGN(const Value pipeline,
                  apply_pipeline(session, document, folder_of(file), has_trigger));
      if (session.json())
        print_json(pipeline);
      else
        print_line("stored pipeline " + cell(pipeline, "name") +
                   (pipeline.bool_or("armed", false)
                        ? ", runs for each new version of " + cell(pipeline, "on_dataset")
                        : ""));
    } else {
      const std::string near = nearest_name(kind, kinds);
      return fail(Code::kInvalid, "unknown kind '" + kind + "'",
                  near.empty() ? "known kinds: Job, Service, Pipeline, Model"
                               : "did you mean '" + near + "'?",
                  "kind");
    }
  }
  return {};
}

}  // namespace

void add_spine_commands(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string thing, since = "24h", subject, file;
    int depth = 8, limit = 30;
    bool follow = false;
  };
  const auto o = std::make_shared<Options>();
  auto* why_command = app.add_subcommand("why", "the reason of a thing, and what it was made of");
  why_command
      ->add_option("thing", o->thing, "KIND/NAME such as job/41, model/digits@2; or a bare name")
      ->required();
  why_command->add_option("--depth", o->depth, "of the lineage");
  declare(why_command, chosen, [o](Session& s) { return why(s, o->thing, o->depth); });
  auto* line_command = app.add_subcommand("line", "the whole line: what moves, what stopped");
  line_command->add_option("--since", o->since, "such as 1h");
  declare(line_command, chosen, [o](Session& s) { return line(s, o->since); });
  auto* events_command = app.add_subcommand("events", "the event log");
  events_command->add_option("--subject", o->subject, "only things that begin so, such as job/");
  events_command->add_option("--limit", o->limit, "how many");
  events_command->add_flag("-f,--follow", o->follow, "go on as they come");
  declare(events_command, chosen,
          [o](Session& s) { return events(s, o->subject, o->limit, o->follow); });
  auto* apply = app.add_subcommand(
      "apply", "store what a YAML file describes (Job, Service, Pipeline, Model)");
  apply->add_option("-f,--file", o->file, "file")->required();
  declare(apply, chosen, [o](Session& s) { return apply_file(s, o->file); });
  declare(app.add_subcommand("doctor", "what this installation can and cannot do"), chosen,
          [](Session& s) { return doctor(s); });
  declare(
      app.add_subcommand("backup", "copy the live data folder to DATA/backups"), chosen,
      [](Session& s) -> Status {
        TAKT_ASSIGN(const Value backup, s.post("/api/v1/backups", Object{}));
        if (s.json())
          print_json(backup);
        else
          print_line(cell(backup, "path") + "  " + format_bytes(backup.int_or("size_bytes", 0)));
        return {};
      });
}

}  // namespace takt::cli

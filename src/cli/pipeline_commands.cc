// SPDX-License-Identifier: Apache-2.0
// takt pipeline run | plan | ls | show | approve | reject | cancel
#include <CLI/CLI.hpp>

#include <memory>

#include "takt/base/clock.h"
#include "takt/base/digest.h"
#include "takt/cli/capture.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

constexpr std::int64_t kPipelinePollMs = 300;

std::string pipeline_path(const std::string& name) { return "/api/v1/pipelines/" + segment(name); }
std::string run_path(const std::string& name, const std::string& number) {
  return pipeline_path(name) + "/runs/" + segment(number);
}

Result<Object> read_params(const std::vector<std::string>& texts) {
  Object params;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kInvalid, "-p '" + text + "' is not NAME=VALUE");
    TAKT_ASSIGN(params[text.substr(0, equals)], parse_yaml(text.substr(equals + 1)));
  }
  return params;
}

Result<Value> pipeline_document(const std::string& file) {
  TAKT_ASSIGN(auto documents, read_documents(file));
  for (Value& document : documents)
    if (document.text_or("kind", "") == "Pipeline") return std::move(document);
  return fail(Code::kInvalid, file + " holds no document of kind Pipeline");
}

/// A stored pipeline's name; a file is stored first, without arming it.
Result<std::string> stored_name(Session& session, const std::string& word) {
  if (!is_document_name(word)) return word;
  TAKT_ASSIGN(Value definition, pipeline_document(word));
  TAKT_ASSIGN(const Value pipeline,
              apply_pipeline(session, std::move(definition), folder_of(word), std::nullopt));
  return cell(pipeline, "name");
}

void print_nodes(const Value& run) {
  Table table({"NODE", "STATE", "ATTEMPT", "WORK", "REASON"});
  for (const Value& node : run["nodes"].as_array())
    table.add({cell(node, "name"), cell(node, "state"), cell(node, "attempt"), cell(node, "work"),
               cell(node, "reason")});
  table.print();
}

Status print_run(Session& session, const Value& run) {
  if (session.json()) {
    print_json(run);
    return {};
  }
  print_line("pipeline run " + cell(run, "pipeline") + "/" + cell(run, "number") + "  " +
             cell(run, "state") + (cell(run, "reason").empty() ? "" : ": " + cell(run, "reason")));
  print_nodes(run);
  return {};
}

bool has_ended(const Value& run) {
  const std::string state = cell(run, "state");
  return state != "running" && state != "waiting-approval";
}

/// Prints each node's change of state until the run ends or waits for a person.
Status watch(Session& session, Value run) {
  std::map<std::string, std::string> states;
  const std::string path = run_path(cell(run, "pipeline"), cell(run, "number"));
  while (true) {
    for (const Value& node : run["nodes"].as_array()) {
      std::string& before = states[cell(node, "name")];
      const std::string now = cell(node, "state");
      if (before == now || now == "pending") continue;
      before = now;
      if (!session.json())
        print_line("  " + cell(node, "name") + "  " + now +
                   (cell(node, "reason").empty() ? "" : "  (" + cell(node, "reason") + ")"));
    }
    const bool is_waiting = cell(run, "state") == "waiting-approval";
    if (has_ended(run) || is_waiting) break;
    takt::system_clock().sleep_ms(kPipelinePollMs);
    TAKT_ASSIGN(run, session.get(path));
  }
  if (session.json())
    print_json(run);
  else
    print_line(cell(run, "pipeline") + "/" + cell(run, "number") + " " + cell(run, "state") +
               (cell(run, "reason").empty() ? "" : ": " + cell(run, "reason")));
  for (const Value& node : run["nodes"].as_array())
    if (cell(node, "state") == "waiting-approval" && !session.json())
      print_line("approve with: takt pipeline approve " + cell(run, "pipeline") + " " +
                 cell(run, "number") + " " + cell(node, "name"));
  const bool is_bad = has_ended(run) && cell(run, "state") != "succeeded";
  return is_bad ? Status(fail(work_failed())) : Status();
}

Status run_pipeline(Session& session, const std::string& word,
                    const std::vector<std::string>& texts, bool wait,
                    const std::string& request_key) {
  TAKT_ASSIGN(Object params, read_params(texts));
  TAKT_ASSIGN(const std::string name, stored_name(session, word));
  // The key makes a retry of this call harmless: the client's own, or of a script that gave the
  // key.
  TAKT_ASSIGN(
      const Value run,
      session.post(pipeline_path(name) + "/runs",
                   Object{{"params", std::move(params)},
                          {"request_key", request_key.empty() ? random_hex(16) : request_key}}));
  return wait ? watch(session, run) : print_run(session, run);
}

Status plan_pipeline(Session& session, const std::string& word,
                     const std::vector<std::string>& texts) {
  TAKT_ASSIGN(Object params, read_params(texts));
  TAKT_ASSIGN(const std::string name, stored_name(session, word));
  TAKT_ASSIGN(const Value plan,
              session.post(pipeline_path(name) + "/plan", Object{{"params", std::move(params)}}));
  if (session.json()) {
    print_json(plan);
    return {};
  }
  Table table({"NODE", "VERDICT", "REASON"});
  for (const Value& node : plan["nodes"].as_array())
    table.add({cell(node, "name"), cell(node, "verdict"), cell(node, "reason")});
  table.print();
  return {};
}

Status list_pipelines(Session& session, const std::string& name) {
  TAKT_ASSIGN(const Value answer,
              session.get(name.empty() ? "/api/v1/pipelines" : pipeline_path(name) + "/runs"));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table(name.empty()
                  ? std::vector<std::string>{"PIPELINE", "TRIGGER", "RUNS", "LAST", "UPDATED"}
                  : std::vector<std::string>{"RUN", "STATE", "TRIGGER", "BY", "STARTED", "REASON"});
  for (const Value& item : answer["items"].as_array()) {
    if (!name.empty()) {
      table.add({cell(item, "number"), cell(item, "state"), cell(item, "trigger"),
                 cell(item, "started_by"), short_time(cell(item, "started_at")),
                 cell(item, "reason")});
      continue;
    }
    const Array& runs = item["runs"].as_array();
    table.add({cell(item, "name"),
               item.bool_or("armed", false) ? "dataset " + cell(item, "on_dataset") : "by hand",
               cell(item, "last_run"), runs.empty() ? "" : cell(runs.front(), "state"),
               short_time(cell(item, "updated_at"))});
  }
  if (table.empty())
    print_line("nothing yet; run one with `takt pipeline run FILE`");
  else
    table.print();
  return {};
}

}  // namespace

Result<Value> apply_pipeline(Session& session, Value definition, const std::string& folder,
                             std::optional<bool> arm) {
  Object body;
  TAKT_ASSIGN(const std::optional<Digest> lock, complete_pipeline(session, definition));
  if (lock) body["environment"] = lock->value;
  TAKT_ASSIGN(const Digest code, capture_code(session, folder));
  body["code"] = code.value;
  body["definition"] = std::move(definition);
  if (arm) body["arm"] = *arm;
  return session.post("/api/v1/pipelines", body);
}

void add_pipeline_commands(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string name, number = "latest", node, note, request_key;
    std::vector<std::string> params;
    bool wait = false;
  };
  const auto o = std::make_shared<Options>();
  auto* pipeline = app.add_subcommand("pipeline", "lines of work from data to service");
  pipeline->require_subcommand(1);
  auto* run =
      pipeline->add_subcommand("run", "store a file (or take a stored name) and start a run");
  run->add_option("pipeline", o->name, "pipeline.yaml, or a stored name")->required();
  run->add_option("-p,--param", o->params, "NAME=VALUE")->allow_extra_args(false);
  run->add_flag("--wait", o->wait, "print progress until the end or an approval");
  run->add_option("--request-key", o->request_key,
                  "the same key again starts no second run; default: random");
  declare(run, chosen,
          [o](Session& s) { return run_pipeline(s, o->name, o->params, o->wait, o->request_key); });
  auto* plan = pipeline->add_subcommand("plan", "what a run would do now, without starting it");
  plan->add_option("pipeline", o->name, "pipeline.yaml, or a stored name")->required();
  plan->add_option("-p,--param", o->params, "NAME=VALUE")->allow_extra_args(false);
  declare(plan, chosen, [o](Session& s) { return plan_pipeline(s, o->name, o->params); });
  auto* ls = pipeline->add_subcommand("ls", "list pipelines, or the runs of one");
  ls->add_option("pipeline", o->name, "name");
  declare(ls, chosen, [o](Session& s) { return list_pipelines(s, o->name); });
  auto* show = pipeline->add_subcommand("show", "show a run and its nodes");
  show->add_option("pipeline", o->name, "name")->required();
  show->add_option("number", o->number, "run; default: the latest");
  declare(show, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value found, s.get(run_path(o->name, o->number)));
    return print_run(s, found);
  });
  auto* wait = pipeline->add_subcommand("wait", "follow a run until it ends or waits for a person");
  wait->add_option("pipeline", o->name, "name")->required();
  wait->add_option("number", o->number, "run; default: the latest");
  declare(wait, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value found, s.get(run_path(o->name, o->number)));
    return watch(s, found);
  });
  for (const char* verb : {"approve", "reject"}) {
    auto* decide =
        pipeline->add_subcommand(verb, std::string(verb) + " a node that waits for a person");
    decide->add_option("pipeline", o->name, "name")->required();
    decide->add_option("number", o->number, "run")->required();
    decide->add_option("node", o->node, "node")->required();
    decide->add_option("--note", o->note, "why");
    declare(decide, chosen, [o, verb](Session& s) -> Status {
      TAKT_ASSIGN(const Value after,
                  s.post(run_path(o->name, o->number) + "/nodes/" + segment(o->node) + "/" + verb,
                         Object{{"note", o->note}}));
      return print_run(s, after);
    });
  }
  auto* cancel = pipeline->add_subcommand("cancel", "cancel a run and its open nodes");
  cancel->add_option("pipeline", o->name, "name")->required();
  cancel->add_option("number", o->number, "run")->required();
  declare(cancel, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value after, s.post(run_path(o->name, o->number) + "/cancel", Object{}));
    return print_run(s, after);
  });
}

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// takt models rules, check, approve, reject, rollback, history, measure, report
#include <CLI/CLI.hpp>

#include <charconv>
#include <memory>

#include "takt/base/file.h"
#include "takt/base/ids.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

std::string gated_model_path(const std::string& name) { return "/api/v1/models/" + segment(name); }

Result<std::string> path_of_version(const std::string& reference) {
  TAKT_ASSIGN(const std::string path, version_path(reference));
  return "/api/v1/models/" + path;
}

std::string for_text(const Value& rule) {
  std::string text;
  if (rule["for"].is_array())
    for (const Value& alias : rule["for"].as_array())
      text += (text.empty() ? "" : ", ") + alias.as_string();
  return text.empty() ? "every alias" : text;
}

/// "metric accuracy, data digits-test@3, at_least 0.95": the rule's own words, without its name.
std::string rule_text(const Value& rule) {
  std::string text;
  for (const char* key : {"metric", "latency", "parity", "approval", "code", "data", "at_least",
                          "at_most", "better_by", "not_worse_by", "better"})
    if (rule.has(key))
      text += (text.empty() ? "" : ", ") + std::string(key) + " " + cell(rule, key);
  return text;
}

Status print_rules(Session& session, const Value& answer) {
  if (session.json()) {
    print_json(answer);
    return {};
  }
  const Array& rules = answer["rules"].as_array();
  if (rules.empty()) {
    print_line(cell(answer, "model") + " has no promotion rules: its aliases move freely");
    return {};
  }
  Table table({"RULE", "FOR", "WANTS"});
  for (const Value& rule : rules) table.add({cell(rule, "name"), for_text(rule), rule_text(rule)});
  table.print();
  return {};
}

/// The rules in a file: a Model document, {rules: […]}, or the list alone.
Result<Value> rules_in(const Value& document) {
  if (document.is_array()) return document;
  if (document["spec"].is_object() && document["spec"].has("rules"))
    return document["spec"]["rules"];
  if (document.has("rules")) return document["rules"];
  return fail(Code::kInvalid, "the file holds no rules",
              "write them as spec.rules of a document with kind: Model", "rules");
}

Result<Value> send_rules(Session& session, const std::string& name, const Value& rules) {
  return session.put(gated_model_path(name) + "/rules", Object{{"rules", rules}});
}

Status rules_set(Session& session, const std::string& name, const std::string& file) {
  TAKT_ASSIGN(const auto documents, read_documents(file));
  if (documents.size() != 1)
    return fail(Code::kInvalid,
                file + " holds " + std::to_string(documents.size()) + " documents, one is wanted");
  TAKT_ASSIGN(const Value rules, rules_in(documents[0]));
  TAKT_ASSIGN(const Value answer, send_rules(session, name, rules));
  return print_rules(session, answer);
}

Status check(Session& session, const std::string& reference, const std::string& alias) {
  TAKT_ASSIGN(const std::string path, path_of_version(reference));
  TAKT_ASSIGN(const Value answer, session.get(path + "/check?alias=" + segment(alias)));
  const bool is_allowed = answer.bool_or("is_allowed", false);
  if (session.json()) {
    print_json(answer);
  } else {
    const std::string version = cell(answer, "ref").substr(6);
    const std::string holder =
        answer.has("holder") ? " (held by version " + cell(answer, "holder") + ")" : "";
    const Array& rules = answer["rules"].as_array();
    if (rules.empty()) {
      print_line("no rule guards " + alias + holder + ": " + version + " may take it");
      return {};
    }
    Table table({"RULE", "VERDICT", "WANTED", "FOUND"});
    for (const Value& rule : rules)
      table.add(
          {cell(rule, "rule"), cell(rule, "verdict"), cell(rule, "wanted"), cell(rule, "found")});
    table.print();
    for (const Value& rule : rules)
      if (rule.has("remedy"))
        print_line("next, for " + cell(rule, "rule") + ": " + cell(rule, "remedy"));
    print_line(version + (is_allowed ? " may take " : " may not take ") + alias + holder);
  }
  return is_allowed ? Status() : Status(fail(work_failed()));
}

Status decide(Session& session, const std::string& reference, const std::string& alias,
              const std::string& verdict, const std::string& comment) {
  TAKT_ASSIGN(const std::string path, path_of_version(reference));
  TAKT_ASSIGN(const Value answer,
              session.post(path + "/approvals",
                           Object{{"alias", alias}, {"verdict", verdict}, {"comment", comment}}));
  if (session.json())
    print_json(answer);
  else
    print_line(cell(answer, "user") + " " + verdict + " " + reference + " for " + alias +
               (verdict == "approved" ? "; it takes the alias with `takt models alias " +
                                            reference + " " + alias + "`"
                                      : ""));
  return {};
}

Status roll_back(Session& session, const std::string& name, const std::string& alias,
                 const std::string& reason) {
  TAKT_ASSIGN(const Value answer,
              session.post(gated_model_path(name) + "/aliases/" + segment(alias) + "/rollback",
                           Object{{"reason", reason}}));
  if (session.json())
    print_json(answer);
  else
    print_line(name + "@" + alias + " is again version " + cell(answer, "version"));
  return {};
}

Status history(Session& session, const std::string& name, const std::string& alias) {
  TAKT_ASSIGN(const Value answer,
              session.get(gated_model_path(name) + "/aliases/" + segment(alias) + "/history"));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table({"VERSION", "MOVE", "BY", "WHEN", "REASON"});
  for (const Value& move : answer["items"].as_array())
    table.add({cell(move, "version"), cell(move, "kind"), cell(move, "by"),
               short_time(cell(move, "at")), cell(move, "reason")});
  if (table.empty())
    print_line("nobody ever held " + alias + " of " + name);
  else
    table.print();
  return {};
}

Status measure(Session& session, const std::string& reference, const std::string& data,
               const std::string& source, const std::vector<std::string>& words) {
  TAKT_ASSIGN(const std::string path, path_of_version(reference));
  Object metrics;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    double value = 0;
    const char* end = word.data() + word.size();
    const bool is_pair = equals != std::string::npos && equals > 0;
    const auto parsed = is_pair ? std::from_chars(word.data() + equals + 1, end, value)
                                : std::from_chars_result{end, std::errc::invalid_argument};
    if (parsed.ec != std::errc() || parsed.ptr != end)
      return fail(Code::kInvalid, "'" + word + "' is not METRIC=NUMBER");
    metrics[word.substr(0, equals)] = value;
  }
  Object body{{"metrics", metrics}};
  if (!data.empty()) body["data"] = data;
  if (!source.empty()) body["source"] = source;
  TAKT_RETURN_IF_ERROR(session.post(path + "/measurements", body));
  if (session.json())
    print_json(body);
  else
    print_line("recorded " + std::to_string(words.size()) +
               (words.size() == 1 ? " metric of " : " metrics of ") + reference +
               (data.empty() ? "" : " on " + data));
  return {};
}

Status report(Session& session, const std::string& reference, const std::string& kind,
              const std::string& file) {
  TAKT_ASSIGN(const std::string path, path_of_version(reference));
  TAKT_ASSIGN(const std::string text, read_file(file, 1 << 20));
  TAKT_ASSIGN(const Value content, parse_yaml(text).transform_error(while_(file)));
  TAKT_RETURN_IF_ERROR(session.put(path + "/reports/" + segment(kind), content));
  if (session.json())
    print_json(content);
  else
    print_line("recorded the " + kind + " report of " + reference);
  return {};
}

struct GateOptions {
  std::string name, alias, comment, file, kind, data, source;
  std::vector<std::string> metrics;
};
using GateWords = std::shared_ptr<GateOptions>;

void add_rule_commands(CLI::App* models, Chosen& chosen, const GateWords& o) {
  auto* rules = models->add_subcommand("rules", "what a version must show before an alias moves");
  rules->require_subcommand(1);
  auto* show = rules->add_subcommand("show", "show the promotion rules of a model");
  show->add_option("name", o->name, "model")->required();
  declare(show, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value answer, s.get(gated_model_path(o->name) + "/rules"));
    return print_rules(s, answer);
  });
  auto* set = rules->add_subcommand("set", "replace the promotion rules of a model");
  set->add_option("name", o->name, "model")->required();
  set->add_option("-f,--file", o->file, "YAML with the rules")->required();
  declare(set, chosen, [o](Session& s) { return rules_set(s, o->name, o->file); });
  auto* check_command =
      models->add_subcommand("check", "hold a version against the rules of an alias");
  check_command->add_option("version", o->name, "NAME@N")->required();
  check_command->add_option("--for", o->alias, "alias")->required();
  declare(check_command, chosen, [o](Session& s) { return check(s, o->name, o->alias); });
  for (const bool is_approval : {true, false}) {
    auto* command =
        models->add_subcommand(is_approval ? "approve" : "reject",
                               is_approval ? "approve a version for an alias, as a person"
                                           : "say that a version must not take an alias");
    command->add_option("version", o->name, "NAME@N")->required();
    command->add_option("--for", o->alias, "alias")->required();
    command->add_option("--comment", o->comment, "why");
    declare(command, chosen, [o, is_approval](Session& s) {
      return decide(s, o->name, o->alias, is_approval ? "approved" : "rejected", o->comment);
    });
  }
}

void add_move_commands(CLI::App* models, Chosen& chosen, const GateWords& o) {
  auto* back = models->add_subcommand("rollback", "give an alias back to who held it before");
  back->add_option("name", o->name, "model")->required();
  back->add_option("alias", o->alias, "such as production")->required();
  back->add_option("--reason", o->comment, "for the event log");
  declare(back, chosen, [o](Session& s) { return roll_back(s, o->name, o->alias, o->comment); });
  auto* moves = models->add_subcommand("history", "who held an alias");
  moves->add_option("name", o->name, "model")->required();
  moves->add_option("alias", o->alias, "such as production")->required();
  declare(moves, chosen, [o](Session& s) { return history(s, o->name, o->alias); });
  auto* measured = models->add_subcommand("measure", "record metrics of a version");
  measured->add_option("version", o->name, "NAME@N")->required();
  measured->add_option("metrics", o->metrics, "METRIC=NUMBER …")->required();
  measured->add_option("--data", o->data, "dataset version that it was measured on, NAME@N");
  measured->add_option("--source", o->source, "what measured it, such as run/ID");
  declare(measured, chosen,
          [o](Session& s) { return measure(s, o->name, o->data, o->source, o->metrics); });
  auto* reported = models->add_subcommand("report", "record a parity report or a load test");
  reported->add_option("version", o->name, "NAME@N")->required();
  reported->add_option("kind", o->kind, "parity or load-test")->required();
  reported->add_option("-f,--file", o->file, "JSON or YAML")->required();
  declare(reported, chosen, [o](Session& s) { return report(s, o->name, o->kind, o->file); });
}

}  // namespace

Status apply_model(Session& session, const Value& document) {
  const std::string name = document.text_or("name", "");
  if (name.empty()) return fail(Code::kInvalid, "name: required", "", "name");
  Fields fields(document["spec"], "spec");
  const bool has_text = fields.has("description");
  const std::string text = fields.text("description", "");
  const Value& rules = fields.any("rules");
  TAKT_RETURN_IF_ERROR(fields.done());
  TAKT_ASSIGN(const Value answer,
              send_rules(session, name, rules.is_null() ? Value(Array{}) : rules));
  if (has_text)
    TAKT_RETURN_IF_ERROR(session.patch(gated_model_path(name), Object{{"description", text}}));
  if (session.json())
    print_json(answer);
  else
    print_line("stored model " + name + ", " + std::to_string(answer["rules"].as_array().size()) +
               " promotion rules");
  return {};
}

void add_gate_commands(CLI::App* models, Chosen& chosen) {
  const auto options = std::make_shared<GateOptions>();
  add_rule_commands(models, chosen, options);
  add_move_commands(models, chosen, options);
}

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
// takt models ls, show, register, alias
#include <CLI/CLI.hpp>

#include <charconv>
#include <memory>

#include "takt/base/ids.h"
#include "takt/base/units.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

std::string model_path(const std::string& name) { return "/api/v1/models/" + segment(name); }

std::string joined_aliases(const Value& version) {
  std::string text;
  if (version["aliases"].is_array())
    for (const Value& alias : version["aliases"].as_array())
      text += (text.empty() ? "" : ", ") + alias.as_string();
  return text;
}

std::string metrics_text(const Value& metrics) {
  std::string text;
  if (metrics.is_object())
    for (const auto& [name, value] : metrics.as_object())
      text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  return text;
}

Status models_ls(Session& session, const std::string& name) {
  TAKT_ASSIGN(const Value answer,
              session.get(name.empty() ? "/api/v1/models" : model_path(name) + "/versions"));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table(name.empty()
                  ? std::vector<std::string>{"MODEL", "LATEST", "ALIASES", "UPDATED"}
                  : std::vector<std::string>{"VERSION", "ALIASES", "METRICS", "BY", "CREATED"});
  for (const Value& item : answer["items"].as_array()) {
    if (!name.empty()) {
      table.add({cell(item, "ref").substr(6), joined_aliases(item), metrics_text(item["metrics"]),
                 cell(item, "created_by"), short_time(cell(item, "created_at"))});
      continue;
    }
    std::string aliases;
    if (item["aliases"].is_object())
      for (const auto& [alias, number] : item["aliases"].as_object())
        aliases += (aliases.empty() ? "" : ", ") + alias + " → " + dump_json(number);
    table.add(
        {cell(item, "name"), cell(item, "latest"), aliases, short_time(cell(item, "updated_at"))});
  }
  if (table.empty())
    print_line("no models; register one with `takt models register NAME --run RUN`");
  else
    table.print();
  return {};
}

/// What is known of the version beyond its own row.
void print_evidence(const Value& evidence) {
  for (const char* key : {"job", "code", "environment", "seed"})
    if (evidence.has(key))
      print_line("  " + (key + std::string(9, ' ')).substr(0, 9) + cell(evidence, key));
  for (const Value& data : evidence["data"].as_array())
    print_line("  data     " + data.as_string());
  for (const auto& [kind, report] : evidence["reports"].as_object())
    if (kind != "code")
      print_line("  report   " + kind + " " + report["report"].text_or("verdict", "") + " by " +
                 cell(report, "by"));
  for (const Value& approval : evidence["approvals"].as_array())
    print_line("  " + cell(approval, "verdict") + " for " + cell(approval, "alias") + " by " +
               cell(approval, "user") + " " + short_time(cell(approval, "at")) +
               (cell(approval, "comment").empty() ? "" : ": " + cell(approval, "comment")));
  Table table({"METRIC", "VALUE", "ON", "MEASURED BY"});
  for (const Value& measured : evidence["measurements"].as_array())
    table.add({cell(measured, "metric"), short_number(measured["value"]), cell(measured, "data"),
               measured.has("source") ? cell(measured, "source") : cell(measured, "by")});
  if (!table.empty()) table.print();
}

std::string code_text(const Value& code) {
  const std::string verdict = code.text_or("verdict", "");
  if (verdict == "none") return "none: no pickle among its files";
  if (verdict == "safe") return "safe: its pickles name harmless things only";
  std::string names;
  if (code["globals"].is_array())
    for (const Value& name : code["globals"].as_array())
      names += (names.empty() ? " (" : ", ") + name.as_string();
  return "EXECUTES CODE when it is loaded" + (names.empty() ? names : names + ")");
}

Status models_show(Session& session, const std::string& reference) {
  TAKT_ASSIGN(const std::string path, version_path(reference));
  TAKT_ASSIGN(const Value version, session.get("/api/v1/models/" + path));
  if (session.json()) {
    print_json(version);
    return {};
  }
  print_line(cell(version, "ref").substr(6) + "  registered by " + cell(version, "created_by") +
             " " + short_time(cell(version, "created_at")));
  if (!joined_aliases(version).empty()) print_line("  aliases  " + joined_aliases(version));
  if (version.has("tree")) print_line("  tree     " + cell(version, "tree"));
  if (version.has("run")) print_line("  run      " + cell(version, "run"));
  print_line("  files    " + cell(version, "files") + ", " +
             format_bytes(version.int_or("size_bytes", 0)));
  if (version.has("code")) print_line("  loading  " + code_text(version["code"]));
  if (!metrics_text(version["metrics"]).empty())
    print_line("  metrics  " + metrics_text(version["metrics"]));
  TAKT_ASSIGN(const Value evidence, session.get("/api/v1/models/" + path + "/evidence"));
  print_evidence(evidence);
  return {};
}

Status models_register(Session& session, const std::string& name, const std::string& run,
                       const std::string& path) {
  TAKT_ASSIGN(const Value version,
              session.post(model_path(name) + "/versions", Object{{"run", run}, {"path", path}}));
  if (session.json())
    print_json(version);
  else
    print_line("registered " + cell(version, "ref").substr(6));
  return {};
}

Status models_alias(Session& session, const std::string& reference, const std::string& alias,
                    bool is_removed) {
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(reference));
  const std::string path = model_path(selector.name) + "/aliases/" + segment(alias);
  if (is_removed) {
    TAKT_RETURN_IF_ERROR(session.del(path));
    if (session.json())
      print_json(Object{{"removed", alias}});
    else
      print_line("removed alias " + alias + " of " + selector.name);
    return {};
  }
  if (selector.number == 0)
    return fail(Code::kInvalid, "'" + reference + "' names no version", "write NAME@N");
  TAKT_ASSIGN(const Value after, session.put(path, Object{{"version", selector.number}}));
  if (session.json())
    print_json(after);
  else
    print_line(selector.name + "@" + alias + " is now " + reference);
  return {};
}

}  // namespace

void add_model_commands(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string name, run, path = "model", alias;
    bool remove = false;
  };
  const auto o = std::make_shared<Options>();
  auto* models = app.add_subcommand("models", "registered models");
  models->require_subcommand(1);
  auto* ls = models->add_subcommand("ls", "list models, or the versions of one");
  ls->add_option("name", o->name, "model");
  declare(ls, chosen, [o](Session& s) { return models_ls(s, o->name); });
  auto* show = models->add_subcommand("show", "show a version");
  show->add_option("version", o->name, "NAME, NAME@N or NAME@ALIAS")->required();
  declare(show, chosen, [o](Session& s) { return models_show(s, o->name); });
  auto* add = models->add_subcommand("register", "register a run's model as a new version");
  add->add_option("name", o->name, "model")->required();
  add->add_option("--run", o->run, "run id")->required();
  add->add_option("--path", o->path, "folder among the run's artifacts");
  declare(add, chosen, [o](Session& s) { return models_register(s, o->name, o->run, o->path); });
  auto* alias = models->add_subcommand("alias", "let an alias name a version");
  alias->add_option("version", o->name, "NAME@N")->required();
  alias->add_option("alias", o->alias, "such as production")->required();
  alias->add_flag("--remove", o->remove, "remove the alias");
  declare(alias, chosen, [o](Session& s) { return models_alias(s, o->name, o->alias, o->remove); });
  add_gate_commands(models, chosen);
}

}  // namespace takt::cli

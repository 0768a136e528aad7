// SPDX-License-Identifier: Apache-2.0
// takt runs ls, search, show
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>

#include "takt/cli/command.h"
#include "takt/cli/output.h"
#include "takt/cli/source_mark.h"

namespace takt::cli {
namespace {

constexpr std::int64_t kRunsPerPage = 1000;
constexpr std::int64_t kRunsShown = 50;

struct RunQuery {
  std::string filter;
  std::vector<std::string> experiments, order, columns;
  std::int64_t limit = kRunsShown;
  bool is_all = false;
  bool counts = false;  // print the number only
  std::string view = "active";
};

/// A run's metric is an object with its latest value, step and time.
Value latest_values(const Value& metrics) {
  Value values{Object{}};
  if (metrics.is_object())
    for (const auto& [name, metric] : metrics.as_object()) values[name] = metric["value"];
  return values;
}

std::string metrics_line(const Value& metrics) {
  std::string text;
  const Value values = latest_values(metrics);
  for (const auto& [name, value] : values.as_object())
    text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  return text;
}

std::string query_of(const RunQuery& asked, std::int64_t page_size, bool wants_total,
                     const std::string& token) {
  std::string query = "/api/v1/runs?page_size=" + std::to_string(page_size);
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) query += "&" + std::string(key) + "=" + segment(value);
  };
  add("filter", asked.filter);
  for (const auto& experiment : asked.experiments) add("experiment", experiment);
  for (const auto& term : asked.order) add("order", term);
  for (const auto& column : asked.columns)
    if (column.contains('.')) add("columns", column);
  add("view", asked.view);
  add("count", wants_total ? "true" : "");
  add("page_token", token);
  return query;
}

/// Under a wrong filter, a mark at the character that the server named.
Error with_mark(Error error, const RunQuery& asked) {
  if (error.field == "filter") error.message += mark_under(asked.filter, error.hint);
  return error;
}

/// One page after the other, until as many as wanted are there: {items, total}.
Result<Value> find_runs(Session& session, const RunQuery& asked) {
  Array items;
  std::int64_t total = -1;
  std::string token;
  do {
    const std::int64_t left =
        asked.is_all ? kRunsPerPage : asked.limit - static_cast<std::int64_t>(items.size());
    auto answer = session.get(
        query_of(asked, std::clamp<std::int64_t>(left, 1, kRunsPerPage), total < 0, token));
    if (!answer) return fail(with_mark(std::move(answer).error(), asked));
    if (total < 0) total = answer->int_or("total", 0);
    for (const Value& run : (*answer)["items"].as_array()) items.push_back(run);
    token = answer->text_or("next_page_token", "");
  } while (!token.empty() && !asked.counts &&
           (asked.is_all || static_cast<std::int64_t>(items.size()) < asked.limit));
  return Value(Object{{"items", std::move(items)}, {"total", total}});
}

/// metrics.KEY, params.KEY, tags.KEY, or a member of the run such as user.
std::string column_cell(const Value& run, const std::string& column) {
  const std::size_t dot = column.find('.');
  if (dot == std::string::npos)
    return column.ends_with("_at") ? short_time(cell(run, column)) : cell(run, column);
  const std::string key = column.substr(dot + 1);
  if (column.starts_with("metric")) return short_number(run["metrics"][key]["value"]);
  return cell(run[column.starts_with("param") ? "params" : "tags"], key);
}

void print_runs(const Value& found, const RunQuery& asked) {
  std::vector<std::string> head{"RUN", "NAME", "STATUS", "STARTED"};
  for (const auto& column : asked.columns) head.push_back(column);
  if (asked.columns.empty()) head.emplace_back("METRICS");
  Table table(head);
  for (const Value& run : found["items"].as_array()) {
    std::vector<std::string> cells{cell(run, "id"), cell(run, "name"), cell(run, "status"),
                                   short_time(cell(run, "started_at"))};
    for (const auto& column : asked.columns) cells.push_back(column_cell(run, column));
    if (asked.columns.empty()) cells.push_back(metrics_line(run["metrics"]));
    table.add(std::move(cells));
  }
  if (table.empty())
    print_line("no runs");
  else
    table.print();
  const std::int64_t total = found.int_or("total", 0);
  const auto shown = static_cast<std::int64_t>(found["items"].as_array().size());
  // Never silently cut.
  if (shown < total)
    std::fprintf(stderr, "%lld of %lld runs; --limit N or --all shows more\n",
                 static_cast<long long>(shown), static_cast<long long>(total));
}

Status list_runs(Session& session, const RunQuery& asked) {
  if (asked.limit < 1) return fail(Code::kInvalid, "--limit is less than 1", "use --count");
  RunQuery query = asked;
  if (asked.counts) query.limit = 1;
  TAKT_ASSIGN(const Value found, find_runs(session, query));
  if (asked.counts) {
    if (session.json())
      print_json(Object{{"total", found["total"]}});
    else
      print_line(dump_json(found["total"]));
  } else if (session.json()) {
    print_json(found);
  } else {
    print_runs(found, asked);
  }
  return {};
}

Status show_run(Session& session, const std::string& id) {
  TAKT_ASSIGN(const Value run, session.get("/api/v1/runs/" + segment(id)));
  if (session.json()) {
    print_json(run);
    return {};
  }
  print_line("run " + cell(run, "id") + "  " + cell(run, "name") + "  " + cell(run, "status"));
  const std::pair<const char*, Value> groups[] = {{"param", run["params"]},
                                                  {"metric", latest_values(run["metrics"])},
                                                  {"tag", run["tags"]},
                                                  {"link", run["links"]}};
  for (const auto& [group, values] : groups)
    if (values.is_object())
      for (const auto& [name, value] : values.as_object())
        if (!value.is_null())
          print_line("  " + std::string(group) + "  " + name + " = " +
                     (value.is_string() ? value.as_string() : dump_json(value)));
  return {};
}

void add_search(CLI::App& runs, Chosen& chosen, const std::string& name, const std::string& what) {
  const auto o = std::make_shared<RunQuery>();
  auto* list = runs.add_subcommand(name, what);
  list->add_option(
      "--filter", o->filter,
      "such as \"metrics.accuracy > 0.9 AND (params.lr < 0.1 OR tags.team = 'vision')\"");
  list->add_option("--order", o->order,
                   "such as \"metrics.accuracy DESC\" or start_time; repeatable")
      ->delimiter(',');
  list->add_option("--columns", o->columns, "metrics.KEY, params.KEY, tags.KEY, user, …")
      ->delimiter(',');
  list->add_option("--experiment", o->experiments, "name or id; repeatable; all without it");
  list->add_option("--limit", o->limit, "how many at most")->capture_default_str();
  list->add_flag("--all", o->is_all, "all that are found");
  list->add_flag("--count", o->counts, "only how many are found");
  list->add_option("--view", o->view, "active, deleted or all")->capture_default_str();
  declare(list, chosen, [o](Session& s) { return list_runs(s, *o); });
}

}  // namespace

void add_run_commands(CLI::App& app, Chosen& chosen) {
  auto* runs = app.add_subcommand("runs", "what jobs and scripts logged");
  runs->require_subcommand(1);
  add_search(*runs, chosen, "ls", "list runs, newest first");
  add_search(*runs, chosen, "search", "find runs; the same as ls");
  const auto id = std::make_shared<std::string>();
  auto* show = runs->add_subcommand("show", "show a run");
  show->add_option("run", *id, "id")->required();
  declare(show, chosen, [id](Session& s) { return show_run(s, *id); });
}

}  // namespace takt::cli

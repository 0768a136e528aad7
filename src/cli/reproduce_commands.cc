// SPDX-License-Identifier: Apache-2.0
// takt runs diff | reproduce
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>

#include "takt/base/units.h"
#include "takt/cli/capture.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

/// Of an id, with or without `run/`.
std::string run_segment(std::string_view id) {
  return segment(id.starts_with("run/") ? id.substr(4) : id);
}

std::string run_path(const std::string& id) { return "/api/v1/runs/" + run_segment(id); }

std::string counted(std::int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

std::string side(const Value& change, const char* key) {
  if (!change.has(key)) return "–";
  return change[key].is_number() ? short_number(change[key]) : cell(change, key);
}

std::string arrow(const Value& change) {
  return side(change, "before") + " → " + side(change, "after");
}

std::string counts_text(const Value& counts) {
  if (!counts.is_object()) return "";
  return counts.has("rows") ? " (" + counted(counts.int_or("rows", 0), "row", "rows") + ")"
                            : " (" + counted(counts.int_or("files", 0), "file", "files") + ")";
}

/// "environment   2 of 40 packages differ", with the changes below.
void print_changes(const std::string& title, const Value& group, const char* one,
                   const char* many) {
  const Array& items = group["items"].as_array();
  const auto differing = static_cast<std::int64_t>(items.size());
  const std::int64_t all = differing + group.int_or("same", 0);
  std::string line = title + std::string(14 - std::min<std::size_t>(title.size(), 13), ' ');
  if (all == 0)
    line += "none";
  else if (differing == 0)
    line += "same (" + counted(all, one, many) + ")";
  else
    line += std::to_string(differing) + " of " + counted(all, one, many) +
            (differing == 1 ? " differs" : " differ");
  print_line(line);
  for (const Value& change : items) {
    std::string text = "  " + cell(change, "name") + "  " + side(change, "before") +
                       counts_text(change["before_counts"]) + " → " + side(change, "after") +
                       counts_text(change["after_counts"]);
    if (change.has("difference"))
      text += "  (" + std::string(change.number_or("difference", 0) > 0 ? "+" : "") +
              short_number(change["difference"]) +
              (change.bool_or("is_within", false) ? ", within the tolerance" : "") + ")";
    print_line(text);
  }
}

void print_code(const Value& code) {
  const Array& files = code["files"].as_array();
  if (code.bool_or("is_same", false)) {
    print_line(code.has("before") ? "code          same" : "code          none recorded");
    return;
  }
  if (files.empty()) {
    print_line("code          only one of the runs has a snapshot");
    return;
  }
  print_line("code          " +
             counted(static_cast<std::int64_t>(files.size()) + code.int_or("left_out", 0), "file",
                     "files") +
             (files.size() == 1 ? " differs" : " differ"));
  for (const Value& file : files)
    print_line("  " + cell(file, "change") + "  " + cell(file, "path") + "  +" +
               cell(file, "added") + " -" + cell(file, "removed") +
               (file.has("note") ? "  (" + cell(file, "note") + ")" : ""));
}

void print_environment(const Value& environment) {
  if (environment.bool_or("is_same", false)) {
    print_line(environment.has("before") ? "environment   same" : "environment   none recorded");
    return;
  }
  if (environment["packages"].as_array().empty()) {
    print_line("environment   only one of the runs has a lock");
    return;
  }
  print_changes("environment",
                Object{{"items", environment["packages"]}, {"same", environment["same"]}},
                "package", "packages");
}

void print_patches(const Value& code) {
  for (const Value& file : code["files"].as_array()) {
    if (!file.has("diff")) continue;
    const std::string change = cell(file, "change");
    print_line("");
    print_line("--- " + (change == "added" ? "/dev/null" : "a/" + cell(file, "path")));
    print_line("+++ " + (change == "removed" ? "/dev/null" : "b/" + cell(file, "path")));
    std::string text = cell(file, "diff");
    if (text.ends_with('\n')) text.pop_back();
    print_line(text);
  }
}

void print_diff(const Value& diff, bool with_patches) {
  for (const char* key : {"before", "after"})
    print_line(std::string(key) + std::string(14 - std::string(key).size(), ' ') +
               cell(diff[key], "ref") + "  " + cell(diff[key], "name") + "  " +
               short_time(cell(diff[key], "started_at")));
  print_code(diff["code"]);
  print_environment(diff["environment"]);
  print_changes("data", diff["data"], "input", "inputs");
  print_changes("parameters", diff["params"], "parameter", "parameters");
  for (const Value& setting : diff["settings"]["items"].as_array())
    print_line(cell(setting, "name") +
               std::string(14 - std::min<std::size_t>(cell(setting, "name").size(), 13), ' ') +
               arrow(setting));
  print_changes("metrics", diff["metrics"], "metric", "metrics");
  if (with_patches) print_patches(diff["code"]);
}

struct DiffWords {
  std::string before, after, tolerance;
  std::vector<std::string> metrics;
  bool brief = false;
};

Result<Value> get_diff(Session& session, const DiffWords& words) {
  std::string query = run_path(words.before) + "/diff/" + run_segment(words.after) +
                      "?tolerance=" + segment(words.tolerance);
  for (const std::string& metric : words.metrics) query += "&metric=" + segment(metric);
  return session.get(query);
}

Status runs_diff(Session& session, const DiffWords& words) {
  TAKT_ASSIGN(const Value diff, get_diff(session, words));
  if (session.json())
    print_json(diff);
  else
    print_diff(diff, !words.brief);
  return {};
}

struct ReproduceOptions {
  std::string run;
  std::vector<std::string> params, inputs;
  std::string seed;
  DiffWords diff;
};

Status put_pairs(const std::vector<std::string>& words, const char* flag, bool is_value,
                 Value& into) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(Code::kInvalid, std::string(flag) + " '" + word + "' is not NAME=VALUE");
    const std::string text = word.substr(equals + 1);
    Value value(text);
    if (is_value) {
      TAKT_ASSIGN(value, parse_yaml(text));
    }
    into[word.substr(0, equals)] = std::move(value);
  }
  return {};
}

/// The lock that the recorded interpreter would give now: a package may have changed since. What
/// cannot be looked at here is said, and stays as recorded.
Status put_environment(Session& session, const Value& job, Value& changes) {
  const Value& recorded = job["spec"]["environment"];
  const std::string python = recorded.text_or("python", "");
  if (python.empty()) return {};
  if (!std::filesystem::exists(python)) {
    if (!session.json())
      print_line("the interpreter " + python + " is not on this machine: its packages are taken " +
                 "to be as recorded");
    return {};
  }
  TAKT_ASSIGN(const CapturedEnvironment now, capture_environment(session, python));
  if (now.lock.value != recorded.text_or("lock", ""))
    changes["environment"] = Object{{"python", python}, {"lock", now.lock.value}};
  return {};
}

Result<Value> changes_of(Session& session, const ReproduceOptions& options) {
  Value changes{Object{}};
  if (!options.params.empty())
    TAKT_RETURN_IF_ERROR(put_pairs(options.params, "--param", true, changes["params"]));
  if (!options.inputs.empty())
    TAKT_RETURN_IF_ERROR(put_pairs(options.inputs, "--input", false, changes["inputs"]));
  if (!options.seed.empty()) {
    TAKT_ASSIGN(changes["seed"], parse_yaml(options.seed));
  }
  TAKT_ASSIGN(const Value run, session.get(run_path(options.run)));
  const std::string job = run.text_or("job", "");
  if (!job.starts_with("job/")) return changes;  // the server says why it cannot
  TAKT_ASSIGN(const Value record, session.get("/api/v1/jobs/" + segment(job.substr(4))));
  TAKT_RETURN_IF_ERROR(put_environment(session, record, changes));
  return changes;
}

std::string verdict_text(const Value& diff) {
  const std::string verdict = diff.text_or("verdict", "");
  const std::string first = diff.text_or("first_difference", "");
  if (verdict == "equal") return "equal: every metric has the value it had";
  if (verdict == "within")
    return "within the tolerance of " + short_number(diff["tolerance"]) +
           (first.empty() ? "" : "; " + first);
  if (!first.empty()) return "different; the first input that differs is " + first;
  return "different, though all that was recorded is the same: the script does not depend on its "
         "seed alone (threads, time, network, another machine)";
}

Status reproduce(Session& session, const ReproduceOptions& options) {
  TAKT_ASSIGN(const Value changes, changes_of(session, options));
  TAKT_ASSIGN(const Value job, session.post(run_path(options.run) + "/reproduce", changes));
  const std::int64_t number = job.int_or("number", 0);
  if (!session.json())
    print_line("job " + std::to_string(number) + " runs it again as run " + cell(job, "run"));
  TAKT_ASSIGN(const Value ended, follow_job(session, number, false));
  if (cell(ended, "state") != "succeeded") {
    if (session.json())
      print_json(Object{{"job", ended}});
    else
      print_error(Error{Code::kInternal,
                        "job " + std::to_string(number) + " " + cell(ended, "state") + ": " +
                            cell(ended, "reason"),
                        "see `takt why job/" + std::to_string(number) + "`", ""});
    return fail(work_failed());
  }
  DiffWords words = options.diff;
  words.before = options.run;
  words.after = cell(job, "run");
  TAKT_ASSIGN(const Value diff, get_diff(session, words));
  const Value& metrics = diff["metrics"];
  const bool has_metrics = metrics.int_or("same", 0) > 0 || !metrics["items"].as_array().empty();
  if (session.json()) {
    print_json(Object{{"job", ended}, {"diff", diff}});
  } else {
    print_diff(diff, false);
    if (has_metrics) print_line(verdict_text(diff));
  }
  if (!has_metrics)
    return fail(Code::kConflict, "neither run logged a metric: there is nothing to compare",
                "log one, or give the job a json output with numbers");
  return diff.text_or("verdict", "") == "different" ? Status(fail(outcome_differs())) : Status();
}

void add_comparison(CLI::App* on, DiffWords& words) {
  words.tolerance = "0";
  on->add_option("--tolerance", words.tolerance,
                 "how far metrics may differ, relative to the larger value: 0.01")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  on->add_option("--metric", words.metrics, "compare this one alone (may be repeated)")
      ->allow_extra_args(false);
}

}  // namespace

void add_reproduce_commands(CLI::App& app, Chosen& chosen) {
  const auto words = std::make_shared<DiffWords>();
  auto* diff = app.get_subcommand("runs")->add_subcommand(
      "diff", "what two runs were made of and what they gave, held against each other");
  diff->add_option("before", words->before, "run")->required();
  diff->add_option("after", words->after, "run")->required();
  diff->add_flag("--brief", words->brief, "without the changed lines of the code");
  add_comparison(diff, *words);
  declare(diff, chosen, [words](Session& s) { return runs_diff(s, *words); });

  const auto o = std::make_shared<ReproduceOptions>();
  auto* again =
      app.add_subcommand("reproduce",
                         "run a run again from its record, and compare: 0 equal or within the "
                         "tolerance, 1 it failed, 7 different");
  again->add_option("run", o->run, "run")->required();
  again->add_option("-p,--param", o->params, "NAME=VALUE instead of the recorded one")
      ->allow_extra_args(false);
  again->add_option("--input", o->inputs, "NAME=DATASET@N instead of the recorded one")
      ->allow_extra_args(false);
  again->add_option("--seed", o->seed, "instead of the recorded one");
  add_comparison(again, o->diff);
  declare(again, chosen, [o](Session& s) { return reproduce(s, *o); });
}

}  // namespace takt::cli

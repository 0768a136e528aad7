// SPDX-License-Identifier: Apache-2.0
// takt deploy | services | canary | rollback
#include <CLI/CLI.hpp>

#include <charconv>
#include <memory>

#include "takt/base/clock.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"

namespace takt::cli {
namespace {

constexpr std::int64_t kServicePollMs = 300;
constexpr std::int64_t kWaitMs = 10 * 60 * 1000;

std::string service_path(const std::string& name) { return "/api/v1/services/" + segment(name); }

/// "5%", "12.5%".
std::string share_text(const Value& revision) {
  std::string share = cell(revision, "share");
  if (share.ends_with(".0")) share.resize(share.size() - 2);
  return share + "%";
}

Status print_service(Session& session, const Value& service) {
  if (session.json()) {
    print_json(service);
    return {};
  }
  print_line("service " + cell(service, "name") + "  " + cell(service, "state") +
             (cell(service, "reason").empty() ? "" : ": " + cell(service, "reason")));
  if (service["warnings"].is_array())
    for (const Value& warning : service["warnings"].as_array())
      print_line("  warning: " + warning.as_string());
  Table table({"REVISION", "STATE", "MODEL", "TRAFFIC", "READY", "REASON"});
  if (service["revisions"].is_array())
    for (const Value& revision : service["revisions"].as_array())
      table.add({cell(revision, "number"), cell(revision, "state"), cell(revision, "model"),
                 share_text(revision),
                 cell(revision, "ready_replicas") + "/" + cell(revision, "replicas"),
                 cell(revision, "reason")});
  if (!table.empty()) table.print();
  return {};
}

/// Waits until the newest revision is ready or failed.
Status wait_ready(Session& session, const std::string& name) {
  const Deadline deadline = Deadline::after_ms(takt::system_clock(), kWaitMs);
  while (deadline.left_ms(takt::system_clock()) > 0) {
    TAKT_ASSIGN(const Value service, session.get(service_path(name)));
    const Array& revisions = service["revisions"].as_array();
    std::string newest;
    std::int64_t number = 0;
    for (const Value& revision : revisions)
      if (revision.int_or("number", 0) > number)
        number = revision.int_or("number", 0), newest = cell(revision, "state");
    if (newest == "ready") return print_service(session, service);
    if (newest == "failed") {
      TAKT_RETURN_IF_ERROR(print_service(session, service));
      return fail(work_failed());
    }
    takt::system_clock().sleep_ms(kServicePollMs);
  }
  return fail(Code::kTimeout, "service " + name + " did not get ready within 10 min",
              "see `takt why service/" + name + "`");
}

/// "5", "5%" -> 5.
Result<double> parse_share(std::string text) {
  if (text.ends_with('%')) text.pop_back();
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (error != std::errc() || end != text.data() + text.size() || !(share >= 0 && share <= 100))
    return fail(Code::kInvalid, "'" + text + "' is no share", "write 0 to 100, such as 5%");
  return share;
}

struct ServiceOptions {
  std::string name, model, share = "5%", cpu, memory;
  int replicas = 1;
  bool wait = false;
};

Status deploy(Session& session, const ServiceOptions& options) {
  Value document;
  const bool is_file = is_document_name(options.name);
  if (is_file) {
    TAKT_ASSIGN(const auto documents, read_documents(options.name));
    if (documents.size() != 1)
      return fail(Code::kInvalid, options.name + " must hold one document of kind Service");
    document = documents[0];
  } else {
    if (options.model.empty())
      return fail(Code::kInvalid, "no model to deploy", "add --model NAME@N or NAME@ALIAS");
    Object spec{{"model", options.model}, {"replicas", options.replicas}};
    Object resources;
    if (!options.cpu.empty()) resources["cpu"] = options.cpu;
    if (!options.memory.empty()) resources["memory"] = options.memory;
    if (!resources.empty()) spec["resources"] = std::move(resources);
    document = Object{{"kind", "Service"}, {"name", options.name}, {"spec", std::move(spec)}};
  }
  if (!options.wait) return apply_service(session, document);
  TAKT_RETURN_IF_ERROR(session.post("/api/v1/services", document));
  return wait_ready(session, document.text_or("name", ""));
}

Status services_ls(Session& session) {
  TAKT_ASSIGN(const Value answer, session.get("/api/v1/services"));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table({"SERVICE", "STATE", "TRAFFIC", "CHANGED"});
  for (const Value& service : answer["items"].as_array()) {
    std::string split;
    if (service["revisions"].is_array())
      for (const Value& revision : service["revisions"].as_array())
        if (revision.number_or("share", 0) > 0)
          split +=
              (split.empty() ? "" : ", ") + cell(revision, "model") + " " + share_text(revision);
    table.add({cell(service, "name"), cell(service, "state"), split,
               short_time(cell(service, "updated_at"))});
  }
  if (table.empty())
    print_line("no services; deploy one with `takt deploy NAME --model MODEL@N`");
  else
    table.print();
  return {};
}

Status act(Session& session, const std::string& name, const std::string& verb, const Value& body) {
  TAKT_ASSIGN(const Value service, session.post(service_path(name) + "/" + verb, body));
  return print_service(session, service);
}

}  // namespace

Status apply_service(Session& session, const Value& document) {
  TAKT_ASSIGN(const Value service, session.post("/api/v1/services", document));
  return print_service(session, service);
}

void add_service_commands(CLI::App& app, Chosen& chosen) {
  const auto o = std::make_shared<ServiceOptions>();
  auto* deploy_command =
      app.add_subcommand("deploy", "serve a model: takt deploy service.yaml, or NAME --model M@N");
  deploy_command->add_option("name", o->name, "a Service file, or the service's name")->required();
  deploy_command->add_option("--model", o->model, "NAME@N or NAME@ALIAS");
  deploy_command->add_option("--replicas", o->replicas, "processes");
  deploy_command->add_option("--cpu", o->cpu, "reserved for each, such as 100m");
  deploy_command->add_option("--memory", o->memory, "for each, such as 256MiB");
  deploy_command->add_flag("--wait", o->wait, "until it is ready");
  declare(deploy_command, chosen, [o](Session& s) { return deploy(s, *o); });
  auto* services = app.add_subcommand("services", "live models");
  declare(services, chosen, [](Session& s) { return services_ls(s); });
  declare(services->add_subcommand("ls", "list services"), chosen,
          [](Session& s) { return services_ls(s); });
  auto* show = services->add_subcommand("show", "show a service and its revisions");
  show->add_option("name", o->name, "service")->required();
  declare(show, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const Value service, s.get(service_path(o->name)));
    return print_service(s, service);
  });
  auto* stop = services->add_subcommand("stop", "stop a service's replicas");
  stop->add_option("name", o->name, "service")->required();
  declare(stop, chosen, [o](Session& s) { return act(s, o->name, "stop", Object{}); });
  auto* canary = app.add_subcommand("canary", "try a new revision on a part of the traffic");
  canary->require_subcommand(1);
  auto* start = canary->add_subcommand("start", "start a canary");
  start->add_option("service", o->name, "service")->required();
  start->add_option("--model", o->model, "NAME@N or NAME@ALIAS")->required();
  start->add_option("--share", o->share, "such as 5%");
  declare(start, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const double share, parse_share(o->share));
    return act(s, o->name, "canary", Object{{"model", o->model}, {"share", share}});
  });
  auto* set = canary->add_subcommand("set", "change the canary's share");
  set->add_option("service", o->name, "service")->required();
  set->add_option("share,--share", o->share, "such as 25%")->required();
  declare(set, chosen, [o](Session& s) -> Status {
    TAKT_ASSIGN(const double share, parse_share(o->share));
    TAKT_ASSIGN(const Value service,
                s.patch(service_path(o->name) + "/traffic", Object{{"share", share}}));
    return print_service(s, service);
  });
  for (const char* verb : {"promote", "abort"}) {
    auto* end = canary->add_subcommand(verb, std::string(verb) == "promote"
                                                 ? "give the canary all traffic"
                                                 : "take the canary's traffic away");
    end->add_option("service", o->name, "service")->required();
    declare(end, chosen, [o, verb](Session& s) { return act(s, o->name, verb, Object{}); });
  }
  auto* rollback =
      app.add_subcommand("rollback", "give all traffic back to the revision before, at once");
  rollback->add_option("service", o->name, "service")->required();
  declare(rollback, chosen, [o](Session& s) { return act(s, o->name, "rollback", Object{}); });
}

}  // namespace takt::cli

// SPDX-License-Identifier: Apache-2.0
#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

std::string experiment_subject(const std::string& id) {
  return "experiment/" + (id.empty() ? "0" : id);
}

Result<Response> create(TrackService& track, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "experiment"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  Experiment asked;
  asked.name = args.text("name");
  asked.artifact_location = args.text("artifact_location", "");
  while (asked.artifact_location.size() > 1 && asked.artifact_location.ends_with('/'))
    asked.artifact_location.pop_back();
  for (auto& [key, value] : args.words("tags")) asked.tags[key] = value;
  TAKT_RETURN_IF_ERROR(args.done());
  TAKT_ASSIGN(const Experiment made, track.create_experiment(by, std::move(asked)));
  return Response::json(Object{{"experiment_id", made.id.value}});
}

Result<Response> search(TrackService& track, access::Policy& policy, Request& request) {
  constexpr std::int64_t kDefault = 1000;
  constexpr std::int64_t kMax = 50'000;
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "experiment"));
  TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(request));
  ExperimentSearch search;
  const std::string filter = args.text("filter", "");
  const auto order = args.texts("order_by");
  search.limit = args.integer("max_results", kDefault);
  search.page_token = args.text("page_token", "");
  search.counts = args.boolean("count", false);
  TAKT_ASSIGN(search.view, mlflow_view(args, "view_type"));
  TAKT_RETURN_IF_ERROR(args.done());
  if (search.limit < 1 || search.limit > kMax)
    return fail(Code::kInvalid,
                "Invalid value " + std::to_string(search.limit) +
                    " for parameter 'max_results' supplied. It must be "
                    "a positive integer, at most " +
                    std::to_string(kMax),
                {}, "max_results");
  TAKT_ASSIGN(search.filter, parse_filter(filter, experiment_filter_rules()));
  TAKT_ASSIGN(search.order, parse_order(order, experiment_filter_rules()));
  TAKT_ASSIGN(const ExperimentPage page, track.search_experiments(by, search));
  Array experiments;
  for (const Experiment& experiment : page.experiments)
    experiments.push_back(mlflow_experiment(experiment));
  Object answer{{"experiments", std::move(experiments)}};
  if (!page.next_page_token.empty()) answer["next_page_token"] = page.next_page_token;
  if (search.counts) answer["total"] = page.total;
  return Response::json(std::move(answer));
}

}  // namespace

Value mlflow_experiment(const Experiment& experiment) {
  return Object{{"experiment_id", experiment.id.value},
                {"name", experiment.name},
                {"artifact_location", experiment.artifact_location},
                {"lifecycle_stage", experiment.is_deleted ? "deleted" : "active"},
                {"creation_time", experiment.created_ms},
                {"last_update_time", experiment.updated_ms},
                {"tags", mlflow_words(experiment.tags)}};
}

void register_mlflow_experiments(net::Router& router, TrackService& t, access::Policy& p) {
  const auto add = [&](Method method, std::string_view path, net::Handler handler) {
    add_mlflow_route(router, method, path, handler);
  };
  add(Method::kPost, "experiments/create", [&](Request& r) { return create(t, p, r); });
  add(Method::kPost, "experiments/search", [&](Request& r) { return search(t, p, r); });
  add(Method::kGet, "experiments/search", [&](Request& r) { return search(t, p, r); });
  add(Method::kGet, "experiments/get", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const std::string id = args.text("experiment_id");
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, experiment_subject(id)));
    TAKT_ASSIGN(const Experiment experiment, t.experiment(by, ExperimentId{id}));
    return Response::json(Object{{"experiment", mlflow_experiment(experiment)}});
  });
  add(Method::kGet, "experiments/get-by-name", [&](Request& r) -> Result<Response> {
    TAKT_ASSIGN(const auto by, p.check<Right::kRead>(r.caller, "experiment"));
    TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
    const std::string name = args.text("experiment_name");
    TAKT_RETURN_IF_ERROR(args.done());
    TAKT_ASSIGN(const Experiment experiment, t.experiment_by_name(by, name));
    return Response::json(Object{{"experiment", mlflow_experiment(experiment)}});
  });
  // The writes that name one experiment.
  const auto add_write =
      [&](std::string_view path,
          std::function<Status(const access::CanWrite&, const ExperimentId&, MlflowArgs&)> act) {
        add(Method::kPost, path, [&p, act = std::move(act)](Request& r) -> Result<Response> {
          TAKT_ASSIGN(MlflowArgs args, MlflowArgs::of(r));
          const ExperimentId id{args.text("experiment_id")};
          TAKT_RETURN_IF_ERROR(args.done());
          TAKT_ASSIGN(const auto by,
                      p.check<Right::kWrite>(r.caller, experiment_subject(id.value)));
          TAKT_RETURN_IF_ERROR(act(by, id, args));
          return mlflow_empty();
        });
      };
  add_write("experiments/delete", [&](const auto& by, const auto& id, MlflowArgs&) {
    return t.mark_experiment(by, id, true);
  });
  add_write("experiments/restore", [&](const auto& by, const auto& id, MlflowArgs&) {
    return t.mark_experiment(by, id, false);
  });
  add_write("experiments/update", [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
    const std::string name = args.text("new_name");
    TAKT_RETURN_IF_ERROR(args.done());
    return t.rename_experiment(by, id, name);
  });
  add_write("experiments/set-experiment-tag",
            [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
              const std::string key = args.text("key");
              const std::string value = args.text("value", "");
              TAKT_RETURN_IF_ERROR(args.done());
              return t.set_experiment_tag(by, id, key, value);
            });
  add_write("experiments/delete-experiment-tag",
            [&](const auto& by, const auto& id, MlflowArgs& args) -> Status {
              const std::string key = args.text("key");
              TAKT_RETURN_IF_ERROR(args.done());
              return t.delete_experiment_tag(by, id, key);
            });
}

}  // namespace takt::track

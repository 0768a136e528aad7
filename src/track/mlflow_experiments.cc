// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "takt/track/mlflow_request.h"
#include "takt/track/mlflow_routes.h"
#include "takt/track/page_token.h"

namespace takt::track {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

std::string experiment_subject(const std::string& id) {
  return "experiment/" + (id.empty() ? "0" : id);
}

Held experiment_held(const Experiment& experiment, Entity entity, const std::string& key) {
  if (entity == Entity::kTag) {
    const auto found = experiment.tags.find(key);
    if (found == experiment.tags.end()) return {};
    return found->second;
  }
  if (key == "name") return experiment.name;
  if (key == "experiment_id") return experiment.id.value;
  return static_cast<double>(key == "creation_time" ? experiment.created_ms
                                                    : experiment.updated_ms);
}

/// By the terms, then newest first, then by id.
bool experiment_before(const Experiment& a, const Experiment& b,
                       const std::vector<OrderTerm>& order) {
  for (const OrderTerm& term : order) {
    const int compared =
        compare_held(experiment_held(a, term.entity, term.key),
                     experiment_held(b, term.entity, term.key), term.is_descending);
    if (compared != 0) return compared < 0;
  }
  if (a.created_ms != b.created_ms) return a.created_ms > b.created_ms;
  return experiment_number(a.id) < experiment_number(b.id);
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
  const std::string filter_text = args.text("filter", "");
  const auto order_texts = args.texts("order_by");
  const std::int64_t limit = args.integer("max_results", kDefault);
  const std::string token = args.text("page_token", "");
  // ACTIVE_ONLY, DELETED_ONLY, ALL, or their numbers 1, 2, 3.
  const Value& view_value = args.object()["view_type"];
  const std::string view =
      view_value.is_int() ? std::to_string(view_value.as_int()) : args.text("view_type", "1");
  TAKT_RETURN_IF_ERROR(args.done());
  if (limit < 1 || limit > kMax)
    return fail(Code::kInvalid,
                "Invalid value " + std::to_string(limit) +
                    " for parameter 'max_results' supplied. It must be "
                    "a positive integer, at most " +
                    std::to_string(kMax),
                {}, "max_results");
  TAKT_ASSIGN(const Filter filter, parse_filter(filter_text, experiment_filter_rules()));
  TAKT_ASSIGN(const auto order, parse_order(order_texts, experiment_filter_rules()));
  TAKT_ASSIGN(auto all, track.experiments(by));
  std::erase_if(all, [&](const Experiment& experiment) {
    if (experiment.is_deleted && (view == "1" || view == "ACTIVE_ONLY")) return true;
    if (!experiment.is_deleted && (view == "2" || view == "DELETED_ONLY")) return true;
    return !std::ranges::all_of(filter, [&](const Clause& clause) {
      return clause_holds(clause, experiment_held(experiment, clause.entity, clause.key));
    });
  });
  std::ranges::stable_sort(
      all, [&](const auto& a, const auto& b) { return experiment_before(a, b, order); });
  std::string identity = "experiments\n" + view + "\n" + filter_text;
  for (const auto& text : order_texts) identity += "\n" + text;
  std::size_t from = 0;
  if (!token.empty()) {
    TAKT_ASSIGN(const Value place, read_page_token(token, identity));
    if (!place.is_int() || place.as_int() < 0)
      return fail(Code::kInvalid, "Invalid page token, its place is no number");
    from = std::min(all.size(), static_cast<std::size_t>(place.as_int()));
  }
  const std::size_t to = std::min(all.size(), from + static_cast<std::size_t>(limit));
  Array experiments;
  for (std::size_t i = from; i < to; ++i) experiments.push_back(mlflow_experiment(all[i]));
  Object answer{{"experiments", std::move(experiments)}};
  if (to < all.size())
    answer["next_page_token"] = make_page_token(identity, static_cast<std::int64_t>(to));
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

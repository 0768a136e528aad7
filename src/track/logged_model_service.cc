// SPDX-License-Identifier: Apache-2.0
#include "takt/track/logged_model_service.h"

#include <algorithm>

#include "takt/base/digest.h"
#include "takt/base/value.h"
#include "takt/store/lineage.h"
#include "takt/track/checks.h"
#include "takt/track/experiment_store.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/page_token.h"
#include "takt/track/run_store.h"
#include "takt/track/track_service.h"

namespace takt::track {
namespace {

std::unexpected<Error> no_logged_model(std::string_view id) {
  return fail(Code::kNotFound, "Logged model with ID '" + std::string(id) + "' not found.");
}

Result<LoggedModel> live_model(store::Reader& reader, const ProjectId& project,
                               std::string_view id) {
  TAKT_ASSIGN(auto model, find_logged_model(reader, project, id));
  if (!model || model->is_deleted) return no_logged_model(id);
  return std::move(*model);
}

Status check_name_of_model(std::string_view name) {
  if (name.empty()) return {};
  if (name.find_first_of("/:.%\"'\\#?") == std::string_view::npos)
    return check_length("name", name, 500);
  return fail(
      Code::kInvalid,
      "Invalid model name ('" + std::string(name) +
          "') provided. Model name must be a non-empty string and cannot contain the following "
          "characters: ('/', ':', '.', '%', '\"', \"'\")",
      {}, "name");
}

/// Reads what a filter or an order asks of a model.
class ModelValues {
 public:
  ModelValues(const LoggedModel& model, const std::vector<DatasetChoice>& datasets)
      : model_(model), datasets_(datasets) {}

  Held held(Entity entity, const std::string& key) const {
    switch (entity) {
      case Entity::kMetric:
        return metric(key);
      case Entity::kParam:
        return word(model_.params, key);
      case Entity::kTag:
        return word(model_.tags, key);
      default:
        return attribute(key);
    }
  }
  bool is_measured() const {
    return datasets_.empty() ||
           std::ranges::any_of(model_.metrics, [&](const auto& m) { return is_chosen(m); });
  }

 private:
  bool is_chosen(const LoggedModel::Measured& measured) const {
    return datasets_.empty() || std::ranges::any_of(datasets_, [&](const DatasetChoice& choice) {
             return (choice.name.empty() || choice.name == measured.dataset_name) &&
                    (choice.digest.empty() || choice.digest == measured.dataset_digest);
           });
  }
  Held metric(const std::string& key) const {
    const LoggedModel::Measured* latest = nullptr;
    for (const auto& measured : model_.metrics)
      if (measured.key == key && is_chosen(measured) &&
          (latest == nullptr || is_later(measured.point, latest->point)))
        latest = &measured;
    if (latest == nullptr) return {};
    return latest->point.value;
  }
  static Held word(const Words& words, const std::string& key) {
    const auto found = words.find(key);
    if (found == words.end()) return {};
    return found->second;
  }
  Held attribute(const std::string& key) const {
    if (key == "name") return model_.name;
    if (key == "model_id") return model_.id;
    if (key == "model_type") return model_.model_type;
    if (key == "source_run_id") return model_.run.value;
    if (key == "last_updated_timestamp") return static_cast<double>(model_.updated_ms);
    if (key == "creation_timestamp") return static_cast<double>(model_.created_ms);
    std::string status = model_.status;  // searched by its short name: READY
    if (status.starts_with("LOGGED_MODEL_")) status.erase(0, 13);
    return status == "UPLOAD_FAILED" ? std::string("FAILED") : status;
  }

  const LoggedModel& model_;
  const std::vector<DatasetChoice>& datasets_;
};

bool is_model_wanted(const LoggedModel& model, const LoggedModelSearch& search) {
  const ModelValues values(model, search.datasets);
  if (!values.is_measured()) return false;
  return std::ranges::all_of(search.filter, [&](const Clause& clause) {
    return clause_holds(clause, values.held(clause.entity, clause.key));
  });
}

bool comes_before(const LoggedModel& a, const LoggedModel& b,
                  const std::vector<LoggedModelOrder>& order) {
  for (const LoggedModelOrder& by : order) {
    const std::vector<DatasetChoice> dataset = by.dataset.name.empty()
                                                   ? std::vector<DatasetChoice>{}
                                                   : std::vector<DatasetChoice>{by.dataset};
    const auto held = [&](const LoggedModel& model) {
      return ModelValues(model, dataset).held(by.term.entity, by.term.key);
    };
    const int compared = compare_held(held(a), held(b), by.term.is_descending);
    if (compared != 0) return compared < 0;
  }
  if (a.created_ms != b.created_ms) return a.created_ms > b.created_ms;
  return a.id < b.id;
}

}  // namespace

Result<LoggedModel> LoggedModelService::create(const access::CanWrite& by,
                                               const NewLoggedModel& asked) {
  TAKT_RETURN_IF_ERROR(check_name_of_model(asked.name));
  for (const auto& [key, value] : asked.params)
    TAKT_RETURN_IF_ERROR(check_length("params.key", key, kKeyBytesMax));
  for (const auto& [key, value] : asked.tags)
    TAKT_RETURN_IF_ERROR(check_length("tags.key", key, kKeyBytesMax));
  const std::string id = "m-" + random_hex(16);
  LoggedModel made;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_ASSIGN(const auto experiment, find_experiment(tx, by.project(), asked.experiment));
    if (!experiment)
      return fail(Code::kNotFound, "No Experiment with id=" + asked.experiment.value + " exists");
    if (experiment->is_deleted)
      return fail(Code::kInvalid, "The experiment " + asked.experiment.value +
                                      " must be in the 'active' state. Current state is deleted.");
    LoggedModel model;
    model.id = id;
    model.experiment = experiment->id;
    model.name = asked.name.empty() ? make_run_name() : asked.name;
    model.model_type = asked.model_type;
    model.run = asked.run;
    model.artifact_uri = experiment->artifact_location + "/models/" + id + "/artifacts";
    model.status = "LOGGED_MODEL_PENDING";
    model.creator = by.user();
    model.created_ms = model.updated_ms = tx.now_ms();
    for (const auto& [key, value] : asked.params)
      model.params[key] = cut_text(value, kParamBytesMax);
    for (const auto& [key, value] : asked.tags) model.tags[key] = cut_text(value, kTagBytesMax);
    TAKT_RETURN_IF_ERROR(insert_logged_model(tx, by.project(), model));
    made = std::move(model);
    return {};
  }));
  return made;
}

Result<LoggedModel> LoggedModelService::get(const access::CanRead& by, std::string_view id,
                                            bool allow_deleted) {
  std::optional<LoggedModel> model;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(model, find_logged_model(reader, by.project(), id));
    return {};
  }));
  if (!model || (model->is_deleted && !allow_deleted)) return no_logged_model(id);
  return std::move(*model);
}

Result<LoggedModel> LoggedModelService::set_status(const access::CanWrite& by, std::string_view id,
                                                   std::string_view status,
                                                   std::string_view message) {
  LoggedModel model;
  TAKT_RETURN_IF_ERROR(db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(live_model(tx, by.project(), id));
    TAKT_RETURN_IF_ERROR(store_logged_model_status(tx, by.project(), id, status, message));
    TAKT_ASSIGN(model, live_model(tx, by.project(), id));
    return {};
  }));
  return model;
}

Status LoggedModelService::remove(const access::CanWrite& by, std::string_view id) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(live_model(tx, by.project(), id));
    return mark_logged_model_deleted(tx, by.project(), id);
  });
}

Status LoggedModelService::log_params(const access::CanWrite& by, std::string_view id,
                                      const WordList& params) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(live_model(tx, by.project(), id));
    for (const auto& [key, value] : params) {
      TAKT_RETURN_IF_ERROR(check_length("params.key", key, kKeyBytesMax));
      TAKT_ASSIGN(const auto old,
                  store_logged_model_param(tx, id, key, cut_text(value, kParamBytesMax)));
      if (old)
        return fail(Code::kInvalid, "Changing param values is not allowed. Param '" + key +
                                        "' of logged model '" + std::string(id) + "' is '" + *old +
                                        "' already, not '" + value + "'.");
    }
    return {};
  });
}

Status LoggedModelService::set_tags(const access::CanWrite& by, std::string_view id,
                                    const WordList& tags) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(live_model(tx, by.project(), id));
    for (const auto& [key, value] : tags) {
      TAKT_RETURN_IF_ERROR(check_length("tags.key", key, kKeyBytesMax));
      TAKT_RETURN_IF_ERROR(store_logged_model_tag(tx, id, key, cut_text(value, kTagBytesMax)));
    }
    return {};
  });
}

Status LoggedModelService::delete_tag(const access::CanWrite& by, std::string_view id,
                                      std::string_view key) {
  return db_.write([&](store::Tx& tx) -> Status {
    TAKT_RETURN_IF_ERROR(live_model(tx, by.project(), id));
    TAKT_ASSIGN(const bool was_there, remove_logged_model_tag(tx, id, key));
    if (was_there) return {};
    return fail(Code::kNotFound, "No tag with key '" + std::string(key) +
                                     "' found for model with ID '" + std::string(id) + "'.");
  });
}

Result<LoggedModelPage> LoggedModelService::search(const access::CanRead& by,
                                                   const LoggedModelSearch& search) {
  std::vector<LoggedModel> found;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    for (const std::string& experiment : search.experiments) {
      TAKT_ASSIGN(auto models, load_logged_models(reader, by.project(), ExperimentId{experiment}));
      for (LoggedModel& model : models)
        if (is_model_wanted(model, search)) found.push_back(std::move(model));
    }
    return {};
  }));
  std::ranges::stable_sort(
      found, [&](const auto& a, const auto& b) { return comes_before(a, b, search.order); });
  std::size_t from = 0;
  if (!search.page_token.empty()) {
    TAKT_ASSIGN(const Value place, read_page_token(search.page_token, search.identity));
    if (!place.is_int() || place.as_int() < 0)
      return fail(Code::kInvalid, "Invalid page token, its place is no number");
    from = std::min(found.size(), static_cast<std::size_t>(place.as_int()));
  }
  const std::size_t to = std::min(found.size(), from + static_cast<std::size_t>(search.limit));
  LoggedModelPage page;
  for (std::size_t i = from; i < to; ++i) page.models.push_back(std::move(found[i]));
  if (to < found.size())
    page.next_page_token = make_page_token(search.identity, static_cast<std::int64_t>(to));
  return page;
}

}  // namespace takt::track

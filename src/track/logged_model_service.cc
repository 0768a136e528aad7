// SPDX-License-Identifier: Apache-2.0
#include "takt/track/logged_model_service.h"

#include "takt/base/digest.h"
#include "takt/store/lineage.h"
#include "takt/track/checks.h"
#include "takt/track/experiment_store.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/metric_store.h"
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
  LoggedModelPage page;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(page, search_logged_models(reader, by.project(), search));
    return {};
  }));
  return page;
}

}  // namespace takt::track

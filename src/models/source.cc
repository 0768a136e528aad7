// SPDX-License-Identifier: Apache-2.0
#include "takt/models/source.h"

#include <algorithm>
#include <charconv>

#include "takt/models/model_store.h"
#include "takt/net/http.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_store.h"
#include "takt/track/run_store.h"

namespace takt::models {
namespace {

std::unexpected<Error> bad_source(std::string_view source, std::string why) {
  return fail(Code::kInvalid,
              "Invalid model version source: '" + std::string(source.substr(0, 500)) + "'. " +
                  std::move(why),
              {}, "source");
}

/// Decodes as long as something is escaped, and looks for `..` and null bytes on the way.
Status check_source_text(std::string_view source) {
  constexpr int kDecodingsMax = 10;
  std::string text(source);
  for (int i = 0; i < kDecodingsMax; ++i) {
    const bool leaves = ("/" + text + "/").find("/../") != std::string::npos ||
                        text.find('\0') != std::string::npos ||
                        text.find("/./") != std::string::npos ||
                        text.find('#') != std::string::npos || text.find('\\') != std::string::npos;
    if (leaves)
      return bad_source(
          source,
          "If supplying a source as an http, https, local file path, ftp, objectstore, or "
          "mlflow-artifacts uri, an absolute path must be provided without relative path "
          "references "
          "present. Please provide an absolute path.");
    auto next = net::percent_decode(text);
    if (!next || *next == text) return {};
    text = std::move(*next);
  }
  return bad_source(source, "It is escaped too many times.");
}

std::string scheme_of(std::string_view source) {
  const std::size_t colon = source.find(':');
  if (colon == std::string_view::npos || colon == 0) return {};
  std::string scheme(source.substr(0, colon));
  std::ranges::transform(scheme, scheme.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return scheme;
}

std::string_view after_scheme(std::string_view source) {
  source.remove_prefix(source.find(':') + 1);
  while (source.starts_with('/')) source.remove_prefix(1);
  while (source.ends_with('/')) source.remove_suffix(1);
  return source;
}

Status use_logged_model(store::Reader& reader, const ProjectId& project,
                        const track::LoggedModel& model, ResolvedSource& resolved) {
  resolved.logged_model = model.id;
  if (resolved.run.empty()) resolved.run = model.run;
  resolved.storage = model.artifact_uri;
  TAKT_ASSIGN(resolved.files,
              track::artifact_tree(reader, project, track::root_of_logged_model(model.id), ""));
  return {};
}

Status use_logged_model_id(store::Reader& reader, const ProjectId& project, std::string_view id,
                           ResolvedSource& resolved) {
  TAKT_ASSIGN(const auto model, track::find_logged_model(reader, project, id));
  if (!model || model->is_deleted)
    return fail(Code::kNotFound, "Logged model with ID '" + std::string(id) + "' not found.");
  return use_logged_model(reader, project, *model, resolved);
}

Status use_run(store::Reader& reader, const ProjectId& project, std::string_view rest,
               ResolvedSource& resolved) {
  const std::size_t slash = rest.find('/');
  const RunId run{std::string(rest.substr(0, slash))};
  const std::string path(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
  TAKT_ASSIGN(const auto known, track::find_run_row(reader, project, run));
  if (!known) return fail(Code::kNotFound, "Run with id=" + run.value + " not found");
  if (resolved.run.empty()) resolved.run = run;
  resolved.storage = known->artifact_uri + (path.empty() ? "" : "/" + path);
  TAKT_ASSIGN(resolved.files, track::artifact_tree(reader, project, track::root_of_run(run), path));
  if (!resolved.files.entries.empty()) return {};
  // A model that the run logged under that name lies below its own root.
  TAKT_ASSIGN(const auto model, track::find_logged_model_of_run(reader, project, run, path));
  return model ? use_logged_model(reader, project, *model, resolved) : Status{};
}

/// models:/NAME/N and models:/NAME@ALIAS: that version's files.
Status use_version(store::Reader& reader, const ProjectId& project, std::string_view rest,
                   std::string_view source, ResolvedSource& resolved) {
  const std::size_t cut = rest.find_last_of("/@");
  if (cut == std::string_view::npos)
    return bad_source(source, "Write models:/NAME/N, models:/NAME@ALIAS or models:/m-ID.");
  ModelVersionId id{{std::string(rest.substr(0, cut)), 0}};
  const std::string word(rest.substr(cut + 1));
  TAKT_ASSIGN(const Model model, load_model(reader, project, id.name));
  if (rest[cut] == '@') {
    const auto alias = model.aliases.find(word);
    if (alias == model.aliases.end())
      return fail(Code::kNotFound, "Registered model alias " + word + " not found.");
    id.number = alias->second;
  } else if (word == "latest") {
    id.number = model.latest;
  } else {
    std::from_chars(word.data(), word.data() + word.size(), id.number);
  }
  TAKT_ASSIGN(const ModelVersion version, load_version(reader, project, id));
  if (resolved.run.empty()) resolved.run = version.run;
  resolved.logged_model = version.logged_model;
  resolved.storage = version.storage;
  resolved.tree = version.tree;
  return {};
}

Status use_artifacts(store::Reader& reader, const ProjectId& project, std::string_view source,
                     ResolvedSource& resolved) {
  TAKT_ASSIGN(const std::string path, track::path_of_artifact_uri(source));
  const track::ArtifactPlace place = track::parse_artifact_place(path);
  resolved.storage = source;
  if (!place.tree.empty()) {
    if (!place.path.empty()) return bad_source(source, "Name the whole tree.");
    resolved.tree = place.tree;
    return {};
  }
  TAKT_ASSIGN(resolved.files, track::artifact_tree(reader, project, place.root, place.path));
  constexpr std::string_view kRunRoot = "run/";
  if (resolved.run.empty() && place.root.starts_with(kRunRoot))
    resolved.run.value = place.root.substr(kRunRoot.size());
  return {};
}

/// Prompts live in a tag of their version; their source is a word that stands for nothing.
bool is_prompt(const SourceVersion& asked) {
  const auto tag = asked.tags.find("mlflow.prompt.is_prompt");
  const bool says_so = tag != asked.tags.end() && (tag->second == "true" || tag->second == "True");
  return says_so && asked.source.find_first_of("/:.") == std::string::npos;
}

}  // namespace

Result<ResolvedSource> resolve_source(store::Reader& reader, const ProjectId& project,
                                      const SourceVersion& asked) {
  ResolvedSource resolved;
  resolved.run = asked.run;
  resolved.logged_model = asked.logged_model;
  TAKT_RETURN_IF_ERROR(check_source_text(asked.source));
  if (is_prompt(asked)) {
    resolved.storage = asked.source;
    return resolved;
  }
  const std::string scheme = scheme_of(asked.source);
  if (scheme.empty() || scheme == "file" || scheme.size() == 1)
    return bad_source(
        asked.source,
        "To use a local path as a model version source, the run_id request parameter has to be "
        "specified and the local path has to be contained within the artifact directory of the "
        "run specified by the run_id.");
  const std::string_view rest = after_scheme(asked.source);
  Status done;
  if (scheme == "models" && track::is_logged_model_id(rest)) {
    done = use_logged_model_id(reader, project, rest, resolved);
  } else if (scheme == "models") {
    done = use_version(reader, project, rest, asked.source, resolved);
  } else if (scheme == "runs") {
    done = use_run(reader, project, rest, resolved);
  } else if (scheme == "mlflow-artifacts") {
    done = use_artifacts(reader, project, asked.source, resolved);
  } else {
    resolved.storage = asked.source;
  }
  if (!done) return std::unexpected(std::move(done).error());
  // The model that the client names holds the files when the source shows none.
  if (resolved.files.entries.empty() && resolved.tree.empty() &&
      track::is_logged_model_id(asked.logged_model)) {
    TAKT_ASSIGN(
        resolved.files,
        track::artifact_tree(reader, project, track::root_of_logged_model(asked.logged_model), ""));
  }
  return resolved;
}

}  // namespace takt::models

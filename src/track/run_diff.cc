// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_diff.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "takt/content/text_diff.h"
#include "takt/data/dataset_store.h"

namespace takt::track {
namespace {

constexpr std::int64_t kFileBytesMax = 1 << 20;
constexpr std::size_t kFilesMax = 200;
constexpr std::size_t kDiffBytesMax = 1 << 20;  // of all files together
constexpr std::size_t kLockBytesMax = 4 << 20;
constexpr std::string_view kInputTag = "takt.input.";
constexpr std::string_view kSystemMetrics = "system/";
constexpr std::size_t kShownBytesMax = 120;

/// Calls `visit(key, before, after)` for each key of the one or the other map.
template <class Map, class Visit>
void for_both(const Map& before, const Map& after, Visit visit) {
  std::set<std::string> keys;
  for (const auto& [key, value] : before) keys.insert(key);
  for (const auto& [key, value] : after) keys.insert(key);
  for (const std::string& key : keys) {
    const auto old_one = before.find(key), new_one = after.find(key);
    visit(key, old_one == before.end() ? nullptr : &old_one->second,
          new_one == after.end() ? nullptr : &new_one->second);
  }
}

std::optional<std::string> optional_of(const std::string* text) {
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::vector<WordChange> compare_words(const Words& before, const Words& after, std::int64_t& same) {
  std::vector<WordChange> changes;
  for_both(before, after,
           [&](const std::string& key, const std::string* old_one, const std::string* new_one) {
             if (old_one != nullptr && new_one != nullptr && *old_one == *new_one)
               ++same;
             else
               changes.push_back({key, optional_of(old_one), optional_of(new_one)});
           });
  return changes;
}

bool is_same_value(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool is_close(double a, double b, double tolerance) {
  if (is_same_value(a, b)) return true;
  if (!std::isfinite(a) || !std::isfinite(b)) return false;
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

bool is_compared(const std::string& key, const DiffOptions& options) {
  if (options.metrics.empty()) return !key.starts_with(kSystemMetrics);
  return std::ranges::find(options.metrics, key) != options.metrics.end();
}

void compare_metrics(RunDiff& diff, const DiffOptions& options) {
  for_both(diff.before.metrics, diff.after.metrics,
           [&](const std::string& key, const Point* old_one, const Point* new_one) {
             if (!is_compared(key, options)) return;
             MetricChange change{key, {}, {}, false};
             if (old_one != nullptr) change.before = old_one->value;
             if (new_one != nullptr) change.after = new_one->value;
             const bool has_both = change.before && change.after;
             if (has_both && is_same_value(*change.before, *change.after)) {
               ++diff.same_metrics;
               return;
             }
             change.is_within =
                 has_both && is_close(*change.before, *change.after, options.tolerance);
             diff.metrics.push_back(std::move(change));
           });
  // A metric that is asked for and that no run has is a difference too, not an agreement.
  for (const std::string& key : options.metrics)
    if (!diff.before.metrics.contains(key) && !diff.after.metrics.contains(key))
      diff.metrics.push_back({key, {}, {}, false});
  diff.verdict = DiffVerdict::kEqual;
  if (!diff.metrics.empty())
    diff.verdict = std::ranges::all_of(diff.metrics, &MetricChange::is_within)
                       ? DiffVerdict::kWithin
                       : DiffVerdict::kDifferent;
}

std::string shown(const std::optional<std::string>& text) {
  if (!text) return "nothing";
  return text->size() <= kShownBytesMax ? *text : text->substr(0, kShownBytesMax) + "…";
}

std::string change_text(const std::string& what, const std::optional<std::string>& before,
                        const std::optional<std::string>& after) {
  return what + " was " + shown(before) + ", is " + shown(after);
}

std::string first_difference_of(const RunDiff& diff) {
  if (!diff.code.is_same()) {
    if (diff.code.files.empty()) return "code: one of the runs has no snapshot";
    const FileChange& file = diff.code.files.front();
    return "code: " + file.path + " was " + file.change;
  }
  if (!diff.environment.is_same()) {
    if (diff.environment.packages.empty()) return "environment: one of the runs has no lock";
    const WordChange& package = diff.environment.packages.front();
    return change_text("environment: " + package.name, package.before, package.after);
  }
  if (!diff.data.empty()) {
    const DataChange& input = diff.data.front();
    return change_text("data: input " + input.name, input.before, input.after);
  }
  if (!diff.params.empty()) {
    const WordChange& param = diff.params.front();
    return change_text("parameter " + param.name, param.before, param.after);
  }
  if (!diff.settings.empty()) {
    const WordChange& setting = diff.settings.front();
    return change_text(setting.name, setting.before, setting.after);
  }
  return {};
}

/// "" when there is none: clients may write anything into a tag.
std::string digest_of(const Run& run, std::string_view tag) {
  const std::string digest = word_of(run.tags, tag);
  return is_digest(digest) ? digest : std::string();
}

Words inputs_of(const Run& run) {
  Words inputs;
  for (const auto& [key, value] : run.tags)
    if (key.starts_with(kInputTag)) inputs[key.substr(kInputTag.size())] = value;
  for (const RunInput& input : run.inputs) {
    std::string name = input.name + " (logged)";
    if (const std::string context = word_of(input.tags, "mlflow.data.context"); !context.empty())
      name = input.name + " (logged, " + context + ")";
    inputs[name] = input.name + "@" + input.digest;
  }
  return inputs;
}

std::optional<DataCounts> counts_of(store::Reader& reader, const ProjectId& project,
                                    const std::optional<std::string>& text) {
  constexpr std::string_view kDataset = "dataset/";
  if (!text || !text->starts_with(kDataset)) return std::nullopt;
  const auto selector = parse_version_selector(std::string_view(*text).substr(kDataset.size()));
  if (!selector || selector->number == 0) return std::nullopt;
  const auto version =
      data::load_version(reader, project, DatasetVersionId{{selector->name, selector->number}});
  if (!version) return std::nullopt;  // removed since
  return DataCounts{version->files, version->rows, version->bytes};
}

Status compare_data(store::Reader& reader, const ProjectId& project, RunDiff& diff) {
  const auto changes = compare_words(inputs_of(diff.before), inputs_of(diff.after), diff.same_data);
  for (const WordChange& change : changes)
    diff.data.push_back({change.name, change.before, change.after,
                         counts_of(reader, project, change.before),
                         counts_of(reader, project, change.after)});
  return {};
}

class CodeComparer {
 public:
  CodeComparer(store::BlobStore& blobs, const ProjectId& project)
      : blobs_(blobs), project_(project) {}

  Result<CodeChange> compare(const std::string& before, const std::string& after) {
    CodeChange change{before, after, {}, 0};
    if (change.is_same() || before.empty() || after.empty()) return change;
    TAKT_ASSIGN(const content::Manifest old_tree, blobs_.read_tree(project_, Digest{before}));
    TAKT_ASSIGN(const content::Manifest new_tree, blobs_.read_tree(project_, Digest{after}));
    const content::ManifestDiff diff = content::diff_manifests(old_tree, new_tree);
    for (const auto& changed : diff.changed)
      TAKT_RETURN_IF_ERROR(add(change, "changed", &changed.before, &changed.after));
    for (const auto& entry : diff.added)
      TAKT_RETURN_IF_ERROR(add(change, "added", nullptr, &entry));
    for (const auto& entry : diff.removed)
      TAKT_RETURN_IF_ERROR(add(change, "removed", &entry, nullptr));
    std::ranges::stable_sort(change.files, {}, &FileChange::path);
    return change;
  }

 private:
  Status add(CodeChange& change, std::string kind, const content::Entry* before,
             const content::Entry* after) {
    if (change.files.size() >= kFilesMax) {
      ++change.left_out;
      return {};
    }
    FileChange file;
    file.path = after == nullptr ? before->path : after->path;
    file.change = std::move(kind);
    TAKT_RETURN_IF_ERROR(fill(file, before, after));
    change.files.push_back(std::move(file));
    return {};
  }

  Status fill(FileChange& file, const content::Entry* before, const content::Entry* after) {
    std::string old_text, new_text;
    for (const auto& [entry, into] : {std::pair{before, &old_text}, std::pair{after, &new_text}}) {
      if (entry == nullptr) continue;
      if (entry->size > kFileBytesMax) {
        file.note = "too large to be compared";
        return {};
      }
      TAKT_ASSIGN(*into, blobs_.read_bytes(project_, entry->digest));
      if (!content::is_text(*into)) file.note = "no text";
    }
    if (!file.note.empty()) return {};
    content::TextDiff diff = content::diff_texts(old_text, new_text);
    file.added = diff.added;
    file.removed = diff.removed;
    if (diff.unified.empty()) file.note = "only its mode changed";
    if (used_bytes_ + diff.unified.size() > kDiffBytesMax) {
      file.note = "left out: the lines of the others fill the answer";
      return {};
    }
    used_bytes_ += diff.unified.size();
    file.diff = std::move(diff.unified);
    return {};
  }

  store::BlobStore& blobs_;
  const ProjectId& project_;
  std::size_t used_bytes_ = 0;
};

Result<PackageChange> compare_environments(store::BlobStore& blobs, const ProjectId& project,
                                           const std::string& before, const std::string& after) {
  PackageChange change;
  if (before != after && !before.empty() && !after.empty()) {
    TAKT_ASSIGN(const std::string old_lock,
                blobs.read_bytes(project, Digest{before}, kLockBytesMax));
    TAKT_ASSIGN(const std::string new_lock,
                blobs.read_bytes(project, Digest{after}, kLockBytesMax));
    change = compare_locks(old_lock, new_lock);
  }
  change.before = before;
  change.after = after;
  return change;
}

}  // namespace

std::string_view diff_verdict_name(DiffVerdict verdict) {
  switch (verdict) {
    case DiffVerdict::kEqual:
      return "equal";
    case DiffVerdict::kWithin:
      return "within";
    case DiffVerdict::kDifferent:
      return "different";
  }
  return "";
}

PackageChange compare_locks(std::string_view before, std::string_view after) {
  const auto packages_of = [](std::string_view lock) {
    Words packages;
    while (!lock.empty()) {
      const std::size_t end = std::min(lock.find('\n'), lock.size());
      const std::string_view line = lock.substr(0, end);
      lock.remove_prefix(std::min(end + 1, lock.size()));
      const std::size_t equals = line.find("==");
      if (line.empty()) continue;
      packages[std::string(line.substr(0, equals))] =
          equals == std::string_view::npos ? "" : std::string(line.substr(equals + 2));
    }
    return packages;
  };
  PackageChange change;
  change.packages = compare_words(packages_of(before), packages_of(after), change.same);
  return change;
}

void compare_records(RunDiff& diff, const DiffOptions& options) {
  diff.params = compare_words(diff.before.params, diff.after.params, diff.same_params);
  Words before, after;
  for (const char* setting : {"command", "seed"}) {
    const std::string tag = std::string("takt.") + setting;
    if (const std::string old_one = word_of(diff.before.tags, tag); !old_one.empty())
      before[setting] = old_one;
    if (const std::string new_one = word_of(diff.after.tags, tag); !new_one.empty())
      after[setting] = new_one;
  }
  std::int64_t same = 0;
  diff.settings = compare_words(before, after, same);
  compare_metrics(diff, options);
  diff.first_difference = first_difference_of(diff);
}

Result<RunDiff> diff_runs(TrackService& track, store::BlobStore& blobs, const access::CanRead& by,
                          const RunId& before, const RunId& after, const DiffOptions& options) {
  RunDiff diff;
  TAKT_ASSIGN(diff.before, track.run(by, before));
  TAKT_ASSIGN(diff.after, track.run(by, after));
  CodeComparer code(blobs, by.project());
  TAKT_ASSIGN(diff.code, code.compare(digest_of(diff.before, "takt.code"),
                                      digest_of(diff.after, "takt.code")));
  TAKT_ASSIGN(diff.environment,
              compare_environments(blobs, by.project(), digest_of(diff.before, "takt.environment"),
                                   digest_of(diff.after, "takt.environment")));
  TAKT_RETURN_IF_ERROR(track.db().read(
      [&](store::Reader& reader) { return compare_data(reader, by.project(), diff); }));
  compare_records(diff, options);
  return diff;
}

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
#include "takt/content/manifest.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_set>

#include "takt/base/safe_path.h"

namespace takt::content {
namespace {

constexpr std::string_view kHeaderLine = "takt manifest 1\n";
constexpr std::int64_t kTotalBytesMax = std::int64_t{1} << 60;

Status check_entry(const Entry& entry) {
  TAKT_RETURN_IF_ERROR(check_relative_path(entry.path));
  if (!is_digest(entry.digest.value)) {
    return fail(Code::kInvalid, entry.path + ": the digest is not 64 lower-case hex digits");
  }
  if (entry.size < 0 || entry.size > kTotalBytesMax) {
    return fail(Code::kInvalid, entry.path + ": no possible size: " + std::to_string(entry.size));
  }
  return {};
}

// No path twice, and no file where another path needs a folder.
Status check_sorted_paths(const std::vector<Entry>& entries) {
  std::unordered_set<std::string_view> files;
  files.reserve(entries.size());
  for (const Entry& entry : entries) {
    if (!files.insert(entry.path).second) {
      return fail(Code::kInvalid, "path \"" + entry.path + "\" is there twice");
    }
  }
  std::string_view checked_folder;
  for (const Entry& entry : entries) {
    const std::string_view path = entry.path;
    const std::string_view folder = path.substr(0, path.rfind('/') + 1);
    if (folder == checked_folder) continue;
    checked_folder = folder;
    for (std::size_t slash = folder.find('/'); slash != std::string_view::npos;
         slash = folder.find('/', slash + 1)) {
      const std::string_view parent = folder.substr(0, slash);
      if (files.contains(parent)) {
        return fail(Code::kInvalid, "path \"" + std::string(parent) +
                                        "\" is a file and a folder: \"" + entry.path + "\"");
      }
    }
  }
  return {};
}

Status check_total(const Manifest& manifest) {
  std::int64_t total = 0;
  for (const Entry& entry : manifest.entries) {
    total += entry.size;
    if (total > kTotalBytesMax) {
      return fail(Code::kInvalid, "the sizes add up to more than 2^60 bytes, at " + entry.path);
    }
  }
  return {};
}

void render_entry(std::string& text, const Entry& entry) {
  text += entry.digest.value;
  text += entry.executable ? " x " : " - ";
  text += std::to_string(entry.size);
  text += ' ';
  text += entry.path;
  text += '\n';
}

// One line as render_entry writes it, without its end.
Result<Entry> parse_entry(std::string_view line) {
  const auto malformed = [] {
    return fail(Code::kInvalid, "expected DIGEST, - or x, SIZE and PATH, one space between");
  };
  Entry entry;
  if (line.size() < 70 || line[64] != ' ' || line[66] != ' ') return malformed();
  entry.digest.value = line.substr(0, 64);
  if (line[65] != '-' && line[65] != 'x') return malformed();
  entry.executable = line[65] == 'x';
  line.remove_prefix(67);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), entry.size);
  const auto digits = static_cast<std::size_t>(end - line.data());
  const bool is_plain = line[0] >= '0' && line[0] <= '9' && (line[0] != '0' || digits == 1);
  if (error != std::errc{} || !is_plain || digits >= line.size() || line[digits] != ' ') {
    return malformed();
  }
  entry.path = line.substr(digits + 1);
  TAKT_RETURN_IF_ERROR(check_entry(entry));
  return entry;
}

bool has_same_content(const Entry& a, const Entry& b) {
  return a.digest == b.digest && a.size == b.size && a.executable == b.executable;
}

}  // namespace

std::int64_t Manifest::total_bytes() const {
  std::int64_t total = 0;
  for (const Entry& entry : entries) total += entry.size;
  return total;
}

const Entry* Manifest::find(std::string_view path) const {
  const auto found = std::ranges::lower_bound(
      entries, path, {}, [](const Entry& e) -> std::string_view { return e.path; });
  return found == entries.end() || found->path != path ? nullptr : &*found;
}

Result<Manifest> make_manifest(std::vector<Entry> entries) {
  Manifest manifest{std::move(entries)};
  for (const Entry& entry : manifest.entries) TAKT_RETURN_IF_ERROR(check_entry(entry));
  std::ranges::sort(manifest.entries, {}, &Entry::path);
  TAKT_RETURN_IF_ERROR(check_sorted_paths(manifest.entries));
  TAKT_RETURN_IF_ERROR(check_total(manifest));
  return manifest;
}

std::string render_manifest(const Manifest& manifest) {
  std::string text(kHeaderLine);
  text.reserve(text.size() + manifest.entries.size() * 112);
  for (const Entry& entry : manifest.entries) render_entry(text, entry);
  return text;
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (!text.starts_with(kHeaderLine)) {
    return fail(Code::kInvalid, "line 1: not a manifest of version 1",
                "the first line is: takt manifest 1");
  }
  text.remove_prefix(kHeaderLine.size());
  Manifest manifest;
  std::size_t line_number = 1;
  while (!text.empty()) {
    const std::string line_name = "line " + std::to_string(++line_number);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      return fail(Code::kInvalid, line_name + ": the last line has no end");
    }
    TAKT_ASSIGN(Entry entry, parse_entry(text.substr(0, end)).transform_error(while_(line_name)));
    if (!manifest.entries.empty() && manifest.entries.back().path >= entry.path) {
      return fail(Code::kInvalid, line_name + ": path \"" + entry.path + "\" is out of order");
    }
    manifest.entries.push_back(std::move(entry));
    text.remove_prefix(end + 1);
  }
  TAKT_RETURN_IF_ERROR(check_sorted_paths(manifest.entries));
  TAKT_RETURN_IF_ERROR(check_total(manifest));
  return manifest;
}

Digest manifest_digest(const Manifest& manifest) { return sha256(render_manifest(manifest)); }

ManifestDiff diff_manifests(const Manifest& before, const Manifest& after) {
  ManifestDiff diff;
  auto old_entry = before.entries.begin();
  auto new_entry = after.entries.begin();
  while (old_entry != before.entries.end() || new_entry != after.entries.end()) {
    if (new_entry == after.entries.end() ||
        (old_entry != before.entries.end() && old_entry->path < new_entry->path)) {
      diff.removed.push_back(*old_entry++);
    } else if (old_entry == before.entries.end() || new_entry->path < old_entry->path) {
      diff.added.push_back(*new_entry++);
    } else {
      if (!has_same_content(*old_entry, *new_entry)) {
        diff.changed.push_back({*old_entry, *new_entry});
      }
      ++old_entry;
      ++new_entry;
    }
  }
  return diff;
}

}  // namespace takt::content

// SPDX-License-Identifier: Apache-2.0
#include "takt/data/diff.h"

#include <unordered_map>

#include "takt/base/utf8.h"
#include "takt/data/table.h"

namespace takt::data {
namespace {

constexpr std::int64_t kTableBytesMax = 64 << 20;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

/// Lines of `here` beyond their number in `other`.
std::int64_t surplus(const std::vector<std::string_view>& here,
                     const std::vector<std::string_view>& other, std::vector<std::string>& shown) {
  std::unordered_map<std::string_view, std::int64_t> left;
  for (const auto line : other) ++left[line];
  std::int64_t count = 0;
  for (const auto line : here) {
    if (auto& stock = left[line]; stock > 0) {
      --stock;
      continue;
    }
    ++count;
    if (shown.size() < TableDiff::kRowsShown) shown.push_back(shorten(line, TableDiff::kRowShown));
  }
  return count;
}

Result<std::string> whole_file(DatasetService& datasets, const access::CanRead& by,
                               const content::Entry& file) {
  std::string text;
  TAKT_RETURN_IF_ERROR(datasets.read_file(by, file, [&](std::string_view bytes) -> Status {
    text += bytes;
    return {};
  }));
  return text;
}

}  // namespace

TableDiff diff_rows(std::string_view before, std::string_view after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  TableDiff diff;
  diff.added = surplus(new_lines, old_lines, diff.added_rows);
  diff.removed = surplus(old_lines, new_lines, diff.removed_rows);
  return diff;
}

Result<DatasetDiff> diff_versions(DatasetService& datasets, const access::CanRead& by,
                                  const DatasetVersion& from, const DatasetVersion& to) {
  DatasetDiff diff;
  diff.from = from.id;
  diff.to = to.id;
  TAKT_ASSIGN(const content::Manifest before, datasets.files(by, from));
  TAKT_ASSIGN(const content::Manifest after, datasets.files(by, to));
  diff.files = content::diff_manifests(before, after);
  for (const auto& changed : diff.files.changed) {
    const bool is_small =
        changed.before.size <= kTableBytesMax && changed.after.size <= kTableBytesMax;
    if (table_format(changed.after.path) == TableFormat::kNone || !is_small) continue;
    TAKT_ASSIGN(const std::string old_text, whole_file(datasets, by, changed.before));
    TAKT_ASSIGN(const std::string new_text, whole_file(datasets, by, changed.after));
    diff.tables.push_back(diff_rows(old_text, new_text));
    diff.tables.back().path = changed.after.path;
  }
  return diff;
}

}  // namespace takt::data

// SPDX-License-Identifier: Apache-2.0
#include "takt/content/text_diff.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "takt/base/utf8.h"

namespace takt::content {
namespace {

constexpr int kContextLines = 3;
constexpr int kEditsMax = 2'000;  // the table of the search grows with its square

using Lines = std::vector<std::string_view>;

/// With their newlines, so that a missing one at the end is a difference.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

void replace_all(const Lines& before, const Lines& after, std::vector<Edit>& edits) {
  for (const auto line : before) edits.push_back({'-', line});
  for (const auto line : after) edits.push_back({'+', line});
}

/// Myers' greedy search: for each number of edits the furthest point on each diagonal.
std::vector<std::vector<int>> search(const Lines& before, const Lines& after) {
  const int n = static_cast<int>(before.size()), m = static_cast<int>(after.size());
  std::vector<std::vector<int>> trace;
  std::vector<int> furthest(static_cast<std::size_t>(2 * kEditsMax + 3), 0);
  const auto at = [](int diagonal) {
    const int place = diagonal + kEditsMax + 1;
    return static_cast<std::size_t>(place);
  };
  for (int edits = 0; edits <= std::min(n + m, kEditsMax); ++edits) {
    for (int k = -edits; k <= edits; k += 2) {
      const bool goes_down =
          k == -edits || (k != edits && furthest[at(k - 1)] < furthest[at(k + 1)]);
      int x = goes_down ? furthest[at(k + 1)] : furthest[at(k - 1)] + 1;
      int y = x - k;
      while (x < n && y < m &&
             before[static_cast<std::size_t>(x)] == after[static_cast<std::size_t>(y)]) {
        ++x;
        ++y;
      }
      furthest[at(k)] = x;
      if (x >= n && y >= m) {
        trace.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-edits)),
                           furthest.begin() + static_cast<std::ptrdiff_t>(at(edits)) + 1);
        return trace;
      }
    }
    trace.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-edits)),
                       furthest.begin() + static_cast<std::ptrdiff_t>(at(edits)) + 1);
  }
  return {};
}

/// From the end back to the beginning, along the furthest points.
std::vector<Edit> walk_back(const Lines& before, const Lines& after,
                            const std::vector<std::vector<int>>& trace) {
  std::vector<Edit> edits;
  int x = static_cast<int>(before.size()), y = static_cast<int>(after.size());
  const auto keep = [&] {
    edits.push_back({' ', before[static_cast<std::size_t>(--x)]});
    --y;
  };
  for (int d = static_cast<int>(trace.size()) - 1; d > 0; --d) {
    const auto& previous = trace[static_cast<std::size_t>(d - 1)];
    const auto furthest = [&](int k) {
      const int i = k + d - 1;
      return i < 0 || i >= static_cast<int>(previous.size())
                 ? -1
                 : previous[static_cast<std::size_t>(i)];
    };
    const int k = x - y;
    const bool went_down = k == -d || (k != d && furthest(k - 1) < furthest(k + 1));
    const int from_x = went_down ? furthest(k + 1) : furthest(k - 1);
    const int from_y = from_x - (went_down ? k + 1 : k - 1);
    while (x > from_x + (went_down ? 0 : 1) && y > from_y + (went_down ? 1 : 0)) keep();
    if (went_down)
      edits.push_back({'+', after[static_cast<std::size_t>(--y)]});
    else
      edits.push_back({'-', before[static_cast<std::size_t>(--x)]});
  }
  while (x > 0 && y > 0) keep();
  std::ranges::reverse(edits);
  return edits;
}

std::string range_text(std::size_t begin, std::size_t count) {
  return std::to_string(count == 0 ? begin : begin + 1) +
         (count == 1 ? "" : "," + std::to_string(count));
}

/// Changes with their context, those near each other together.
std::string render(const std::vector<Edit>& edits) {
  std::string text;
  std::size_t old_line = 0, new_line = 0, i = 0;
  while (i < edits.size()) {
    std::size_t change = i;
    while (change < edits.size() && edits[change].sign == ' ') ++change;
    if (change == edits.size()) break;
    const std::size_t begin = std::max(i, change - std::min<std::size_t>(change, kContextLines));
    std::size_t end = change, quiet = 0;
    for (std::size_t j = change; j < edits.size() && quiet <= 2 * kContextLines; ++j) {
      quiet = edits[j].sign == ' ' ? quiet + 1 : 0;
      if (quiet == 0) end = j + 1;
    }
    end = std::min(edits.size(), end + kContextLines);
    old_line += begin - i;
    new_line += begin - i;
    std::size_t old_count = 0, new_count = 0;
    std::string body;
    for (std::size_t j = begin; j < end; ++j) {
      old_count += edits[j].sign != '+' ? 1 : 0;
      new_count += edits[j].sign != '-' ? 1 : 0;
      body += edits[j].sign;
      body += edits[j].line;
      if (!edits[j].line.ends_with('\n')) body += "\n\\ No newline at end of file\n";
    }
    text += "@@ -" + range_text(old_line, old_count) + " +" + range_text(new_line, new_count) +
            " @@\n" + body;
    old_line += old_count;
    new_line += new_count;
    i = end;
  }
  return text;
}

}  // namespace

TextDiff diff_texts(std::string_view before, std::string_view after) {
  TextDiff diff;
  if (before == after) return diff;
  Lines old_lines = lines_of(before), new_lines = lines_of(after);
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(old_lines.size(), new_lines.size());
  while (head < shorter && old_lines[head] == new_lines[head]) ++head;
  while (tail < shorter - head &&
         old_lines[old_lines.size() - 1 - tail] == new_lines[new_lines.size() - 1 - tail])
    ++tail;
  const auto middle = [&](const Lines& lines) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(head),
                 lines.end() - static_cast<std::ptrdiff_t>(tail));
  };
  const Lines old_middle = middle(old_lines), new_middle = middle(new_lines);
  std::vector<Edit> edits;
  for (std::size_t i = 0; i < head; ++i) edits.push_back({' ', old_lines[i]});
  if (const auto trace = search(old_middle, new_middle); trace.empty()) {
    replace_all(old_middle, new_middle, edits);
  } else {
    const auto found = walk_back(old_middle, new_middle, trace);
    edits.insert(edits.end(), found.begin(), found.end());
  }
  for (std::size_t i = old_lines.size() - tail; i < old_lines.size(); ++i)
    edits.push_back({' ', old_lines[i]});
  for (const Edit& edit : edits) {
    diff.added += edit.sign == '+' ? 1 : 0;
    diff.removed += edit.sign == '-' ? 1 : 0;
  }
  diff.unified = render(edits);
  return diff;
}

bool is_text(std::string_view bytes) {
  const bool has_control = std::ranges::any_of(bytes, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f');
  });
  return !has_control && !find_invalid_utf8(bytes);
}

}  // namespace takt::content

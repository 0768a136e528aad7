// SPDX-License-Identifier: Apache-2.0
#include "takt/track/many_rows.h"

namespace takt::track {
namespace {

/// "(?1, ?2), (?3, ?4)"
std::string parameter_rows(std::size_t rows, std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < rows * columns; ++i) {
    if (i % columns == 0)
      text += i == 0 ? "(" : "), (";
    else
      text += ", ";
    text += "?" + std::to_string(i + 1);
  }
  return text + ")";
}

}  // namespace

ManyRows::ManyRows(std::string_view one) {
  constexpr std::string_view kBefore = "VALUES ";
  const std::size_t from = one.find(kBefore) + kBefore.size();
  const std::size_t to = one.find(')', from) + 1;
  std::size_t columns = 0;
  for (const char c : one.substr(from, to - from)) columns += c == '?' ? 1 : 0;
  TAKT_CHECK(one.substr(from, to - from) == parameter_rows(1, columns),
             "a statement for many rows has VALUES (?1, ?2, …)");
  for (std::size_t i = 0; i < kSizes.size(); ++i)
    texts_[i] = std::string(one.substr(0, from)) + parameter_rows(kSizes[i], columns) +
                std::string(one.substr(to));
}

std::size_t ManyRows::size_for(std::size_t count) {
  std::size_t size = kSizes.size() - 1;
  while (size > 0 && kSizes[size] > count) --size;
  return size;
}

Status ManyRows::run(store::Reader& reader, std::size_t count, const Bind& bind,
                     const Take& take) const {
  for (std::size_t at = 0; at < count;) {
    const std::size_t size = size_for(count - at);
    store::Params params;
    for (std::size_t i = 0; i < kSizes[size]; ++i) bind(at + i, params);
    TAKT_ASSIGN(const auto rows, reader.query(texts_[size], params));
    if (take) take(rows);
    at += kSizes[size];
  }
  return {};
}

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
// One statement for many rows, in few sizes, so that the database keeps few prepared statements.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "takt/store/database.h"

namespace takt::track {

/// A statement with `VALUES (?1, …, ?n)`, and its forms with more such rows. Pure, but for run().
class ManyRows {
 public:
  explicit ManyRows(std::string_view one);

  /// Runs the statement over `count` rows, up to 64 at once; `bind` appends the n parameters of a
  /// row, `take` gets what each run answers.
  using Bind = std::function<void(std::size_t row, store::Params& params)>;
  using Take = std::function<void(const store::Rows& rows)>;
  Status run(store::Reader& reader, std::size_t count, const Bind& bind,
             const Take& take = {}) const;
  /// 1, 4, 16 or 64 rows: the most that are no more than `count`.
  std::string_view text_for(std::size_t count) const { return texts_[size_for(count)]; }

 private:
  static constexpr std::array<std::size_t, 4> kSizes{1, 4, 16, 64};
  static std::size_t size_for(std::size_t count);
  std::array<std::string, kSizes.size()> texts_;
};

}  // namespace takt::track

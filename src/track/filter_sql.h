// SPDX-License-Identifier: Apache-2.0
// Searches as SQL: filters, orders and pages over any kind of thing, composed from parts that
// stand in the source; every value is bound. Used for runs, experiments, logged models, registered
// models and their versions.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/value.h"
#include "takt/store/database.h"
#include "takt/track/filter.h"

namespace takt::track {

/// A statement that grows: its text comes from the source only, its values are bound.
class Statement {
 public:
  Statement& add(std::string_view sql) {
    sql_ += sql;
    return *this;
  }
  Statement& bind(store::Cell value);
  /// (?, ?, …)
  Statement& bind_list(const std::vector<std::string>& values);
  Result<store::Rows> run(store::Reader& reader) const { return reader.query(sql_, params_); }
  const std::string& sql() const { return sql_; }

 private:
  std::string sql_;
  store::Params params_;
};

enum class SortKind { kWhole, kReal, kText };
/// One column of the order, as the statement sees it.
struct SortKey {
  std::string sql;
  SortKind kind = SortKind::kWhole;
  bool is_descending = false;
};

/// A table with the thing's words or metrics: how its rows belong to the thing. `$` is its alias,
/// `r` the thing's row. Words have columns key and value; metrics also is_nan.
struct SideTable {
  std::string_view table;
  std::string_view belongs;
};
/// How a kind of thing lies in the tables.
struct SearchTables {
  struct Column {
    std::string_view key;  // of the attribute, canonical
    std::string_view sql;
    SortKind kind = SortKind::kText;
    std::string_view absent_when = {};  // a condition; never when empty
  };
  std::string_view select;   // the columns that rows get, before the sort keys
  std::size_t selected = 0;  // how many
  std::string_view from;     // with the alias r
  std::vector<Column> columns;
  SideTable params, tags, metrics;
  std::vector<SortKey> ties;  // end the order; the last makes it unique. Each once: see sort_keys
  // The tag that counts as this value where it is absent.
  std::string_view assumed_tag = {}, assumed_value = {};
  /// More conditions on rows of `metrics`: for filters, or for the n-th term of the order, where
  /// they must leave one row per thing.
  std::function<void(Statement&, std::string_view alias, const std::size_t* term)> on_metrics = {};
};

struct SqlSearch {
  const SearchTables& tables;
  const Filter& filter;
  const std::vector<OrderTerm>& order;
  /// Adds the conditions that no client chooses (project, experiments, state), without AND before.
  std::function<void(Statement&)> where;
  std::string scope;  // tells `where` from others, for page tokens
};
struct SqlPage {
  store::Rows rows;
  std::string next_page_token;  // "" on the last page
};

/// The rows of the page, in order. The token is a place in the order, not a count: rows that are
/// added or change elsewhere neither repeat nor hide others. kInvalid for a token of another
/// search.
Result<SqlPage> find_page(store::Reader& reader, const SqlSearch& search, std::int64_t limit,
                          const std::string& page_token);
/// How many the search finds on all pages.
Result<std::int64_t> count_found(store::Reader& reader, const SqlSearch& search);

}  // namespace takt::track

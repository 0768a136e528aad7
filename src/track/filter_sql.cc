// SPDX-License-Identifier: Apache-2.0
#include "takt/track/filter_sql.h"

#include <algorithm>
#include <cmath>

#include "takt/track/page_token.h"

namespace takt::track {
namespace {

// filter_rules.cc's number_in_text says the same in C++. A CASE, since the database may not cast
// other texts.
constexpr std::string_view kNumberInText =
    "CASE WHEN w.value <> '' AND LENGTH(w.value) <= 40"
    " AND LTRIM(LOWER(w.value), '0123456789.e+-') = ''"
    " AND w.value NOT LIKE '%.%.%' AND LOWER(w.value) NOT LIKE '%e%e%'"
    " AND LOWER(w.value) NOT LIKE '%e%.%' AND w.value NOT LIKE '%-+%'"
    " AND LTRIM(REPLACE(REPLACE(SUBSTR(LOWER(w.value), 2), 'e-', 'e'), 'e+', 'e'),"
    " '0123456789.e') = ''"
    " AND REPLACE(REPLACE(LOWER(w.value), 'e-', 'e'), 'e+', 'e') NOT LIKE '%e___%'"
    " AND SUBSTR(LTRIM(w.value, '+-'), 1, 1) BETWEEN '0' AND '9'"
    " AND SUBSTR(w.value, LENGTH(w.value), 1) BETWEEN '0' AND '9'"
    " THEN CAST(w.value AS REAL) END";

std::string_view compare_sql(Compare compare) {
  switch (compare) {
    case Compare::kEqual:
      return " = ";
    case Compare::kNotEqual:
      return " <> ";
    case Compare::kLess:
      return " < ";
    case Compare::kLessEqual:
      return " <= ";
    case Compare::kGreater:
      return " > ";
    case Compare::kGreaterEqual:
      return " >= ";
    case Compare::kIn:
      return " IN ";
    case Compare::kNotIn:
      return " NOT IN ";
    default:
      return " LIKE ";
  }
}

/// A pattern whose back-slashes stand for themselves, in lower case when case is ignored.
std::string like_pattern(std::string_view pattern, bool ignores_case) {
  std::string out;
  for (const char c : pattern) {
    if (c == '\\') out += c;
    out += ignores_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  }
  return out;
}

/// Whole numbers are bound as such, so that indexes over times serve.
store::Cell number_cell(double number, SortKind kind) {
  constexpr double kExactMax = 9007199254740992.0;
  if (kind == SortKind::kWhole && std::abs(number) < kExactMax && number == std::trunc(number))
    return static_cast<std::int64_t>(number);
  return number;
}

/// `column` against the clause's value.
void add_compare(Statement& out, std::string_view column, const Clause& clause, SortKind kind) {
  const bool ignores_case = clause.compare == Compare::kILike;
  if (ignores_case || clause.compare == Compare::kLike) {
    out.add(ignores_case ? "LOWER(" : "(").add(column).add(") LIKE ");
    out.bind(like_pattern(std::get<std::string>(clause.value), ignores_case)).add(" ESCAPE '\\'");
    return;
  }
  out.add(column).add(compare_sql(clause.compare));
  if (const auto* number = std::get_if<double>(&clause.value)) {
    out.bind(number_cell(*number, kind));
  } else if (const auto* text = std::get_if<std::string>(&clause.value)) {
    out.bind(*text);
  } else if (const auto* numbers = std::get_if<std::vector<double>>(&clause.value)) {
    for (std::size_t i = 0; i < numbers->size(); ++i)
      out.add(i == 0 ? "(" : ", ").bind(number_cell((*numbers)[i], kind));
    out.add(")");
  } else {
    out.bind_list(std::get<std::vector<std::string>>(clause.value));
  }
}

/// The condition that a side table's row belongs to the thing.
std::string belongs_sql(const SideTable& table, std::string_view alias) {
  std::string sql;
  for (const char c : table.belongs)
    if (c == '$')
      sql += alias;
    else
      sql += c;
  return sql;
}

/// EXISTS (SELECT 1 FROM table alias WHERE it belongs AND alias.key = ?
Statement& open_exists(Statement& out, const SideTable& table, std::string_view alias,
                       const Clause& clause) {
  if (clause.compare == Compare::kIsNull) out.add("NOT ");
  return out.add("EXISTS (SELECT 1 FROM ")
      .add(table.table)
      .add(" ")
      .add(alias)
      .add(" WHERE ")
      .add(belongs_sql(table, alias))
      .add(" AND ")
      .add(alias)
      .add(".key = ")
      .bind(clause.key);
}

bool is_null_test(const Clause& clause) {
  return clause.compare == Compare::kIsNull || clause.compare == Compare::kIsNotNull;
}

void add_metric_clause(Statement& out, const Clause& clause, const SearchTables& tables) {
  open_exists(out, tables.metrics, "m", clause);
  if (!is_null_test(clause)) {
    const bool is_negative =
        clause.compare == Compare::kNotEqual || clause.compare == Compare::kNotIn;
    out.add(is_negative ? " AND (m.is_nan = 1 OR " : " AND (m.is_nan = 0 AND ");
    add_compare(out, "m.value", clause, SortKind::kReal);
    out.add(")");
  }
  if (tables.on_metrics) tables.on_metrics(out, "m", nullptr);
  out.add(")");
}

void add_word_clause(Statement& out, const Clause& clause, const SearchTables& tables) {
  const SideTable& table = clause.entity == Entity::kParam ? tables.params : tables.tags;
  const bool is_number = std::holds_alternative<double>(clause.value);
  if (clause.entity == Entity::kTag && clause.key == tables.assumed_tag && !is_number &&
      !is_null_test(clause)) {
    std::string value = "COALESCE((SELECT w.value FROM " + std::string(table.table) + " w WHERE " +
                        belongs_sql(table, "w") + " AND w.key = '" +
                        std::string(tables.assumed_tag) + "'), '" +
                        std::string(tables.assumed_value) + "')";
    add_compare(out, value, clause, SortKind::kText);
    return;
  }
  open_exists(out, table, "w", clause);
  if (!is_null_test(clause)) {
    out.add(" AND ");
    add_compare(out, is_number ? kNumberInText : "w.value", clause,
                is_number ? SortKind::kReal : SortKind::kText);
  }
  out.add(")");
}

const SearchTables::Column& column_of(const SearchTables& tables, std::string_view key) {
  const auto found = std::ranges::find(tables.columns, key, &SearchTables::Column::key);
  TAKT_CHECK(found != tables.columns.end(), "an attribute of the rules has no column");
  return *found;
}

void add_attribute_clause(Statement& out, const Clause& clause, const SearchTables& tables) {
  const SearchTables::Column& column = column_of(tables, clause.key);
  if (clause.compare == Compare::kIsNull) {
    out.add(column.absent_when);
    return;
  }
  if (!column.absent_when.empty()) out.add("NOT ").add(column.absent_when);
  if (clause.compare == Compare::kIsNotNull) return;
  if (!column.absent_when.empty()) out.add(" AND ");
  add_compare(out, column.sql, clause, column.kind);
}

void add_clause(Statement& out, const Clause& clause, const SearchTables& tables) {
  switch (clause.entity) {
    case Entity::kMetric:
      return add_metric_clause(out, clause, tables);
    case Entity::kParam:
    case Entity::kTag:
      return add_word_clause(out, clause, tables);
    case Entity::kDataset:
      out.add("EXISTS (SELECT 1 FROM run_inputs i WHERE i.run = r.id AND ");
      add_compare(out,
                  clause.key == "name"     ? "i.name"
                  : clause.key == "digest" ? "i.digest"
                                           : "i.context",
                  clause, SortKind::kText);
      out.add(")");
      return;
    case Entity::kAttribute:
      return add_attribute_clause(out, clause, tables);
  }
}

std::size_t depth_of(const Filter& filter) {
  std::size_t depth = 0;
  for (const Filter& part : filter.parts) depth = std::max(depth, 1 + depth_of(part));
  return depth;
}

/// The deepest part comes first: SQLite's parser keeps what stands before an open parenthesis on a
/// stack of 100.
void add_filter(Statement& out, const Filter& filter, const SearchTables& tables) {
  if (filter.kind == Filter::Kind::kClause) return add_clause(out, filter.clause, tables);
  std::vector<std::pair<std::size_t, const Filter*>> parts;
  for (const Filter& part : filter.parts) parts.emplace_back(depth_of(part), &part);
  std::ranges::stable_sort(parts, std::ranges::greater{},
                           [](const auto& part) { return part.first; });
  const std::string_view joint = filter.kind == Filter::Kind::kAny ? " OR " : " AND ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Filter& part = *parts[i].second;
    const bool has_parentheses =
        filter.kind == Filter::Kind::kNot ||
        (filter.kind == Filter::Kind::kAll && part.kind == Filter::Kind::kAny);
    out.add(i > 0 ? joint : "").add(filter.kind == Filter::Kind::kNot ? "NOT " : "");
    out.add(has_parentheses ? "(" : "");
    add_filter(out, part, tables);
    out.add(has_parentheses ? ")" : "");
  }
}

std::string order_alias(std::size_t index) { return "o" + std::to_string(index); }

const SideTable& table_of_term(const OrderTerm& term, const SearchTables& tables) {
  if (term.entity == Entity::kMetric) return tables.metrics;
  return term.entity == Entity::kParam ? tables.params : tables.tags;
}

/// Joins the table that the term orders by.
void add_order_join(Statement& out, const SqlSearch& search, std::size_t index) {
  const OrderTerm& term = search.order[index];
  if (term.entity == Entity::kAttribute) return;
  const SideTable& table = table_of_term(term, search.tables);
  const std::string alias = order_alias(index);
  out.add(" LEFT JOIN ").add(table.table).add(" ").add(alias).add(" ON ");
  out.add(belongs_sql(table, alias)).add(" AND ").add(alias).add(".key = ").bind(term.key);
  if (term.entity == Entity::kMetric && search.tables.on_metrics)
    search.tables.on_metrics(out, alias, &index);
}

/// A rank (value, not a number, absent), which is always ascending, then the value.
void add_sort_keys(std::vector<SortKey>& keys, const SqlSearch& search, std::size_t index) {
  const OrderTerm& term = search.order[index];
  if (term.entity == Entity::kAttribute) {
    const SearchTables::Column& column = column_of(search.tables, term.key);
    if (!column.absent_when.empty())
      keys.push_back({"CASE WHEN " + std::string(column.absent_when) + " THEN 2 ELSE 0 END",
                      SortKind::kWhole, false});
    keys.push_back({std::string(column.sql), column.kind, term.is_descending});
    return;
  }
  const std::string alias = order_alias(index);
  const std::string absent = "CASE WHEN " + alias + ".key IS NULL THEN 2 ";
  const bool is_metric = term.entity == Entity::kMetric;
  keys.push_back(
      {absent + (is_metric ? "WHEN " + alias + ".is_nan = 1 THEN 1 " : "") + "ELSE 0 END",
       SortKind::kWhole, false});
  keys.push_back({"COALESCE(" + alias + (is_metric ? ".value, 0.0)" : ".value, '')"),
                  is_metric ? SortKind::kReal : SortKind::kText, term.is_descending});
}

/// The terms' keys, then those ties that no term orders by already.
std::vector<SortKey> sort_keys(const SqlSearch& search) {
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < search.order.size(); ++i) add_sort_keys(keys, search, i);
  for (const SortKey& tie : search.tables.ties)
    if (!std::ranges::contains(keys, tie.sql, &SortKey::sql)) keys.push_back(tie);
  return keys;
}

std::unexpected<Error> misfit() {
  return fail(Code::kInvalid, "Invalid page token, its place does not fit the order",
              "take it from next_page_token", "page_token");
}

Result<store::Cell> cell_of_place(const SortKey& key, const Value& value) {
  if (key.kind == SortKind::kText && value.is_string()) return store::Cell(value.as_string());
  if (key.kind == SortKind::kWhole && value.is_int()) return store::Cell(value.as_int());
  if (key.kind == SortKind::kReal && value.is_number()) return store::Cell(value.as_number());
  if (key.kind == SortKind::kReal && value == Value("inf")) return store::Cell(INFINITY);
  if (key.kind == SortKind::kReal && value == Value("-inf")) return store::Cell(-INFINITY);
  return misfit();
}

Value place_of_row(const store::Row& row, std::size_t first, const std::vector<SortKey>& keys) {
  Array place;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].kind == SortKind::kWhole) {
      place.push_back(row.integer(first + i));
    } else if (keys[i].kind == SortKind::kText) {
      place.push_back(row.text(first + i));
    } else {
      const double value = row.real(first + i);
      if (std::isinf(value))
        place.push_back(value > 0 ? "inf" : "-inf");
      else
        place.push_back(value);
    }
  }
  return place;
}

/// k0 >= p0 AND ((k0 > p0) OR (k0 = p0 AND ((k1 > p1) OR …))): the rows after the place. The first
/// part repeats what the second says so that an index can start there.
Status add_after(Statement& out, const std::vector<SortKey>& keys, const Value& place) {
  if (!place.is_array() || place.as_array().size() != keys.size()) return misfit();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string_view beyond = keys[i].is_descending ? " < " : " > ";
    const std::string_view from = keys[i].is_descending ? " <= " : " >= ";
    TAKT_ASSIGN(const store::Cell cell, cell_of_place(keys[i], place.as_array()[i]));
    if (i == 0) out.add(keys[i].sql).add(from).bind(cell).add(" AND ");
    out.add("(").add(keys[i].sql).add(beyond).bind(cell);
    if (i + 1 < keys.size()) out.add(" OR (").add(keys[i].sql).add(" = ").bind(cell).add(" AND ");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) out.add(i + 1 < keys.size() ? "))" : ")");
  return {};
}

/// What tells this search from others, for its page tokens.
std::string identity_of(const SqlSearch& search) {
  std::string text = search.scope;
  for (const auto& term : search.order)
    text += "\n" + std::to_string(static_cast<int>(term.entity)) +
            (term.is_descending ? "-" : "+") + term.key;
  return text + text_of(search.filter);
}

void add_where(Statement& out, const SqlSearch& search) {
  out.add(" WHERE ");
  search.where(out);
  if (search.filter.empty()) return;
  out.add(" AND (");
  add_filter(out, search.filter, search.tables);
  out.add(")");
}

}  // namespace

Statement& Statement::bind(store::Cell value) {
  params_.push_back(std::move(value));
  sql_ += "?" + std::to_string(params_.size());
  return *this;
}

Statement& Statement::bind_list(const std::vector<std::string>& values) {
  for (std::size_t i = 0; i < values.size(); ++i) add(i == 0 ? "(" : ", ").bind(values[i]);
  return add(")");
}

Result<SqlPage> find_page(store::Reader& reader, const SqlSearch& search, std::int64_t limit,
                          const std::string& page_token) {
  const std::vector<SortKey> keys = sort_keys(search);
  const std::string identity = identity_of(search);
  Statement statement;
  statement.add("SELECT ").add(search.tables.select);
  for (const SortKey& key : keys) statement.add(", ").add(key.sql);  // for the token
  statement.add(" FROM ").add(search.tables.from);
  for (std::size_t i = 0; i < search.order.size(); ++i) add_order_join(statement, search, i);
  add_where(statement, search);
  if (!page_token.empty()) {
    TAKT_ASSIGN(const Value place, read_page_token(page_token, identity));
    statement.add(" AND ");
    TAKT_RETURN_IF_ERROR(add_after(statement, keys, place));
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    statement.add(i == 0 ? " ORDER BY " : ", ")
        .add(keys[i].sql)
        .add(keys[i].is_descending ? " DESC" : " ASC");
  statement.add(" LIMIT ").bind(limit + 1);
  SqlPage page;
  TAKT_ASSIGN(page.rows, statement.run(reader));
  if (page.rows.size() <= static_cast<std::size_t>(limit)) return page;
  page.rows.erase(page.rows.begin() + limit, page.rows.end());
  if (limit > 0)
    page.next_page_token =
        make_page_token(identity, place_of_row(page.rows.back(), search.tables.selected, keys));
  return page;
}

Result<std::int64_t> count_found(store::Reader& reader, const SqlSearch& search) {
  Statement statement;
  statement.add("SELECT COUNT(*) FROM ").add(search.tables.from);
  add_where(statement, search);
  TAKT_ASSIGN(const auto rows, statement.run(reader));
  return rows.front().integer(0);
}

}  // namespace takt::track

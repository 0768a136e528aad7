// SPDX-License-Identifier: Apache-2.0
#include "takt/track/run_search_store.h"

#include <algorithm>
#include <functional>
#include <map>

#include "takt/base/value.h"
#include "takt/track/experiment_store.h"
#include "takt/track/metric_store.h"
#include "takt/track/page_token.h"
#include "takt/track/sql.h"

namespace takt::track {
namespace {

constexpr std::size_t kRunsPerQuery = 500;
constexpr std::int64_t kColumnsMax = 2000;

/// A statement that grows: its text comes from this file only, its values are bound.
class Statement {
 public:
  Statement& add(std::string_view sql) {
    sql_ += sql;
    return *this;
  }
  Statement& bind(store::Cell value) {
    params_.push_back(std::move(value));
    sql_ += "?" + std::to_string(params_.size());
    return *this;
  }
  Statement& bind_list(const std::vector<std::string>& values) {
    sql_ += '(';
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) sql_ += ", ";
      bind(values[i]);
    }
    sql_ += ')';
    return *this;
  }
  Result<store::Rows> run(store::Reader& reader) const { return reader.query(sql_, params_); }

 private:
  std::string sql_;
  store::Params params_;
};

enum class KeyKind { kWhole, kReal, kText };
/// One column of the order, as the statement sees it.
struct SortKey {
  std::string sql;
  KeyKind kind = KeyKind::kWhole;
  bool is_descending = false;
};

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

std::string_view attribute_column(std::string_view key) {
  if (key == "run_id") return "r.id";
  if (key == "run_name") return "r.name";
  if (key == "user_id") return "r.user_name";
  if (key == "status") return "r.status";
  if (key == "artifact_uri") return "r.artifact_uri";
  if (key == "end_time") return "r.end_ms";
  return "r.start_ms";
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

void add_text_compare(Statement& out, std::string_view column, const Clause& clause) {
  if (const auto* list = std::get_if<std::vector<std::string>>(&clause.value)) {
    out.add(column).add(compare_sql(clause.compare)).bind_list(*list);
    return;
  }
  const auto& text = std::get<std::string>(clause.value);
  const bool ignores_case = clause.compare == Compare::kILike;
  if (ignores_case || clause.compare == Compare::kLike) {
    out.add(ignores_case ? "LOWER(" : "(").add(column).add(") LIKE ");
    out.bind(like_pattern(text, ignores_case)).add(" ESCAPE '\\'");
    return;
  }
  out.add(column).add(compare_sql(clause.compare)).bind(text);
}

void add_metric_clause(Statement& out, const Clause& clause) {
  out.add("EXISTS (SELECT 1 FROM metric_latest m WHERE m.run = r.id AND m.key = ").bind(clause.key);
  const double wanted = std::get<double>(clause.value);
  if (clause.compare == Compare::kNotEqual) {
    out.add(" AND (m.is_nan = 1 OR m.value <> ").bind(wanted).add("))");
  } else {
    out.add(" AND m.is_nan = 0 AND m.value").add(compare_sql(clause.compare)).bind(wanted).add(")");
  }
}

void add_word_clause(Statement& out, const Clause& clause) {
  const std::string_view table = clause.entity == Entity::kParam ? "run_params" : "run_tags";
  if (clause.compare == Compare::kIsNull) out.add("NOT ");
  out.add("EXISTS (SELECT 1 FROM ")
      .add(table)
      .add(" w WHERE w.run = r.id AND w.key = ")
      .bind(clause.key);
  if (clause.compare != Compare::kIsNull && clause.compare != Compare::kIsNotNull) {
    out.add(" AND ");
    add_text_compare(out, "w.value", clause);
  }
  out.add(")");
}

void add_attribute_clause(Statement& out, const Clause& clause) {
  const std::string_view column = attribute_column(clause.key);
  if (const auto* number = std::get_if<double>(&clause.value)) {
    out.add(column).add(compare_sql(clause.compare)).bind(*number);
    if (clause.key == "end_time") out.add(" AND r.end_ms >= 0");
    return;
  }
  add_text_compare(out, column, clause);
}

void add_clause(Statement& out, const Clause& clause) {
  switch (clause.entity) {
    case Entity::kMetric:
      return add_metric_clause(out, clause);
    case Entity::kParam:
    case Entity::kTag:
      return add_word_clause(out, clause);
    case Entity::kDataset:
      out.add("EXISTS (SELECT 1 FROM run_inputs i WHERE i.run = r.id AND ");
      add_text_compare(out,
                       clause.key == "name"     ? "i.name"
                       : clause.key == "digest" ? "i.digest"
                                                : "i.context",
                       clause);
      out.add(")");
      return;
    case Entity::kAttribute:
      return add_attribute_clause(out, clause);
  }
}

std::string order_alias(std::size_t index) { return "o" + std::to_string(index); }

/// Joins the table that the term orders by.
void add_order_join(Statement& out, const OrderTerm& term, std::size_t index) {
  if (term.entity == Entity::kAttribute) return;
  const std::string alias = order_alias(index);
  out.add(" LEFT JOIN ");
  out.add(term.entity == Entity::kMetric  ? "metric_latest"
          : term.entity == Entity::kParam ? "run_params"
                                          : "run_tags");
  out.add(" ")
      .add(alias)
      .add(" ON ")
      .add(alias)
      .add(".run = r.id AND ")
      .add(alias)
      .add(".key = ")
      .bind(term.key);
}

/// A rank (value, not a number, absent), which is always ascending, then the value.
void add_sort_keys(std::vector<SortKey>& keys, const OrderTerm& term, std::size_t index) {
  if (term.entity == Entity::kAttribute) {
    if (term.key == "end_time")
      keys.push_back({"CASE WHEN r.end_ms < 0 THEN 2 ELSE 0 END", KeyKind::kWhole, false});
    const bool is_time = term.key == "end_time" || term.key == "start_time";
    keys.push_back({std::string(attribute_column(term.key)),
                    is_time ? KeyKind::kWhole : KeyKind::kText, term.is_descending});
    return;
  }
  const std::string alias = order_alias(index);
  const std::string absent = "CASE WHEN " + alias + ".run IS NULL THEN 2 ";
  if (term.entity == Entity::kMetric) {
    keys.push_back(
        {absent + "WHEN " + alias + ".is_nan = 1 THEN 1 ELSE 0 END", KeyKind::kWhole, false});
    keys.push_back({"COALESCE(" + alias + ".value, 0.0)", KeyKind::kReal, term.is_descending});
  } else {
    keys.push_back({absent + "ELSE 0 END", KeyKind::kWhole, false});
    keys.push_back({"COALESCE(" + alias + ".value, '')", KeyKind::kText, term.is_descending});
  }
}

Result<store::Cell> cell_of_place(const SortKey& key, const Value& value) {
  if (key.kind == KeyKind::kText && value.is_string()) return store::Cell(value.as_string());
  if (key.kind == KeyKind::kWhole && value.is_int()) return store::Cell(value.as_int());
  if (key.kind == KeyKind::kReal && value.is_number()) return store::Cell(value.as_number());
  if (key.kind == KeyKind::kReal && value == Value("inf")) return store::Cell(INFINITY);
  if (key.kind == KeyKind::kReal && value == Value("-inf")) return store::Cell(-INFINITY);
  return fail(Code::kInvalid, "Invalid page token, its place does not fit the order", {},
              "page_token");
}

Value place_of_row(const store::Row& row, std::size_t first, const std::vector<SortKey>& keys) {
  Array place;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    switch (keys[i].kind) {
      case KeyKind::kWhole:
        place.push_back(row.integer(first + i));
        break;
      case KeyKind::kText:
        place.push_back(row.text(first + i));
        break;
      case KeyKind::kReal: {
        const double value = row.real(first + i);
        if (std::isinf(value))
          place.push_back(value > 0 ? "inf" : "-inf");
        else
          place.push_back(value);
      }
    }
  }
  return place;
}

/// (k0 > p0) OR (k0 = p0 AND ((k1 > p1) OR …)): the rows after the place.
Status add_after(Statement& out, const std::vector<SortKey>& keys, const Value& place) {
  if (!place.is_array() || place.as_array().size() != keys.size())
    return fail(Code::kInvalid, "Invalid page token, its place does not fit the order", {},
                "page_token");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    TAKT_ASSIGN(const store::Cell cell, cell_of_place(keys[i], place.as_array()[i]));
    out.add("(").add(keys[i].sql).add(keys[i].is_descending ? " < " : " > ").bind(cell);
    if (i + 1 < keys.size()) out.add(" OR (").add(keys[i].sql).add(" = ").bind(cell).add(" AND ");
  }
  for (std::size_t i = 0; i < keys.size(); ++i) out.add(i + 1 < keys.size() ? "))" : ")");
  return {};
}

/// What tells this search from others, for its page tokens.
std::string text_of_search(const RunSearch& search) {
  std::string text = std::to_string(static_cast<int>(search.view));
  for (const auto& id : search.experiments) text += "," + id;
  for (const auto& term : search.order)
    text += "\n" + std::to_string(static_cast<int>(term.entity)) +
            (term.is_descending ? "-" : "+") + term.key;
  for (const auto& clause : search.filter) {
    text += "\n" + std::to_string(static_cast<int>(clause.entity)) + "," +
            std::to_string(static_cast<int>(clause.compare)) + "," + clause.key;
    if (const auto* word = std::get_if<std::string>(&clause.value)) text += "\n'" + *word;
    if (const auto* number = std::get_if<double>(&clause.value))
      text += "\n#" + dump_json(Value(*number));
    if (const auto* list = std::get_if<std::vector<std::string>>(&clause.value))
      for (const auto& word : *list) text += "\n(" + word;
  }
  return text;
}

std::vector<std::string> ids_of(const std::vector<Run>& runs, std::size_t from, std::size_t to) {
  std::vector<std::string> ids;
  for (std::size_t i = from; i < to; ++i) ids.push_back(runs[i].id.value);
  // Few different lengths, so that the database keeps few statements: the last is repeated.
  const std::size_t full = ids.size() <= 1 ? 1 : ids.size() <= 20 ? 20 : kRunsPerQuery;
  ids.resize(full, ids.back());
  return ids;
}

/// Runs by id. The rows of a run come together, so most look-ups are of the run before.
class RunIndex {
 public:
  void add(Run& run) { runs_[run.id.value] = &run; }
  Run& at(const std::string& id) const {
    if (last_ == nullptr || last_->id.value != id) last_ = runs_.at(id);
    return *last_;
  }

 private:
  std::map<std::string_view, Run*> runs_;
  mutable Run* last_ = nullptr;
};

/// Calls `load` with the ids of up to 500 runs at a time.
Status in_chunks(
    std::vector<Run>& runs,
    const std::function<Status(const std::vector<std::string>&, const RunIndex&)>& load) {
  RunIndex index;
  for (Run& run : runs) index.add(run);
  for (std::size_t from = 0; from < runs.size(); from += kRunsPerQuery)
    TAKT_RETURN_IF_ERROR(
        load(ids_of(runs, from, std::min(runs.size(), from + kRunsPerQuery)), index));
  return {};
}

/// Keys mostly come in order.
void add_word(Words& words, const store::Row& row) {
  words.insert_or_assign(words.end(), row.text(1), row.text(2));
}

/// Rows of one of the three tables by run, only the keys asked for when there are some.
Result<store::Rows> rows_of_runs(store::Reader& reader, std::string_view select,
                                 const std::vector<std::string>& ids,
                                 const std::set<std::string>& keys) {
  Statement statement;
  statement.add(select).add(" WHERE run IN ").bind_list(ids);
  if (!keys.empty()) statement.add(" AND key IN ").bind_list({keys.begin(), keys.end()});
  return statement.run(reader);
}

}  // namespace

Result<RunPage> search_runs(store::Reader& reader, const ProjectId& project,
                            const RunSearch& search) {
  RunPage page;
  if (search.experiments.empty()) return page;
  std::vector<SortKey> keys;
  for (std::size_t i = 0; i < search.order.size(); ++i) add_sort_keys(keys, search.order[i], i);
  if (std::ranges::none_of(search.order, [](const OrderTerm& term) {
        return term.entity == Entity::kAttribute && term.key == "start_time";
      }))
    keys.push_back({"r.start_ms", KeyKind::kWhole, true});
  keys.push_back({"r.id", KeyKind::kText, false});
  // The sort keys are selected too, for the page token.
  constexpr std::size_t kRunColumns = 10;
  const std::size_t from = sql::kSelectRuns.find("FROM");
  Statement statement;
  statement.add(sql::kSelectRuns.substr(0, from));
  for (const SortKey& key : keys) statement.add(", ").add(key.sql);
  statement.add(" ").add(sql::kSelectRuns.substr(from));
  for (std::size_t i = 0; i < search.order.size(); ++i)
    add_order_join(statement, search.order[i], i);
  statement.add(" WHERE r.project = ").bind(project.value).add(" AND r.experiment IN (");
  for (std::size_t i = 0; i < search.experiments.size(); ++i)
    statement.add(i > 0 ? ", " : "").bind(experiment_number(ExperimentId{search.experiments[i]}));
  statement.add(")");
  if (search.view != RunView::kAll)
    statement.add(" AND r.is_deleted = ")
        .bind(std::int64_t{search.view == RunView::kDeleted ? 1 : 0});
  for (const Clause& clause : search.filter) {
    statement.add(" AND ");
    add_clause(statement, clause);
  }
  const std::string identity = text_of_search(search);
  if (!search.page_token.empty()) {
    TAKT_ASSIGN(const Value place, read_page_token(search.page_token, identity));
    statement.add(" AND ");
    TAKT_RETURN_IF_ERROR(add_after(statement, keys, place));
  }
  statement.add(" ORDER BY ");
  for (std::size_t i = 0; i < keys.size(); ++i)
    statement.add(i > 0 ? ", " : "").add(keys[i].sql).add(keys[i].is_descending ? " DESC" : " ASC");
  statement.add(" LIMIT ").bind(search.limit + 1);
  TAKT_ASSIGN(const auto rows, statement.run(reader));
  const auto count = std::min(rows.size(), static_cast<std::size_t>(search.limit));
  for (std::size_t i = 0; i < count; ++i) {
    TAKT_ASSIGN(Run run, run_from_row(rows[i]));
    page.runs.push_back(std::move(run));
  }
  if (rows.size() > count && count > 0)
    page.next_page_token =
        make_page_token(identity, place_of_row(rows[count - 1], kRunColumns, keys));
  return page;
}

Status load_run_data(store::Reader& reader, std::vector<Run>& runs, const RunColumns& columns) {
  return in_chunks(runs, [&](const std::vector<std::string>& ids, const RunIndex& index) -> Status {
    const auto wanted = [&](const std::set<std::string>& keys) {
      return !columns.is_restricted || !keys.empty();
    };
    if (wanted(columns.params)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectParams, ids, columns.params));
      for (const auto& row : rows) add_word(index.at(row.text(0)).params, row);
    }
    if (wanted(columns.tags)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectTags, ids, columns.tags));
      for (const auto& row : rows) add_word(index.at(row.text(0)).tags, row);
    }
    if (wanted(columns.metrics)) {
      TAKT_ASSIGN(const auto rows, rows_of_runs(reader, sql::kSelectLatest, ids, columns.metrics));
      for (const auto& row : rows) {
        auto& metrics = index.at(row.text(0)).metrics;
        metrics.insert_or_assign(metrics.end(), row.text(1), point_from_row(row, 2));
      }
    }
    return {};
  });
}

Status load_run_inputs(store::Reader& reader, std::vector<Run>& runs) {
  return in_chunks(runs, [&](const std::vector<std::string>& ids, const RunIndex& index) -> Status {
    TAKT_ASSIGN(const auto inputs, rows_of_runs(reader, sql::kSelectInputs, ids, {}));
    for (const auto& row : inputs) {
      RunInput input{row.text(1), row.text(2), row.text(3), row.text(4),
                     row.text(5), row.text(6), {}};
      TAKT_ASSIGN(const Value tags, parse_json(row.text(7)));
      for (const auto& [key, value] : tags.as_object())
        input.tags[key] = value.is_string() ? value.as_string() : "";
      index.at(row.text(0)).inputs.push_back(std::move(input));
    }
    TAKT_ASSIGN(const auto models, rows_of_runs(reader, sql::kSelectRunModels, ids, {}));
    for (const auto& row : models) {
      Run& run = index.at(row.text(0));
      (row.text(1) == "out" ? run.model_outputs : run.model_inputs)
          .push_back({row.text(2), row.integer(3)});
    }
    return {};
  });
}

Result<std::vector<RunColumn>> list_run_columns(store::Reader& reader, const ProjectId& project,
                                                const std::vector<std::string>& experiments) {
  std::vector<RunColumn> columns;
  if (experiments.empty()) return columns;
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"metric", sql::kCountMetricKeys},
      {"param", sql::kCountParamKeys},
      {"tag", sql::kCountTagKeys}};
  for (const auto& [kind, select] : kKinds) {
    const std::size_t group = select.find("GROUP BY");
    Statement statement;
    statement.add(select.substr(0, group)).add("WHERE r.project = ").bind(project.value);
    statement.add(" AND r.is_deleted = 0 AND r.experiment IN (");
    for (std::size_t i = 0; i < experiments.size(); ++i)
      statement.add(i > 0 ? ", " : "").bind(experiment_number(ExperimentId{experiments[i]}));
    statement.add(") ").add(select.substr(group)).add(" ORDER BY t.key LIMIT ");
    statement.bind(kColumnsMax - static_cast<std::int64_t>(columns.size()));
    TAKT_ASSIGN(const auto rows, statement.run(reader));
    for (const auto& row : rows)
      columns.push_back({std::string(kind), row.text(0), row.integer(1)});
  }
  return columns;
}

}  // namespace takt::track

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <fstream>

#include "takt/base/testing/temp_dir.h"
#include "takt/data/dataset_service.h"
#include "takt/data/diff.h"
#include "takt/data/migrations.h"
#include "takt/data/profile.h"
#include "takt/data/resolver.h"
#include "takt/data/sql.h"
#include "takt/data/validate_step.h"
#include "takt/data/validation.h"
#include "takt/store/event_log.h"
#include "takt/store/lineage.h"
#include "takt/store/testing/database_pair.h"

namespace takt::data {
namespace {

/// All rows of a table, cells joined by '|', missing ones as '-'; or the error.
std::string scan(TableFormat format, std::string_view text, std::size_t piece = 3) {
  std::string out;
  const auto table =
      TableScan::make(format, [&](const std::vector<std::string>&, const Cells& cells) -> Status {
        for (std::size_t i = 0; i < cells.size(); ++i)
          out += (i ? "|" : "") + cells[i].value_or("-");
        out += ";";
        return {};
      });
  for (std::size_t at = 0; at < text.size(); at += piece)
    if (const Status fed = table->feed(text.substr(at, piece)); !fed) return fed.error().message;
  if (const Status ended = table->finish(); !ended) return ended.error().message;
  return out;
}

TEST(Csv, quotes_missing_cells_and_line_ends_are_read) {
  EXPECT_EQ(scan(TableFormat::kCsv, "a,b\r\n1,\"x, \"\"y\"\"\"\r\n,2\n\n3,4"),
            "1|x, \"y\";-|2;3|4;");
  EXPECT_EQ(scan(TableFormat::kCsv,
                 "\xef\xbb\xbf"
                 "a\n\"line\nbreak\"\n"),
            "line\nbreak;");
  EXPECT_EQ(scan(TableFormat::kCsv, ""), "");
}

TEST(Csv, broken_rows_are_named) {
  EXPECT_EQ(scan(TableFormat::kCsv, "a,b\n1,2\n1\n"), "row 2 has 1 fields, the header has 2");
  EXPECT_EQ(scan(TableFormat::kCsv, "a\n\"open\n"), "row 1 ends inside a quoted field");
  EXPECT_EQ(scan(TableFormat::kCsv, "a\n\"x\"y\n"), "row 1 has text after a closing quote");
}

TEST(JsonLines, keys_become_columns_and_nulls_are_missing) {
  EXPECT_EQ(scan(TableFormat::kJsonLines, "{\"a\":1}\n\n{\"b\":[2],\"a\":null}\n"), "1;-|[2];");
  EXPECT_EQ(scan(TableFormat::kJsonLines, "[1]\n"), "row 1 is no JSON object");
}

TEST(Profile, types_missing_and_class_balance_are_counted) {
  TableProfiler profiler;
  const auto table = profiler.begin("t.csv", TableFormat::kCsv);
  Status scanned = table->feed("i,n,t,e,label\n1,0.5,x,,a\n2,1e1,y,,b\n3,2,,,a\n");
  if (scanned) scanned = table->finish();
  profiler.end(scanned);
  EXPECT_EQ(profiler.rows(), 3);
  const Value profile = profiler.to_value();
  const Array& columns = profile["tables"].as_array()[0]["columns"].as_array();
  EXPECT_EQ(columns[0].text_or("type", ""), "integer");
  EXPECT_EQ(columns[0].number_or("mean", 0), 2.0);
  EXPECT_EQ(columns[1].text_or("type", ""), "number");
  EXPECT_EQ(columns[2].text_or("type", ""), "text");
  EXPECT_EQ(columns[2].int_or("missing", 0), 1);
  EXPECT_EQ(columns[3].text_or("type", ""), "empty");
  EXPECT_EQ(dump_json(profile["class_balance"]),
            R"({"classes":[{"count":2,"value":"a"},{"count":1,"value":"b"}],"column":"label"})");
}

TEST(Profile, a_broken_table_says_so_and_has_no_rows) {
  TableProfiler profiler;
  const auto table = profiler.begin("t.csv", TableFormat::kCsv);
  profiler.end(table->feed("a,b\n1,2\n1\n"));
  EXPECT_EQ(profiler.rows(), 0);
  EXPECT_EQ(profiler.to_value()["tables"].as_array()[0].text_or("problem", ""),
            "row 2 has 1 fields, the header has 2");
}

TEST(Profile, columns_that_come_late_were_missing_until_then) {
  TableProfiler profiler;
  const auto table = profiler.begin("t.jsonl", TableFormat::kJsonLines);
  Status scanned = table->feed("{\"a\":1}\n{\"a\":2}\n{\"a\":3,\"b\":\"x\"}\n");
  if (scanned) scanned = table->finish();
  profiler.end(scanned);
  const Value profile = profiler.to_value();
  const Array& columns = profile["tables"].as_array()[0]["columns"].as_array();
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_EQ(columns[1].text_or("name", ""), "b");
  EXPECT_EQ(columns[1].int_or("missing", 0), 2);
}

TEST(Profile, long_cells_are_told_apart_and_not_kept) {
  ColumnProfile column;
  const std::string text(1 << 20, 'x');
  column.add(text + "1");
  column.add(text + "2");
  column.add(text + "2");
  EXPECT_EQ(column.counts().size(), 2u);
  for (const auto& [key, count] : column.counts()) EXPECT_LT(key.size(), 300u);
  EXPECT_EQ(column.to_value("text").int_or("distinct", 0), 2);
}

TEST(Profile, the_widest_numbers_have_a_histogram) {
  ColumnProfile column;
  for (const char* cell : {"-1.7e308", "-1e308", "1e308", "1.7e308"}) column.add(cell);
  const Value profile = column.to_value("wide");
  ASSERT_EQ(profile["histogram"].as_array().size(), 10u) << dump_json(profile);
  EXPECT_EQ(profile["histogram"].as_array().front().as_int(), 1);
  EXPECT_EQ(profile["histogram"].as_array().back().as_int(), 1);
}

TEST(TableHead, what_follows_the_wanted_rows_cannot_be_wrong) {
  constexpr std::string_view kBrokenLater = "a,b\n1,2\n3,4\n5\n";
  TableHead head(TableFormat::kCsv, 2);
  ASSERT_TRUE(head.feed(kBrokenLater));
  ASSERT_TRUE(head.finish());
  ASSERT_EQ(head.rows().size(), 2u);
  EXPECT_EQ(head.rows()[1][1], "4");
  EXPECT_EQ(head.columns(), (std::vector<std::string>{"a", "b"}));
  TableHead whole(TableFormat::kCsv, 3);
  EXPECT_FALSE(whole.feed(kBrokenLater));
}

/// The messages of a validation of CSV text, "" when all rules pass.
std::string validate(std::string_view rules_yaml, std::string_view csv) {
  const auto rules = parse_rules(*parse_yaml(rules_yaml));
  if (!rules) return rules.error().text() + " @" + rules.error().field;
  std::int64_t rows = 0;
  const auto table = TableScan::make(
      TableFormat::kCsv, [&](const std::vector<std::string>& names, const Cells& cells) -> Status {
        ++rows;
        for (const Rule& rule : *rules) rule.check->row("t.csv", rows, names, cells);
        return {};
      });
  EXPECT_TRUE(table->feed(csv));
  EXPECT_TRUE(table->finish());
  return failed_messages(make_report(*rules, "dataset/d@1", rows, true, ""));
}

TEST(Validation, each_rule_kind_passes_and_fails_with_numbers) {
  constexpr std::string_view kCsv = "x,label\n1,0\n2,0\n3,0\n,1\n";
  EXPECT_EQ(
      validate("rules: [{rows: {min: 4, max: 4}}, {column: x, between: [1, 3]}, "
               "{column: x, missing: {max: 1}}, {class_balance: {column: label, min_share: 0.25}}]",
               kCsv),
      "");
  EXPECT_EQ(validate("rules: [{rows: {min: 5}}]", kCsv), "4 rows, wanted at least 5");
  EXPECT_EQ(validate("rules: [{column: x, between: [1, 2]}]", kCsv),
            "column x: 1 of 3 values lie outside 1..2, e.g. 3 in t.csv row 3");
  EXPECT_EQ(validate("rules: [{column: x, missing: {max: 0}}]", kCsv),
            "column x: 1 missing values, at most 0 allowed");
  EXPECT_EQ(validate("rules: [{class_balance: {column: label, min_share: 0.3}}]", kCsv),
            "column label: class 1 holds a share of 0.25, at least 0.3 wanted");
  EXPECT_EQ(validate("rules: [{column: x, between: [1.0e+300, 2.0e+300]}]", kCsv),
            "column x: 3 of 3 values lie outside 1e+300..2e+300, e.g. 1 in t.csv row 1");
  EXPECT_EQ(validate("rules: [{column: pixel_*, between: [0, 1]}]", kCsv),
            "column pixel_* is missing in t.csv");
}

TEST(Validation, wrong_rules_are_refused_by_field) {
  EXPECT_NE(validate("rules: []", "a\n1\n").find("validate has no rules"), std::string::npos);
  EXPECT_NE(validate("rules: [{colum: x, between: [0, 1]}]", "a\n1\n").find("with.rules[0]"),
            std::string::npos);
  EXPECT_NE(validate("rules: [{column: x}]", "a\n1\n").find("between or missing"),
            std::string::npos);
  EXPECT_NE(validate("rules: [{rows: {}}]", "a\n1\n").find("neither min nor max"),
            std::string::npos);
}

TEST(RowDiff, rows_are_compared_as_a_multiset) {
  const TableDiff diff = diff_rows("h\na\na\nb\n", "h\na\nc\nb\n");
  EXPECT_EQ(diff.added, 1);
  EXPECT_EQ(diff.removed, 1);
  EXPECT_EQ(diff.added_rows, std::vector<std::string>{"c"});
  EXPECT_EQ(diff.removed_rows, std::vector<std::string>{"a"});
  const TableDiff wide = diff_rows("", std::string(1 << 20, 'x') + "\n");
  ASSERT_EQ(wide.added_rows.size(), 1u);
  EXPECT_LT(wide.added_rows[0].size(), 2100u);
}

struct OpenPolicy : access::Policy {
  std::optional<access::Role> role_of(const UserId&, const ProjectId&) const override {
    return access::Role::kAdmin;
  }
  Status decide(const net::Caller&, access::Right, std::string_view) override { return {}; }
};

class DatasetTest : public ::testing::Test {
 protected:
  void SetUp() override {
    db_ = store::testing::open_sqlite({migrations()});
    ASSERT_NE(db_, nullptr);
    blobs_ = std::move(*store::BlobStore::open(dir_.path() / "blobs", *db_));
    datasets_ = std::make_unique<DatasetService>(*db_, *blobs_);
  }
  Digest tree(const std::string& text, const std::string& name = "t.csv") {
    const auto folder = dir_.path() / ("folder" + std::to_string(++folders_));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / name) << text;
    return *blobs_->add_folder(project_, folder);
  }
  DatasetVersion add(const std::string& text) {
    return datasets_->add_version(can_write_, "d", tree(text), {}, "")->version;
  }

  testing::TempDir dir_;
  int folders_ = 0;
  ProjectId project_{"default"};
  OpenPolicy policy_;
  access::CanRead can_read_ = policy_.as_server<access::Right::kRead>(project_, UserId{"lin"});
  access::CanWrite can_write_ = policy_.as_server<access::Right::kWrite>(project_, UserId{"lin"});
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<DatasetService> datasets_;
};

TEST_F(DatasetTest, the_same_bytes_again_are_the_same_version) {
  EXPECT_EQ(add("a\n1\n").id.number, 1);
  const auto again = datasets_->add_version(can_write_, "d", tree("a\n1\n"), {}, "");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_FALSE(again->created);
  EXPECT_EQ(again->version.id.number, 1);
  EXPECT_EQ(add("a\n2\n").id.number, 2);
  EXPECT_EQ(datasets_->get(can_read_, "d", 0)->id.number, 2);
  EXPECT_EQ(datasets_->list(can_read_)->front().versions, 2);
}

TEST_F(DatasetTest, unknown_names_and_versions_say_what_exists) {
  add("a\n1\n");
  const auto name = datasets_->get(can_read_, "dd", 0);
  EXPECT_EQ(name.error().message, "no dataset 'dd'");
  const auto number = datasets_->get(can_read_, "d", 9);
  EXPECT_EQ(number.error().message, "no dataset version d@9");
  EXPECT_EQ(number.error().hint, "versions that exist: 1");
}

TEST_F(DatasetTest, a_tree_with_files_that_were_not_uploaded_is_refused) {
  content::Manifest manifest;
  manifest.entries.push_back({"x.csv", 3, false, sha256("abc")});
  const Digest tree = *blobs_->add_bytes(project_, content::render_manifest(manifest));
  const auto added = datasets_->add_version(can_write_, "d", tree, {}, "");
  ASSERT_FALSE(added);
  EXPECT_NE(added.error().message.find("not uploaded"), std::string::npos);
  EXPECT_TRUE(datasets_->list(can_read_)->empty());
}

TEST_F(DatasetTest, a_used_version_is_not_removed_unless_forced_and_its_number_stays_taken) {
  const auto version = add("a\n1\n");
  ASSERT_TRUE(db_->write([&](store::Tx& tx) {
    return store::add_edge(tx, project_, *parse_ref("run/r"), "used", ref_of(version.id));
  }));
  const Status refused = datasets_->remove(can_write_, "d", 1, false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("run/r"), std::string::npos);
  ASSERT_TRUE(datasets_->remove(can_write_, "d", 1, true));
  EXPECT_NE(datasets_->get(can_read_, "d", 1).error().message.find("was removed"),
            std::string::npos);
  EXPECT_EQ(add("a\n1\n").id.number, 2);
}

TEST_F(DatasetTest, every_change_is_one_event) {
  add("a\n1\n");
  add("a\n1\n");
  ASSERT_TRUE(datasets_->remove(can_write_, "d", 1, false));
  std::vector<store::Event> events;
  ASSERT_TRUE(db_->read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(events, store::read_events(reader, 0, 10));
    return {};
  }));
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].verb, "dataset.version-added");
  EXPECT_EQ(events[0].subject.text(), "dataset/d@1");
  EXPECT_EQ(events[1].verb, "dataset.removed");
}

TEST_F(DatasetTest, validate_ends_with_a_report_that_the_version_keeps) {
  const auto version = add("x\n1\n2\n");
  ValidateStep step(*datasets_, policy_);
  actions::StepRequest request;
  request.project = project_;
  request.node = *parse_ref("node/p/1/validate");
  request.definition.with = *parse_yaml("rules: [{rows: {min: 3}}]");
  request.inputs["data"] = {actions::PortKind::kDataset, ref_of(version.id), version.tree, {}};
  ASSERT_TRUE(step.start(request));
  actions::StepProgress progress;
  const Deadline deadline = Deadline::after_ms(system_clock(), 10'000);
  do {
    progress = *step.poll(request);
    system_clock().sleep_ms(1);
  } while (progress.state == actions::StepState::kRunning && deadline.left_ms(system_clock()) > 0);
  EXPECT_EQ(progress.state, actions::StepState::kFailed);
  EXPECT_EQ(progress.reason, "dataset/d@1 does not pass: 2 rows, wanted at least 3");
  EXPECT_FALSE(datasets_->get(can_read_, "d", 1)->checks["passed"].as_bool());
}

TEST_F(DatasetTest, references_resolve_to_the_tree) {
  const auto version = add("a\n1\n");
  DatasetResolver resolver(*datasets_, policy_);
  EXPECT_EQ(resolver.resolve(project_, "d@1")->digest, version.tree);
  EXPECT_EQ(resolver.resolve(project_, "dataset/d")->ref.text(), "dataset/d@1");
  EXPECT_FALSE(resolver.resolve(project_, "d@prod"));
}

TEST(DatasetStatements, compile_on_both_databases) {
  for (const auto& db : store::testing::open_both({migrations()})) {
    ASSERT_NE(db, nullptr);
    SCOPED_TRACE(db->dialect());
    store::testing::check_statements(*db, sql::kAll);
  }
}

}  // namespace
}  // namespace takt::data

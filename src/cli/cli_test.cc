// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/cli.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/cli/capture.h"
#include "takt/cli/output.h"
#include "takt/cli/session.h"
#include "takt/cli/source_mark.h"
#include "takt/cli/upload.h"

namespace takt::cli {
namespace {

struct Output {
  int code = 0;
  std::string out, err;
};

Output run_captured(const std::vector<std::string>& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Output output;
  output.code = run(words);
  std::fflush(stdout);
  output.out = ::testing::internal::GetCapturedStdout();
  output.err = ::testing::internal::GetCapturedStderr();
  return output;
}

TEST(Cli, a_mistyped_command_names_the_nearest) {
  const Output output = run_captured({"pipline", "ls"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err,
            "error: there is no command 'pipline'\n  hint: did you mean 'takt pipeline'?\n");
}

TEST(Cli, a_mistyped_second_word_names_the_nearest) {
  const Output output = run_captured({"data", "sow", "d@1"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err,
            "error: there is no command 'data sow'\n  hint: did you mean 'takt data show'?\n");
}

TEST(Cli, a_missing_word_names_the_help_of_its_command) {
  const Output output = run_captured({"data", "add", "d"});
  EXPECT_EQ(output.code, 2);
  EXPECT_EQ(output.err, "error: paths is required\n  hint: see `takt data add --help`\n");
}

TEST(Cli, an_address_that_is_none_is_refused) {
  for (const char* url : {"ftp://x", "http://:80", "http://127.0.0.1@x"}) {
    const Output output = run_captured({"--url", url, "data", "ls"});
    EXPECT_EQ(output.code, 2) << url;
    EXPECT_NE(output.err.find("write it as http://HOST:PORT"), std::string::npos) << output.err;
  }
}

TEST(Cli, numbers_are_short_for_people) {
  EXPECT_EQ(short_number(Value(80.0)), "80");
  EXPECT_EQ(short_number(Value(0.9470324999999999)), "0.947032");
  EXPECT_EQ(short_number(Value(7)), "7");
  EXPECT_EQ(short_number(Value("x")), "x");
  EXPECT_EQ(short_number(Value()), "");
}

TEST(Cli, no_command_prints_the_help_and_fails) {
  const Output output = run_captured({});
  EXPECT_EQ(output.code, 2);
  EXPECT_NE(output.out.find("Exit codes: 0 done"), std::string::npos);
}

TEST(Cli, a_server_that_does_not_answer_is_named_with_exit_code_69) {
  const Output output = run_captured({"--url", "http://127.0.0.1:1", "data", "ls"});
  EXPECT_EQ(output.code, 69);
  EXPECT_NE(output.err.find("http://127.0.0.1:1"), std::string::npos);
}

TEST(Cli, every_command_has_help) {
  for (const char* command : {"data", "submit", "jobs", "models", "deploy", "services", "canary",
                              "pipeline", "why", "token"})
    EXPECT_EQ(run_captured({command, "--help"}).code, 0) << command;
}

TEST(Cli, completion_scripts_name_subcommands_and_flags) {
  const Output bash = run_captured({"completion", "bash"});
  EXPECT_EQ(bash.code, 0);
  EXPECT_NE(bash.out.find("data/add) words=\"--help --note\""), std::string::npos) << bash.out;
  EXPECT_NE(run_captured({"completion", "fish"}).out.find("__fish_seen_subcommand_from data"),
            std::string::npos);
}

TEST(Session, references_become_paths) {
  EXPECT_EQ(*version_path("digits@3"), "digits/versions/3");
  EXPECT_EQ(*version_path("digits"), "digits/versions/latest");
  EXPECT_EQ(*version_path("digits@production"), "digits/versions/production");
  EXPECT_FALSE(version_path("a b@1"));
  EXPECT_FALSE(version_path("@3"));
}

TEST(Collect, a_lone_folder_is_the_root_and_several_paths_keep_their_names) {
  const testing::TempDir dir;
  std::filesystem::create_directories(dir.path() / "d/sub");
  std::ofstream(dir.path() / "d/sub/a.txt") << "a";
  std::ofstream(dir.path() / "b.txt") << "b";
  const auto one = collect({(dir.path() / "d").string()});
  ASSERT_TRUE(one) << one.error().text();
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().path, "sub/a.txt");
  const auto two = collect({(dir.path() / "d").string(), (dir.path() / "b.txt").string()});
  ASSERT_TRUE(two) << two.error().text();
  EXPECT_EQ((*two)[0].path, "b.txt");
  EXPECT_EQ((*two)[1].path, "d/sub/a.txt");
  EXPECT_FALSE(collect({(dir.path() / "nothing").string()}));
}

TEST(Capture, python_commands_are_told_from_others) {
  EXPECT_TRUE(is_python("python"));
  EXPECT_TRUE(is_python("/venv/bin/python3.11"));
  EXPECT_FALSE(is_python("pythonic"));
  EXPECT_FALSE(is_python("sh"));
}

TEST(SourceMark, stands_under_the_character_that_the_server_names) {
  EXPECT_EQ(mark_under("metrics.a > 'x'", "at character 13: write a number"),
            "\n  metrics.a > 'x'\n              ^");
  EXPECT_EQ(mark_under("tags.\u00fc\u00fc = x", "at character 13"),
            "\n  tags.\u00fc\u00fc = x\n            ^");
  EXPECT_EQ(mark_under("a", "at character 2"), "\n  a\n   ^") << "behind the end";
  EXPECT_EQ(mark_under("a", "at character 99"), "\n  a\n   ^");
  EXPECT_EQ(mark_under("a > 1", "did you mean 'b'?"), "");
  EXPECT_EQ(mark_under("a > 1", "at character zero"), "");
  const std::string mark = mark_under(std::string(300, 'x'), "at character 200");
  EXPECT_LT(mark.size(), 200u);
  EXPECT_NE(mark.find("\u2026"), std::string::npos);
}

TEST(Table, numbers_stand_right_and_text_left) {
  Table table({"N", "NAME"});
  table.add({"7", "a"});
  table.add({"12", "größer"});
  ::testing::internal::CaptureStdout();
  table.print();
  std::fflush(stdout);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), " N  NAME\n 7  a\n12  größer\n");
}

}  // namespace
}  // namespace takt::cli

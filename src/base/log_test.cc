// SPDX-License-Identifier: Apache-2.0
#include "takt/base/log.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

std::string logged(LogFormat format, LogLevel threshold, LogLevel level, std::string_view message,
                   Object fields) {
  log_setup(threshold, format);
  ::testing::internal::CaptureStderr();
  log_write(level, message, std::move(fields));
  std::string line = ::testing::internal::GetCapturedStderr();
  log_setup(LogLevel::kInfo, LogFormat::kAuto);
  return line;
}

TEST(LogTest, JsonLines) {
  const std::string line = logged(LogFormat::kJson, LogLevel::kInfo, LogLevel::kWarn, "job placed",
                                  {{"job", 41}, {"node", "n\n1"}, {"time", "x"}});
  ASSERT_TRUE(line.ends_with("\n"));
  const Value value = parse_json(line).value();
  EXPECT_EQ(value["level"].as_string(), "warn");
  EXPECT_EQ(value["message"].as_string(), "job placed");
  EXPECT_EQ(value["job"].as_int(), 41);
  EXPECT_EQ(value["node"].as_string(), "n\n1");
  EXPECT_EQ(value["time_"].as_string(), "x") << "a field cannot hide the line's own time";
  EXPECT_EQ(value["time"].as_string().size(), 24u);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
}

TEST(LogTest, tokens_lose_their_secret_wherever_they_stand) {
  for (const LogFormat format : {LogFormat::kJson, LogFormat::kText}) {
    const std::string line =
        logged(format, LogLevel::kInfo, LogLevel::kInfo, "no route for takt_ab12_5ec2e7",
               {{"path", "/x/takt_ab12_5ec2e7/taktjob_7b22_5ec2e7"},
                {"error", "no project 'taktsession_cd34_5ec2e7'"},
                {"takt_data_dir", "/var/lib/takt_home_dir"}});
    EXPECT_EQ(line.find("5ec2e7"), std::string::npos) << line;
    EXPECT_NE(line.find("takt_ab12_…"), std::string::npos) << line;
    EXPECT_NE(line.find("taktsession_cd34_…"), std::string::npos) << line;
    EXPECT_NE(line.find("/var/lib/takt_home_dir"), std::string::npos) << line;
  }
}

TEST(LogTest, TextLinesCannotBeForged) {
  const std::string line =
      logged(LogFormat::kText, LogLevel::kInfo, LogLevel::kInfo, "job\nplaced",
             {{"job", 41}, {"name", "a b\n2026 error x=1"}, {"path", "/a/b-1"}, {"empty", ""}});
  EXPECT_EQ(line.substr(24),
            " info  job placed  empty=\"\"  job=41  name=\"a b\\n2026 error x=1\"  path=/a/b-1\n");
}

TEST(LogTest, LevelsFilter) {
  EXPECT_EQ(logged(LogFormat::kText, LogLevel::kWarn, LogLevel::kInfo, "x", {}), "");
  EXPECT_NE(logged(LogFormat::kText, LogLevel::kDebug, LogLevel::kDebug, "x", {}), "");
}

}  // namespace
}  // namespace takt

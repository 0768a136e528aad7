// SPDX-License-Identifier: Apache-2.0
#include "takt/app/settings.h"

#include <gtest/gtest.h>

#include <fstream>

#include "takt/base/testing/temp_dir.h"

namespace takt::app {
namespace {

TEST(Settings, flags_beat_the_environment_which_beats_the_file_which_beats_the_defaults) {
  const testing::TempDir dir;
  const std::string file = (dir.path() / "takt.yaml").string();
  std::ofstream(file) << "workers: 2\nlog_level: warn\ndrain: 5s\n";
  const auto settings = Settings::load({"--config", file, "--log-level=debug"},
                                       {{"TAKT_DRAIN", "7s"}, {"TAKT_LOG_LEVEL", "error"}});
  ASSERT_TRUE(settings) << settings.error().text();
  EXPECT_EQ(settings->text("log_level"), "debug");
  EXPECT_EQ(settings->integer("drain"), 7000);
  EXPECT_EQ(settings->integer("workers"), 2);
  EXPECT_EQ(settings->text("listen"), "127.0.0.1:8700");
}

TEST(Settings, wrong_names_and_values_are_named) {
  EXPECT_EQ(Settings::load({"--listn", "x"}, {}).error().text(),
            "unknown flag '--listn'; did you mean 'listen'?");
  EXPECT_EQ(Settings::load({"--workers", "many"}, {}).error().message,
            "--workers: 'many' is no whole number");
  EXPECT_EQ(Settings::load({"--workers"}, {}).error().message, "--workers needs a value");
  EXPECT_EQ(Settings::load({}, {{"TAKT_AUTH", "perhaps"}}).error().message,
            "TAKT_AUTH: 'perhaps' is neither on nor off");
  EXPECT_FALSE(Settings::load({"stray"}, {}));
  // A server without workers would answer nothing; jobs with user id 0 would be root.
  EXPECT_EQ(Settings::load({"--workers", "0"}, {}).error().message,
            "--workers: must be 1..1024, got 0");
  EXPECT_EQ(Settings::load({}, {{"TAKT_JOB_UID", "-1"}}).error().message,
            "TAKT_JOB_UID: must be 1000..2000000000, got -1");
  EXPECT_FALSE(Settings::load({"--gpus", "-2"}, {}));
}

TEST(Settings, variables_of_the_cli_and_of_jobs_are_not_its_business) {
  EXPECT_TRUE(Settings::load({}, {{"TAKT_TOKEN", "x"}, {"TAKT_URL", "y"}}));
}

TEST(Settings, the_help_names_every_flag) {
  for (const Setting& setting : settings_table())
    EXPECT_NE(settings_help().find(std::string(setting.doc)), std::string::npos) << setting.name;
}

}  // namespace
}  // namespace takt::app

// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/attempt.h"

#include <gtest/gtest.h>

#include "takt/base/value.h"

namespace takt::shim {
namespace {

constexpr std::string_view kSpec = R"({"format": 1, "job": 7, "attempt": 2, "token": "9f",
 "command": ["python", "train.py"], "folder": "/d/work",
 "environment": ["PATH=/usr/bin"], "timeout_ms": 600,
 "user": {"uid": 64007, "gid": 64007},
 "isolation": {"kind": "namespace", "hidden": ["/d"],
               "visible": [{"path": "/d/work", "read_only": false}]},
 "cgroups": {"enter": ["/c/7-2"], "kill": "/c/7-2", "memory": "", "shim": "/c/shims"}})";

TEST(AttemptSpec, reads_what_the_format_document_shows) {
  const auto spec = parse_attempt_spec(kSpec);
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->job, 7);
  EXPECT_EQ(spec->attempt, 2);
  EXPECT_EQ(spec->command, (std::vector<std::string>{"python", "train.py"}));
  EXPECT_EQ(spec->timeout_ms, 600);
  EXPECT_EQ(spec->grace_ms, 5000);
  EXPECT_TRUE(spec->change_user);
  EXPECT_EQ(spec->uid, 64007u);
  EXPECT_TRUE(spec->own_mounts);
  EXPECT_FALSE(spec->wrapped);
  EXPECT_EQ(spec->visible.at(0).path, "/d/work");
  EXPECT_FALSE(spec->visible.at(0).read_only);
  EXPECT_EQ(spec->cgroup_kill, "/c/7-2");
}

TEST(AttemptSpec, refuses_what_it_cannot_run) {
  EXPECT_EQ(parse_attempt_spec("{}").error().message, "spec.json: format must be 1, got 0");
  EXPECT_EQ(parse_attempt_spec(R"({"format": 1, "token": "a", "folder": "/w"})").error().message,
            "spec.json: command is empty");
  EXPECT_EQ(parse_attempt_spec(R"({"format": 1, "token": "a", "folder": "w", "command": ["x"]})")
                .error()
                .message,
            "spec.json: folder must be absolute, got 'w'");
  EXPECT_FALSE(parse_attempt_spec("nonsense"));
}

TEST(ExitRecord, is_one_json_object) {
  ExitRecord record;
  record.token = "9f";
  record.signal = 9;
  record.oom = true;
  const Value json = parse_json(render_exit_record(record)).value();
  EXPECT_EQ(json["code"].as_int(), -1);
  EXPECT_EQ(json["signal"].as_int(), 9);
  EXPECT_TRUE(json["oom"].as_bool());
  EXPECT_FALSE(json.has("launch_error"));
}

TEST(StopFile, says_the_grace_and_is_forgiving) {
  EXPECT_EQ(parse_stop_grace_ms(R"({"grace_ms": 200})"), 200);
  EXPECT_EQ(parse_stop_grace_ms(R"({"grace_ms": -1})"), 0);
  EXPECT_EQ(parse_stop_grace_ms("half a fi"), 5000);
}

}  // namespace
}  // namespace takt::shim

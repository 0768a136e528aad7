// SPDX-License-Identifier: Apache-2.0
#include "takt/base/clock.h"

#include <gtest/gtest.h>

#include "takt/base/testing/manual_clock.h"

namespace takt {
namespace {

TEST(ClockTest, FormatsTimes) {
  EXPECT_EQ(format_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(1'767'225'600'000), "2026-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(951'782'400'123), "2000-02-29T00:00:00.123Z");
  EXPECT_EQ(format_time(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(INT64_MAX), "9999-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(INT64_MIN), "0000-01-01T00:00:00.000Z");
}

TEST(ClockTest, ParsesWhatItFormats) {
  for (UnixMs time = -62'167'219'200'000; time < 253'402'300'799'999; time += 864'000'777'123) {
    EXPECT_EQ(parse_time(format_time(time)).value(), time);
  }
}

TEST(ClockTest, ParsesOffsetsAndFractions) {
  EXPECT_EQ(parse_time("1970-01-01T00:00:01Z").value(), 1000);
  EXPECT_EQ(parse_time("1970-01-01T02:00:00+02:00").value(), 0);
  EXPECT_EQ(parse_time("1969-12-31T19:30:00-04:30").value(), 0);
  EXPECT_EQ(parse_time("1970-01-01t00:00:00.5z").value(), 500);
  EXPECT_EQ(parse_time("1970-01-01T00:00:00.123456789Z").value(), 123);
}

TEST(ClockTest, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "yesterday", "2026-11-30", "2026-11-30T14:36:05", "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+2:00",
        "2026-01-01T00:00:00Zx", "26-01-01T00:00:00Z", "2026-01-01T00:00:00.1234567890Z"}) {
    const Result<UnixMs> time = parse_time(text);
    ASSERT_FALSE(time) << text;
    EXPECT_EQ(time.error().code, Code::kInvalid);
  }
  EXPECT_EQ(parse_time("now").error().text(),
            "not a time: \"now\"; write it as 2026-11-30T14:36:05Z");
}

TEST(ClockTest, SystemClockRuns) {
  const Clock& clock = system_clock();
  const Mono before = clock.mono();
  clock.sleep_ms(1);
  EXPECT_GE(clock.mono() - before, 1000);
  EXPECT_GT(clock.now_ms(), 1'700'000'000'000);
}

TEST(ClockTest, ManualClockMovesOnlyWhenTold) {
  testing::ManualClock clock;
  EXPECT_EQ(format_time(clock.now_ms()), "2026-01-01T00:00:00.000Z");
  const Deadline deadline = Deadline::after_ms(clock, 500);
  EXPECT_EQ(deadline.left_ms(clock), 500);
  clock.advance_ms(200);
  EXPECT_EQ(deadline.left_ms(clock), 300);
  clock.sleep_ms(400);
  EXPECT_EQ(deadline.left_ms(clock), -100);
}

}  // namespace
}  // namespace takt

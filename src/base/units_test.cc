// SPDX-License-Identifier: Apache-2.0
#include "takt/base/units.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(UnitsTest, Cpu) {
  EXPECT_EQ(parse_cpu("500m").value(), 500);
  EXPECT_EQ(parse_cpu("0.5").value(), 500);
  EXPECT_EQ(parse_cpu("2").value(), 2000);
  EXPECT_EQ(parse_cpu("2.0").value(), 2000);
  EXPECT_EQ(parse_cpu("0.001").value(), 1);
  EXPECT_EQ(parse_cpu("0").value(), 0);
  for (const char* text : {"", "m", "-1", "0.0001", "1.5m", "1 core", "1e3", ".5", "+1", "NaN",
                           "99999999999999999999", "1000001"}) {
    EXPECT_FALSE(parse_cpu(text)) << text;
  }
  EXPECT_EQ(parse_cpu("two").error().text(), "not an amount of CPU: \"two\"; write 500m, 0.5 or 2");
  EXPECT_EQ(format_cpu(500), "500m");
  EXPECT_EQ(format_cpu(2000), "2");
  EXPECT_EQ(format_cpu(0), "0");
}

TEST(UnitsTest, Bytes) {
  EXPECT_EQ(parse_bytes("4096").value(), 4096);
  EXPECT_EQ(parse_bytes("512MiB").value(), 512LL << 20);
  EXPECT_EQ(parse_bytes("1GiB").value(), 1LL << 30);
  EXPECT_EQ(parse_bytes("1.5 GiB").value(), 3LL << 29);
  EXPECT_EQ(parse_bytes("100MB").value(), 100'000'000);
  EXPECT_EQ(parse_bytes("2Gi").value(), 2LL << 30);
  EXPECT_EQ(parse_bytes("0").value(), 0);
  for (const char* text : {"", "MiB", "-1", "1.5", "1 XB", "10PiBs", "1e3", "99999999999PiB",
                           "9223372036854775808", "1mb"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536LL << 20), "1.5 GiB");
  EXPECT_EQ(format_bytes((1LL << 20) - 1), "1 MiB");
  EXPECT_EQ(format_bytes(INT64_MAX), "8192 PiB");
}

TEST(UnitsTest, Durations) {
  EXPECT_EQ(parse_duration_ms("90s").value(), 90'000);
  EXPECT_EQ(parse_duration_ms("10m").value(), 600'000);
  EXPECT_EQ(parse_duration_ms("2h").value(), 7'200'000);
  EXPECT_EQ(parse_duration_ms("1h30m").value(), 5'400'000);
  EXPECT_EQ(parse_duration_ms("250ms").value(), 250);
  EXPECT_EQ(parse_duration_ms("1.5s").value(), 1500);
  EXPECT_EQ(parse_duration_ms("7d").value(), 604'800'000);
  EXPECT_EQ(parse_duration_ms("1m1s1ms").value(), 61'001);
  EXPECT_EQ(parse_duration_ms("0s").value(), 0);
  for (const char* text :
       {"", "10", "m", "-1s", "1s1m", "1s1s", "1 s", "0.0001s", "1w", "999999999999999999d"}) {
    EXPECT_FALSE(parse_duration_ms(text)) << text;
  }
  EXPECT_EQ(parse_duration_ms("10").error().text(),
            "not a duration: \"10\"; write 90s, 10m, 1h30m or 250ms");
  EXPECT_EQ(format_duration_ms(250), "250 ms");
  EXPECT_EQ(format_duration_ms(1500), "1.5 s");
  EXPECT_EQ(format_duration_ms(31'000), "31 s");
  EXPECT_EQ(format_duration_ms(1'912'000), "31 min 52 s");
  EXPECT_EQ(format_duration_ms(7'200'000), "2 h");
  EXPECT_EQ(format_duration_ms(90'000'000), "1 d 1 h");
  EXPECT_EQ(format_duration_ms(-1500), "-1.5 s");
}

}  // namespace
}  // namespace takt

// SPDX-License-Identifier: Apache-2.0
#include "takt/net/compression.h"

#include <gtest/gtest.h>
#include <zlib.h>

namespace takt::net {
namespace {

TEST(CompressionTest, gzip_goes_both_ways_and_its_limit_holds) {
  std::string text(1'000'000, 'x');
  std::string packed = gzip_body(text);
  EXPECT_LT(packed.size(), 10'000u);
  EXPECT_TRUE(decode_body("GZIP", packed, 1'000'000).value() == text);
  EXPECT_EQ(decode_body("gzip", packed, 999'999).error().code, Code::kTooLarge);
  EXPECT_EQ(decode_body("gzip", packed.substr(0, 500), 1'000'000).error().code, Code::kInvalid);
  EXPECT_EQ(decode_body("gzip", packed + "x", 1'000'000).error().code, Code::kInvalid);
  EXPECT_EQ(decode_body("gzip", "nonsense", 100).error().code, Code::kInvalid);
  EXPECT_EQ(decode_body("br", "x", 100).error().code, Code::kInvalid);
  EXPECT_EQ(decode_body("", "plain", 100).value(), "plain");
  EXPECT_EQ(decode_body("gzip", gzip_body(""), 100).value(), "");
}

TEST(CompressionTest, deflate_is_taken_with_and_without_its_frame) {
  std::string text = "some text, some text, some text";
  std::string packed(200, '\0');
  uLongf size = packed.size();
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  EXPECT_EQ(decode_body("deflate", packed, 100).value(), text);
  EXPECT_EQ(decode_body("deflate", packed.substr(2, packed.size() - 6), 100).value(), text);
}

}  // namespace
}  // namespace takt::net

// SPDX-License-Identifier: Apache-2.0
#include "takt/net/compression.h"

#include <gtest/gtest.h>

namespace takt::net {
namespace {

TEST(Compression, goes_there_and_back) {
  const std::string text(300'000, 'a');
  for (const Encoding encoding : {Encoding::kGzip, Encoding::kDeflate}) {
    const auto packed = compress(text, encoding);
    ASSERT_TRUE(packed);
    EXPECT_LT(packed->size(), text.size() / 10);
    EXPECT_EQ(decompress(*packed, encoding, text.size()), text);
    EXPECT_EQ(decompress(*packed, encoding, text.size() - 1).error().code, Code::kTooLarge);
    EXPECT_EQ(decompress(packed->substr(0, packed->size() - 3), encoding, 1 << 20).error().code,
              Code::kInvalid);
    EXPECT_EQ(decompress(*packed + "x", encoding, 1 << 20).error().code, Code::kInvalid);
    EXPECT_EQ(decompress("nonsense", encoding, 1 << 20).error().code, Code::kInvalid);
    EXPECT_EQ(decompress("", encoding, 1 << 20).error().code, Code::kInvalid);
  }
}

TEST(Compression, deflate_is_taken_without_its_frame_too) {
  const std::string text = "some text, some text, some text";
  const std::string packed = compress(text, Encoding::kDeflate).value();
  const std::string unframed = packed.substr(2, packed.size() - 6);
  EXPECT_EQ(decompress(unframed, Encoding::kDeflate, text.size()), text);
  EXPECT_EQ(decompress(unframed, Encoding::kDeflate, text.size() - 1).error().code,
            Code::kTooLarge);
}

TEST(Compression, the_best_encoding_is_chosen_by_quality) {
  EXPECT_EQ(choose_encoding(""), Encoding::kIdentity);
  EXPECT_EQ(choose_encoding("gzip"), Encoding::kGzip);
  EXPECT_EQ(choose_encoding("br, GZIP;q=0.2, deflate;q=0.8"), Encoding::kDeflate);
  EXPECT_EQ(choose_encoding("gzip;q=0"), Encoding::kIdentity);
  EXPECT_EQ(choose_encoding("identity, gzip;q=0.5"), Encoding::kIdentity);
  EXPECT_EQ(parse_encoding("br").error().code, Code::kInvalid);
  EXPECT_EQ(parse_encoding(" gzip"), Encoding::kGzip);
}

}  // namespace
}  // namespace takt::net

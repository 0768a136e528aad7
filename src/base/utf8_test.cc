// SPDX-License-Identifier: Apache-2.0
#include "takt/base/utf8.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

TEST(Utf8Test, EveryCodePointRoundTrips) {
  for (char32_t point = 0; point <= 0x10ffff; point += point < 0x3000 ? 1 : 97) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    std::string text;
    append_utf8(text, point);
    ASSERT_EQ(utf8_char_size(text), text.size()) << static_cast<unsigned>(point);
  }
}

TEST(Utf8Test, FindsWhatIsWrong) {
  EXPECT_EQ(find_invalid_utf8("abc äöü 你好 😀"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("ab\xff"), 2u);
  EXPECT_EQ(find_invalid_utf8("\xc0\xaf"), 0u);          // overlong '/'
  EXPECT_EQ(find_invalid_utf8("\xe0\x80\xaf"), 0u);      // overlong
  EXPECT_EQ(find_invalid_utf8("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(find_invalid_utf8("\xf4\x90\x80\x80"), 0u);  // beyond U+10FFFF
  EXPECT_EQ(find_invalid_utf8("a\xe4\xbd"), 1u);         // cut
  EXPECT_EQ(find_invalid_utf8("\x80"), 0u);
}

TEST(Utf8Test, ShortensBetweenCharacters) {
  EXPECT_EQ(shorten("abc", 3), "abc");
  EXPECT_EQ(shorten("abcd", 3), "abc…");
  EXPECT_EQ(shorten("aä", 2), "a…");
}

}  // namespace
}  // namespace takt

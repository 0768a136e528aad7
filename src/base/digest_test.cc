// SPDX-License-Identifier: Apache-2.0
#include "takt/base/digest.h"

#include <gtest/gtest.h>

namespace takt {
namespace {

// FIPS 180-2 examples.
TEST(DigestTest, Sha256Vectors) {
  EXPECT_EQ(sha256("").value, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc").value,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq").value,
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')).value,
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(DigestTest, Sha256InPieces) {
  const std::string text(300'000, 'a');
  for (const std::size_t piece : {1u, 7u, 64u, 65'536u}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) hash.update(text.substr(at, piece));
    EXPECT_EQ(hash.finish(), sha256(text)) << piece;
  }
  Sha256 first;
  first.update("ab");
  Sha256 moved = std::move(first);
  moved.update("c");
  EXPECT_EQ(moved.finish(), sha256("abc"));
}

// RFC 4231, test cases 1, 2 and 6.
TEST(DigestTest, HmacVectors) {
  EXPECT_EQ(hmac_sha256_hex(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(hmac_sha256_hex(std::string(131, '\xaa'),
                            "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(DigestTest, Hex) {
  EXPECT_EQ(to_hex(std::string_view("\x00\xff\x1a", 3)), "00ff1a");
  EXPECT_EQ(from_hex("00FF1a").value(), std::string("\x00\xff\x1a", 3));
  EXPECT_FALSE(from_hex("0"));
  EXPECT_FALSE(from_hex("0g"));
}

// RFC 4648, section 10.
TEST(DigestTest, Base64Vectors) {
  const std::pair<const char*, const char*> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text).value(), bytes);
  }
  std::string every;
  for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
  EXPECT_EQ(base64_decode(base64_encode(every)).value(), every);
}

TEST(DigestTest, Base64Refuses) {
  for (const char* text :
       {"Zg", "Zg=", "Zg==Zg==", "Z===", "====", "Zh==", "Zm9=", "Z-==", "Zg =", "Zg==\n"}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

TEST(DigestTest, RandomAndComparison) {
  EXPECT_EQ(random_hex(16).size(), 32u);
  EXPECT_NE(random_hex(16), random_hex(16));
  EXPECT_TRUE(equal_constant_time("abc", "abc"));
  EXPECT_FALSE(equal_constant_time("abc", "abd"));
  EXPECT_FALSE(equal_constant_time("abc", "abcd"));
}

}  // namespace
}  // namespace takt

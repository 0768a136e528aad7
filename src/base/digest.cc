// SPDX-License-Identifier: Apache-2.0
#include "takt/base/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace takt {
namespace {

// Fetched once: an implicit fetch per hash costs more than hashing a small object.
const EVP_MD* sha256_method() {
  static const EVP_MD* method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  TAKT_CHECK(method != nullptr, "OpenSSL has no SHA256");
  return method;
}

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kBase64Digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

int base64_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

std::string_view as_text(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

struct Sha256::Impl {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) {
  TAKT_CHECK(EVP_DigestInit_ex(impl_->context, sha256_method(), nullptr) == 1,
             "cannot begin a SHA256");
}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) {
  TAKT_CHECK(EVP_DigestUpdate(impl_->context, bytes.data(), bytes.size()) == 1, "SHA256 failed");
}

void Sha256::update(std::span<const std::byte> bytes) {
  update(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Digest Sha256::finish() {
  unsigned char raw[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  TAKT_CHECK(EVP_DigestFinal_ex(impl_->context, raw, &size) == 1, "SHA256 failed");
  return Digest{to_hex(as_text(raw, size))};
}

Digest sha256(std::string_view bytes) {
  unsigned char raw[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  TAKT_CHECK(EVP_Digest(bytes.data(), bytes.size(), raw, &size, sha256_method(), nullptr) == 1,
             "SHA256 failed");
  return Digest{to_hex(as_text(raw, size))};
}

std::string hmac_sha256_hex(std::string_view key, std::string_view bytes) {
  unsigned char raw[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  const unsigned char* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), raw, &size);
  TAKT_CHECK(done != nullptr, "HMAC failed");
  return to_hex(as_text(raw, size));
}

std::string to_hex(std::string_view bytes) {
  std::string hex(bytes.size() * 2, '0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    hex[2 * i] = kHexDigits[byte >> 4];
    hex[2 * i + 1] = kHexDigits[byte & 15];
  }
  return hex;
}

Result<std::string> from_hex(std::string_view hex) {
  if (hex.size() % 2 != 0) return fail(Code::kInvalid, "hex text has an odd number of digits");
  std::string bytes(hex.size() / 2, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const int high = hex_value(hex[2 * i]);
    const int low = hex_value(hex[2 * i + 1]);
    if (high < 0 || low < 0) {
      return fail(Code::kInvalid, "not a hex digit at position " + std::to_string(2 * i + 1));
    }
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    unsigned group = static_cast<unsigned char>(bytes[i]) << 16;
    if (left > 1) group |= static_cast<unsigned char>(bytes[i + 1]) << 8;
    if (left > 2) group |= static_cast<unsigned char>(bytes[i + 2]);
    text += kBase64Digits[group >> 18];
    text += kBase64Digits[group >> 12 & 63];
    text += left > 1 ? kBase64Digits[group >> 6 & 63] : '=';
    text += left > 2 ? kBase64Digits[group & 63] : '=';
  }
  return text;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) {
    return fail(Code::kInvalid, "base64 text is not a multiple of four characters long");
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
    unsigned group = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      const int value = k < digits ? base64_value(text[i + k]) : 0;
      if (value < 0) {
        return fail(Code::kInvalid, "not a base64 digit at position " + std::to_string(i + k + 1));
      }
      group = group << 6 | static_cast<unsigned>(value);
    }
    const unsigned spare = digits == 4 ? 0 : digits == 3 ? group & 0xff : group & 0xffff;
    if (spare != 0) return fail(Code::kInvalid, "base64 text ends in unused bits");
    bytes += static_cast<char>(group >> 16);
    if (digits > 2) bytes += static_cast<char>(group >> 8 & 0xff);
    if (digits > 3) bytes += static_cast<char>(group & 0xff);
  }
  return bytes;
}

std::string random_hex(std::size_t bytes) {
  std::string raw(bytes, '\0');
  TAKT_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(raw.data()), static_cast<int>(bytes)) == 1,
             "no randomness");
  return to_hex(raw);
}

bool equal_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace takt

// SPDX-License-Identifier: Apache-2.0
// SHA-256 and random bytes (OpenSSL behind).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "takt/base/ids.h"

namespace takt {

/// Incremental SHA-256.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view bytes);
  void update(std::span<const std::byte> bytes);
  /// Ends the hash; the object may not be used after.
  Digest finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

Digest sha256(std::string_view bytes);
std::string hmac_sha256_hex(std::string_view key, std::string_view bytes);
std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view hex);
std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);
/// Cryptographically random, as lower-case hex of `bytes` bytes.
std::string random_hex(std::size_t bytes);
/// Equal in time independent of where they differ.
bool equal_constant_time(std::string_view a, std::string_view b);

}  // namespace takt

// SPDX-License-Identifier: Apache-2.0
// Randomness for choices (not secrets: those are in digest.h). Seedable, so tests can repeat.
#pragma once

#include <cstdint>

namespace takt {

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast, one word of state.
class Rng {
 public:
  explicit Rng(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  /// Uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }

 private:
  std::uint64_t state_;
};

}  // namespace takt

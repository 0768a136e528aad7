// SPDX-License-Identifier: Apache-2.0
// Limits that several rooms share. A room's own limits stand in the room.
#pragma once

#include <cstddef>
#include <cstdint>

namespace takt::limits {

inline constexpr std::size_t kJsonBodyBytesMax = 8 << 20;
inline constexpr std::size_t kHeaderBytesMax = 64 << 10;
inline constexpr int kPageSizeDefault = 100;
inline constexpr int kPageSizeMax = 1000;
inline constexpr std::size_t kPathBytesMax = 4096;
inline constexpr std::size_t kSpecBytesMax = 1 << 20;
inline constexpr std::int64_t kRequestDeadlineMs = 30'000;

}  // namespace takt::limits

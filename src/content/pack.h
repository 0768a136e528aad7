// SPDX-License-Identifier: Apache-2.0
// A pack: many small objects in one file, so that they cost one fsync and one upload.
// Format: docs/formats/pack.md.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/digest.h"

namespace takt::content {

inline constexpr std::int64_t kPackBytesMax = 64 << 20;
/// Objects up to this size go into packs; larger ones are stored alone.
inline constexpr std::int64_t kPackedObjectBytesMax = 1 << 20;

/// Builds a pack in memory, object by object (zstd where it helps).
class PackWriter {
 public:
  PackWriter();
  ~PackWriter();
  PackWriter(PackWriter&&) noexcept;
  PackWriter& operator=(PackWriter&&) noexcept;
  /// The digest is the caller's, of the raw bytes (kPackedObjectBytesMax at most, checked). An
  /// object that is in the pack already is not added again.
  void add(const Digest& digest, std::string_view bytes);
  /// Bytes so far, without the footer.
  std::int64_t size() const;
  bool empty() const;
  /// The finished pack with its footer; the writer is empty again.
  std::string finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Where an object lies in a pack. The `stored_bytes` at `offset` are what decode_record takes.
struct PackRecord {
  Digest digest;
  std::int64_t offset = 0;        // of the record's header in the pack
  std::int64_t stored_bytes = 0;  // of the whole record, header included
  std::int64_t raw_bytes = 0;
};

/// Reads a pack as it streams in, checking every object's digest: feed(bytes)… then finish().
class PackReader {
 public:
  explicit PackReader(std::function<void(const PackRecord&)> on_record);
  ~PackReader();
  /// kInvalid at the first wrong byte (header, length, digest), with the offset.
  Status feed(std::string_view bytes);
  /// kInvalid when the pack ends early or its footer disagrees.
  Status finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The raw bytes of one record read from a pack; checks the digest (kInternal "corrupted blob …").
Result<std::string> decode_record(std::string_view record_bytes, const Digest& expected);

}  // namespace takt::content

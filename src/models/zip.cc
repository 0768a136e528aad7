// SPDX-License-Identifier: Apache-2.0
#include "takt/models/zip.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace takt::models {
namespace {

constexpr std::int64_t kEndBytes = 22;
constexpr std::int64_t kZipCommentBytesMax = 65'535;
constexpr std::int64_t kDirectoryBytesMax = 64 << 20;
constexpr std::size_t kMembersMax = 200'000;
constexpr std::size_t kEntryBytes = 46;
constexpr std::int64_t kLocalBytes = 30;
constexpr std::uint64_t kIn64 = 0xffffffff;  // the value stands in the zip64 field

std::uint64_t little(std::string_view bytes, std::size_t at, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i)
    value |= static_cast<std::uint64_t>(
                 static_cast<unsigned char>(bytes[at + static_cast<std::size_t>(i)]))
             << (8 * i);
  return value;
}

/// Less than asked behind the end.
Result<std::string> bytes_at(const ReadAt& read, std::int64_t offset, std::int64_t count) {
  std::string bytes(static_cast<std::size_t>(count), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    TAKT_ASSIGN(const std::size_t got,
                read(offset + static_cast<std::int64_t>(done), std::span(bytes).subspan(done)));
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

struct Directory {
  std::uint64_t offset = 0, bytes = 0;
  bool is_known = false;
};

Result<Directory> find_directory(const ReadAt& read, std::int64_t size) {
  const std::int64_t tail_bytes = std::min(size, kEndBytes + kZipCommentBytesMax + 20);
  TAKT_ASSIGN(const std::string tail, bytes_at(read, size - tail_bytes, tail_bytes));
  const std::size_t at = tail.rfind("PK\x05\x06");
  Directory directory;
  if (at == std::string::npos || tail.size() - at < kEndBytes) return directory;
  directory.bytes = little(tail, at + 12, 4);
  directory.offset = little(tail, at + 16, 4);
  directory.is_known = true;
  constexpr std::size_t kLocatorBytes = 20;
  if (at < kLocatorBytes || tail.compare(at - kLocatorBytes, 4, "PK\x06\x07") != 0)
    return directory;
  const std::uint64_t end64 = little(tail, at - kLocatorBytes + 8, 8);
  directory.is_known = false;
  if (end64 > static_cast<std::uint64_t>(size)) return directory;
  TAKT_ASSIGN(const std::string end, bytes_at(read, static_cast<std::int64_t>(end64), 56));
  if (end.size() < 56 || !end.starts_with("PK\x06\x06")) return directory;
  directory.bytes = little(end, 40, 8);
  directory.offset = little(end, 48, 8);
  directory.is_known = true;
  return directory;
}

/// Sizes and offset that do not fit stand in the zip64 field, in this order.
void read_zip64(std::string_view extra, bool has_size, std::uint64_t& packed,
                std::uint64_t& offset) {
  while (extra.size() >= 4) {
    const std::size_t length = little(extra, 2, 2);
    if (extra.size() < 4 + length) return;
    if (little(extra, 0, 2) == 1) {
      std::string_view field = extra.substr(4, length);
      const auto take = [&](std::uint64_t& into) {
        if (field.size() < 8) return;
        into = little(field, 0, 8);
        field.remove_prefix(8);
      };
      std::uint64_t unpacked = 0;
      if (has_size) take(unpacked);
      if (packed == kIn64) take(packed);
      if (offset == kIn64) take(offset);
      return;
    }
    extra.remove_prefix(4 + length);
  }
}

}  // namespace

Result<ZipListing> list_zip(const ReadAt& read, std::int64_t size,
                            const std::function<bool(std::string_view)>& is_wanted) {
  ZipListing listing;
  const auto broken = [&](std::string why) {
    listing.trouble = std::move(why);
    return listing;
  };
  TAKT_ASSIGN(const Directory directory, find_directory(read, size));
  const auto whole = static_cast<std::uint64_t>(size);
  if (!directory.is_known || directory.offset > whole || directory.bytes > whole - directory.offset)
    return broken("the archive has no directory");
  if (directory.bytes > kDirectoryBytesMax) return broken("the archive's directory is too large");
  TAKT_ASSIGN(const std::string text, bytes_at(read, static_cast<std::int64_t>(directory.offset),
                                               static_cast<std::int64_t>(directory.bytes)));
  std::string_view rest = text;
  while (rest.starts_with("PK\x01\x02")) {
    if (rest.size() < kEntryBytes) return broken("the archive's directory breaks off");
    const std::size_t name_bytes = little(rest, 28, 2), extra_bytes = little(rest, 30, 2);
    const std::size_t entry_bytes = kEntryBytes + name_bytes + extra_bytes + little(rest, 32, 2);
    if (rest.size() < entry_bytes) return broken("the archive's directory breaks off");
    if (listing.members.size() >= kMembersMax) return broken("the archive has too many members");
    ZipMember member;
    member.name = rest.substr(kEntryBytes, name_bytes);
    const std::uint64_t method = little(rest, 10, 2);
    std::uint64_t packed = little(rest, 20, 4), offset = little(rest, 42, 4);
    read_zip64(rest.substr(kEntryBytes + name_bytes, extra_bytes), little(rest, 24, 4) == kIn64,
               packed, offset);
    const bool is_encrypted = (little(rest, 8, 2) & 1) != 0;
    member.is_stored = method == 0 && !is_encrypted;
    member.is_deflated = method == 8 && !is_encrypted;
    if (offset > whole || packed > whole) return broken("a member lies outside the archive");
    member.offset = static_cast<std::int64_t>(offset);
    member.packed_bytes = static_cast<std::int64_t>(packed);
    if (is_wanted(member.name)) listing.members.push_back(std::move(member));
    rest.remove_prefix(entry_bytes);
  }
  // The bytes begin behind the local header, whose extra field has a length of its own.
  for (ZipMember& member : listing.members) {
    TAKT_ASSIGN(const std::string local, bytes_at(read, member.offset, kLocalBytes));
    if (local.size() < kLocalBytes || !local.starts_with("PK\x03\x04"))
      return broken("a member lies outside the archive");
    member.offset += kLocalBytes + static_cast<std::int64_t>(little(local, 26, 2)) +
                     static_cast<std::int64_t>(little(local, 28, 2));
    if (member.packed_bytes > size - std::min(member.offset, size))
      return broken("a member lies outside the archive");
  }
  return listing;
}

}  // namespace takt::models

// SPDX-License-Identifier: Apache-2.0
#include "takt/models/code_scan.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "takt/models/zip.h"
#include "takt/net/compression.h"

namespace takt::models {
namespace {

constexpr std::size_t kFilesMax = 200;
constexpr std::size_t kGlobalsMax = 50;
constexpr std::int64_t kPackedBytesMax = 64 << 20;
constexpr std::size_t kUnpackedBytesMax = 256 << 20;
constexpr std::string_view kGzipMagic = "\x1f\x8b";

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> endings) {
  std::string lower(path);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return std::ranges::any_of(endings, [&](std::string_view end) { return lower.ends_with(end); });
}

/// Named as a pickle: what cannot be walked counts as code.
bool is_named_pickle(std::string_view path) {
  return ends_with_any(path, {".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth"});
}
/// Holds a pickle at times: looked into when it begins like one.
bool may_be_pickle(std::string_view path) { return ends_with_any(path, {".bin", ".ckpt", ".pk"}); }

ReadAt reader_of(std::string bytes) {
  return
      [bytes = std::move(bytes)](std::int64_t offset, std::span<char> into) -> Result<std::size_t> {
        const auto at = std::min(static_cast<std::size_t>(offset), bytes.size());
        const std::size_t count = std::min(into.size(), bytes.size() - at);
        std::memcpy(into.data(), bytes.data() + at, count);
        return count;
      };
}

Status add_pickle(std::string path, const ReadAt& read, std::int64_t size, CodeScan& scan) {
  TAKT_ASSIGN(const PickleScan found, scan_pickle(read, size));
  FileScan file;
  file.path = std::move(path);
  file.trouble = found.trouble;
  for (const std::string& global : found.globals) {
    if (is_harmless(global) || file.globals.size() >= kGlobalsMax) continue;
    std::string dotted = global;
    if (!global.starts_with('(')) std::ranges::replace(dotted, ' ', '.');
    file.globals.push_back(std::move(dotted));
  }
  if (scan.files.size() < kFilesMax || file.executes()) scan.files.push_back(std::move(file));
  return {};
}

Status add_unwalked(std::string path, std::string why, CodeScan& scan) {
  scan.files.push_back({std::move(path), {}, std::move(why)});
  return {};
}

/// gzip, zlib or raw deflate, unfolded in memory.
Status add_packed(const std::string& path, const ReadAt& read, std::int64_t offset,
                  std::int64_t size, CodeScan& scan) {
  if (size > kPackedBytesMax) return add_unwalked(path, "it is packed and too large", scan);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    TAKT_ASSIGN(const std::size_t got,
                read(offset + static_cast<std::int64_t>(done), std::span(bytes).subspan(done)));
    if (got == 0) return add_unwalked(path, "it breaks off", scan);
    done += got;
  }
  const auto encoding =
      bytes.starts_with(kGzipMagic) ? net::Encoding::kGzip : net::Encoding::kDeflate;
  auto unpacked = net::decompress(bytes, encoding, kUnpackedBytesMax);
  if (!unpacked) return add_unwalked(path, "it is packed in a way that is not known", scan);
  const auto length = static_cast<std::int64_t>(unpacked->size());
  return add_pickle(path, reader_of(std::move(*unpacked)), length, scan);
}

Status add_archive(std::string_view path, const ReadAt& read, std::int64_t size, CodeScan& scan) {
  TAKT_ASSIGN(const ZipListing listing, list_zip(read, size, is_named_pickle));
  if (!listing.trouble.empty()) return add_unwalked(std::string(path), listing.trouble, scan);
  for (const ZipMember& member : listing.members) {
    const std::string name = std::string(path) + "!" + member.name;
    if (member.is_deflated) {
      TAKT_RETURN_IF_ERROR(add_packed(name, read, member.offset, member.packed_bytes, scan));
      continue;
    }
    if (!member.is_stored) {
      TAKT_RETURN_IF_ERROR(add_unwalked(name, "it is packed in a way that is not known", scan));
      continue;
    }
    const ReadAt part = [&](std::int64_t offset, std::span<char> into) -> Result<std::size_t> {
      const std::int64_t left = std::max<std::int64_t>(member.packed_bytes - offset, 0);
      return read(member.offset + offset,
                  into.first(std::min(into.size(), static_cast<std::size_t>(left))));
    };
    TAKT_RETURN_IF_ERROR(add_pickle(name, part, member.packed_bytes, scan));
  }
  return {};
}

}  // namespace

std::string_view CodeScan::verdict() const {
  if (files.empty()) return "none";
  return std::ranges::any_of(files, &FileScan::executes) ? "executes" : "safe";
}

Value to_value(const CodeScan& scan) {
  Array files, globals;
  std::set<std::string> seen;
  for (const FileScan& file : scan.files) {
    Object object{{"path", file.path}, {"verdict", file.executes() ? "executes" : "safe"}};
    Array own;
    for (const std::string& global : file.globals) {
      own.push_back(global);
      if (seen.insert(global).second && globals.size() < kGlobalsMax) globals.push_back(global);
    }
    if (!own.empty()) object["globals"] = std::move(own);
    if (!file.trouble.empty()) object["trouble"] = file.trouble;
    files.push_back(std::move(object));
  }
  return Object{
      {"verdict", scan.verdict()}, {"globals", std::move(globals)}, {"files", std::move(files)}};
}

Status scan_file(std::string_view path, const ReadAt& read, std::int64_t size, CodeScan& scan) {
  const bool is_named = is_named_pickle(path);
  if (!is_named && !may_be_pickle(path)) return {};
  std::array<char, 4> head{};
  TAKT_ASSIGN(const std::size_t got, read(0, head));
  const std::string_view begin(head.data(), got);
  if (begin.starts_with("PK\x03\x04")) return add_archive(path, read, size, scan);
  const bool is_gzip = begin.starts_with(kGzipMagic);
  const bool is_zlib = begin.starts_with('\x78');
  if (is_named && (is_gzip || is_zlib)) return add_packed(std::string(path), read, 0, size, scan);
  const bool begins_as_pickle = begin.starts_with('\x80') && got > 1 && head[1] <= 5;
  if (!is_named && !begins_as_pickle) return {};
  return add_pickle(std::string(path), read, size, scan);
}

Result<CodeScan> scan_files(store::BlobStore& blobs, const ProjectId& project,
                            const content::Manifest& files) {
  CodeScan scan;
  for (const content::Entry& entry : files.entries) {
    const ReadAt read = [&](std::int64_t offset, std::span<char> into) -> Result<std::size_t> {
      const auto wanted =
          std::min<std::int64_t>(static_cast<std::int64_t>(into.size()), entry.size - offset);
      if (wanted <= 0) return 0;
      std::size_t done = 0;
      TAKT_RETURN_IF_ERROR(
          blobs.read(project, entry.digest, offset, wanted, [&](std::string_view bytes) -> Status {
            const std::size_t count = std::min(bytes.size(), into.size() - done);
            std::memcpy(into.data() + done, bytes.data(), count);
            done += count;
            return {};
          }));
      return done;
    };
    TAKT_RETURN_IF_ERROR(scan_file(entry.path, read, entry.size, scan));
  }
  return scan;
}

}  // namespace takt::models

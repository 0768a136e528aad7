// SPDX-License-Identifier: Apache-2.0
#include "takt/content/pack.h"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <unordered_set>

namespace takt::content {
namespace {

constexpr std::string_view kPackMagic{"TAKTPACK\1\0\0\0\0\0\0\0", 16};
constexpr std::string_view kRecordMagic = "TPR1";
constexpr std::string_view kFooterMagic = "TPF1";
constexpr std::string_view kEndMagic = "TPE1";

// magic, codec, raw bytes, stored bytes, digest, checksum
constexpr std::size_t kCodecAt = 4;
constexpr std::size_t kRawSizeAt = 8;
constexpr std::size_t kPayloadSizeAt = 12;
constexpr std::size_t kDigestAt = 16;
constexpr std::size_t kChecksumAt = 48;
constexpr std::size_t kRecordHeaderBytes = 56;

constexpr std::uint32_t kCodecRaw = 0;
constexpr std::uint32_t kCodecZstd = 1;
constexpr int kZstdLevel = 1;  // fast: the disk and the hash should stay the slower ones
constexpr std::size_t kCompressedBytesMin = 64;
// The record part of a pack; a writer stops at kPackBytesMax, after the object that crossed it.
constexpr std::int64_t kRecordsBytesMax =
    kPackBytesMax + kPackedObjectBytesMax + static_cast<std::int64_t>(kRecordHeaderBytes);

void put_number(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint64_t read_number(std::string_view bytes, std::size_t at, int size) {
  std::uint64_t number = 0;
  for (int i = 0; i < size; ++i) {
    number |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return number;
}

std::string raw_digest(const Digest& digest) {
  Result<std::string> raw = from_hex(digest.value);
  TAKT_CHECK(raw && raw->size() == 32, "not a digest");
  return *std::move(raw);
}

// Over the header up to the checksum, and the payload.
std::uint64_t record_checksum(std::string_view header, std::string_view payload) {
  const std::uint64_t seed = XXH3_64bits(header.data(), kChecksumAt);
  return XXH3_64bits_withSeed(payload.data(), payload.size(), seed);
}

struct RecordHeader {
  std::uint32_t codec = 0;
  std::size_t raw_bytes = 0;
  std::size_t payload_bytes = 0;
  Digest digest;
  std::uint64_t checksum = 0;
};

Result<RecordHeader> parse_record_header(std::string_view bytes) {
  RecordHeader header;
  if (bytes.size() < kRecordHeaderBytes || !bytes.starts_with(kRecordMagic)) {
    return fail(Code::kInvalid, "not a record");
  }
  header.codec = static_cast<std::uint32_t>(read_number(bytes, kCodecAt, 4));
  header.raw_bytes = read_number(bytes, kRawSizeAt, 4);
  header.payload_bytes = read_number(bytes, kPayloadSizeAt, 4);
  header.digest.value = to_hex(bytes.substr(kDigestAt, 32));
  header.checksum = read_number(bytes, kChecksumAt, 8);
  if (header.codec != kCodecRaw && header.codec != kCodecZstd) {
    return fail(Code::kInvalid, "unknown codec " + std::to_string(header.codec));
  }
  if (header.raw_bytes > static_cast<std::size_t>(kPackedObjectBytesMax)) {
    return fail(Code::kInvalid, "an object of " + std::to_string(header.raw_bytes) +
                                    " bytes, over the limit of " +
                                    std::to_string(kPackedObjectBytesMax));
  }
  const bool fits = header.codec == kCodecRaw ? header.payload_bytes == header.raw_bytes
                                              : header.payload_bytes < header.raw_bytes;
  if (!fits) return fail(Code::kInvalid, "the stored length does not fit the object's length");
  return header;
}

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// Exactly raw_bytes or false: no payload gets more memory than its header says.
bool decompress(std::string_view payload, std::size_t raw_bytes, std::string& raw) {
  thread_local const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  raw.resize(raw_bytes);
  const std::size_t got =
      ZSTD_decompressDCtx(context.get(), raw.data(), raw.size(), payload.data(), payload.size());
  return ZSTD_isError(got) == 0 && got == raw_bytes;
}

// The raw bytes of a record whose header was parsed; everything about it is checked.
Result<std::string> open_record(const RecordHeader& header, std::string_view record) {
  const std::string_view payload = record.substr(kRecordHeaderBytes);
  if (record_checksum(record, payload) != header.checksum) {
    return fail(Code::kInvalid, "the checksum does not match");
  }
  std::string raw;
  if (header.codec == kCodecRaw) {
    raw = payload;
  } else if (!decompress(payload, header.raw_bytes, raw)) {
    return fail(Code::kInvalid, "the compressed bytes are broken");
  }
  if (sha256(raw) != header.digest) {
    return fail(Code::kInvalid, "the bytes are not those of digest " + header.digest.value);
  }
  return raw;
}

// Records sorted by digest, so that equal sets of them have equal footers at equal offsets.
std::string render_footer(std::vector<PackRecord> records) {
  std::ranges::sort(records, {}, [](const PackRecord& r) -> const Digest& { return r.digest; });
  std::string footer(kFooterMagic);
  put_number(footer, records.size(), 4);
  for (const PackRecord& record : records) {
    footer += raw_digest(record.digest);
    put_number(footer, static_cast<std::uint64_t>(record.offset), 8);
    put_number(footer, static_cast<std::uint64_t>(record.stored_bytes), 4);
    put_number(footer, static_cast<std::uint64_t>(record.raw_bytes), 4);
  }
  put_number(footer, XXH3_64bits(footer.data(), footer.size()), 8);
  put_number(footer, footer.size() + 8, 4);
  footer += kEndMagic;
  return footer;
}

}  // namespace

struct PackWriter::Impl {
  std::string bytes{kPackMagic};
  std::vector<PackRecord> records;
  std::unordered_set<std::string> digests;
  std::unique_ptr<ZSTD_CCtx, FreeContext> context{ZSTD_createCCtx()};
  std::string compressed;

  // What is stored of `raw`: the compressed form where that saves an eighth.
  std::string_view choose_payload(std::string_view raw, std::uint32_t& codec) {
    codec = kCodecRaw;
    if (raw.size() < kCompressedBytesMin) return raw;
    compressed.resize(ZSTD_compressBound(raw.size()));
    const std::size_t size = ZSTD_compressCCtx(context.get(), compressed.data(), compressed.size(),
                                               raw.data(), raw.size(), kZstdLevel);
    if (ZSTD_isError(size) != 0 || size > raw.size() - raw.size() / 8) return raw;
    codec = kCodecZstd;
    return std::string_view(compressed).substr(0, size);
  }
};

PackWriter::PackWriter() : impl_(std::make_unique<Impl>()) {}
PackWriter::~PackWriter() = default;
PackWriter::PackWriter(PackWriter&&) noexcept = default;
PackWriter& PackWriter::operator=(PackWriter&&) noexcept = default;

void PackWriter::add(const Digest& digest, std::string_view bytes) {
  TAKT_CHECK(bytes.size() <= static_cast<std::size_t>(kPackedObjectBytesMax),
             "an object too large for a pack");
  if (!impl_->digests.insert(digest.value).second) return;
  std::uint32_t codec = kCodecRaw;
  const std::string_view payload = impl_->choose_payload(bytes, codec);
  const std::string digest_bytes = raw_digest(digest);

  const std::size_t offset = impl_->bytes.size();
  std::string& out = impl_->bytes;
  out += kRecordMagic;
  put_number(out, codec, 4);
  put_number(out, bytes.size(), 4);
  put_number(out, payload.size(), 4);
  out += digest_bytes;
  const std::string_view header = std::string_view(out).substr(offset);
  put_number(out, record_checksum(header, payload), 8);
  out += payload;
  impl_->records.push_back(PackRecord{digest, static_cast<std::int64_t>(offset),
                                      static_cast<std::int64_t>(out.size() - offset),
                                      static_cast<std::int64_t>(bytes.size())});
}

std::int64_t PackWriter::size() const { return static_cast<std::int64_t>(impl_->bytes.size()); }

bool PackWriter::empty() const { return impl_->records.empty(); }

std::string PackWriter::finish() {
  std::string pack = std::move(impl_->bytes);
  pack += render_footer(std::move(impl_->records));
  impl_->bytes = kPackMagic;
  impl_->records.clear();
  impl_->digests.clear();
  return pack;
}

struct PackReader::Impl {
  enum class State { kStart, kRecords, kFooter, kDone, kBroken };

  std::function<void(const PackRecord&)> on_record;
  State state = State::kStart;
  std::string buffer;       // bytes that came and are not consumed yet
  std::size_t used = 0;     // consumed ones at the front of it
  std::int64_t offset = 0;  // in the pack, of the next unconsumed byte
  std::vector<PackRecord> records;
  std::string footer;         // what must come, once the records ended
  std::size_t footer_at = 0;  // how much of it came

  std::string_view left() const { return std::string_view(buffer).substr(used); }

  void consume(std::size_t bytes) {
    used += bytes;
    offset += static_cast<std::int64_t>(bytes);
  }

  Status broken(std::string_view why) {
    state = State::kBroken;
    return fail(Code::kInvalid,
                "broken pack at byte " + std::to_string(offset) + ": " + std::string(why));
  }

  // Each step consumes what it can; false in `more` when it needs further bytes.
  Status step(bool& more) {
    switch (state) {
      case State::kStart:
        return read_start(more);
      case State::kRecords:
        return read_record(more);
      case State::kFooter:
        return read_footer(more);
      case State::kDone:
        more = false;
        return left().empty() ? Status{} : broken("bytes after the end");
      case State::kBroken:
        break;
    }
    return fail(Code::kInvalid, "broken pack");
  }

  Status read_start(bool& more) {
    const std::size_t size = std::min(left().size(), kPackMagic.size());
    if (left().substr(0, size) != kPackMagic.substr(0, size)) {
      return broken("not a pack of version 1");
    }
    more = size == kPackMagic.size();
    if (!more) return {};
    consume(size);
    state = State::kRecords;
    return {};
  }

  Status read_record(bool& more) {
    more = false;
    if (left().size() < kRecordMagic.size()) return {};
    if (left().starts_with(kFooterMagic)) return begin_footer(more);
    if (!left().starts_with(kRecordMagic)) return broken("not a record");
    if (left().size() < kRecordHeaderBytes) return {};
    Result<RecordHeader> header = parse_record_header(left());
    if (!header) return broken(header.error().message);
    const std::size_t size = kRecordHeaderBytes + header->payload_bytes;
    if (offset + static_cast<std::int64_t>(size) > kRecordsBytesMax) {
      state = State::kBroken;
      return fail(Code::kTooLarge,
                  "the pack is over the limit of " + std::to_string(kPackBytesMax) + " bytes");
    }
    if (left().size() < size) return {};
    Result<std::string> raw = open_record(*header, left().substr(0, size));
    if (!raw) return broken(raw.error().message);
    records.push_back(PackRecord{std::move(header->digest), offset, static_cast<std::int64_t>(size),
                                 static_cast<std::int64_t>(raw->size())});
    on_record(records.back());
    consume(size);
    more = true;
    return {};
  }

  Status begin_footer(bool& more) {
    std::unordered_set<std::string_view> digests;
    for (const PackRecord& record : records) {
      if (!digests.insert(record.digest.value).second) {
        return broken("object " + record.digest.value + " is there twice");
      }
    }
    footer = render_footer(records);
    state = State::kFooter;
    more = true;
    return {};
  }

  Status read_footer(bool& more) {
    const std::size_t size = std::min(left().size(), footer.size() - footer_at);
    if (left().substr(0, size) != std::string_view(footer).substr(footer_at, size)) {
      return broken("the footer does not match the records");
    }
    consume(size);
    footer_at += size;
    more = footer_at == footer.size();
    if (more) state = State::kDone;
    return {};
  }
};

PackReader::PackReader(std::function<void(const PackRecord&)> on_record)
    : impl_(std::make_unique<Impl>()) {
  impl_->on_record = std::move(on_record);
}
PackReader::~PackReader() = default;

Status PackReader::feed(std::string_view bytes) {
  impl_->buffer += bytes;
  bool more = true;
  while (more) TAKT_RETURN_IF_ERROR(impl_->step(more));
  impl_->buffer.erase(0, impl_->used);
  impl_->used = 0;
  return {};
}

Status PackReader::finish() {
  if (impl_->state == Impl::State::kDone) return {};
  if (impl_->state == Impl::State::kBroken) return fail(Code::kInvalid, "broken pack");
  return impl_->broken("it ends early");
}

Result<std::string> decode_record(std::string_view record_bytes, const Digest& expected) {
  const auto corrupted = [&](std::string_view why) {
    return fail(Code::kInternal, "corrupted blob " + expected.value + ": " + std::string(why));
  };
  Result<RecordHeader> header = parse_record_header(record_bytes);
  if (!header) return corrupted(header.error().message);
  if (record_bytes.size() != kRecordHeaderBytes + header->payload_bytes) {
    return corrupted("the record has another length");
  }
  if (header->digest != expected) return corrupted("the record is of " + header->digest.value);
  Result<std::string> raw = open_record(*header, record_bytes);
  if (!raw) return corrupted(raw.error().message);
  return raw;
}

}  // namespace takt::content

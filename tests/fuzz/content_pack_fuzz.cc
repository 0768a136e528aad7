// SPDX-License-Identifier: Apache-2.0
// A pack that is accepted consists of records that decode; the pieces it comes in do not matter.
#include <cstddef>
#include <cstdint>

#include "takt/content/pack.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = 1 + data[0];
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

  // The bytes as a pack, as they are.
  std::vector<takt::content::PackRecord> records;
  takt::content::PackReader reader(
      [&](const takt::content::PackRecord& record) { records.push_back(record); });
  takt::Status status;
  for (std::size_t at = 0; at < bytes.size() && status; at += piece) {
    status = reader.feed(bytes.substr(at, piece));
  }
  for (const takt::content::PackRecord& record : records) {
    const auto stored = bytes.substr(static_cast<std::size_t>(record.offset),
                                     static_cast<std::size_t>(record.stored_bytes));
    TAKT_CHECK(takt::content::decode_record(stored, record.digest).has_value(),
               "an accepted record does not decode");
  }
  (void)takt::content::decode_record(bytes, takt::sha256(""));

  // The bytes as an object: in, out, and broken in one place.
  if (bytes.size() > 4096) return 0;
  takt::content::PackWriter writer;
  writer.add(takt::sha256(bytes), bytes);
  std::string pack = writer.finish();
  takt::content::PackReader whole([](const takt::content::PackRecord&) {});
  TAKT_CHECK(whole.feed(pack).has_value() && whole.finish().has_value(), "a good pack is refused");
  const std::size_t at = bytes.size() * piece % pack.size();
  pack[at] = static_cast<char>(pack[at] ^ (1 + data[0] % 255));
  takt::content::PackReader broken([](const takt::content::PackRecord&) {});
  TAKT_CHECK(!broken.feed(pack).has_value() || !broken.finish().has_value(),
             "a broken pack is accepted");
  return 0;
}

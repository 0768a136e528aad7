// SPDX-License-Identifier: Apache-2.0
#include "takt/content/pack.h"

#include <gtest/gtest.h>

#include <map>

#include "takt/base/rng.h"

namespace takt::content {
namespace {

std::string random_bytes(Rng& rng, std::size_t size) {
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.next());
  return bytes;
}

struct ReadPack {
  Status status;
  std::vector<PackRecord> records;
};

ReadPack read_pack(std::string_view pack, std::size_t piece = SIZE_MAX) {
  ReadPack read;
  PackReader reader([&](const PackRecord& record) { read.records.push_back(record); });
  for (std::size_t at = 0; at < pack.size() && read.status;
       at += std::min(piece, pack.size() - at)) {
    read.status = reader.feed(pack.substr(at, piece));
  }
  if (read.status) read.status = reader.finish();
  return read;
}

std::map<std::string, std::string> sample_objects() {
  Rng rng(7);
  std::map<std::string, std::string> objects;
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string(5000, 'a'), random_bytes(rng, 3000),
        std::string("takt manifest 1\n"), random_bytes(rng, 63), std::string(64, 'b')}) {
    objects[sha256(bytes).value] = bytes;
  }
  return objects;
}

std::string pack_of(const std::map<std::string, std::string>& objects) {
  PackWriter writer;
  for (const auto& [digest, bytes] : objects) writer.add(Digest{digest}, bytes);
  return writer.finish();
}

TEST(PackTest, RoundTripsInPiecesOfAnySize) {
  const std::map<std::string, std::string> objects = sample_objects();
  const std::string pack = pack_of(objects);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, SIZE_MAX}) {
    const ReadPack read = read_pack(pack, piece);
    ASSERT_TRUE(read.status) << read.status.error().message;
    ASSERT_EQ(read.records.size(), objects.size());
    for (const PackRecord& record : read.records) {
      const std::string_view bytes = std::string_view(pack).substr(
          static_cast<std::size_t>(record.offset), static_cast<std::size_t>(record.stored_bytes));
      EXPECT_EQ(decode_record(bytes, record.digest).value(), objects.at(record.digest.value));
      EXPECT_EQ(record.raw_bytes,
                static_cast<std::int64_t>(objects.at(record.digest.value).size()));
    }
  }
}

TEST(PackTest, CompressesWhereItHelps) {
  PackWriter writer;
  writer.add(sha256(std::string(100'000, 'a')), std::string(100'000, 'a'));
  EXPECT_LT(writer.size(), 1000);
  Rng rng(1);
  const std::string noise = random_bytes(rng, 100'000);
  const std::int64_t before = writer.size();
  writer.add(sha256(noise), noise);
  EXPECT_EQ(writer.size() - before, 100'056);
}

TEST(PackTest, TheWriterIsEmptyAgain) {
  PackWriter writer;
  EXPECT_TRUE(writer.empty());
  writer.add(sha256("a"), "a");
  writer.add(sha256("a"), "a");
  EXPECT_FALSE(writer.empty());
  const std::string first = writer.finish();
  EXPECT_EQ(read_pack(first).records.size(), 1u) << "an object is in a pack once";
  EXPECT_TRUE(writer.empty());
  writer.add(sha256("a"), "a");
  EXPECT_EQ(writer.finish(), first);
  EXPECT_TRUE(read_pack(writer.finish()).status) << "a pack of nothing is a pack";
}

TEST(PackTest, LargestObjectFits) {
  Rng rng(3);
  const std::string bytes = random_bytes(rng, kPackedObjectBytesMax);
  PackWriter writer;
  writer.add(sha256(bytes), bytes);
  EXPECT_TRUE(read_pack(writer.finish(), 65'536).status);
}

TEST(PackDeathTest, LargerObjectsAreAProgrammersError) {
  const std::string bytes(kPackedObjectBytesMax + 1, 'a');
  PackWriter writer;
  EXPECT_DEATH(writer.add(sha256(bytes), bytes), "too large for a pack");
}

TEST(PackTest, EveryChangedByteIsRefused) {
  std::map<std::string, std::string> objects = sample_objects();
  std::erase_if(objects, [](const auto& object) { return object.second.size() == 3000; });
  const std::string pack = pack_of(objects);
  for (std::size_t at = 0; at < pack.size(); ++at) {
    for (const int flip : {1, 128, 255}) {
      std::string changed = pack;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const Status status = read_pack(changed).status;
      ASSERT_FALSE(status) << "byte " << at;
      EXPECT_TRUE(status.error().message.contains("broken pack")) << status.error().message;
    }
    ASSERT_FALSE(read_pack(pack.substr(0, at)).status) << "cut at " << at;
  }
  EXPECT_FALSE(read_pack(pack + "x").status);
  EXPECT_FALSE(read_pack(pack + pack).status);
}

TEST(PackTest, MessagesNameTheByte) {
  PackWriter writer;
  writer.add(sha256("a"), "a");
  std::string pack = writer.finish();
  EXPECT_EQ(read_pack("PK\3\4").status.error().message,
            "broken pack at byte 0: not a pack of version 1");
  pack[72] = 'b';
  EXPECT_EQ(read_pack(pack).status.error().message,
            "broken pack at byte 16: the checksum does not match");
  EXPECT_EQ(read_pack(pack.substr(0, 40)).status.error().message,
            "broken pack at byte 16: it ends early");
}

TEST(PackTest, AWrongDigestIsRefusedAlthoughTheChecksumIsRight) {
  PackWriter writer;
  writer.add(sha256("other"), "bytes");
  const ReadPack read = read_pack(writer.finish());
  EXPECT_EQ(read.status.error().message,
            "broken pack at byte 16: the bytes are not those of digest " + sha256("other").value);
  EXPECT_TRUE(read.records.empty());
}

TEST(PackTest, AnObjectTwiceIsRefused) {
  PackWriter writer;
  writer.add(sha256("a"), "a");
  const std::string pack = writer.finish();
  const std::string record = pack.substr(16, 57);
  EXPECT_TRUE(read_pack(pack.substr(0, 16) + record + record + pack.substr(73))
                  .status.error()
                  .message.ends_with("is there twice"));
}

TEST(PackTest, LengthsBeyondTheLimitAreRefusedBeforeTheyAreBelieved) {
  PackWriter writer;
  writer.add(sha256("a"), "a");
  std::string pack = writer.finish();
  pack[24 + 3] = '\x7f';  // 2 GiB of raw bytes
  EXPECT_EQ(read_pack(pack.substr(0, 72)).status.error().message,
            "broken pack at byte 16: an object of 2130706433 bytes, over the limit of 1048576");
}

TEST(PackTest, TooManyBytesAreRefused) {
  Rng rng(5);
  PackWriter writer;
  std::string bytes = random_bytes(rng, kPackedObjectBytesMax);
  for (int i = 0; i < 66; ++i) {
    bytes[0] = static_cast<char>(i);
    bytes[1] = static_cast<char>(i);
    writer.add(sha256(bytes), bytes);
  }
  const Status status = read_pack(writer.finish(), 1 << 20).status;
  EXPECT_EQ(status.error().code, Code::kTooLarge);
}

TEST(PackTest, BrokenReadersStayBroken) {
  PackReader reader([](const PackRecord&) {});
  EXPECT_FALSE(reader.feed("nonsense"));
  EXPECT_FALSE(reader.feed(pack_of(sample_objects())));
  EXPECT_FALSE(reader.finish());
}

TEST(PackTest, RecordsAreCheckedWhenTheyAreRead) {
  const std::string pack = pack_of(sample_objects());
  const PackRecord record = read_pack(pack).records.front();
  const std::string bytes = pack.substr(static_cast<std::size_t>(record.offset),
                                        static_cast<std::size_t>(record.stored_bytes));
  ASSERT_TRUE(decode_record(bytes, record.digest));
  const Error other = decode_record(bytes, sha256("other")).error();
  EXPECT_EQ(other.code, Code::kInternal);
  EXPECT_EQ(other.message, "corrupted blob " + sha256("other").value + ": the record is of " +
                               record.digest.value);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_EQ(decode_record(changed, record.digest).error().code, Code::kInternal) << at;
    ASSERT_FALSE(decode_record(bytes.substr(0, at), record.digest)) << at;
  }
  EXPECT_FALSE(decode_record(bytes + "x", record.digest));
}

}  // namespace
}  // namespace takt::content

// SPDX-License-Identifier: Apache-2.0
#include "takt/store/blobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "takt/base/testing/temp_dir.h"
#include "takt/content/pack.h"
#include "takt/store/pull.h"
#include "takt/store/testing/database_pair.h"

namespace takt::store {
namespace {

namespace fs = std::filesystem;

const ProjectId kProject{"default"};
const ProjectId kOther{"other"};

ReadBytes bytes_in_pieces(std::string text, std::size_t piece = 1000) {
  return [text = std::move(text), piece,
          at = std::size_t{0}](std::span<char> out) mutable -> Result<std::size_t> {
    const std::size_t size = std::min({out.size(), piece, text.size() - at});
    std::memcpy(out.data(), text.data() + at, size);
    at += size;
    return size;
  };
}

std::string pack_of(const std::vector<std::string>& objects) {
  content::PackWriter writer;
  for (const std::string& object : objects) writer.add(sha256(object), object);
  return writer.finish();
}

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

/// A store on each database.
struct Stores {
  takt::testing::TempDir folder;
  std::unique_ptr<Database> db;
  std::unique_ptr<BlobStore> blobs;

  explicit Stores(std::unique_ptr<Database> database) : db(std::move(database)) { reopen(); }
  void reopen() {
    auto opened = BlobStore::open(folder.path() / "blobs", *db);
    TAKT_CHECK(opened.has_value(), opened ? "" : opened.error().text());
    blobs = std::move(*opened);
  }
};

template <class Fn>
void on_both(Fn fn) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    Stores stores(std::move(db));
    fn(stores);
  }
}

TEST(Blobs, a_packs_objects_are_read_back_whole_and_in_part) {
  on_both([](Stores& s) {
    std::vector<std::string> objects{"", "one", std::string(100'000, 'x')};
    for (int i = 0; i < 200; ++i) objects.push_back("object " + std::to_string(i));
    const std::string pack = pack_of(objects);
    const auto added = s.blobs->add_pack(kProject, bytes_in_pieces(pack));
    ASSERT_TRUE(added) << added.error().text();
    EXPECT_EQ(*added, 203);
    for (const std::string& object : objects) {
      const auto bytes = s.blobs->read_bytes(kProject, sha256(object));
      ASSERT_TRUE(bytes) << bytes.error().text();
      EXPECT_EQ(*bytes, object);
    }
    std::string part;
    ASSERT_TRUE(s.blobs->read(kProject, sha256("one"), 1, 1, [&](std::string_view b) -> Status {
      part += b;
      return {};
    }));
    EXPECT_EQ(part, "n");
    EXPECT_EQ(s.blobs->add_pack(kProject, bytes_in_pieces(pack)).value_or(-1), 0) << "again";
    EXPECT_EQ(files_below(s.folder.path()).size(), 1u);
    EXPECT_GT(s.blobs->stored_bytes().value_or(0), 0);
  });
}

TEST(Blobs, a_pack_of_known_objects_takes_no_space) {
  on_both([](Stores& s) {
    ASSERT_TRUE(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of({"a", "b", "c"}))));
    EXPECT_EQ(s.blobs->add_pack(kOther, bytes_in_pieces(pack_of({"a", "b"}))).value_or(-1), 2);
    EXPECT_EQ(files_below(s.folder.path()).size(), 1u);
    EXPECT_EQ(s.blobs->read_bytes(kOther, sha256("b")).value_or("?"), "b");
  });
}

TEST(Blobs, a_damaged_pack_is_refused_and_leaves_nothing) {
  on_both([](Stores& s) {
    std::string pack = pack_of({"one", "two"});
    pack[pack.size() / 2] ^= 1;
    const auto added = s.blobs->add_pack(kProject, bytes_in_pieces(pack));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, Code::kInvalid);
    EXPECT_TRUE(files_below(s.folder.path()).empty());
    EXPECT_EQ(s.blobs->missing(kProject, {sha256("one")})->size(), 1u);
  });
}

TEST(Blobs, a_large_object_is_stored_alone_and_streams) {
  on_both([](Stores& s) {
    std::string large(3'000'000, 'x');
    for (std::size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(i);
    const Digest digest = sha256(large);
    ASSERT_EQ(s.blobs->add(kProject, digest, bytes_in_pieces(large, 100'000)).value_or(Digest{}),
              digest);
    EXPECT_EQ(s.blobs->size(kProject, digest).value_or(-1), 3'000'000);
    std::size_t largest = 0;
    std::string part;
    ASSERT_TRUE(s.blobs->read(kProject, digest, 1'000'000, 1'000'000,
                              [&](std::string_view bytes) -> Status {
                                largest = std::max(largest, bytes.size());
                                part += bytes;
                                return {};
                              }));
    EXPECT_EQ(part, large.substr(1'000'000, 1'000'000));
    EXPECT_LE(largest, 1u << 20);
    EXPECT_EQ(s.blobs->read_bytes(kProject, digest).value_or(""), large);
    const auto limited = s.blobs->read_bytes(kProject, digest, 1000);
    ASSERT_FALSE(limited);
    EXPECT_EQ(limited.error().code, Code::kTooLarge);
  });
}

TEST(Blobs, bytes_under_a_wrong_digest_are_refused) {
  on_both([](Stores& s) {
    const auto added = s.blobs->add(kProject, sha256("a"), bytes_in_pieces("b"));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, Code::kInvalid);
    EXPECT_TRUE(files_below(s.folder.path()).empty());
    EXPECT_FALSE(s.blobs->add(kProject, {"../../etc/passwd"}, bytes_in_pieces("b")));
    EXPECT_FALSE(s.blobs->read_bytes(kProject, {"../../etc/passwd"}));
  });
}

TEST(Blobs, a_project_sees_only_what_it_could_send_itself) {
  on_both([](Stores& s) {
    ASSERT_TRUE(s.blobs->add_bytes(kProject, "secret"));
    const Digest digest = sha256("secret");
    EXPECT_EQ(s.blobs->missing(kOther, {digest})->size(), 1u);
    const auto read = s.blobs->read_bytes(kOther, digest);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Code::kNotFound);
    EXPECT_FALSE(s.blobs->add(kOther, digest, bytes_in_pieces("guess")));
    EXPECT_FALSE(s.blobs->read_bytes(kOther, digest));
    ASSERT_TRUE(s.blobs->add(kOther, digest, bytes_in_pieces("secret")));
    EXPECT_EQ(s.blobs->read_bytes(kOther, digest).value_or(""), "secret");
    EXPECT_EQ(files_below(s.folder.path()).size(), 1u);
  });
}

TEST(Blobs, missing_names_each_digest_once_and_in_order) {
  on_both([](Stores& s) {
    std::vector<Digest> asked;
    std::vector<std::string> objects;
    for (int i = 0; i < 300; ++i) asked.push_back(sha256(std::to_string(i)));
    for (int i = 0; i < 300; i += 2) objects.push_back(std::to_string(i));
    ASSERT_TRUE(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of(objects))));
    asked.push_back(asked[1]);
    const auto missing = s.blobs->missing(kProject, asked);
    ASSERT_TRUE(missing);
    ASSERT_EQ(missing->size(), 150u);
    EXPECT_EQ(missing->front(), asked[1]);
    EXPECT_EQ(missing->back(), asked[299]);
    EXPECT_TRUE(s.blobs->missing(kProject, {})->empty());
  });
}

TEST(Blobs, corrupted_bytes_are_noticed_and_named) {
  on_both([](Stores& s) {
    const std::string large(2'000'000, 'y');
    ASSERT_TRUE(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of({std::string(500, 'z')}))));
    ASSERT_TRUE(s.blobs->add(kProject, sha256(large), bytes_in_pieces(large, 100'000)));
    for (const fs::path& file : files_below(s.folder.path())) {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(75);  // in the payload of the first record
      stream.put('!');
    }
    for (const Digest& digest : {sha256(std::string(500, 'z')), sha256(large)}) {
      const auto bytes = s.blobs->read_bytes(kProject, digest);
      ASSERT_FALSE(bytes);
      EXPECT_EQ(bytes.error().code, Code::kInternal);
      EXPECT_NE(bytes.error().message.find(digest.value), std::string::npos);
      EXPECT_NE(bytes.error().message.find(s.folder.path().string()), std::string::npos);
    }
  });
}

/// All that a pull gives in pieces; its error if it ends in one.
Result<std::string> pulled(const ReadBytes& pull) {
  std::string all, piece(300'000, '\0');
  while (true) {
    TAKT_ASSIGN(const std::size_t got, pull(std::span<char>(piece.data(), piece.size())));
    if (got == 0) return all;
    all.append(piece, 0, got);
  }
}

TEST(Blobs, a_pulled_download_is_whole_or_ends_in_an_error) {
  on_both([](Stores& s) {
    const std::string large(2'000'000, 'y');
    const Digest digest = sha256(large);
    ASSERT_TRUE(s.blobs->add(kProject, digest, bytes_in_pieces(large, 100'000)));
    EXPECT_EQ(pulled(pull_blob(*s.blobs, kProject, digest, 2'000'000)).value_or(""), large);
    for (const fs::path& file : files_below(s.folder.path())) {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekp(75);
      stream.put('!');
    }
    const auto broken = pulled(pull_blob(*s.blobs, kProject, digest, 2'000'000));
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find(digest.value), std::string::npos);
  });
}

TEST(Blobs, a_folder_becomes_a_tree_and_comes_back) {
  on_both([](Stores& s) {
    const fs::path source = s.folder.path() / "source";
    fs::create_directories(source / "sub");
    ASSERT_TRUE(write_file_durably(source / "sub/small.txt", "small"));
    ASSERT_TRUE(write_file_durably(source / "same.txt", "small"));
    ASSERT_TRUE(write_file_durably(source / "run.sh", "#!/bin/sh\n", 0755));
    ASSERT_TRUE(write_file_durably(source / "large.bin", std::string(1'500'000, 'L')));
    const auto tree = s.blobs->add_folder(kProject, source);
    ASSERT_TRUE(tree) << tree.error().text();
    EXPECT_EQ(s.blobs->add_folder(kProject, source).value_or(Digest{}), *tree);
    const auto manifest = s.blobs->read_tree(kProject, *tree);
    ASSERT_TRUE(manifest);
    EXPECT_EQ(manifest->entries.size(), 4u);
    const fs::path target = s.folder.path() / "target";
    const Status status = s.blobs->checkout(kProject, *tree, target, true);
    ASSERT_TRUE(status) << status.error().text();
    EXPECT_EQ(read_file(target / "sub/small.txt").value_or(""), "small");
    EXPECT_EQ(read_file(target / "large.bin")->size(), 1'500'000u);
    EXPECT_EQ(fs::status(target / "run.sh").permissions(), fs::perms{0555});
    EXPECT_FALSE(s.blobs->checkout(kOther, *tree, s.folder.path() / "x", true));
  });
}

TEST(Blobs, a_tree_of_missing_blobs_is_refused_with_a_name) {
  on_both([](Stores& s) {
    const auto manifest = content::make_manifest({{.path = "a", .size = 1, .digest = sha256("a")}});
    const auto tree = s.blobs->add_tree(kProject, *manifest);
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, Code::kNotFound);
    EXPECT_NE(tree.error().message.find(sha256("a").value), std::string::npos);
  });
}

TEST(Blobs, opening_removes_what_a_crash_left_and_nothing_else) {
  on_both([](Stores& s) {
    ASSERT_TRUE(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of({"a", "b"}))));
    ASSERT_TRUE(s.blobs->add_bytes(kProject, "alone"));
    const fs::path root = s.folder.path() / "blobs";
    const auto kept = files_below(root);
    ASSERT_EQ(kept.size(), 2u);
    // Crashed after the rows were committed: the marker alone is too much.
    for (const fs::path& file : kept) {
      const bool is_pack = file.extension() == ".pack";
      const std::string digest = is_pack ? file.stem().string() : sha256("alone").value;
      fs::create_hard_link(file, root / "tmp" / ((is_pack ? "pack-" : "loose-") + digest + ".00"));
    }
    // Crashed before: the published file as well.
    const Digest lost = sha256("lost");
    for (const auto& [mark, path] :
         {std::pair{"pack-", root / "packs" / (lost.value + ".pack")},
          std::pair{"loose-", root / "loose" / lost.value.substr(0, 2) / lost.value.substr(2)}}) {
      fs::create_directories(path.parent_path());
      std::ofstream(path) << "lost";
      fs::create_hard_link(path, root / "tmp" / (mark + lost.value + ".00"));
    }
    std::ofstream(root / "tmp" / "new-123") << "half";
    s.reopen();
    auto left = files_below(root);
    std::ranges::sort(left);
    auto expected = kept;
    std::ranges::sort(expected);
    EXPECT_EQ(left, expected);
    EXPECT_EQ(s.blobs->read_bytes(kProject, sha256("a")).value_or(""), "a");
    EXPECT_EQ(s.blobs->read_bytes(kProject, sha256("alone")).value_or(""), "alone");
  });
}

TEST(Blobs, rows_that_cannot_be_written_leave_an_upload_for_the_next_open_to_remove) {
  auto db = testing::open_sqlite();
  Stores s(std::move(db));
  ASSERT_TRUE(s.db->write([](Tx& tx) -> Status {
    return tx.exec("ALTER TABLE blobs RENAME TO hidden").transform([](std::int64_t) {});
  }));
  EXPECT_FALSE(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of({"a"}))));
  ASSERT_TRUE(s.db->write([](Tx& tx) -> Status {
    return tx.exec("ALTER TABLE hidden RENAME TO blobs").transform([](std::int64_t) {});
  }));
  s.reopen();
  EXPECT_TRUE(files_below(s.folder.path() / "blobs").empty());
  EXPECT_EQ(s.blobs->add_pack(kProject, bytes_in_pieces(pack_of({"a"}))).value_or(-1), 1);
}

}  // namespace
}  // namespace takt::store

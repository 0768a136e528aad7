// SPDX-License-Identifier: Apache-2.0
#include "takt/content/manifest.h"

#include <gtest/gtest.h>

namespace takt::content {
namespace {

Entry entry(std::string path, std::int64_t size = 1, bool executable = false) {
  return Entry{path, size, executable, sha256(path)};
}

Manifest sample() {
  return make_manifest({entry("run.sh", 120, true), entry("data/b.txt", 0),
                        entry("data/a b.txt", 7), entry("data.txt"), entry("ä/你好")})
      .value();
}

TEST(ManifestTest, SortsByBytesAndRoundTrips) {
  const Manifest manifest = sample();
  std::vector<std::string> paths;
  for (const Entry& each : manifest.entries) paths.push_back(each.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"data.txt", "data/a b.txt", "data/b.txt", "run.sh",
                                             "ä/你好"}));
  EXPECT_EQ(manifest.total_bytes(), 129);
  const std::string text = render_manifest(manifest);
  EXPECT_EQ(parse_manifest(text)->entries, manifest.entries);
  EXPECT_EQ(manifest_digest(manifest), sha256(text));
  EXPECT_EQ(manifest.find("run.sh")->size, 120);
  EXPECT_EQ(manifest.find("run"), nullptr);
  EXPECT_EQ(manifest.find("zzz"), nullptr);
}

// The text is a format that outlives versions: it may not change unnoticed.
TEST(ManifestTest, TextIsStable) {
  const Manifest manifest =
      make_manifest({Entry{"run.sh", 3, true, sha256("foo")}, Entry{"a/b", 0, false, sha256("")}})
          .value();
  EXPECT_EQ(render_manifest(manifest),
            "takt manifest 1\n"
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 - 0 a/b\n"
            "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae x 3 run.sh\n");
  EXPECT_EQ(manifest_digest(manifest).value, sha256(render_manifest(manifest)).value);
  EXPECT_EQ(render_manifest(Manifest{}), "takt manifest 1\n");
  EXPECT_TRUE(parse_manifest("takt manifest 1\n")->entries.empty());
}

TEST(ManifestTest, RefusesEntries) {
  const auto message = [](std::vector<Entry> entries) {
    return make_manifest(std::move(entries)).error().message;
  };
  EXPECT_EQ(message({entry("a"), entry("a")}), "path \"a\" is there twice");
  EXPECT_EQ(message({entry("a/b/c"), entry("a-"), entry("a")}),
            "path \"a\" is a file and a folder: \"a/b/c\"");
  EXPECT_EQ(message({entry("a/b/c/d"), entry("a/b")}),
            "path \"a/b\" is a file and a folder: \"a/b/c/d\"");
  EXPECT_EQ(message({entry("../a")}), "path \"../a\" has the name ..");
  EXPECT_EQ(message({Entry{"a", 1, false, Digest{"abc"}}}),
            "a: the digest is not 64 lower-case hex digits");
  EXPECT_EQ(message({entry("a", -1)}), "a: no possible size: -1");
  EXPECT_EQ(message({entry("a", 1LL << 60), entry("b", 1)}),
            "the sizes add up to more than 2^60 bytes, at b");
}

TEST(ManifestTest, ParseNamesTheLine) {
  const std::string digest(64, 'a');
  const auto message = [](std::string lines) {
    return parse_manifest("takt manifest 1\n" + lines).error().message;
  };
  EXPECT_EQ(parse_manifest("").error().message, "line 1: not a manifest of version 1");
  EXPECT_EQ(parse_manifest("takt manifest 2\n").error().message,
            "line 1: not a manifest of version 1");
  const std::string expected = ": expected DIGEST, - or x, SIZE and PATH, one space between";
  EXPECT_EQ(message("x\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - 1 a\n\n"), "line 3" + expected);
  EXPECT_EQ(message(digest + " r 1 a\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - 01 a\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - +1 a\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - -1 a\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - 1\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - 99999999999999999999 a\n"), "line 2" + expected);
  EXPECT_EQ(message(digest + " - 1 a"), "line 2: the last line has no end");
  EXPECT_EQ(message(digest + " - 1 b\n" + digest + " - 1 a\n"),
            "line 3: path \"a\" is out of order");
  EXPECT_EQ(message(digest + " - 1 a\n" + digest + " - 1 a\n"),
            "line 3: path \"a\" is out of order");
  EXPECT_EQ(message(digest + " - 1 /a\n"), "line 2: path \"/a\" is absolute");
  EXPECT_EQ(message(std::string(64, 'A') + " - 1 a\n"),
            "line 2: a: the digest is not 64 lower-case hex digits");
  EXPECT_EQ(message(digest + " - 1 a\n" + digest + " - 1 a-\n" + digest + " - 1 a/b\n"),
            "path \"a\" is a file and a folder: \"a/b\"");
}

// What parses is what rendering writes: no other text stands for the same tree.
TEST(ManifestTest, EveryChangedByteIsRefusedOrAnotherTree) {
  const std::string text = render_manifest(sample());
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const int flip : {1, 4, 32, 128}) {
      std::string changed = text;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const Result<Manifest> parsed = parse_manifest(changed);
      ASSERT_TRUE(!parsed || render_manifest(*parsed) == changed) << at;
    }
    EXPECT_TRUE(!parse_manifest(text.substr(0, at)) || text[at - 1] == '\n') << at;
  }
}

TEST(ManifestTest, Diff) {
  const Manifest before = make_manifest({entry("a"), entry("b"), entry("c"), entry("e")}).value();
  const Manifest after = make_manifest({entry("a"), entry("b", 1, true), entry("d"),
                                        Entry{"e", 1, false, sha256("x")}})
                             .value();
  const ManifestDiff diff = diff_manifests(before, after);
  ASSERT_EQ(diff.added.size(), 1u);
  EXPECT_EQ(diff.added[0].path, "d");
  ASSERT_EQ(diff.removed.size(), 1u);
  EXPECT_EQ(diff.removed[0].path, "c");
  ASSERT_EQ(diff.changed.size(), 2u);
  EXPECT_EQ(diff.changed[0].before.path, "b");
  EXPECT_TRUE(diff.changed[0].after.executable);
  EXPECT_EQ(diff.changed[1].after.digest, sha256("x"));
  const ManifestDiff none = diff_manifests(before, before);
  EXPECT_TRUE(none.added.empty() && none.removed.empty() && none.changed.empty());
  EXPECT_EQ(diff_manifests(Manifest{}, after).added.size(), 4u);
}

}  // namespace
}  // namespace takt::content

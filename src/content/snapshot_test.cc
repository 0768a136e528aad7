// SPDX-License-Identifier: Apache-2.0
#include "takt/content/snapshot.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>

#include "takt/base/process.h"
#include "takt/base/testing/temp_dir.h"

namespace takt::content {
namespace {

namespace fs = std::filesystem;

class SnapshotTest : public ::testing::Test {
 protected:
  fs::path at(const std::string& path) const { return dir_.path() / path; }
  void write(const std::string& path, std::string_view bytes = "x", unsigned mode = 0644) {
    ASSERT_TRUE(make_dirs(at(path).parent_path()));
    ASSERT_TRUE(write_file_durably(at(path), bytes, mode));
  }
  void link(const std::string& target, const std::string& path) {
    ASSERT_EQ(::symlink(target.c_str(), at(path).c_str()), 0);
  }
  std::vector<std::string> walked(const std::string& root, WalkOptions options = {}) {
    std::vector<std::string> paths;
    const Result<std::vector<SourceFile>> files = walk(at(root), options);
    if (!files) return {"error: " + files.error().message};
    for (const SourceFile& file : *files) paths.push_back(file.path);
    return paths;
  }
  using Paths = std::vector<std::string>;

  takt::testing::TempDir dir_;
};

TEST_F(SnapshotTest, WalksSortedWithModesAndSizes) {
  write("t/b/c.txt", "abc");
  write("t/a.txt", "");
  write("t/b.txt");
  write("t/run.sh", "#!", 0755);
  ASSERT_TRUE(make_dirs(at("t/empty")));
  EXPECT_EQ(walked("t"), (Paths{"a.txt", "b.txt", "b/c.txt", "run.sh"}));
  const std::vector<SourceFile> files = walk(at("t"), {}).value();
  EXPECT_EQ(files[2].size, 3);
  EXPECT_EQ(files[2].source, at("t/b/c.txt"));
  EXPECT_TRUE(files[3].executable);
  EXPECT_FALSE(files[0].executable);
}

TEST_F(SnapshotTest, OneFileIsATreeToo) {
  write("t/a.txt", "abc");
  EXPECT_EQ(walked("t/a.txt"), Paths{"a.txt"});
  EXPECT_EQ(walk(at("none"), {}).error().code, Code::kNotFound);
}

TEST_F(SnapshotTest, IgnoreFileIsHonouredWhenAsked) {
  write("t/.taktignore", "*.log\n/data/\n!keep.log\n");
  write("t/a.log");
  write("t/keep.log");
  write("t/data/big");
  write("t/src/data/small");
  write("t/.git/HEAD");
  write("t/src/.git");
  write("t/src/__pycache__/a.pyc");
  write("t/__pycache__x");
  EXPECT_EQ(walked("t", {.use_ignore_file = true}),
            (Paths{".taktignore", "__pycache__x", "keep.log", "src/data/small"}));
  EXPECT_EQ(walked("t").size(), 9u) << "a dataset is taken as it is";
}

TEST_F(SnapshotTest, LinksInsideTheTreeAreFollowed) {
  write("t/a.txt", "abc");
  write("t/in/b.txt");
  link("a.txt", "t/link");
  link("in", "t/folder");
  EXPECT_EQ(walked("t"), (Paths{"a.txt", "folder/b.txt", "in/b.txt", "link"}));
  const std::vector<SourceFile> files = walk(at("t"), {}).value();
  EXPECT_EQ(hash_file(files[3]).value(), (Entry{"link", 3, false, sha256("abc")}));
}

TEST_F(SnapshotTest, LinksThatLeaveAreRefusedByName) {
  write("t/sub/a");
  write("tx/secret");
  link("../../tx/secret", "t/sub/out");
  EXPECT_EQ(walked("t"), Paths{"error: \"sub/out\" is a symbolic link that leaves the folder, to " +
                               fs::canonical(at("tx/secret")).string()});
  write("t/.taktignore", "out\n");
  EXPECT_EQ(walked("t", {.use_ignore_file = true}), (Paths{".taktignore", "sub/a"}));
}

TEST_F(SnapshotTest, LinksInCirclesAndIntoNothingAreRefused) {
  write("t/a/b/c");
  link("../..", "t/a/b/up");
  EXPECT_EQ(walked("t"), Paths{"error: \"a/b/up\" is a symbolic link to a folder it lies in"});
  ASSERT_EQ(::unlink(at("t/a/b/up").c_str()), 0);
  link("nowhere", "t/dangling");
  EXPECT_EQ(walked("t"), Paths{"error: \"dangling\" is a symbolic link that leads nowhere"});
  EXPECT_EQ(walk(at("t"), {}).error().hint, "remove it");
  EXPECT_EQ(walk(at("t"), {.use_ignore_file = true}).error().hint,
            "remove it or name it in .taktignore");
}

TEST_F(SnapshotTest, OtherThingsThanFilesAreRefusedByName) {
  write("t/a");
  ASSERT_EQ(::mkfifo(at("t/pipe").c_str(), 0600), 0);
  EXPECT_EQ(walked("t"), Paths{"error: \"pipe\" is a pipe, not a file"});
  ASSERT_EQ(::unlink(at("t/pipe").c_str()), 0);
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("t/sock").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(walked("t"), Paths{"error: \"sock\" is a socket, not a file"});
  EXPECT_EQ(walk("/dev/null", {}).error().code, Code::kInvalid);
}

TEST_F(SnapshotTest, NamesThatNoManifestTakesAreRefused) {
  write("t/a\\b");
  EXPECT_EQ(walked("t"), Paths{"error: path \"a\\b\" has a back-slash"});
}

TEST_F(SnapshotTest, TooManyFiles) {
  for (const char* name : {"t/a", "t/b", "t/c"}) write(name);
  EXPECT_EQ(walked("t", {.files_max = 3}).size(), 3u);
  EXPECT_EQ(walk(at("t"), {.files_max = 2}).error().code, Code::kTooLarge);
}

TEST_F(SnapshotTest, HashesAndReads) {
  const std::string bytes(1'000'000, 'q');
  write("f", bytes, 0755);
  const SourceFile file{at("f"), "name", 1'000'000, true};
  const Entry expected{"name", 1'000'000, true, sha256(bytes)};
  EXPECT_EQ(hash_file(file).value(), expected);
  std::string read;
  EXPECT_EQ(read_and_hash(file, &read).value(), expected);
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(hash_file({at("none"), "none", 0, false}).error().code, Code::kNotFound);
}

TEST_F(SnapshotTest, AChangeSinceTheWalkIsAConflict) {
  write("f", "abc");
  for (const std::int64_t size : {2, 4}) {
    const Error error = hash_file({at("f"), "f", size, false}).error();
    EXPECT_EQ(error.code, Code::kConflict);
    EXPECT_EQ(error.message, at("f").string() + " changed while it was read");
  }
  // It says that it is empty and is not, as a file that grows under the reader.
  std::string bytes;
  EXPECT_EQ(read_and_hash({"/proc/self/status", "s", 0, false}, &bytes).error().code,
            Code::kConflict);
}

TEST_F(SnapshotTest, AChangeDuringTheReadIsAConflict) {
  write("f");
  constexpr std::int64_t kSize = 16 << 20;  // sparse
  ASSERT_EQ(::truncate(at("f").c_str(), kSize), 0);
  const Fd file(::open(at("f").c_str(), O_WRONLY | O_CLOEXEC));
  std::atomic<bool> is_writing = false;
  std::atomic<bool> has_ended = false;
  std::thread writer([&] {
    while (!has_ended) {
      if (::pwrite(file.get(), "y", 1, 0) == 1) is_writing = true;
    }
  });
  while (!is_writing) std::this_thread::yield();
  const Result<Entry> entry = hash_file({at("f"), "f", kSize, false});
  has_ended = true;
  writer.join();
  EXPECT_EQ(entry.error().code, Code::kConflict);
}

class MaterializeTest : public SnapshotTest {
 protected:
  Entry add(const std::string& path, const std::string& bytes, bool executable = false) {
    const Digest digest = sha256(bytes);
    blobs_[digest.value] = bytes;
    return Entry{path, static_cast<std::int64_t>(bytes.size()), executable, digest};
  }
  FetchToFile fetch() {
    return [this](const Digest& digest, int fd) -> Status {
      const auto found = blobs_.find(digest.value);
      if (found == blobs_.end()) return fail(Code::kNotFound, "no blob " + digest.value);
      return write_all(fd, found->second);
    };
  }
  unsigned mode_of(const std::string& path) {
    struct stat info{};
    EXPECT_EQ(::stat(at(path).c_str(), &info), 0) << path;
    return info.st_mode & 0777;
  }
  std::map<std::string, std::string> blobs_;
};

TEST_F(MaterializeTest, WritesTheTreeAndWalksBackToIt) {
  const Manifest manifest = make_manifest({add("a.txt", "one"), add("b/c/d.txt", "two"),
                                           add("b/run", "three", true), add("b.txt", "")})
                                .value();
  ASSERT_TRUE(materialize(manifest, at("out/tree"), false, fetch()));
  EXPECT_EQ(read_file(at("out/tree/b/c/d.txt")).value(), "two");
  EXPECT_EQ(mode_of("out/tree/a.txt"), 0644u);
  EXPECT_EQ(mode_of("out/tree/b/run"), 0755u);
  std::vector<Entry> entries;
  const std::vector<SourceFile> files = walk(at("out/tree"), {}).value();
  for (const SourceFile& file : files) {
    entries.push_back(hash_file(file).value());
  }
  EXPECT_EQ(manifest_digest(make_manifest(entries).value()), manifest_digest(manifest));
}

TEST_F(MaterializeTest, ReadOnly) {
  const Manifest manifest = make_manifest({add("a", "1"), add("run", "2", true)}).value();
  ASSERT_TRUE(materialize(manifest, at("out"), true, fetch()));
  EXPECT_EQ(mode_of("out/a"), 0444u);
  EXPECT_EQ(mode_of("out/run"), 0555u);
}

TEST_F(MaterializeTest, WritesOverNothingAndThroughNoLink) {
  ASSERT_TRUE(make_dirs(at("out")));
  ASSERT_TRUE(make_dirs(at("elsewhere")));
  write("out/a", "mine");
  link("../elsewhere", "out/folder");
  EXPECT_EQ(
      materialize(make_manifest({add("a", "1")}).value(), at("out"), false, fetch()).error().code,
      Code::kConflict);
  EXPECT_EQ(read_file(at("out/a")).value(), "mine");
  EXPECT_FALSE(
      materialize(make_manifest({add("folder/x", "1")}).value(), at("out"), false, fetch()));
  EXPECT_TRUE(fs::is_empty(at("elsewhere")));
  // A manifest that did not come through make_manifest is checked again.
  Manifest forged;
  forged.entries.push_back(add("../x", "1"));
  EXPECT_EQ(materialize(forged, at("out"), false, fetch()).error().code, Code::kInvalid);
}

TEST_F(MaterializeTest, WrongBlobsAreNamed) {
  Entry entry = add("a", "12345");
  blobs_[entry.digest.value] = "123";
  EXPECT_EQ(materialize(make_manifest({entry}).value(), at("o1"), false, fetch()).error().message,
            "a: got 3 bytes of blob " + entry.digest.value + ", expected 5");
  blobs_.clear();
  EXPECT_EQ(materialize(make_manifest({entry}).value(), at("o2"), false, fetch()).error().message,
            "a: no blob " + entry.digest.value);
}

class GitStateTest : public SnapshotTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_dirs(at("repo/sub")));
    const Result<Completed> made = run(ProcessSpec{.command = {"git", "--version"}}, 10'000);
    if (!made || made->exit_code != 0) GTEST_SKIP() << "needs git";
  }
  void git(std::vector<std::string> arguments) {
    ProcessSpec spec{.command = {"git", "-C", at("repo").string(), "-c", "user.name=t", "-c",
                                 "user.email=t@example.org"}};
    spec.command.insert(spec.command.end(), arguments.begin(), arguments.end());
    const Completed done = run(std::move(spec), 20'000).value();
    ASSERT_EQ(done.exit_code, 0) << done.errors;
  }
};

TEST_F(GitStateTest, NoWorkTree) {
  const GitState state = git_state(at("repo"));
  EXPECT_EQ(state.commit + state.remote + state.diff, "");
}

TEST_F(GitStateTest, CommitRemoteAndChanges) {
  git({"init", "-q"});
  EXPECT_EQ(git_state(at("repo")).commit, "") << "no commit yet";
  write("repo/sub/a.py", "one\n");
  write("repo/other.py", "one\n");
  git({"add", "."});
  git({"commit", "-q", "-m", "first"});
  git({"remote", "add", "origin", "https://ann:secret@example.org/a/b.git"});
  GitState state = git_state(at("repo/sub"));
  EXPECT_EQ(state.commit.size(), 40u);
  EXPECT_EQ(state.remote, "https://example.org/a/b.git");
  EXPECT_EQ(state.diff, "");
  write("repo/sub/a.py", "two\n");
  write("repo/other.py", "two\n");
  git({"add", "sub/a.py"});
  state = git_state(at("repo/sub"));
  EXPECT_TRUE(state.diff.contains("-one\n+two\n")) << state.diff;
  EXPECT_FALSE(state.diff.contains("other.py")) << "only the folder asked about";
  git({"remote", "set-url", "origin", "git@example.org:a/b.git"});
  EXPECT_EQ(git_state(at("repo")).remote, "git@example.org:a/b.git");
}

}  // namespace
}  // namespace takt::content

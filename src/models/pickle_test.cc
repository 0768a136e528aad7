// SPDX-License-Identifier: Apache-2.0
#include "takt/models/pickle.h"

#include <gtest/gtest.h>

#include <cstring>

#include "takt/models/code_scan.h"

namespace takt::models {
namespace {

using std::string_literals::operator""s;

// pickle.dumps of an object whose __reduce__ gives (os.system, ("true",)), by protocol.
const std::string kSystem0 = "cposix\nsystem\np0\n(Vtrue\np1\ntp2\nRp3\n.";
const std::string kSystem2 =
    "\200\002cposix\nsystem\nq\000X\004\000\000\000trueq\001\205q\002Rq\003."s;
const std::string kSystem4 =
    "\200\004\225\037\000\000\000\000\000\000\000\214\005posix\224\214\006system\224\223\224"
    "\214\004true\224\205\224R\224."s;
const std::string kOrdered =
    "\200\004\225)\000\000\000\000\000\000\000\214\013collections\224\214\013OrderedDict\224\223"
    "\224)R\224\214\001a\224K\001s."s;
const std::string kPlain =
    "\200\005\225*\000\000\000\000\000\000\000}\224(\214\001a\224]\224(K\001K\002G@\014\000\000\000"
    "\000\000\000N\210C\001x\224e\214\001b\224K\001K\002\206\224u."s;

ReadAt reading(const std::string& bytes) {
  return [&bytes](std::int64_t offset, std::span<char> into) -> Result<std::size_t> {
    const auto at = std::min(static_cast<std::size_t>(offset), bytes.size());
    const std::size_t count = std::min(into.size(), bytes.size() - at);
    std::memcpy(into.data(), bytes.data() + at, count);
    return count;
  };
}

PickleScan scan(const std::string& bytes) {
  return *scan_pickle(reading(bytes), static_cast<std::int64_t>(bytes.size()));
}

CodeScan scan_named(const std::string& path, const std::string& bytes) {
  CodeScan code;
  EXPECT_TRUE(scan_file(path, reading(bytes), static_cast<std::int64_t>(bytes.size()), code));
  return code;
}

TEST(Pickle, names_are_found_in_every_protocol) {
  for (const std::string& bytes : {kSystem0, kSystem2, kSystem4}) {
    const PickleScan found = scan(bytes);
    EXPECT_EQ(found.trouble, "");
    EXPECT_EQ(found.globals, (std::set<std::string>{"posix system"}));
  }
  EXPECT_FALSE(is_harmless("posix system"));
}

TEST(Pickle, values_and_known_classes_are_harmless) {
  EXPECT_TRUE(scan(kPlain).globals.empty());
  EXPECT_EQ(scan(kPlain).trouble, "");
  const PickleScan ordered = scan(kOrdered);
  EXPECT_EQ(ordered.globals, (std::set<std::string>{"collections OrderedDict"}));
  EXPECT_TRUE(is_harmless("collections OrderedDict"));
  EXPECT_TRUE(is_harmless("sklearn.linear_model._logistic LogisticRegression"));
  EXPECT_TRUE(is_harmless("sklearn.tree._tree Tree"));
}

TEST(Pickle, what_only_looks_like_a_known_class_is_not_harmless) {
  for (const char* name :
       {"collections OrderedDict.__init__", "sklearn.linear_model os.system", "sklearn Bunch",
        "sklearn.datasets._base Loader", "sklearn.utils._testing TempMemmap",
        "sklearnx.linear_model LogisticRegression", "sklearn.linear_model._logistic load",
        "builtins eval", "builtins getattr", "__main__ Net", "torch.storage _load_from_bytes"})
    EXPECT_FALSE(is_harmless(name)) << name;
}

TEST(Pickle, a_name_that_is_hidden_is_found_or_counts_as_code) {
  // The module comes from the memo; from an escaped text; from a computed value; by INST and OBJ.
  EXPECT_EQ(scan("\200\004\214\002os\2240\214\001xh\000\214\006system\223."s).globals,
            (std::set<std::string>{"os system"}));
  const PickleScan escaped = scan("S'o\\x73'\nS'system'\n\223.");
  EXPECT_EQ(escaped.globals, (std::set<std::string>{"(a name that is computed)"}));
  EXPECT_EQ(scan("]\214\006system\223."s).globals,
            (std::set<std::string>{"(a name that is computed)"}));
  EXPECT_EQ(scan("(ios\nsystem\n."s).globals, (std::set<std::string>{"os system"}));
  EXPECT_EQ(scan("(cos\nsystem\no."s).globals, (std::set<std::string>{"os system"}));
  EXPECT_EQ(scan("\200\002\202\007."s).globals, (std::set<std::string>{"copyreg extension-7"}));
}

TEST(Pickle, a_second_pickle_behind_the_first_is_walked_too) {
  EXPECT_EQ(scan(kPlain + kSystem2).globals, (std::set<std::string>{"posix system"}));
  const PickleScan data = scan(kPlain + "\001\002 other bytes");
  EXPECT_EQ(data.trouble, "");
  EXPECT_EQ(data.pickles, 1);
}

TEST(Pickle, what_breaks_off_says_so) {
  for (std::size_t length = 0; length < kSystem4.size(); ++length)
    EXPECT_NE(scan(kSystem4.substr(0, length)).trouble, "") << length;
  EXPECT_NE(scan("\200\004\377."s).trouble, "");
  EXPECT_NE(scan("R."s).trouble, "");
  EXPECT_NE(scan("B\377\377\377\377."s).trouble, "");
}

// What joblib.dump writes for an array of two doubles: the bytes stand inside the pickle.
std::string joblib_array(const std::string& type, const std::string& inside) {
  return "\200\004\214\023joblib.numpy_pickle\214\021NumpyArrayWrapper\223)\201}(\214\005shape"
         "K\002\205\214\005dtype\214\005numpy\214\005dtype\223\214"s +
         static_cast<char>(type.size()) + type +
         "\211\210\207R\214\033numpy_array_alignment_bytesK\020ub" + inside;
}

TEST(Pickle, an_array_of_joblib_is_skipped_and_its_end_is_walked) {
  const std::string array(16, '\377');
  const std::string padding = "\003..."s;
  const PickleScan plain = scan(joblib_array("f8", padding + array + "0cos\nsystem\n."));
  EXPECT_EQ(plain.trouble, "");
  EXPECT_EQ(plain.globals, (std::set<std::string>{"joblib.numpy_pickle NumpyArrayWrapper",
                                                  "numpy dtype", "os system"}));
  // An array of objects is a pickle of its own.
  const PickleScan objects = scan(joblib_array("O8", kSystem4 + "."));
  EXPECT_EQ(objects.trouble, "");
  EXPECT_TRUE(objects.globals.contains("posix system"));
  EXPECT_NE(scan(joblib_array("V8", padding + array + ".")).trouble, "");
}

TEST(CodeScan, only_pickles_count_and_the_worst_decides) {
  CodeScan code;
  EXPECT_EQ(code.verdict(), "none");
  const std::string text = "import os";
  ASSERT_TRUE(scan_file("train.py", reading(text), 9, code));
  ASSERT_TRUE(scan_file("weights.bin", reading(text), 9, code));
  EXPECT_EQ(code.verdict(), "none");
  ASSERT_TRUE(
      scan_file("a/vocab.PKL", reading(kPlain), static_cast<std::int64_t>(kPlain.size()), code));
  EXPECT_EQ(code.verdict(), "safe");
  ASSERT_TRUE(scan_file("weights.bin", reading(kSystem2),
                        static_cast<std::int64_t>(kSystem2.size()), code));
  EXPECT_EQ(code.verdict(), "executes");
  const Value value = to_value(code);
  EXPECT_EQ(dump_json(value["globals"]), R"(["posix.system"])");
  EXPECT_EQ(scan_named("model.pkl", "no pickle at all").verdict(), "executes");
  EXPECT_EQ(scan_named("model.pkl", "").verdict(), "executes");
}

std::string le(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text.push_back(static_cast<char>(value >> (8 * i)));
  return text;
}

/// An archive with one stored member, as torch.save writes it.
std::string zip_of(const std::string& name, const std::string& bytes, int method = 0) {
  const std::string common = le(20, 2) + le(0, 2) + le(static_cast<std::uint64_t>(method), 2) +
                             le(0, 4) + le(0, 4) + le(bytes.size(), 4) + le(bytes.size(), 4) +
                             le(name.size(), 2);
  const std::string local = "PK\x03\x04" + common + le(4, 2) + name + "pad!" + bytes;
  const std::string entry =
      "PK\x01\x02" + le(20, 2) + common + le(0, 2) + le(0, 2) + le(0, 8) + le(0, 4) + name;
  return local + entry + "PK\x05\x06" + le(0, 4) + le(1, 2) + le(1, 2) + le(entry.size(), 4) +
         le(local.size(), 4) + le(0, 2);
}

TEST(CodeScan, pickles_inside_archives_are_walked) {
  const CodeScan bad = scan_named("weights.pt", zip_of("archive/data.pkl", kSystem2));
  ASSERT_EQ(bad.files.size(), 1u);
  EXPECT_EQ(bad.files[0].path, "weights.pt!archive/data.pkl");
  EXPECT_EQ(bad.files[0].globals, (std::vector<std::string>{"posix.system"}));
  EXPECT_EQ(scan_named("weights.pth", zip_of("archive/data.pkl", kOrdered)).verdict(), "safe");
  EXPECT_EQ(scan_named("weights.pth", zip_of("archive/data/0", kSystem2)).verdict(), "none");
  EXPECT_EQ(scan_named("weights.pt", zip_of("a/data.pkl", kOrdered, 12)).verdict(), "executes");
  const std::string whole = zip_of("archive/data.pkl", kOrdered);
  for (std::size_t length = 4; length < whole.size(); ++length)
    EXPECT_EQ(scan_named("weights.pt", whole.substr(0, length)).verdict(), "executes") << length;
}

}  // namespace
}  // namespace takt::models

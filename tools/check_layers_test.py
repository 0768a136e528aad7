# SPDX-License-Identifier: Apache-2.0
"""Tests of tools/check_layers.py: each rule catches its example and lets the right form pass."""

import unittest

import check_layers
import cpp_text

LAYERS = check_layers.read_layers(
    "base:\nnet: base\nstore: base # data\njobs: base store\napp: everything\n"
)


def texts(findings) -> str:
    return "\n".join(str(finding) for finding in findings)


class Layers(unittest.TestCase):
    def test_everything_means_all_rooms_above(self):
        self.assertEqual(LAYERS["app"], ["base", "net", "store", "jobs"])

    def test_a_line_names_only_rooms_above_it(self):
        with self.assertRaisesRegex(ValueError, "not a room above"):
            check_layers.read_layers("base: net\nnet: base\n")

    def includes(self, path: str, text: str) -> str:
        return texts(check_layers.check_includes(path, text, LAYERS))

    def test_an_undeclared_room_is_refused(self):
        self.assertIn(
            "jobs may not include net", self.includes("jobs/a.cc", '#include "takt/net/http.h"\n')
        )
        self.assertEqual("", self.includes("jobs/a.cc", '#include "takt/store/blobs.h"\n'))

    def test_internal_and_testing_headers_stay_inside(self):
        self.assertIn("private", self.includes("jobs/a.cc", '#include "takt/store/internal/x.h"\n'))
        self.assertIn(
            "tests only", self.includes("jobs/a.cc", '#include "takt/store/testing/x.h"\n')
        )
        self.assertEqual("", self.includes("jobs/a_test.cc", '#include "takt/store/testing/x.h"\n'))

    def test_heavy_headers_have_their_rooms(self):
        self.assertIn("not for this file", self.includes("jobs/a.cc", "#include <sqlite3.h>\n"))
        self.assertEqual("", self.includes("store/sqlite.cc", "#include <sqlite3.h>\n"))
        self.assertIn(
            "not for this file", self.includes("store/a.cc", "#include <boost/asio.hpp>\n")
        )

    def test_a_service_knows_no_http(self):
        self.assertIn("no HTTP", self.includes("app/a_service.h", '#include "takt/net/http.h"\n'))


class Banned(unittest.TestCase):
    def banned(self, path: str, text: str, throw_allowed: set[str] = frozenset()) -> str:
        code, strings = cpp_text.split(text)
        return texts(check_layers.check_banned(path, code, strings, set(throw_allowed)))

    def test_the_real_clock_is_in_one_file(self):
        self.assertIn(
            "Clock", self.banned("jobs/a.cc", "auto t = std::chrono::steady_clock::now();\n")
        )
        self.assertEqual(
            "", self.banned("base/clock.cc", "auto t = std::chrono::steady_clock::now();\n")
        )

    def test_comments_and_strings_are_not_code(self):
        self.assertEqual("", self.banned("jobs/a.cc", '// throw\nlog("throw"); /* sleep_for */\n'))

    def test_throw_only_where_listed(self):
        self.assertIn("Result", self.banned("net/a.cc", "throw 1;\n"))
        self.assertEqual("", self.banned("net/a.cc", "throw 1;\n", {"net/a.cc"}))

    def test_sql_stays_in_its_folder(self):
        self.assertIn("sql/", self.banned("jobs/a.cc", 'run("SELECT 1 FROM job");\n'))
        self.assertEqual("", self.banned("store/a.cc", 'run("SELECT 1 FROM job");\n'))


class Lengths(unittest.TestCase):
    def test_functions_are_found_with_their_lines(self):
        text = (
            "namespace a {\nstruct S : public B {\n  int f() const { return 1; }\n};\n"
            "Foo::Foo(int a)\n    : a_{a}, b_(2) {\n  if (a) {\n    g([] { return 1; });\n  }\n}\n"
            "constexpr int kTable[] = {1, 2};\nint h() {\n  return 1;\n}\n}\n"
        )
        self.assertEqual(
            list(cpp_text.functions(text)), [("f", 3, 1), ("Foo::Foo", 5, 6), ("h", 12, 3)]
        )

    def test_a_long_function_fails_unless_it_is_an_old_one(self):
        text = "int f() {\n" + "  g();\n" * 80 + "}\n"
        self.assertIn("82 lines, 70", texts(check_layers.check_lengths("src/a/b.cc", text, {})))
        self.assertEqual(
            "", texts(check_layers.check_lengths("src/a/b.cc", text, {("src/a/b.cc", "f"): 82}))
        )
        self.assertIn(
            "82 lines, 81",
            texts(check_layers.check_lengths("src/a/b.cc", text, {("src/a/b.cc", "f"): 81})),
        )


class Lines(unittest.TestCase):
    def test_licence_columns_and_paths(self):
        self.assertIn("SPDX", texts(check_layers.check_lines("src/a/b.cc", "int x;\n")))
        self.assertIn("101 columns", texts(check_layers.check_lines("a.py", "x" * 101)))
        self.assertIn("one machine", texts(check_layers.check_lines("a.md", "see /" + "root/x\n")))
        self.assertIn(
            "registry",
            texts(check_layers.check_lines("a.md", "https://" + "registry.npmjs.org/x\n")),
        )
        self.assertEqual(
            "", texts(check_layers.check_lines("a.md", "https://example.org/root/x\n"))
        )


class Unity(unittest.TestCase):
    def test_a_rooms_files_share_no_local_names(self):
        one = "namespace {\nint f(int a) {\n  return a;\n}\n}  // namespace\n"
        two = "namespace {\nint f(int b) {\n  return b;\n}\nint f(long b) {\n  return 1;\n}\n"
        found = texts(check_layers.check_unity({"src/a/x.cc": one, "src/a/y.cc": two}))
        self.assertIn("f(int) is also in src/a/x.cc", found)
        self.assertNotIn("long", found)
        header = {"src/a/place.h": "struct Place {\n  int x;\n};\n"}
        local = {"src/a/x.cc": "namespace {\nstruct Place {\n  int y;\n};\n}  // namespace\n"}
        self.assertIn("Place is also in", texts(check_layers.check_unity(header | local)))
        self.assertEqual(
            "", texts(check_layers.check_unity({"src/a/x.cc": one, "src/b/y.cc": two}))
        )


if __name__ == "__main__":
    unittest.main()

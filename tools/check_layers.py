#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler cannot: layers, heavy headers, banned calls, lengths, licences, paths.

Run from the repository's root: tools/check_layers.py [--root DIR] [--write-ratchet].
Prints one line per finding, `file:line: what; what to do instead`, and exits 1 if there is any.
"""

import argparse
import ast
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

import cpp_text

FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
RATCHET = "tools/length_ratchet.txt"

# (what is included, where it is allowed, as regular expressions on path below src/)
HEADERS = [
    (r"boost/(asio|beast)", r"net/"),
    (r"boost/", r"net/|base/"),
    (r"httplib\.h", r"net/"),
    (r"grpcpp/", r"net/|[a-z]+/(engines/)?grpc\w*\.(h|cc)$|[a-z]+/testing/"),
    (r".*\.pb\.h$", r"net/grpc\w*\.(h|cc)$|[a-z]+/grpc\w*\.(h|cc)$|[a-z]+/testing/"),
    (r"onnxruntime|core/session/", r"serve/engines/|convert/"),
    (r"sqlite3\.h|libpq-fe\.h", r"store/"),
    (r"curl/", r"store/"),
    (r"nlohmann/", r"base/"),
    (r"simdjson", r"serve/(tensor|json)\w*\.cc$"),
    (r"yaml-cpp/", r"base/"),
    (r"spdlog/|fmt/", r"base/"),
    (r"CLI/", r"cli/|app/"),
    (r"zstd\.h", r"content/|net/|store/|track/metric_chunk\.cc$"),
    (r"archive(_entry)?\.h", r"content/"),
    (r"xxhash\.h", r"content/|data/|track/metric_chunk\.cc$"),
    (r"openssl/ssl", r"net/"),
    (r"openssl/", r"base/|net/|store/|access/"),
    (r"prometheus/", r"services/|observe/|app/"),
    (r"g(test|mock)/", r".*_test\.cc$|[a-z]+/testing/"),
]

# (pattern in code, where it is allowed, what to use instead)
BANNED = [
    (r"\b(system|steady|high_resolution)_clock::now\b", r"base/clock\.cc$", "take a Clock&"),
    (  # tests of real processes poll them
        r"\bsleep_(for|until)\b|\busleep\(|\bnanosleep\(",
        r"base/clock\.cc$|jobs/.*_test\.cc$|shim/.*_test\.cc$",
        "take a Clock& or wait on a condition",
    ),
    (r"\bgettimeofday\(|[^_\w.>]time\((nullptr|NULL|0)\)", r"base/clock\.cc$", "take a Clock&"),
    (
        r"\bstd::w?regex\b|#include <regex>",
        r"$^",
        "write a small parser: it is slow and overflows the stack",
    ),
    (
        r"\bthrow\b",
        r"$^",
        "return Result<T>; list an adapter in tools/throw_allowed.txt if a library wants it",
    ),
    (r"\bstd::random_device\b|[^_\w]s?rand\(", r"base/rng\.(h|cc)$", "take a Rng&"),
    (r"\bpopen\(|[^_\w.>:]system\(", r"$^", "use base/process.h"),
    (r"^using namespace\b", r"$^", "name what you use: unity builds share one file"),
    (r"\bstd::(cout|cerr)\b", r"cli/|app/|shim/", "log through base/log.h"),
]
SQL = re.compile(r"^(SELECT\s+\S|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b")
SQL_ALLOWED = re.compile(r"store/|.*_test\.cc$|[a-z]+/testing/")

MACHINE_PATHS = re.compile(
    r"(?<![\w./])/(?:work|root)/[\w.]|/home/(?!you\b|user\b|takt\b)[a-z]\w*/"
    r"|file:///(?:opt|work|root|home)"
)
REGISTRIES = re.compile(
    r"https?://[\w.-]*(?:npmjs\.(?:org|com)|pypi\.org|pythonhosted\.org|debian\.org/debian|ubuntu\.com/ubuntu"
    r"|artifactory|jfrog|nexus|mirror)[\w.-]*",
    re.IGNORECASE,
)

SPDX_SUFFIXES = {".cc", ".h", ".py", ".sh", ".cmake"}
CODE_SUFFIXES = {".cc", ".h", ".py", ".sh", ".sql"}
TEXT_SUFFIXES = CODE_SUFFIXES | {
    ".ts",
    ".tsx",
    ".md",
    ".txt",
    ".yaml",
    ".yml",
    ".json",
    ".cmake",
    ".service",
    ".css",
    ".html",
    ".proto",
    ".mjs",
    ".js",
    "",
}


class Finding:
    def __init__(self, path: str, line: int, text: str) -> None:
        self.path, self.line, self.text = path, line, text

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


def read_layers(text: str) -> dict[str, list[str]]:
    """Room -> the rooms it may include. ValueError for a line that names a room not above it."""
    layers: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        match = re.fullmatch(r"([a-z_]+):\s*([a-z_ ]*)", line)
        if not match:
            raise ValueError(f"src/LAYERS:{number}: not of the form 'room: rooms'")
        rooms = list(layers) if match[2].strip() == "everything" else match[2].split()
        for room in rooms:
            if room not in layers:
                raise ValueError(
                    f"src/LAYERS:{number}: {match[1]} names {room}, which is not a room above it"
                )
        layers[match[1]] = rooms
    return layers


def check_includes(path: str, text: str, layers: dict[str, list[str]]) -> Iterator[Finding]:
    """`path` is below src/."""
    room = path.split("/")[0]
    is_test = path.endswith("_test.cc") or "/testing/" in path
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        name = match[2]
        own = re.match(r"takt/([a-z_]+)/(.*)", name)
        if own:
            if own[1] != room and own[1] not in layers.get(room, []):
                yield Finding(
                    f"src/{path}", number, f"{room} may not include {own[1]}; see src/LAYERS"
                )
            if own[1] != room and own[2].startswith("internal/"):
                yield Finding(
                    f"src/{path}", number, f"{name} is private to {own[1]}; use its public headers"
                )
            if own[2].startswith("testing/") and not is_test:
                yield Finding(f"src/{path}", number, f"{name} is for tests only")
            if own[1] == "net" and own[2] == "http.h" and re.search(r"_service\.(h|cc)$", path):
                yield Finding(
                    f"src/{path}", number, "a service class knows no HTTP; decode in routes.cc"
                )
            continue
        for pattern, allowed in HEADERS:
            if re.match(pattern, name):
                if not re.match(allowed, path) and not (
                    is_test and re.match(r".*pb\.h$|grpcpp/", name)
                ):
                    yield Finding(
                        f"src/{path}",
                        number,
                        f"<{name}> is not for this file; see tools/check_layers.py",
                    )
                break


def check_banned(
    path: str, code: str, strings: list[tuple[int, str]], throw_allowed: set[str]
) -> Iterator[Finding]:
    for number, line in enumerate(code.splitlines(), 1):
        for pattern, allowed, instead in BANNED:
            match = re.search(pattern, line)
            if not match or re.match(allowed, path):
                continue
            if "throw" in match[0] and path in throw_allowed:
                continue
            if path.endswith("_test.cc") and ("throw" in match[0] or "std::c" in match[0]):
                continue
            yield Finding(f"src/{path}", number, f"'{match[0].strip()}' is banned: {instead}")
    if not SQL_ALLOWED.match(path):
        for number, literal in strings:
            if SQL.match(literal.strip()):
                yield Finding(f"src/{path}", number, "SQL belongs into the room's sql/ folder")


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def long_things(path: str, text: str) -> Iterator[tuple[str, int, int, int]]:
    """(name, line, length, limit) of the file or functions that are too long."""
    lines = text.count("\n")
    if lines > FILE_LINES_MAX:
        yield "-", 1, lines, FILE_LINES_MAX
    functions: Iterator[tuple[str, int, int]] = iter(())
    if path.endswith((".cc", ".h")):
        functions = cpp_text.functions(text)
    elif path.endswith(".py"):
        functions = python_functions(text)
    for name, line, length in functions:
        if length > FUNCTION_LINES_MAX:
            yield name, line, length, FUNCTION_LINES_MAX


def check_lengths(path: str, text: str, ratchet: dict[tuple[str, str], int]) -> Iterator[Finding]:
    for name, line, length, limit in long_things(path, text):
        allowed = ratchet.get((path, name), limit)
        if length > allowed:
            what = "file" if name == "-" else f"function {name}"
            yield Finding(path, line, f"{what} has {length} lines, {allowed} are allowed; split it")


def check_lines(path: str, text: str) -> Iterator[Finding]:
    suffix = pathlib.PurePosixPath(path).suffix
    lines = text.splitlines()
    if suffix in SPDX_SUFFIXES and not any(
        "SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]
    ):
        yield Finding(path, 1, "the first line must hold 'SPDX-License-Identifier: Apache-2.0'")
    if path.endswith(".h") and "#pragma once" not in text:
        yield Finding(path, 1, "a header needs #pragma once")
    for number, line in enumerate(lines, 1):
        if suffix in CODE_SUFFIXES and len(line) > COLUMNS_MAX and "http" not in line:
            if suffix != ".sql" and not path.endswith(RATCHET):
                yield Finding(path, number, f"{len(line)} columns, {COLUMNS_MAX} are allowed")
        if path.startswith("tools/check_layers"):
            continue
        if MACHINE_PATHS.search(line):
            yield Finding(path, number, "a path of one machine; make it relative or a setting")
        if REGISTRIES.search(line):
            yield Finding(
                path, number, "a registry or mirror host; the machine's own settings name it"
            )


def local_names(code: str) -> Iterator[tuple[str, int]]:
    """What a source defines in anonymous namespaces, as far as one line shows it."""
    depth, anonymous = 0, -1  # anonymous: the depth at which such a namespace was opened
    for number, line in enumerate(code.splitlines(), 1):
        before = depth
        depth += line.count("{") - line.count("}")
        if anonymous < 0 and re.match(r"namespace \{", line):
            anonymous = before
            continue
        if depth <= anonymous:
            anonymous = -1
        if anonymous < 0 or before != anonymous + 1 or not line[:1].isalpha():
            continue
        constant = re.match(
            r"(?:static |inline )*(?:constexpr|const)\b[^=({]*?\b(k[A-Z]\w*)\b", line
        )
        kind = re.match(r"(?:struct|class|enum class) (\w+)(?: final| :[^;]*)? \{", line)
        function = re.match(r"[\w:<>,*&\s]+?(?<!::)\b(\w+)\(([^()]*)\)[^;]*\{", line)
        if constant or kind:
            yield (constant or kind)[1], number
        elif function:
            types = re.sub(r"\s*\b\w+\s*(,|$)", r"\1", function[2])
            yield f"{function[1]}({types})", number


def check_unity(sources: dict[str, str]) -> Iterator[Finding]:
    """Unity builds join a room's files, so local names must differ inside the room."""
    first: dict[tuple[str, str], str] = {}
    for path, code in sorted(sources.items()):
        if path.endswith(".h"):
            for kind in re.findall(r"^(?:struct|class|enum class) (\w+)", code, re.MULTILINE):
                first.setdefault((path.split("/")[1], kind), path)
    for path, code in sorted(sources.items()):
        if path.endswith("_test.cc") or not path.endswith(".cc"):
            continue
        for name, number in local_names(code):
            other = first.setdefault((path.split("/")[1], name), path)
            if other != path:
                yield Finding(path, number, f"{name} is also in {other}: a unity build joins both")


def check_guides(path: str, text: str) -> Iterator[Finding]:
    """A room's README has the same headings everywhere (STYLE: five)."""
    if not re.search(r"^# ", text, re.MULTILINE):
        yield Finding(path, 1, "a README begins with a heading")


def read_ratchet(root: pathlib.Path) -> dict[tuple[str, str], int]:
    file = root / RATCHET
    if not file.is_file():
        return {}
    rows = [
        line.split() for line in file.read_text().splitlines() if line and not line.startswith("#")
    ]
    return {(path, name): int(length) for path, name, length in rows}


def tracked_files(root: pathlib.Path) -> list[str]:
    """What git knows or would add; generated and ignored files are left out."""
    out = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return sorted(path for path in out.split("\0") if path and (root / path).is_file())


def check_tree(root: pathlib.Path) -> list[Finding]:
    layers = read_layers((root / "src/LAYERS").read_text())
    ratchet = read_ratchet(root)
    allowed_file = root / "tools/throw_allowed.txt"
    throw_allowed = {
        line.split("#")[0].strip()
        for line in (allowed_file.read_text().splitlines() if allowed_file.is_file() else [])
    } - {""}
    findings: list[Finding] = []
    sources: dict[str, str] = {}
    for path in tracked_files(root):
        if pathlib.PurePosixPath(path).suffix not in TEXT_SUFFIXES or path.endswith(
            "package-lock.json"
        ):
            continue
        try:
            text = (root / path).read_text()
        except UnicodeDecodeError:
            continue
        findings += check_lines(path, text)
        if path.endswith((".cc", ".h", ".py")):
            findings += check_lengths(path, text, ratchet)
        if path.startswith("src/") and path.endswith((".cc", ".h")):
            inner = path.removeprefix("src/")
            if inner.split("/")[0] not in layers:
                findings.append(Finding(path, 1, "this room is not in src/LAYERS"))
            code, strings = cpp_text.split(text)
            sources[path] = code
            findings += check_includes(inner, text, layers)
            findings += check_banned(inner, code, strings, throw_allowed)
        if re.fullmatch(r"src/[a-z]+/README\.md", path):
            findings += check_guides(path, text)
    return findings + list(check_unity(sources))


def write_ratchet(root: pathlib.Path) -> None:
    rows = ["# What was too long when the check came, with its lines. Entries may only shrink."]
    for path in tracked_files(root):
        if path.endswith((".cc", ".h", ".py")):
            rows += [
                f"{path} {name} {length}"
                for name, _, length, _ in long_things(path, (root / path).read_text())
            ]
    (root / RATCHET).write_text("\n".join(rows) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent
    )
    parser.add_argument(
        "--write-ratchet", action="store_true", help="list today's too long things as allowed"
    )
    options = parser.parse_args()
    if options.write_ratchet:
        write_ratchet(options.root)
        return 0
    try:
        findings = check_tree(options.root)
    except ValueError as error:
        print(error)
        return 1
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

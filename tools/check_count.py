#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what passed and failed in the reports of one stage of ./check.

Usage: check_count.py gtest FOLDER PROGRAM... | junit FILE | text LOG | exits FOLDER
each with --out FILE.
Writes "PASSED FAILED" to the file (none for a text log without numbers), prints the failures, and
exits 1 if there is any.
"""

import argparse
import json
import pathlib
import re
import sys
import xml.etree.ElementTree


def count_gtest(folder: pathlib.Path, programs: list[str]) -> tuple[int, list[str]]:
    passed, failures = 0, []
    for program in programs:
        log = folder / f"{program}.log"
        exit_file = folder / f"{program}.exit"
        code = exit_file.read_text().strip() if exit_file.is_file() else "none"
        tail = log.read_text(errors="replace")[-6000:] if log.is_file() else ""
        try:
            report = json.loads((folder / f"{program}.json").read_text())
        except (OSError, ValueError):
            failures.append(f"{program} ended without a report (exit status {code})\n{tail}")
            continue
        failed_here = 0
        for suite in report["testsuites"]:
            for test in suite["testsuite"]:
                if test.get("failures"):
                    failed_here += 1
                    text = "\n".join(failure["failure"] for failure in test["failures"])
                    failures.append(f"{program}: {suite['name']}.{test['name']}\n{text[:3000]}")
                elif test.get("result") == "COMPLETED":
                    passed += 1
        if code != "0" and not failed_here:
            failures.append(f"{program} ended with status {code} after its tests\n{tail}")
    return passed, failures


def count_junit(file: pathlib.Path) -> tuple[int, list[str]]:
    if not file.is_file():
        return 0, [f"{file} was not written"]
    passed, failures = 0, []
    for case in xml.etree.ElementTree.parse(file).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failures.append(f"{case.get('classname')}::{case.get('name')}")
        elif case.find("skipped") is None:
            passed += 1
    return passed, failures


def count_text(file: pathlib.Path) -> tuple[int, list[str]] | None:
    """The last `Tests  N passed` or `N passed, N failed` of a runner that writes text."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", file.read_text(errors="replace")) if file.is_file() else ""
    lines = [line for line in text.splitlines() if re.search(r"\d+ (passed|failed)", line)]
    lines = [line for line in lines if "Test Files" not in line]
    if not lines:
        return None
    passed = re.search(r"(\d+) passed", lines[-1])
    failed = re.search(r"(\d+) failed", lines[-1])
    count = int(failed[1]) if failed else 0
    return (int(passed[1]) if passed else 0), [lines[-1].strip()] * count


def count_exits(folder: pathlib.Path) -> tuple[int, list[str]]:
    passed, failures = 0, []
    for file in sorted(folder.glob("*.exit")):
        if file.read_text().strip() == "0":
            passed += 1
        else:
            log = file.with_suffix(".log")
            failures.append(f"{file.stem}\n{log.read_text(errors='replace')[-3000:]}")
    return passed, failures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["gtest", "junit", "text", "exits"])
    parser.add_argument("path", type=pathlib.Path)
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_intermixed_args()
    if options.kind == "gtest":
        result = count_gtest(options.path, options.programs)
    elif options.kind == "junit":
        result = count_junit(options.path)
    elif options.kind == "text":
        result = count_text(options.path)
    else:
        result = count_exits(options.path)
    if result is None:
        return 0
    passed, failures = result
    for failure in failures:
        print(f"FAILED {failure}")
    options.out.write_text(f"{passed} {len(failures)}\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

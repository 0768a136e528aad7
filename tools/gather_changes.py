#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gathers changes/<kind>/*.md into CHANGELOG.md under a new version, and removes them.

Usage: tools/gather_changes.py VERSION [--dry-run]
"""

import argparse
import datetime
import pathlib
import re
import sys

KINDS = ["added", "changed", "fixed", "removed", "security"]
TITLE = "# Changes\n\n"


def read_changes(folder: pathlib.Path) -> dict[str, list[tuple[pathlib.Path, str]]]:
    """The lines of each kind, in the order of their files' names."""
    found: dict[str, list[tuple[pathlib.Path, str]]] = {}
    for path in sorted(folder.glob("*/*.md")):
        kind = path.parent.name
        if kind not in KINDS:
            raise ValueError(f"{path}: '{kind}' is not one of {', '.join(KINDS)}")
        text = path.read_text().strip()
        if not text or "\n" in text:
            raise ValueError(f"{path}: a change is one line")
        found.setdefault(kind, []).append((path, text))
    return found


def render(version: str, date: str, changes: dict[str, list[tuple[pathlib.Path, str]]]) -> str:
    parts = [f"## {version} ({date})\n"]
    for kind in KINDS:
        if kind in changes:
            parts.append(f"\n### {kind.capitalize()}\n")
            parts += [f"- {text}\n" for _, text in changes[kind]]
    return "".join(parts) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("version")
    parser.add_argument("--dry-run", action="store_true", help="print the section, change nothing")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parent.parent
    if not re.fullmatch(r"\d+\.\d+\.\d+", options.version):
        print(f"error: '{options.version}' is not a version such as 0.2.0", file=sys.stderr)
        return 1
    try:
        changes = read_changes(root / "changes")
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    section = render(options.version, datetime.date.today().isoformat(), changes)
    if options.dry_run:
        print(section, end="")
        return 0
    changelog = root / "CHANGELOG.md"
    old = changelog.read_text().removeprefix(TITLE) if changelog.is_file() else ""
    changelog.write_text(TITLE + section + old)
    for entries in changes.values():
        for path, _ in entries:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())

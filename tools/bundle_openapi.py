#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles api/openapi/*.yaml (one file per station) into one OpenAPI document, as JSON.

Every path and component has one owner: the same path or component in two files is an error unless
both say the same. References between files ("common.yaml#/components/…") become local ones.
"""

import argparse
import json
import pathlib
import sys

import yaml

METHODS = {
    "get",
    "put",
    "post",
    "delete",
    "patch",
    "head",
    "options",
    "parameters",
    "summary",
    "description",
}


def localise(node: object) -> object:
    """Rewrites `file.yaml#/x` references to `#/x`."""
    if isinstance(node, dict):
        return {
            key: (
                "#" + value.split("#", 1)[1]
                if key == "$ref" and isinstance(value, str) and ".yaml#" in value
                else localise(value)
            )
            for key, value in node.items()
        }
    if isinstance(node, list):
        return [localise(item) for item in node]
    return node


def merge(into: dict, source: dict, where: str, path: str) -> None:
    for key, value in source.items():
        if key not in into:
            into[key] = value
        elif into[key] != value:
            raise ValueError(
                f"{path}: {where} '{key}' is already described otherwise by another file"
            )


def bundle(folder: pathlib.Path, version: str) -> dict:
    document: dict = {
        "openapi": "3.1.0",
        "info": {"title": "takt", "version": version, "license": {"name": "Apache-2.0"}},
        "paths": {},
        "components": {},
        "tags": [],
    }
    for path in sorted(folder.glob("*.yaml")):
        part = localise(yaml.safe_load(path.read_text()) or {})
        if not isinstance(part, dict):
            raise ValueError(f"{path}: not an OpenAPI document")
        for route, item in (part.get("paths") or {}).items():
            merge(document["paths"].setdefault(route, {}), item, f"in {route},", str(path))
        for kind, items in (part.get("components") or {}).items():
            merge(document["components"].setdefault(kind, {}), items or {}, kind, str(path))
        for tag in part.get("tags") or []:
            if tag["name"] not in [known["name"] for known in document["tags"]]:
                document["tags"].append(tag)
        for key in ("security", "servers"):
            if key in part:
                document.setdefault(key, part[key])
    return document


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("api/openapi"))
    parser.add_argument("--version", default="0")
    parser.add_argument(
        "--out", type=pathlib.Path, help="file to write; standard output without it"
    )
    options = parser.parse_args()
    try:
        text = json.dumps(bundle(options.folder, options.version), ensure_ascii=False, default=str)
    except (ValueError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.out:
        options.out.write_text(text)
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())

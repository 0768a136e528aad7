#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bundles api/openapi/*.yaml (one file per station) into one OpenAPI document, as JSON.

Every path has one owner: the same operation in two files is an error unless both say the same. A
component whose name another file took for something else is named for its file (Port of jobs.yaml
becomes JobsPort). References between files ("common.yaml#/components/…") become local ones.
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


Renames = dict[tuple[str, str, str], str]  # (file, kind, name) -> the name in the bundle


def localise(node: object, file: str, renames: Renames) -> object:
    """Rewrites `file.yaml#/components/kind/name` and `#/…` to the place in the bundle."""
    if isinstance(node, list):
        return [localise(item, file, renames) for item in node]
    if not isinstance(node, dict):
        return node
    result = {}
    for key, value in node.items():
        if key == "$ref" and isinstance(value, str) and "#" in value:
            target, pointer = value.split("#", 1)
            parts = pointer.split("/")
            if len(parts) >= 4 and parts[1] == "components":
                owner = target.removeprefix("./") or file
                parts[3] = renames.get((owner, parts[2], parts[3]), parts[3])
            result[key] = "#" + "/".join(parts)
        else:
            result[key] = localise(value, file, renames)
    return result


def plan_names(parts: dict[str, dict]) -> Renames:
    """New names for components that two files use for different things."""
    first: dict[tuple[str, str], object] = {}
    renames: Renames = {}
    for file, part in parts.items():
        for kind, items in (part.get("components") or {}).items():
            for name, item in (items or {}).items():
                known = first.setdefault((kind, name), item)
                if known != item:
                    renames[(file, kind, name)] = file.removesuffix(".yaml").capitalize() + name
    return renames


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
    parts = {
        path.name: yaml.safe_load(path.read_text()) or {} for path in sorted(folder.glob("*.yaml"))
    }
    renames = plan_names(parts)
    for file, raw in parts.items():
        path = folder / file
        part = localise(raw, file, renames)
        if not isinstance(part, dict):
            raise ValueError(f"{path}: not an OpenAPI document")
        for route, item in (part.get("paths") or {}).items():
            merge(document["paths"].setdefault(route, {}), item, f"in {route},", str(path))
        for kind, items in (part.get("components") or {}).items():
            named = {
                renames.get((file, kind, name), name): item for name, item in (items or {}).items()
            }
            merge(document["components"].setdefault(kind, {}), named, kind, str(path))
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

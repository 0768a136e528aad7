# SPDX-License-Identifier: Apache-2.0
"""The API description as a test: every JSON answer of /api/v1 is held against api/openapi."""

import json
import pathlib
import re
import sys

import jsonschema
import referencing
import requests

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import bundle_openapi  # noqa: E402


class Contract:
    """Finds the operation of a request and validates the answer; remembers which routes it saw."""

    def __init__(self) -> None:
        self.document = bundle_openapi.bundle(ROOT / "api/openapi", "test")
        resource = referencing.Resource.from_contents(
            self.document, default_specification=referencing.jsonschema.DRAFT202012
        )
        self.registry = referencing.Registry().with_resource("urn:takt", resource)
        self.templates = [(self._pattern(path), path) for path in self.document["paths"]]
        self.seen: set[tuple[str, str]] = set()

    @staticmethod
    def _pattern(template: str) -> re.Pattern[str]:
        parts = []
        for part in re.split(r"(\{[^}]+\})", template):
            if part.startswith("{"):
                parts.append(r".+" if part.endswith("...}") or part == "{path}" else r"[^/]+")
            else:
                parts.append(re.escape(part))
        return re.compile("".join(parts))

    def _resolve(self, node: dict) -> dict:
        while "$ref" in node:
            target: dict = self.document
            for key in node["$ref"].removeprefix("#/").split("/"):
                target = target[key.replace("~1", "/").replace("~0", "~")]
            node = target
        return node

    def operation(self, method: str, path: str) -> tuple[str, dict] | None:
        """The most literal template that fits the path and has the method."""
        fits = [t for pattern, t in self.templates if pattern.fullmatch(path)]
        for template in sorted(fits, key=lambda t: (t.count("{"), -len(t))):
            item = self.document["paths"][template]
            if method.lower() in item:
                return template, item[method.lower()]
        return None

    def validate(self, response: requests.Response) -> None:
        method = response.request.method or "GET"
        path = requests.utils.unquote(requests.utils.urlparse(response.url).path)
        found = self.operation(method, path)
        if response.status_code in (404, 405) and not found:
            return  # a route that does not exist need not be described
        assert (
            found
        ), f"{method} {path} answered {response.status_code}; api/openapi has no such route"
        template, operation = found
        self.seen.add((method, template))
        responses = operation["responses"]
        described = responses.get(str(response.status_code), responses.get("default"))
        where = f"{method} {template} -> {response.status_code}"
        assert described, f"{where} is not described in api/openapi"
        content = self._resolve(described).get("content", {})
        media_type = response.headers.get("Content-Type", "").split(";")[0]
        if media_type != "application/json" or not response.content:
            return
        schema = content.get("application/json", {}).get("schema")
        assert schema is not None, f"{where} answers JSON that is not described in api/openapi"
        self._check(schema, response.json(), where)

    def _check(self, schema: dict, value: object, where: str) -> None:
        # References inside the schema are relative to the whole document.
        rooted = json.loads(json.dumps(schema, default=str).replace('"#/', '"urn:takt#/'))
        validator = jsonschema.Draft202012Validator(rooted, registry=self._rooted_registry())
        errors = sorted(validator.iter_errors(value), key=lambda error: list(error.absolute_path))
        if errors:
            first = errors[0]
            at = "/".join(str(part) for part in first.absolute_path)
            raise AssertionError(f"{where}: at '{at}': {first.message}")

    def _rooted_registry(self) -> referencing.Registry:
        return self.registry

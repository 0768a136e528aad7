# SPDX-License-Identifier: Apache-2.0
"""Hostile input: paths that leave their root, foreign hosts and sites, scripts in names, secrets
that must not be written anywhere."""

import hashlib
import http.client
import itertools
import json
import pathlib
import re
import urllib.parse
from collections.abc import Iterator

import pytest
import requests

from contract import Contract
from takt_server import Server, running_server

METHODS = ("get", "post", "put", "patch", "delete")


def raw(
    port: int, method: str, path: str, body: bytes | None = None, **headers: str
) -> http.client.HTTPResponse:
    """The path goes out as it is written: `requests` would resolve its dots."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.putrequest(method, path, skip_host="Host" in headers)
        for key, value in headers.items():
            connection.putheader(key.replace("_", "-"), value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        response.body = response.read()  # type: ignore[attr-defined]
        return response
    finally:
        connection.close()


# --- paths


def traversals() -> list[str]:
    """How a path that leaves its root can be written; each as it would stand in a URL."""
    dots = ["..", "%2e%2e", "%2E.", ".%2e", "%252e%252e", "%25252e%25252e", "%c0%ae%c0%ae",
            "%e0%80%ae%e0%80%ae", "..;", "..%00", "..%09", "..%20", "%uff0e%uff0e"]  # fmt: skip
    slashes = ["/", "%2f", "%5c", "%252f", "%255c", "%c0%af", "//", "/./", "%2f%2f"]
    ends = ["takt.db", "admin-token", "etc/passwd"]
    many = [
        slash.join([dot] * depth + [end])
        for dot, slash, (depth, end) in itertools.product(
            dots, slashes, [(2, ends[0]), (7, ends[2])]
        )
    ]
    absolute = [
        "/etc/passwd", "//etc/passwd", "///etc/passwd", "%2fetc%2fpasswd", "%2f%2fetc%2fpasswd",
        "%252fetc%252fpasswd", "//proc/self/root/etc/passwd", "/proc/self/environ",
        "%2fproc%2fself%2fcwd%2ftakt.db", "file:///etc/passwd", "file:/etc/passwd",
        "file:etc/passwd", "file://localhost/etc/passwd", "FILE:///etc/passwd",
        "file%3a%2f%2f%2fetc%2fpasswd", "C:/Windows/win.ini", "C:%5cWindows%5cwin.ini",
        "%5c%5chost%5cshare%5cx", "c:..%5c..%5cx", "~/x", "~root/.ssh/id_rsa",
    ]  # fmt: skip
    inside = [
        "a/../../takt.db", "a/b/../../../takt.db", "a%2f..%2f..%2ftakt.db", "a/..", "a/.",
        ".", "..", "./x", "a//b", "a/./b", "%2e", "%2e%2e", "%2e/x", "....//....//takt.db",
        "..../takt.db", "a%00.txt", "%00", "a%00/../../takt.db", "%zz", "%", "%2", "a%",
        "a%23/../../x", "%23/../..", "a%3f/../../x", "a;/../../x", "..;/..;/takt.db",
        "a/%2e%2e;x=1/b", "a%0d%0aSet-Cookie:x=1", "a%0a", "%e2%80%ae..%2f", "x" * 5000,
        "/".join(["d"] * 600), "a/" + "../" * 300 + "etc/passwd",
    ]  # fmt: skip
    found = list(dict.fromkeys(many + absolute + inside))
    assert len(found) >= 200
    return found


TRAVERSALS = traversals()
# What stands in the files that a path could lead to.
LEAKS = [b"root:x:0", b"SQLite format 3", b"PATH=", b"[fonts]"]


@pytest.fixture(scope="module")
def run_id(live: Server) -> str:
    """A run with an artifact a.txt."""
    answer = live.request("POST", "/api/2.0/mlflow/runs/create", json={"experiment_id": "0"})
    run = answer.json()["run"]["info"]["run_id"]
    path = f"/api/2.0/mlflow-artifacts/artifacts/0/{run}/artifacts/a.txt"
    assert live.request("PUT", path, data=b"good").ok
    return run


def path_routes(contract: Contract, run_id: str) -> Iterator[str]:
    """Where the contract takes a path, with things that exist in the other places. A route whose
    parameters are not known here fails the test, so that it is added."""
    for template, item in contract.document["paths"].items():
        get = item.get("get")
        if not get:
            continue
        parameters = [
            live_parameter["name"]
            for live_parameter in item.get("parameters", []) + get.get("parameters", [])
            if live_parameter.get("in") == "query"
        ]
        places = re.findall(r"\{(\w+)", template)
        in_path = [name for name in places if name in ("path", "thing", "key")]
        in_query = [name for name in parameters if name in ("path", "prefix", "file", "ref")]
        if not in_path and not in_query:
            continue
        thing = "hello-raw" if "/datasets/" in template else "hello"
        known = {"name": thing, "version": "1", "run": run_id, "number": "1", "job": "1"}
        filled = template
        for name in places:
            if name not in in_path:
                assert name in known, f"{template}: give {{{name}}} a thing that exists"
                filled = filled.replace("{" + name + "}", known[name])
        if in_path:
            yield filled[: filled.index("{" + in_path[0])]
        for name in in_query:
            yield f"{filled}?{name}=" if not in_path else ""


def test_no_spelling_of_a_path_reads_what_lies_outside(
    live: Server, contract: Contract, run_id: str
) -> None:
    proxied = "/api/2.0/mlflow-artifacts/artifacts"
    bases = [base for base in path_routes(contract, run_id) if base] + [
        f"/get-artifact?run_id={run_id}&path=",
        "/model-versions/get-artifact?name=hello&version=1&path=",
        f"/api/2.0/mlflow/artifacts/list?run_id={run_id}&path=",
        f"/ajax-api/2.0/mlflow/artifacts/list?run_id={run_id}&path=",
        f"{proxied}/0/{run_id}/artifacts/", f"{proxied}?path=", f"{proxied}/",
        f"/ajax-api/2.0/mlflow-artifacts/artifacts/0/{run_id}/artifacts/",
        "/", "/assets/", "/api/v1/",
    ]  # fmt: skip
    assert len(bases) > 14
    secret = live.token.encode()
    for base in bases:
        # One connection for all: this is some thousands of requests.
        connection = http.client.HTTPConnection("127.0.0.1", live.port, timeout=20)
        for spelling in TRAVERSALS:
            connection.putrequest("GET", base + spelling)
            connection.putheader("Authorization", f"Bearer {live.token}")
            connection.putheader("Accept", "application/json")
            connection.endheaders()
            answer = connection.getresponse()
            body = answer.read()
            where = f"{base}{spelling[:100]}: {answer.status} {body[:200]!r}"
            assert answer.status < 500, where
            assert secret not in body, where
            assert not any(leak in body for leak in LEAKS), where
            assert "set-cookie" not in str(answer.headers).lower(), where
            if answer.will_close:
                connection.close()
        connection.close()
    assert live.request("GET", "/readyz").status_code == 200


def snapshot(folder: pathlib.Path) -> set[str]:
    return {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if "/blobs/" not in str(path) and "takt.db" not in path.name and "/jobs/" not in str(path)
        and "/gateway/" not in str(path)
    }  # fmt: skip


def test_no_spelling_of_a_path_writes_or_deletes_outside(live: Server, run_id: str) -> None:
    before = snapshot(live.data)
    outside = sorted(path.name for path in live.data.parent.iterdir())
    admin = f"Bearer {live.token}"
    base = f"/api/2.0/mlflow-artifacts/artifacts/0/{run_id}/artifacts/"
    taken = []
    for spelling in TRAVERSALS:
        for method, body in (("PUT", b"evil"), ("DELETE", None)):
            answer = raw(live.port, method, base + spelling, body, Authorization=admin)
            where = f"{method} {spelling[:100]}: {answer.status}"
            assert answer.status < 500, where
            decoded = urllib.parse.unquote(urllib.parse.unquote(spelling))
            if ".." in re.split(r"[/\\]", decoded) or decoded.startswith(("/", "\\")):
                assert answer.status in (400, 404, 414), where
            elif method == "PUT" and answer.status == 200:
                taken.append(spelling)
    assert snapshot(live.data) == before
    assert sorted(path.name for path in live.data.parent.iterdir()) == outside
    # What was taken is a name like any other, inside of the run.
    assert len(taken) < 40, taken
    good = live.request("GET", f"/get-artifact?run_id={run_id}&path=a.txt")
    assert good.content == b"good"


def test_uris_that_point_into_the_server_are_refused_as_sources(live: Server, run_id: str) -> None:
    """CVE-2023-1177, -6831, -6909, -6977, CVE-2024-1483, -1558, -1560, -1594, -3573, -3848,
    CVE-2025-11201 and GHSA-5cvj-7rg6-jggj, as sources of versions and as artifact locations."""
    sources = [
        "/etc", "/", "//proc/self/root", "//proc/self/root/etc", "file:///etc", "file:/etc",
        "file:etc", "file://", "file:", "FILE:///etc", "file:///proc/self/root", "///etc/passwd",
        f"{live.data}", f"file://{live.data}/blobs", "C:\\Windows", "\\\\host\\share", "etc/passwd",
        "../../etc", "./x", "~/x", "mlflow-artifacts:/../../etc", "mlflow-artifacts:/%2e%2e/%2e%2e",
        "mlflow-artifacts:/%252e%252e/x", f"mlflow-artifacts:/0/{run_id}/artifacts/../../../etc",
        f"mlflow-artifacts:/0/{run_id}/artifacts/%2e%2e/x",
        f"mlflow-artifacts:/0/{run_id}/artifacts/..%5c..%5cx",
        "mlflow-artifacts://evil/../../x", f"runs:/{run_id}/../../etc", f"runs:/{run_id}/%2e%2e/x",
        f"runs:/{run_id}/..\\..\\x", "runs:/../x", "models:/../x", "models:/hello/../../x",
        "models:/hello/%2e%2e", "s3://bucket/../../etc/passwd", "http:///../../etc/passwd#/../..",
        "http://host/x/../../../etc/passwd", "http://host/%2e%2e/%2e%2e/etc/passwd",
        "http:///#/../../../../etc/passwd", "mlflow-artifacts:/x#/../..", "s3://b/x?/../../y#/..",
        "s3://b/\0/x", "ftp://host/..%2f..%2fx",
    ]  # fmt: skip
    v2 = "/api/2.0/mlflow"
    live.request("POST", f"{v2}/registered-models/create", json={"name": "target"})
    for source in sources:
        for run in ("", run_id):
            body = {"name": "target", "source": source, "run_id": run}
            answer = live.request("POST", f"{v2}/model-versions/create", json=body)
            assert answer.status_code in (400, 404), f"{source!r}: {answer.text[:300]}"
            assert "root:x" not in answer.text
    for number, location in enumerate(s for s in sources if "#" in s or ".." in s or "%2e" in s):
        body = {"name": f"located {number}", "artifact_location": location}
        answer = live.request("POST", f"{v2}/experiments/create", json=body)
        if answer.ok:  # a remote address that is only kept, never opened by the server
            made = answer.json()["experiment_id"]
            run = live.request("POST", f"{v2}/runs/create", json={"experiment_id": made}).json()
            other = run["run"]["info"]["run_id"]
            for path in ("etc/passwd", "passwd", "takt.db"):
                read = live.request("GET", f"/get-artifact?run_id={other}&path={path}")
                assert read.status_code in (400, 404), f"{location}: {read.text[:200]}"


def test_manifests_hold_the_corpus_out_as_well(live: Server) -> None:
    content = b"evil"
    digest = hashlib.sha256(content).hexdigest()
    live.request("PUT", f"/api/v1/blobs/{digest}", data=content).raise_for_status()
    for spelling in TRAVERSALS:
        path = urllib.parse.unquote(spelling, errors="surrogateescape")
        leaves = "\\" in path or "\0" in path or any(
            part in ("", ".", "..") for part in path.split("/")
        )  # fmt: skip
        if not leaves:
            continue
        text = f"takt manifest 1\n{digest} - {len(content)} {path}\n".encode(
            errors="surrogateescape"
        )
        tree = hashlib.sha256(text).hexdigest()
        live.request("PUT", f"/api/v1/blobs/{tree}", data=text).raise_for_status()
        answer = live.request("POST", "/api/v1/datasets/evil/versions", json={"tree": tree})
        assert answer.status_code == 400, f"{path!r}: {answer.text[:200]}"
    assert all(dataset["name"] != "evil" for dataset in live.api("GET", "datasets")["items"])


# --- other sites


FOREIGN_HOSTS = [
    "evil.example", "evil.example:{port}", "127.0.0.1.evil.example",
    "localhost.evil.example:{port}", "127.0.0.1.nip.io", "localhost@evil.example",
    "evil.example#localhost", "evil.example/localhost", "localhost:{port}@evil.example",
    "localhost.", "xn--localhost-.example", "0.0.0.0:{port}",
    "2130706433", "0x7f000001", "[::ffff:7f00:1]:{port}", "[::]:{port}", "[::1", "::1]",
    "localhost:x",
    "localhost:99999999", "localhost:80:80", "127.0.0.1:-1", "localhost,evil.example", "",
    "169.254.169.254", "metadata.google.internal", "takt.internal", "*", "null", "a" * 300,
]  # fmt: skip
ALLOWED_HOSTS = ["localhost", "localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST"]


@pytest.mark.parametrize(
    "path", ["/api/v1/whoami", "/", "/api/2.0/mlflow/experiments/get?experiment_id=0"]
)
def test_a_rebound_name_reaches_nothing(live: Server, path: str) -> None:
    admin = f"Bearer {live.token}"
    for host in FOREIGN_HOSTS:
        if host == "localhost.":
            continue  # the same name, written with its root
        named = host.format(port=live.port)
        answer = raw(live.port, "GET", path, Host=named, Authorization=admin)
        assert answer.status in (400, 403), f"{named!r}: {answer.status}"
        assert live.token.encode() not in answer.body and b"admin" not in answer.body
    for host in ALLOWED_HOSTS:
        named = host.format(port=live.port)
        answer = raw(live.port, "GET", path, Host=named, Authorization=admin)
        assert answer.status == 200, f"{named!r}: {answer.status}"


def unsafe_operations(contract: Contract) -> Iterator[tuple[str, str, dict]]:
    for template, item in contract.document["paths"].items():
        for method in METHODS[1:]:
            if method in item:
                yield method, re.sub(r"\{\w+[^}]*\}", "1", template), item[method]


@pytest.fixture
def browser(live: Server) -> requests.Session:
    """A browser that is signed in as the admin."""
    session = requests.Session()
    answer = session.post(f"{live.url}/api/v1/sign-in", json={"token": live.token}, timeout=10)
    assert answer.ok
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie
    assert session.get(f"{live.url}/api/v1/whoami", timeout=10).json()["user"] == "admin"
    return session


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost.evil.example"},
        {"Origin": "http://127.0.0.1:1"}, {"Origin": "https://evil.example@127.0.0.1"}, {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "{url}"},
    ],
    ids=lambda headers: " ".join(f"{k}={v}" for k, v in headers.items()),
)  # fmt: skip
def test_another_site_cannot_use_a_session(
    live: Server, contract: Contract, browser: requests.Session, headers: dict[str, str]
) -> None:
    named = {key: value.format(url=live.url) for key, value in headers.items()}
    asked = 0
    for method, path, _ in unsafe_operations(contract):
        answer = browser.request(method, live.url + path, json={}, headers=named, timeout=10)
        assert answer.status_code == 403, f"{method} {path} {named}: {answer.status_code}"
        asked += 1
    for path in ("runs/create", "experiments/create", "registered-models/create"):
        answer = browser.post(
            f"{live.url}/api/2.0/mlflow/{path}", json={"name": "csrf"}, headers=named, timeout=10
        )
        assert answer.status_code == 403, path
    assert asked > 20
    assert browser.get(f"{live.url}/api/v1/whoami", timeout=10).status_code == 200


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "",
     "text/plain; application/json", "application/jsonx", "text/json"],
)  # fmt: skip
def test_a_form_cannot_be_passed_off_as_json(
    live: Server, contract: Contract, browser: requests.Session, content_type: str
) -> None:
    """What a page can send without asking first (CORS-simple requests), were Origin not checked."""
    before = {p["name"] for p in live.api("GET", "projects")["items"]}
    for method, path, operation in unsafe_operations(contract):
        if "application/json" not in operation.get("requestBody", {}).get("content", {}):
            continue
        answer = browser.request(
            method, live.url + path, data=b'{"name": "csrf", "experiment_id": "0"}',
            headers={"Content-Type": content_type}, timeout=10,
        )  # fmt: skip
        assert not answer.ok, f"{method} {path} as {content_type}: {answer.status_code}"
        assert answer.status_code < 500, f"{method} {path}: {answer.status_code}"
    for path in ("experiments/create", "runs/create", "registered-models/create"):
        answer = browser.post(
            f"{live.url}/api/2.0/mlflow/{path}", data=b'{"name": "csrf", "experiment_id": "0"}',
            headers={"Content-Type": content_type}, timeout=10,
        )  # fmt: skip
        assert answer.status_code == 400, f"{path} as {content_type}: {answer.status_code}"
    assert {p["name"] for p in live.api("GET", "projects")["items"]} == before


def test_no_answer_lets_other_sites_read_it(live: Server) -> None:
    for path in ("/api/v1/whoami", "/api/2.0/mlflow/experiments/get?experiment_id=0", "/"):
        for method in ("GET", "OPTIONS"):
            headers = {"Origin": "http://evil.example", "Authorization": f"Bearer {live.token}"}
            answer = requests.request(method, live.url + path, headers=headers, timeout=10)
            assert not [name for name in answer.headers if "access-control" in name.lower()], path


# --- scripts in names


SCRIPTS = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>',
    "javascript:alert(1)", "'-alert(1)-'", "</title><script>alert(1)</script>",
    "{{constructor.constructor('alert(1)')()}}", "${alert(1)}", "=cmd|' /C calc'!A0",
    "\u202e<script>", "<!--<script>",
]  # fmt: skip


def is_harmless(answer: requests.Response) -> None:
    """Nothing that a browser would run: JSON, or a download that is sandboxed."""
    kind = answer.headers.get("Content-Type", "")
    where = f"{answer.url}: {kind}"
    assert answer.headers.get("X-Content-Type-Options") == "nosniff", where
    if kind.startswith("application/json"):
        return
    assert not kind.startswith(("text/html", "image/svg", "text/xml")) or (
        "sandbox" in answer.headers.get("Content-Security-Policy", "")
        and answer.headers.get("Content-Disposition", "").startswith("attachment")
    ), where


def test_scripts_in_every_text_stay_text(live: Server, run_id: str) -> None:
    v1, v2 = "/api/v1", "/api/2.0/mlflow"
    for script in SCRIPTS:
        quoted = urllib.parse.quote(script, safe="")
        sent = [
            ("POST", f"{v2}/experiments/create", {"name": script}),
            ("POST", f"{v2}/runs/create", {"experiment_id": "0", "run_name": script}),
            ("POST", f"{v2}/runs/set-tag", {"run_id": run_id, "key": "t", "value": script}),
            ("POST", f"{v2}/runs/set-tag", {"run_id": run_id, "key": script, "value": "x"}),
            ("POST", f"{v2}/runs/log-parameter",
             {"run_id": run_id, "key": script, "value": script}),
            ("POST", f"{v2}/runs/log-metric",
             {"run_id": run_id, "key": script, "value": 1, "timestamp": 1, "step": 0}),
            ("POST", f"{v2}/registered-models/create", {"name": script}),
            ("PATCH", f"{v2}/registered-models/update", {"name": "hello", "description": script}),
            ("PATCH", f"{v1}/models/hello", {"description": script}),
            ("POST", f"{v1}/projects", {"name": script}),
            ("POST", f"{v1}/users", {"name": script}),
            ("POST", f"{v1}/tokens", {"note": script}),
            ("POST", f"{v1}/jobs", {"kind": "Job", "name": script, "spec": {"command": ["true"]}}),
            ("POST", f"{v1}/services",
             {"kind": "Service", "name": script, "spec": {"model": "m@1"}}),
            ("PUT", f"{v1}/runs/{run_id}/tags/{quoted}", {"value": script}),
            ("GET", f"{v1}/datasets/{quoted}", None), ("GET", f"{v1}/models/{quoted}", None),
            ("GET", f"{v1}/why?ref={quoted}", None), ("GET", f"{v1}/runs?filter={quoted}", None),
            ("GET", f"{v1}/go/{quoted}", None), ("GET", f"{v2}/runs/get?run_id={quoted}", None),
            ("GET", f"{v2}/no-such/{quoted}", None),
            ("GET", f"/get-artifact?run_id={quoted}&path=x", None),
        ]  # fmt: skip
        for method, path, body in sent:
            answer = requests.request(
                method, live.url + path, json=body, timeout=10,
                headers={"Authorization": f"Bearer {live.token}"},
            )  # fmt: skip
            assert answer.status_code < 500, f"{method} {path}: {answer.status_code}"
            kind = answer.headers.get("Content-Type", "")
            assert kind.startswith(("application/json", "text/plain")), f"{path}: {kind}"
            is_harmless(answer)
    for path in (f"{v1}/runs/{run_id}", f"{v1}/runs", f"{v1}/experiments", f"{v1}/tokens",
                 f"{v1}/events", f"{v1}/line", f"{v2}/runs/get?run_id={run_id}"):  # fmt: skip
        is_harmless(live.request("GET", path))


@pytest.mark.parametrize(
    "name",
    ["x.html", "x.svg", "x.xml", "x.xhtml", "x.js", "x.htm", "x", "x.pdf", "x.ipynb", "x.md",
     "x.mht",      "<script>.html", 'a";x=".html', "a\u202ehtml.txt"],
)  # fmt: skip
def test_active_content_of_users_is_downloaded_not_shown(
    live: Server, run_id: str, name: str, tmp_path: pathlib.Path
) -> None:
    content = b"<html><script>alert(document.cookie)</script></html>"
    quoted = urllib.parse.quote(name, safe="")
    base = f"/api/2.0/mlflow-artifacts/artifacts/0/{run_id}/artifacts/"
    stored = live.request("PUT", base + quoted, data=content, headers={"Content-Type": "text/html"})
    assert stored.ok, stored.text
    for path in (
        base + quoted,
        f"/get-artifact?run_id={run_id}&path={quoted}",
        f"/api/v1/runs/{run_id}/content/{quoted}",
    ):
        answer = live.request("GET", path)
        assert answer.status_code == 200, f"{path}: {answer.text[:200]}"
        assert answer.content == content
        is_harmless(answer)
        disposition = answer.headers.get("Content-Disposition", "")
        assert disposition.startswith("attachment") and "\n" not in disposition
        assert '";x=' not in disposition


def test_the_console_allows_no_script_but_its_own(live: Server) -> None:
    for path in ("/", "/runs", "/no/such/page", "/%3Cscript%3Ealert(1)%3C/script%3E"):
        answer = live.request("GET", path, headers={"Accept": "text/html"})
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy or "script-src 'self'" in policy, policy
        assert "unsafe-eval" not in policy and "*" not in policy, policy
        scripts = re.search(r"script-src ([^;]*)", policy)
        assert not scripts or "unsafe-inline" not in scripts[1], policy
        assert "<script>alert" not in answer.text
        frames = policy + answer.headers.get("X-Frame-Options", "")
        assert "frame-ancestors" in frames or "SAMEORIGIN" in frames or "DENY" in frames


# --- secrets


def test_secrets_are_written_nowhere(tmp_path: pathlib.Path, contract: Contract) -> None:
    with running_server(tmp_path, contract, log_level="debug") as server:
        made = server.json("token", "create", "--note", "canary")["token"]
        session = requests.Session()
        session.post(f"{server.url}/api/v1/sign-in", json={"token": made}, timeout=10)
        cookie = session.cookies["takt_session"]
        wrong = "takt_" + "ab" * 8 + "_" + "c0ffee" * 10 + "beef"
        canaries = {
            "the admin token": server.token, "a token": made, "a session": cookie,
            "a wrong token": wrong, "a password": "hunter2-canary-password",
        }  # fmt: skip
        for canary in canaries.values():
            basic = requests.auth._basic_auth_str("admin", canary)
            for headers in (
                {"Authorization": f"Bearer {canary}"}, {"Authorization": basic},
                {"Authorization": canary}, {"Authorization": f"Token {canary}"},
                {"Cookie": f"takt_session={canary}"}, {"X-Api-Key": canary}, {"Referer": canary},
                {"User-Agent": canary}, {"X-Request-Id": canary},
            ):  # fmt: skip
                for path in (
                    "/api/v1/whoami",
                    "/api/v1/services/x/promote",
                    "/metrics",
                    "/nowhere",
                ):
                    requests.post(server.url + path, headers=headers, timeout=10)
                    requests.get(server.url + path, headers=headers, timeout=10)
            if not canary.startswith("takt"):
                continue  # in a path nobody can tell that it is a secret
            for path in (
                f"/api/v1/whoami?token={canary}", f"/?access_token={canary}",
                f"/api/v1/datasets/{canary}", f"/{canary}",
                f"/api/2.0/mlflow/runs/get?run_id={canary}",
                f"/api/v1/runs?project={canary}", f"/api/v1/tokens/{canary}",
            ):  # fmt: skip
                server.request("GET", path)
                server.request("DELETE", path)
                server.request("GET", path, token=canary)
            for body in ({"token": canary}, {"token": canary[:-1]}, {"password": canary}, [canary]):
                requests.post(f"{server.url}/api/v1/sign-in", json=body, timeout=10)
                server.request("POST", "/api/v1/tokens", json=body)
            credentials = f"http://user:{canary}@127.0.0.1:{server.port}/api/v1/whoami"
            requests.get(credentials, timeout=10)
        # A body that ends early, and one that is no JSON.
        raw(server.port, "POST", "/api/v1/sign-in", b'{"token": "' + made.encode(),
            Content_Type="application/json")  # fmt: skip
        server.stop()
        log = server.log()
        assert "the server is ready" in log
        stored = b"".join(f.read_bytes() for f in sorted(server.data.glob("takt.db*")))
        for what, canary in canaries.items():
            assert canary not in log, f"{what} is in the log"
            secret = canary.rsplit("_", 1)[-1]
            assert secret not in log, f"the secret of {what} is in the log"
            assert secret.encode() not in stored, f"the secret of {what} is in the database"


def test_an_error_says_nothing_of_the_servers_insides(live: Server) -> None:
    for path in ("/api/v1/runs?filter=((((", "/api/v1/datasets/x/versions/1/content/%ff",
                 "/api/v1/why?ref=%00", "/api/2.0/mlflow/runs/get?run_id=%27%20OR%201=1--",
                 "/api/v1/runs?filter=params.x%20%3D%20%27%27%27%20OR%201%3D1"):  # fmt: skip
        answer = live.request("GET", path)
        assert answer.status_code < 500, f"{path}: {answer.text}"
        text = json.dumps(answer.json())
        for inside in (str(live.data), "SELECT ", "sqlite", ".cc:", "std::", "0x7f"):
            assert inside not in text, f"{path}: {text}"

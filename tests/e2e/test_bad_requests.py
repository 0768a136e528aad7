# SPDX-License-Identifier: Apache-2.0
"""Wrong requests to server and gateway: paths, tensors, bodies, framing, tokens."""

import hashlib
import http.client
import json
import socket

import pytest
import requests

from takt_server import Server, wait_until


def raw(
    port: int, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    """A request whose path goes out as it is written: `requests` would resolve its dots."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        connection.request(method, path, body, {k.replace("_", "-"): v for k, v in headers.items()})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


# --- paths


SPELLINGS = [
    "../../takt.db", "..%2f..%2ftakt.db", "%2e%2e/%2e%2e/takt.db", "/etc/passwd", "%2fetc%2fpasswd",
    "a/../../b", "a%00b", "..%5c..%5cx", "%252e%252e%252ftakt.db", "./x", "a//b", "%c0%ae%c0%ae/x",
    "..", "%2e%2e", "%zz",
]  # fmt: skip


def test_no_spelling_of_a_path_leaves_its_root(live: Server):
    run = live.api("GET", "runs")["items"][0]["id"]
    proxied = "/api/2.0/mlflow-artifacts/artifacts"
    bases = [
        "/api/v1/datasets/hello-raw/versions/1/content/",
        f"/api/v1/runs/{run}/content/",
        f"/api/v1/runs/{run}/artifacts?path=",
        "/api/v1/models/hello/versions/1/content/",
        f"/get-artifact?run_id={run}&path=",
        f"/api/2.0/mlflow/artifacts/list?run_id={run}&path=",
        f"{proxied}/0/{run}/artifacts/",
        f"{proxied}?path=",
        f"/ajax-api/2.0/mlflow-artifacts/artifacts/0/{run}/artifacts/",
        "/assets/",
    ]
    admin = f"Bearer {live.token}"
    for base in bases:
        for spelling in SPELLINGS:
            status, answer = raw(live.port, "GET", base + spelling, Authorization=admin)
            assert status in (400, 404), (base, spelling, status, answer[:200])
            assert b"message" in json.dumps(json.loads(answer)).encode(), (base, spelling, answer)
    outside = sorted(path.name for path in live.data.parent.iterdir())
    inside = sorted(path.name for path in live.data.iterdir())
    for spelling in SPELLINGS:
        for method in ("PUT", "DELETE"):
            path = f"{proxied}/0/{run}/artifacts/{spelling}"
            status, answer = raw(live.port, method, path, b"evil", Authorization=admin)
            assert status == 400, (method, spelling, status, answer)
            assert json.loads(answer)["error_code"] == "INVALID_PARAMETER_VALUE"
    assert sorted(path.name for path in live.data.parent.iterdir()) == outside
    assert sorted(path.name for path in live.data.iterdir()) == inside
    assert live.request("GET", "/readyz").status_code == 200


@pytest.mark.parametrize("name", ["..", "a/b", "../../x", "", "-x", "a" * 129, "a\nb", "ä"])
def test_a_name_that_could_be_a_path_is_refused(live: Server, tmp_path, name):
    for path, body in [
        ("projects", {"name": name}),
        ("users", {"name": name, "role": "viewer"}),
        ("services", {"kind": "Service", "name": name, "spec": {"model": "hello@1"}}),
        ("jobs", {"kind": "Job", "name": name or "..", "spec": {"command": ["true"]}}),
    ]:
        answer = live.api("POST", path, json=body, expect=400)
        assert answer["error"]["hint"] or "required" in answer["error"]["message"], answer
    spec = {"command": ["true"], "outputs": {name: {"kind": "json"}}}
    live.api("POST", "jobs", json={"kind": "Job", "name": "n", "spec": spec}, expect=400)
    spec = {"command": ["true"], "inputs": {name: "hello-raw@1"}}
    live.api("POST", "jobs", json={"kind": "Job", "name": "n", "spec": spec}, expect=400)


def test_a_manifest_whose_paths_leave_is_refused(live: Server):
    content = b"evil"
    digest = hashlib.sha256(content).hexdigest()
    live.request("PUT", f"/api/v1/blobs/{digest}", data=content).raise_for_status()
    for path in [
        "../evil",
        "/etc/evil",
        "a/../../evil",
        "a//b",
        "./a",
        "a\\..\\b",
        "",
        "..",
        "a\0b",
    ]:
        text = f"takt manifest 1\n{digest} - {len(content)} {path}\n".encode()
        tree = hashlib.sha256(text).hexdigest()
        live.request("PUT", f"/api/v1/blobs/{tree}", data=text).raise_for_status()
        answer = live.api("POST", "datasets/evil/versions", json={"tree": tree}, expect=400)
        assert answer["error"]["code"] == "invalid_argument", (path, answer)
    wrong = live.request("PUT", f"/api/v1/blobs/{'0' * 64}", data=content)
    assert wrong.status_code == 400, wrong.text
    assert all(dataset["name"] != "evil" for dataset in live.api("GET", "datasets")["items"])


# --- tensors and bodies through the gateway


def infer(
    server: Server, body: object, service: str = "hello", **headers: str
) -> requests.Response:
    return requests.post(
        f"{server.gateway_url}/v2/models/{service}/infer",
        data=body if isinstance(body, bytes) else json.dumps(body),
        headers={key.replace("_", "-"): value for key, value in headers.items()}, timeout=20,
    )  # fmt: skip


def tensor(name="X", datatype="FP32", shape=(1, 4), data=(1, 2, 3, 4)) -> dict:
    return {
        "inputs": [{"name": name, "datatype": datatype, "shape": list(shape), "data": list(data)}]
    }


def short_id(value: object) -> str | None:
    """A case is called after what its answer must say; pytest's own name holds the whole input."""
    return (
        "-".join(value)[:40]
        if isinstance(value, list) and value and isinstance(value[0], str)
        else "x"
    )


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (tensor(name="Z"), ["input 'Z'", "unknown name", "'X' (FP32 [-1,4])"]),
        ({"inputs": []}, ["input 'X' is missing", "FP32 [-1,4]"]),
        ({}, ["'inputs' is missing"]),
        ([], ["must be a JSON object"]),
        (tensor(shape=[1, 5], data=[1] * 5), ["input 'X'", "[1,5] given", "[-1,4] expected"]),
        (tensor(shape=[4]), ["input 'X'", "[4] given", "[-1,4] expected"]),
        (tensor(shape=[-1, 4]), ["input 'X'", "[-1,4]", "negative"]),
        (tensor(shape=[0, 4], data=[]), ["input 'X'", "0 rows given", "at least 1 expected"]),
        (tensor(shape=[2**62, 4]), ["input 'X'", "elements"]),
        (tensor(datatype="FP64"), ["input 'X'", "FP64 given", "FP32 expected"]),
        (tensor(datatype="FLOAT"), ["input 'X'", "'FLOAT' is unknown", "FP32"]),
        (tensor(data=[1, 2, 3]), ["input 'X'", "3 values given", "needs 4"]),
        (tensor(data=[1, 2, 3, "a"]), ["input 'X'", "value 3", '"a"', "FP32"]),
        ({"inputs": tensor()["inputs"] * 2}, ["input 'X'", "twice"]),
        (tensor() | {"outputs": [{"name": "W"}]}, ["output 'W' is unknown", "'Y' (FP32 [-1,4])"]),
        (b'{"inputs":[', ["not valid JSON"]),
        (b"", ["JSON"]),
    ],
    ids=short_id,
)
def test_a_wrong_tensor_names_the_input_what_came_and_what_is_wanted(live: Server, body, words):
    response = infer(live, body)
    assert response.status_code == 400, response.text
    message = response.json()["error"]
    assert isinstance(message, str)
    assert not [word for word in words if word not in message], message
    assert infer(live, tensor()).status_code == 200


def test_binary_tensors_of_a_wrong_length_name_both_lengths(live: Server):
    entry = {
        "name": "X",
        "datatype": "FP32",
        "shape": [1, 4],
        "parameters": {"binary_data_size": 12},
    }
    head = json.dumps({"inputs": [entry]}).encode()
    size = str(len(head))
    response = infer(live, head + bytes(12), Inference_Header_Content_Length=size)
    assert response.status_code == 400
    assert "12 bytes given, shape [1,4] of FP32 needs 16" in response.json()["error"]
    response = infer(live, head + bytes(4), Inference_Header_Content_Length=size)
    assert response.status_code == 400
    assert "only 4 bytes" in response.json()["error"]
    for wrong in ("99999", "-1", "abc", "18446744073709551616"):
        response = infer(live, head + bytes(12), Inference_Header_Content_Length=wrong)
        assert response.status_code == 400
        assert wrong in response.json()["error"]


def test_an_unknown_service_or_version_names_those_there_are(live: Server):
    response = infer(live, tensor(), service="hallo")
    assert response.status_code == 404
    assert "did you mean 'hello'?" in response.json()["error"]
    response = requests.post(
        f"{live.gateway_url}/v2/models/hello/versions/9/infer", json=tensor(), timeout=20
    )
    assert response.status_code == 404
    assert "no version '9'" in response.json()["error"]


def test_the_gateways_root_says_what_it_is(live: Server):
    response = requests.get(live.gateway_url, timeout=20)
    assert response.status_code == 200
    assert "/v2/models/SERVICE/infer" in response.text
    response = requests.get(f"{live.gateway_url}/v3", timeout=20)
    assert response.status_code == 404
    assert "/v3" in response.json()["error"]


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_over_the_limit_is_413_with_the_limit(live: Server, is_chunked):
    piece = bytes(1 << 20)

    def pieces(count: int):
        for _ in range(count):
            yield piece

    def post(url: str, mebibytes: int, **headers: str) -> requests.Response:
        body = pieces(mebibytes) if is_chunked else piece * mebibytes
        try:
            return requests.post(url, data=body, headers=headers, timeout=30)
        except requests.ConnectionError:  # the refusal came while the body was still being sent
            return requests.post(
                url,
                data=b"",
                headers=headers | {"Content-Length": str(mebibytes << 20)},
                timeout=30,
            )

    response = post(f"{live.gateway_url}/v2/models/hello/infer", 65)
    assert response.status_code == 413, response.text
    assert "67108864" in response.json()["error"]
    response = post(
        f"{live.url}/api/v1/services", 9,
        Authorization=f"Bearer {live.token}", **{"Content-Type": "application/json"},
    )  # fmt: skip
    assert response.status_code == 413, response.text
    assert response.json()["error"]["code"] == "too_large"
    assert "8388608" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{", id="open"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[]", id="array"),
        pytest.param(b'"x"', id="text"),
        pytest.param(b"\xff\xfe", id="not-utf8"),
        pytest.param(b'{"name":"a"} {}', id="two-documents"),
        pytest.param(b'{"name":1e999}', id="huge-number"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b'{"name":"\\ud800"}', id="lone-surrogate"),
        pytest.param(b'{"name":NaN}', id="nan"),
    ],
)
def test_malformed_json_is_400_and_makes_nothing(live: Server, body):
    response = live.request(
        "POST", "/api/v1/projects", data=body, headers={"Content-Type": "application/json"}
    )
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == "invalid_argument"
    assert response.json()["error"]["message"]
    assert [project["name"] for project in live.api("GET", "projects")["items"]] == ["default"]


def test_another_content_type_is_refused(live: Server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        response = live.request(
            "POST", "/api/v1/projects", data=b'{"name":"p"}', headers={"Content-Type": kind}
        )
        assert response.status_code in (400, 415), response.text
        assert "application/json" in response.text


@pytest.mark.parametrize(
    "rest",
    [
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\n{}\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: 2x\r\n\r\n{}",
        b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
)
def test_malformed_framing_is_refused_at_both_doors(live: Server, rest):
    for port, path in (
        (live.port, "/api/v1/projects"),
        (live.gateway_port, "/v2/models/hello/infer"),
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                f"Authorization: Bearer {live.token}\r\n"
                "Content-Type: application/json\r\n".encode()
                + rest
            )
            answer = connection.recv(4096)
        assert answer.split(b" ")[1] in (b"400", b"413", b"501"), answer
    assert infer(live, tensor()).status_code == 200


# --- tokens


def test_a_wrong_or_expired_token_opens_no_door(live: Server):
    expired = live.api("POST", "tokens", json={"expires_in": "1ms"})["token"]
    wait_until(lambda: live.request("GET", "/api/v1/whoami", token=expired).status_code == 401, 5)
    wrong = live.token[:-1] + ("0" if live.token[-1] != "0" else "1")
    doors = ["/api/v1/events/stream", "/api/v1/line", "/api/v1/why?ref=job/1", "/metrics",
             "/api/2.0/mlflow/runs/get?run_id=x", "/ajax-api/2.0/mlflow/experiments/search",
             "/get-artifact?run_id=x&path=y", "/api/2.0/mlflow-artifacts/artifacts"]  # fmt: skip
    for token in (None, "", "x", expired, wrong):
        for door in doors:
            response = live.request("GET", door, token=token)
            assert response.status_code == 401, (
                door,
                token,
                response.status_code,
                response.text[:200],
            )
    assert (
        live.request("POST", "/api/v1/sign-in", token=None, json={"token": wrong}).status_code
        == 401
    )
    for token in (expired, wrong):
        said = live.run("whoami", token=token)
        assert said.returncode == 3, said.stderr
        assert "hint: " in said.stderr
    assert "expired" in live.run("whoami", token=expired).stderr

# SPDX-License-Identifier: Apache-2.0
"""Wrong input at every door: each answer names the value and the remedy, and nothing is lost."""

import hashlib
import http.client
import json
import os
import pathlib
import socket
import subprocess
import threading

import pytest
import requests

from contract import ROOT
from takt_server import TAKT, Server, own_environment, wait_until

HELLO = ROOT / "examples/hello"


def refused(server: Server, *words: str | pathlib.Path, code: int = 2, **arguments) -> str:
    """What a command that must fail with `code` says on standard error."""
    result = server.run(*words, **arguments)
    assert result.returncode == code, (words, result.returncode, result.stdout, result.stderr)
    assert result.stderr.startswith("error: "), result.stderr
    return result.stderr


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


@pytest.fixture(scope="module")
def live(shared_server: Server) -> Server:
    """The shared server after one run of examples/hello: hello@1 is live, the run waits for a
    person's approval. maya is an operator."""
    server = shared_server
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    server.takt("pipeline", "run", HELLO / "pipeline.yaml", "--wait")
    server.takt("user", "add", "maya", "--role", "operator")
    return server


@pytest.fixture(scope="module")
def maya(live: Server) -> str:
    return live.json("token", "create", "--user", "maya")["token"]


def stored_pipelines(server: Server) -> list[str]:
    return [pipeline["name"] for pipeline in server.api("GET", "pipelines")["items"]]


# --- documents


def pipeline(nodes: str, more: str = "") -> str:
    return f"kind: Pipeline\nname: wrong\nspec:\n  {more}\n  nodes: {nodes}\n"


JOB = "job: {command: [x]}"


def short_id(value: object) -> str | None:
    """A case is called after what its answer must say; pytest's own name holds the whole input."""
    return "-".join(value)[:40] if isinstance(value, list) and value and isinstance(value[0], str) else "x"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (pipeline(f"[{{name: a, needs: [b], {JOB}}}, {{name: b, needs: [a], {JOB}}}]"),
         ["cycle", "a -> b -> a", "needs"]),
        (pipeline(f"[{{name: a, needs: [a], {JOB}}}]"), ["cycle", "a -> a"]),
        (pipeline('[{name: a, inputs: {x: "${nodes.b.outputs.y}"}, outputs: {y: {kind: json}}, job: {command: [x]}},'
                  ' {name: b, inputs: {x: "${nodes.a.outputs.y}"}, outputs: {y: {kind: json}}, job: {command: [x]}}]'),
         ["cycle", "a -> b -> a"]),
        ("kind: Pipeline\nname: wrong\nspec: {node: []}\n", ["spec.node", "unknown field", "nodes"]),
        (pipeline("[{name: a, jobs: {command: [x]}}]"), ["spec.nodes[0].jobs", "unknown field", "job"]),
        (pipeline("7"), ["spec.nodes", "must be an array, got integer"]),
        (pipeline("[]"), ["spec.nodes", "at least one node"]),
        (pipeline(f"[{{name: a, colour: red, {JOB}}}]"), ["spec.nodes[0].colour", "unknown field"]),
        (pipeline(f"[{{name: a, need: [b], {JOB}}}]"), ["spec.nodes[0].need", "did you mean", "needs"]),
        (pipeline(f"[{{name: a, {JOB}}}]", "param: {}"), ["spec.param", "did you mean", "params"]),
        (pipeline("[{name: 7, job: {command: [x]}}]"), ["spec.nodes[0].name", "must be text, got integer"]),
        (pipeline("[{name: a, action: gaet}]"), ["spec.nodes[0].action", "did you mean 'gate'?"]),
        (pipeline("[{name: a}]"), ["spec.nodes[0].action", "`action` or `job`"]),
        (pipeline(f"[{{name: a, {JOB}}}, {{name: a, {JOB}}}]"), ["two nodes are called 'a'"]),
        (pipeline(f"[{{name: a, needs: [zz], {JOB}}}]"), ["spec.nodes[0].needs[0]", "there is no node 'zz'"]),
        (pipeline(f'[{{name: a, inputs: {{x: "${{params.dat}}"}}, {JOB}}}]', "params: {data: d}"),
         ["'dat'", "did you mean 'data'?"]),
        (pipeline(f"[{{name: a, approve: {{by: nobody}}, {JOB}}}]"), ["approve.by", "anyone or not-submitter"]),
        (pipeline("[{name: a, job: {command: [x], timeout: soon}}]"), ["spec.nodes[0].job.timeout", '"soon"', "write 90s"]),
        ("kind: Pipeline\nname: a/b\nspec: {nodes: [{name: a, job: {command: [x]}}]}\n", ["a/b", "letters"]),
        ("kind: Service\nname: x\nspec: {model: m@1}\n", ["no document of kind Pipeline"]),
        ("a: &a [*a]\n", ["line 1", "anchors"]),
        ("kind: [\n", ["line"]),
        ("", ["no document of kind Pipeline"]),
    ],
    ids=short_id,
)  # fmt: skip
def test_a_wrong_pipeline_is_refused_by_field_and_not_stored(live: Server, tmp_path, text, words):
    (tmp_path / "p.yaml").write_text(text)
    said = refused(live, "pipeline", "run", tmp_path / "p.yaml")
    assert not [word for word in words if word not in said], said
    assert stored_pipelines(live) == ["hello-line"]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("hello-raw@77", ["hello-raw@77", "versions that exist: 1"]),
        ("hello-row", ["hello-row", "did you mean 'hello-raw'?"]),
    ],
)
def test_a_pipeline_on_data_that_is_not_there_starts_nothing(live: Server, reference, words):
    before = live.api("GET", "pipelines/hello-line")["last_run"]
    said = refused(live, "pipeline", "run", "hello-line", "-p", f"data={reference}", code=4)
    assert not [word for word in words if word not in said], said
    said = refused(live, "pipeline", "run", "hello-line", "-p", "epoch=3")
    assert "did you mean 'epochs'?" in said
    assert live.api("GET", "pipelines/hello-line")["last_run"] == before


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{modle: hello@1}", ["spec.modle", "unknown field", "model"]),
        ("{model: hello@1, replica: 2}", ["spec.replica", "unknown field", "replicas"]),
        ("{model: hello@1, replicas: two}", ["spec.replicas", "must be an integer, got text"]),
        ("{model: hello@1, replicas: 0}", ["spec.replicas", "1..64", "got 0"]),
        ("{model: 7}", ["spec.model", "must be text, got integer"]),
        ("{model: hello@1, resources: {cpu: lots}}", ["spec.resources.cpu", '"lots"', "write 500m"]),
        ("{model: hello@1, batching: {max_batch: 3}}", ["spec.batching.max_batch", "max_batch_size"]),
        ("{model: hello@1, batching: {max_batch_size: -3}}", ["max_batch_size", "got -3"]),
        ("hello@1", ["spec", "must be an object, got text"]),
    ],
    ids=short_id,
)
def test_a_wrong_service_is_refused_by_field_and_not_made(live: Server, tmp_path, spec, words):
    (tmp_path / "s.yaml").write_text(f"kind: Service\nname: wrong\nspec: {spec}\n")
    said = refused(live, "deploy", tmp_path / "s.yaml")
    assert not [word for word in words if word not in said], said
    assert [service["name"] for service in live.api("GET", "services")["items"]] == ["hello"]


def test_an_unknown_kind_and_a_missing_file_are_named(live: Server, tmp_path):
    (tmp_path / "x.yaml").write_text("kind: Pipelin\nname: x\nspec: {}\n")
    assert "did you mean 'Pipeline'?" in refused(live, "apply", "-f", tmp_path / "x.yaml")
    assert "nothing.yaml" in refused(live, "apply", "-f", tmp_path / "nothing.yaml", code=4)
    assert "directory" in refused(live, "apply", "-f", tmp_path)


# --- data


def dataset_names(server: Server) -> set[str]:
    return {dataset["name"] for dataset in server.api("GET", "datasets")["items"]}


def test_what_is_not_a_readable_file_stops_an_add_and_is_named(live: Server, tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n1\n")
    before = dataset_names(live)
    os.mkfifo(folder / "pipe")
    said = refused(live, "data", "add", "odd", folder)
    assert '"pipe" is a pipe' in said
    assert ".taktignore" in said
    assert "neither a file nor a folder" in refused(live, "data", "add", "odd", folder / "pipe")
    (folder / "pipe").unlink()
    (folder / "lost").symlink_to(tmp_path / "nowhere")
    assert '"lost" is a symbolic link that leads nowhere' in refused(live, "data", "add", "odd", folder)
    (folder / "lost").unlink()
    (folder / "far").symlink_to("/etc")
    assert "leaves the folder" in refused(live, "data", "add", "odd", folder)
    (folder / "far").unlink()
    assert "neither a file nor a folder" in refused(live, "data", "add", "odd", "/dev/zero")
    assert "holds no files" in refused(live, "data", "add", "odd", empty_folder(tmp_path))
    assert '"a.csv" is there twice' in refused(live, "data", "add", "odd", folder / "a.csv", folder / "a.csv")
    assert dataset_names(live) == before
    assert live.json("data", "add", "odd", folder)["files"] == 1


def empty_folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def test_a_file_that_grows_while_it_is_added_is_refused_until_it_rests(live: Server, tmp_path):
    path = tmp_path / "grows.bin"
    path.write_bytes(bytes(64 << 20))
    rests = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not rests.wait(0.002):
                file.write(os.urandom(1000))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        said = refused(live, "data", "add", "grows", path, code=5)
    finally:
        rests.set()
        writer.join()
    assert "grows.bin changed while it was read" in said
    assert "add it again" in said
    assert "grows" not in dataset_names(live)
    assert live.json("data", "add", "grows", path)["size_bytes"] == path.stat().st_size


def test_a_version_that_something_was_made_of_stays(live: Server):
    said = refused(live, "data", "rm", "hello-raw@1", code=5)
    assert "is used by" in said
    assert "--force" in said
    assert live.api("GET", "datasets/hello-raw/versions/1")["version"] == 1
    assert "versions that exist: 1" in refused(live, "data", "rm", "hello-raw@9", code=4)
    assert "NAME@N" in refused(live, "data", "rm", "hello-raw")


def test_a_manifest_whose_paths_leave_is_refused(live: Server):
    content = b"evil"
    digest = hashlib.sha256(content).hexdigest()
    live.request("PUT", f"/api/v1/blobs/{digest}", data=content).raise_for_status()
    for path in ["../evil", "/etc/evil", "a/../../evil", "a//b", "./a", "a\\..\\b", "", "..", "a\0b"]:
        text = f"takt manifest 1\n{digest} - {len(content)} {path}\n".encode()
        tree = hashlib.sha256(text).hexdigest()
        live.request("PUT", f"/api/v1/blobs/{tree}", data=text).raise_for_status()
        answer = live.api("POST", "datasets/evil/versions", json={"tree": tree}, expect=400)
        assert answer["error"]["code"] == "invalid_argument", (path, answer)
    wrong = live.request("PUT", f"/api/v1/blobs/{'0' * 64}", data=content)
    assert wrong.status_code == 400, wrong.text
    assert "evil" not in dataset_names(live)


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


# --- tensors and bodies through the gateway


def infer(server: Server, body: object, service: str = "hello", **headers: str) -> requests.Response:
    return requests.post(
        f"{server.gateway_url}/v2/models/{service}/infer",
        data=body if isinstance(body, bytes) else json.dumps(body),
        headers={key.replace("_", "-"): value for key, value in headers.items()}, timeout=20,
    )  # fmt: skip


def tensor(name="X", datatype="FP32", shape=(1, 4), data=(1, 2, 3, 4)) -> dict:
    return {"inputs": [{"name": name, "datatype": datatype, "shape": list(shape), "data": list(data)}]}


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
    entry = {"name": "X", "datatype": "FP32", "shape": [1, 4], "parameters": {"binary_data_size": 12}}
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
    response = requests.post(f"{live.gateway_url}/v2/models/hello/versions/9/infer", json=tensor(), timeout=20)
    assert response.status_code == 404
    assert "no version '9'" in response.json()["error"]


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
                url, data=b"", headers=headers | {"Content-Length": str(mebibytes << 20)}, timeout=30
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
    response = live.request("POST", "/api/v1/projects", data=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400, response.text
    assert response.json()["error"]["code"] == "invalid_argument"
    assert response.json()["error"]["message"]
    assert [project["name"] for project in live.api("GET", "projects")["items"]] == ["default"]


def test_another_content_type_is_refused(live: Server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/jsonx"):
        response = live.request("POST", "/api/v1/projects", data=b'{"name":"p"}', headers={"Content-Type": kind})
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
    for port, path in ((live.port, "/api/v1/projects"), (live.gateway_port, "/v2/models/hello/infer")):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(
                f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {live.token}\r\n"
                "Content-Type: application/json\r\n".encode() + rest
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
            assert response.status_code == 401, (door, token, response.status_code, response.text[:200])
    assert live.request("POST", "/api/v1/sign-in", token=None, json={"token": wrong}).status_code == 401
    said = refused(live, "whoami", token=wrong, code=3)
    assert "token" in said
    assert "hint: " in said
    assert "expired" in refused(live, "whoami", token=expired, code=3)


# --- the command line


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["data", "ls", "--nope"], 2, "--nope"),
        (["data", "add", "x"], 2, "paths is required"),
        (["data"], 2, "subcommand"),
        (["data", "sow", "hello-raw"], 2, "did you mean 'takt data show'?"),
        (["--url", "ftp://x", "line"], 2, "http://HOST:PORT"),
        (["jobs", "show", "abc"], 2, "abc"),
        (["jobs", "show", "999999"], 4, "no job 999999"),
        (["logs", "999999"], 4, "no job 999999"),
        (["runs", "show", "xyz"], 4, "xyz"),
        (["models", "show", "helo"], 4, "helo"),
        (["submit", "--cpu", "lots", "--", "true"], 2, "write 500m"),
        (["submit", "--priority", "12", "--", "true"], 2, "1..9, got 12"),
        (["submit", "--output", "x=foo", "--", "true"], 2, "dataset, model, artifact, json"),
        (["submit", "--input", "x", "--", "true"], 2, "NAME=VALUE"),
        (["jobs", "--state", "foo"], 2, "waiting, starting, running"),
        (["--project", "nope", "data", "ls"], 4, "takt project ls"),
        (["--project", "../x", "data", "ls"], 4, "takt project ls"),
        (["events", "--limit", "0"], 2, "1..1000"),
        (["line", "--since", "abc"], 2, "write 90s"),
        (["user", "add", "zed", "--role", "king"], 2, "viewer, developer, operator or admin"),
        (["user", "add", "maya"], 5, "exists already"),
        (["token", "create", "--user", "nobody"], 4, "takt user add nobody"),
        (["deploy", "x", "--model", "hello@9"], 4, "versions that exist: 1"),
        (["deploy", "x", "--model", "hello@nope"], 4, "hello@nope"),
        (["deploy", "x"], 2, "--model"),
        (["why", "nonsense"], 4, "KIND/NAME"),
        (["why", "job/999999"], 4, "no job 999999"),
        (["why", "kind/x"], 4, "KIND one of dataset, job"),
        (["why", "request/abc"], 2, "Takt-Request-Id"),
        (["why", "../../etc"], 4, "KIND/NAME"),
        (["why"], 2, "thing is required"),
        (["pipeline", "show", "hello-line", "99"], 4, "no run 99"),
        (["pipeline", "approve", "hello-line", "1", "promot"], 4, "no node 'promot'"),
        (["pipeline", "approve", "hello-line", "1", "train"], 5, "waits for no decision"),
        (["canary", "start", "hallo", "--model", "hello@1"], 4, "did you mean 'hello'?"),
    ],
)
def test_a_wrong_word_names_itself_and_ends_with_its_code(live: Server, tmp_path, words, code, text):
    result = live.run(*words, cwd=tmp_path)
    assert result.returncode == code, (result.stdout, result.stderr)
    assert text.lower() in result.stderr.lower(), result.stderr
    assert result.stderr.startswith("error: "), result.stderr


def test_a_word_that_may_mean_several_things_lists_them(live: Server):
    said = live.takt("why", "hello")
    assert "model/hello@1" in said
    assert "service/hello" in said


def test_the_processes_name_their_wrong_flags():
    for words in (["server", "--nope"], ["gateway", "--nope"], ["infer", "--nope"], ["restore", "--nope"]):
        result = subprocess.run(
            [str(TAKT), *words], capture_output=True, text=True, timeout=20, env=own_environment()
        )
        assert result.returncode == 2, (words, result.stderr)
        assert "nope" in result.stdout + result.stderr or "required" in result.stderr, result


# --- services, models and approvals


@pytest.mark.parametrize("alias", ["latest", "LATEST", "v3", "3", "a b", "../x"])
def test_an_alias_that_reads_like_a_version_is_refused(live: Server, alias):
    result = live.run("models", "alias", "hello@1", alias)
    assert result.returncode == 2, (result.stdout, result.stderr)
    assert "alias" in result.stderr
    assert live.api("GET", "models/hello")["aliases"] in ([], {})
    assert "versions that exist: 1" in refused(live, "models", "alias", "hello@9", "prod", code=4)


def test_promote_abort_set_and_rollback_with_nothing_to_act_on_change_nothing(live: Server):
    before = live.api("GET", "services/hello")["revisions"]
    for words in (["canary", "promote"], ["canary", "abort"], ["canary", "set", "--share", "10%"]):
        said = refused(live, *words, "hello", code=5)
        assert "no open canary" in said
        assert "takt canary start" in said
    assert "no revision before" in refused(live, "rollback", "hello", code=5)
    assert "stable revision" in refused(live, "canary", "start", "hello", "--model", "hello@1", code=5)
    for share in ("101", "-5", "abc", "", "5%%", "nan", "1e9"):
        assert "such as 5%" in refused(live, "canary", "start", "hello", "--model", "hello@1", "--share", share)
    for share in (101, -0.1, "5", None, True, 1e300):
        body = {"model": "hello@1", "share": share}
        live.api("POST", "services/hello/canary", json=body, expect=400)
        live.api("PATCH", "services/hello/traffic", json={"share": share}, expect=400)
    after = live.api("GET", "services/hello")["revisions"]
    assert [(r["number"], r["share"]) for r in after] == [(r["number"], r["share"]) for r in before]


def test_a_second_approval_and_a_late_rejection_decide_nothing_again(live: Server, maya: str):
    server = live
    own = refused(server, "pipeline", "approve", "hello-line", "1", "promote", code=3)
    assert "someone other than admin" in own
    for _ in range(2):
        server.run("pipeline", "approve", "hello-line", "1", "promote", token=maya)
    wait_until(lambda: server.api("GET", "pipelines/hello-line/runs/1")["state"] == "succeeded", 30)
    late = server.run("pipeline", "reject", "hello-line", "1", "promote", token=maya)
    assert late.returncode == 5, (late.stdout, late.stderr)
    events = server.api("GET", "events?limit=1000")["items"]
    decided = [e["verb"] for e in events if e["subject"] == "node/hello-line/1/promote"]
    assert decided.count("node.approved") == 1
    assert "node.rejected" not in decided
    assert server.api("GET", "pipelines/hello-line/runs/1")["state"] == "succeeded"

# SPDX-License-Identifier: Apache-2.0
"""The whole line on examples/hello, and on examples/digits with its real scripts."""

import json
import math
import pathlib
import re
import subprocess

import numpy
import pytest
import requests
import tritonclient.grpc
import tritonclient.http

from contract import ROOT
from takt_server import TAKT, Server, own_environment, wait_until

HELLO = ROOT / "examples/hello"
DIGITS = ROOT / "examples/digits"


def run_state(server: Server, pipeline: str, number: int) -> dict:
    return server.api("GET", f"pipelines/{pipeline}/runs/{number}")


def wait_run(server: Server, pipeline: str, number: int, *states: str, seconds: float = 90) -> dict:
    def settled():
        run = run_state(server, pipeline, number)
        assert run["state"] in states or run["state"] in ("running", "waiting-approval"), run[
            "reason"
        ]
        return run if run["state"] in states else None

    return wait_until(settled, seconds, every=0.1, what=f"run {number} to be one of {states}")


def nodes_of(run: dict) -> dict[str, dict]:
    return {node["name"]: node for node in run["nodes"]}


@pytest.fixture
def approver(server: Server) -> str:
    server.takt("user", "add", "maya", "--role", "operator")
    return server.json("token", "create", "--user", "maya")["token"]


def live_shares(server: Server, service: str = "hello") -> dict[str, float]:
    revisions = server.api("GET", f"services/{service}")["revisions"]
    return {r["model"]: r["share"] for r in revisions if r["share"]}


def start_hello(server: Server, *params: str) -> int:
    words = [word for param in params for word in ("-p", param)]
    return server.json("pipeline", "run", HELLO / "pipeline.yaml", *words)["number"]


def approve(server: Server, number: int, token: str, pipeline: str = "hello-line") -> None:
    server.takt(
        "pipeline", "approve", pipeline, str(number), "promote", "--note", "looks good", token=token
    )


def infer(server: Server, service: str = "hello") -> requests.Response:
    return requests.post(
        f"{server.gateway_url}/v2/models/{service}/infer",
        json={"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]},
        timeout=10,
    )


def test_from_data_to_a_promoted_canary_and_back_by_why(server: Server, approver: str):
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    first = start_hello(server)
    wait_run(server, "hello-line", first, "waiting-approval")
    own = server.run("pipeline", "approve", "hello-line", str(first), "promote")
    assert own.returncode == 3
    assert "someone other than admin" in own.stderr
    approve(server, first, approver)
    run = wait_run(server, "hello-line", first, "succeeded")
    version = nodes_of(run)["register"]["outputs"]["version"]["ref"]
    assert version == "model/hello@1"
    response = infer(server)
    assert response.status_code == 200, response.text
    assert len(response.json()["outputs"][0]["data"]) == 4

    second = start_hello(server, "epochs=60")
    run = wait_run(server, "hello-line", second, "waiting-approval")
    nodes = nodes_of(run)
    assert nodes["validate"]["state"] == nodes["preprocess"]["state"] == "cached"
    assert nodes["train"]["state"] == "done"
    service = server.api("GET", "services/hello")
    shares = {revision["model"]: revision["share"] for revision in service["revisions"]}
    assert shares == {"hello@1": 95, "hello@2": 5}

    counts: dict[str, int] = {}
    for _ in range(2000):
        revision = infer(server).headers["Takt-Revision"]
        counts[revision] = counts.get(revision, 0) + 1
    canary = min(counts.values())
    # 99.9 % of a binomial(2000, 0.05): mean 100, standard deviation 9.75.
    assert abs(canary - 100) < 3.29 * math.sqrt(2000 * 0.05 * 0.95), counts

    approve(server, second, approver)
    wait_run(server, "hello-line", second, "succeeded")
    service = server.api("GET", "services/hello")
    shares = {
        revision["model"]: revision["share"]
        for revision in service["revisions"]
        if revision["share"]
    }
    assert shares == {"hello@2": 100}

    response = infer(server)
    answer = server.takt("why", f"request/{response.headers['Takt-Request-Id']}")
    for word in ("hello@2", "hello-train@1", "approved-by", "user/maya"):
        assert word in answer, answer

    server.takt("rollback", "hello")
    wait_until(
        lambda: live_shares(server) == {"hello@1": 100},
        10, what="the roll back",
    )  # fmt: skip
    assert infer(server).status_code == 200


def test_an_armed_pipeline_starts_for_each_new_version(server: Server):
    server.takt("apply", "-f", HELLO / "pipeline.yaml")
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    wait_until(
        lambda: server.api("GET", "pipelines/hello-line")["last_run"] == 1,
        20,
        what="the triggered run",
    )
    run = run_state(server, "hello-line", 1)
    assert run["trigger"] == "dataset/hello-raw@1"
    assert run["params"]["data"] == "hello-raw@1"
    wait_run(server, "hello-line", 1, "waiting-approval")


def test_a_gate_that_says_no_stops_the_line_with_numbers(server: Server):
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    number = start_hello(server, "epochs=0")
    run = wait_run(server, "hello-line", number, "stopped")
    gate = nodes_of(run)["gate"]
    assert gate["state"] == "stopped"
    assert "accuracy >= 0.95 (got 0.9" in gate["reason"]
    assert nodes_of(run)["register"]["state"] == "skipped"
    assert server.api("GET", "models")["items"] == []


def test_a_plan_says_what_is_in_place(server: Server):
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    wait_run(server, "hello-line", start_hello(server), "waiting-approval")
    plan = {n["name"]: n["verdict"] for n in server.json("pipeline", "plan", "hello-line")["nodes"]}
    assert plan["train"] == plan["evaluate"] == "fresh"
    assert plan["promote"] == "blocked"
    changed = {
        n["name"]: n["verdict"]
        for n in server.json("pipeline", "plan", "hello-line", "-p", "epochs=61")["nodes"]
    }
    assert changed["preprocess"] == "fresh"
    assert changed["train"] == "will-run"


def test_the_server_restarts_under_load_and_no_request_fails(server: Server, approver: str):
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    number = start_hello(server)
    wait_run(server, "hello-line", number, "waiting-approval")
    statuses: list[int] = []
    server.kill()
    for _ in range(200):
        statuses.append(infer(server).status_code)
    server.start()
    for _ in range(200):
        statuses.append(infer(server).status_code)
    server.restart()
    for _ in range(200):
        statuses.append(infer(server).status_code)
    assert set(statuses) == {200}
    approve(server, number, approver)
    wait_run(server, "hello-line", number, "succeeded")


def test_tritonclient_works_unchanged_through_the_gateway(server: Server):
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    wait_run(server, "hello-line", start_hello(server), "waiting-approval")
    data = numpy.array([[1, 2, 3, 4]], dtype=numpy.float32)
    with tritonclient.http.InferenceServerClient(f"127.0.0.1:{server.gateway_port}") as client:
        assert client.is_server_live()
        assert client.is_model_ready("hello")
        assert client.get_model_metadata("hello")["inputs"][0]["name"] == "X"
        tensor = tritonclient.http.InferInput("X", [1, 4], "FP32")
        tensor.set_data_from_numpy(data)
        by_http = client.infer("hello", [tensor]).as_numpy("Y")
    with tritonclient.grpc.InferenceServerClient(f"127.0.0.1:{server.gateway_grpc_port}") as client:
        assert client.is_model_ready("hello")
        tensor = tritonclient.grpc.InferInput("X", [1, 4], "FP32")
        tensor.set_data_from_numpy(data)
        by_grpc = client.infer("hello", [tensor]).as_numpy("Y")
    assert by_http.shape == (1, 4)
    assert numpy.array_equal(by_http, by_grpc)


def test_a_model_that_is_not_onnx_is_refused_with_the_exporter_to_use(server: Server, tmp_path):
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "job.yaml").write_text(
        "kind: Job\nname: pickle\nspec:\n"
        "  command: [sh, -c, 'echo pickled > $TAKT_OUTPUT_MODEL/model.pkl']\n"
        "  outputs: {model: {kind: model}}\n"
    )
    job = server.wait_job(server.json("submit", "job.yaml", cwd=folder)["number"])
    run = job["run"].removeprefix("run/")
    server.takt("models", "register", "pickle", "--run", run, "--path", "model")
    result = server.run("deploy", "pickle", "--model", "pickle@1")
    assert result.returncode == 2, result.stderr
    assert "ONNX" in result.stderr
    assert re.search(r"skl2onnx|torch\.onnx", result.stderr)


@pytest.mark.slow
def test_the_digits_line_in_one_go(server: Server, tmp_path):
    summary = subprocess.run(
        [str(DIGITS / "run.sh")], capture_output=True, text=True, timeout=400,
        env=own_environment(
            TAKT=str(TAKT), TAKT_URL=server.url, GATEWAY_URL=server.gateway_url,
            TAKT_TOKEN=server.token, TAKT_HOME=str(server.data),
            PYTHON=str(ROOT / "build/venv-example/bin/python"),
        ),
    )  # fmt: skip
    assert summary.returncode == 0, summary.stdout + summary.stderr
    accuracy = float(re.search(r"accuracy ([0-9.]+)", summary.stdout)[1])
    assert accuracy >= 0.96
    curl = next(line for line in summary.stdout.splitlines() if line.startswith("curl "))
    digit = re.search(r"test image of the digit (\d)", summary.stdout)[1]
    predicted = subprocess.run(
        ["bash", "-c", curl], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert predicted == digit
    service = server.api("GET", "services/digits")
    live = [r for r in service["revisions"] if r["share"] == 100]
    assert [r["model"] for r in live] == ["digits@2"], json.dumps(service)[:2000]
    evaluate = nodes_of(run_state(server, "digits-line", 2))["evaluate"]
    assert evaluate["outputs"]["metrics"]["json"]["n"] == 360
    shown = server.api("GET", "datasets/digits-train/versions/latest")
    assert shown["rows"] + 360 < 1797
    assert pathlib.Path(server.data).is_dir()

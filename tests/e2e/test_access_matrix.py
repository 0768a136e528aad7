# SPDX-License-Identifier: Apache-2.0
"""Role x route x project: the contract says which right each route needs, the server is held to it.

The list of takt's routes comes from api/openapi (x-takt-right, common.yaml), that of MLflow's from
the descriptors of its own client, so that no new route escapes."""

import json
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from mlflow.protos import databricks_pb2, mlflow_artifacts_pb2, model_registry_pb2, service_pb2

from contract import Contract
from takt_server import Server, running_server

RIGHTS = {"any": 0, "read": 1, "write": 2, "operate": 3, "administer": 4}
ROLES = {"viewer": 1, "developer": 2, "operator": 3, "admin": 4}
METHODS = ("get", "post", "put", "patch", "delete")
NOWHERE = {
    "digest": "0" * 64, "job": "999999", "number": "999999", "version": "999999", "run": "f" * 32,
    "experiment": "999999",
}  # fmt: skip


@dataclass(frozen=True)
class Route:
    method: str
    path: str  # with nothing left to fill in
    right: str
    body: str | None = None  # JSON text
    name: str = ""

    def __str__(self) -> str:
        return f"{self.method.upper()} {self.name or self.path}"


def right_of(method: str, operation: dict) -> str:
    if operation.get("security") == []:
        return "anonymous"
    return operation.get("x-takt-right") or ("read" if method == "get" else "write")


def contract_routes(contract: Contract) -> list[Route]:
    """Of things that do not exist: who may call gets 400 or 404, who may not gets 403."""
    routes = []
    for template, item in contract.document["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            path = re.sub(r"\{(\w+)[^}]*\}", lambda m: NOWHERE.get(m[1], "nothing"), template)
            body = item[method].get("requestBody", {}).get("content", {})
            text = "{}" if "application/json" in body else None
            routes.append(Route(method, path, right_of(method, item[method]), text, template))
    return routes


# --- MLflow's routes, from its protocol


READING_POSTS = ("search", "search-runs", "get-latest-versions", "batchGet", "search-datasets")
SAMPLES = {
    "experiment_id": "0", "run_id": "f" * 32, "run_uuid": "f" * 32, "version": "1",
    "name": "nothing",
    "model_id": "m-" + "f" * 32, "new_name": "other", "stage": "Staging", "alias": "best",
    "source": "mlflow-artifacts:/0/x/artifacts/m", "model_type": "m", "path": "a.txt",
    "max_results": 10, "timestamp": 1, "step": 1, "start_time": 1,
}  # fmt: skip


def is_list(field: Any) -> bool:
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == 3


def sample_of(message: Any) -> dict[str, Any]:
    """A small request with what the call requires."""
    values: dict[str, Any] = {}
    for field in message.fields:
        is_required = field.GetOptions().Extensions[databricks_pb2.validate_required]
        if field.name in SAMPLES and not is_list(field):
            values[field.name] = SAMPLES[field.name]
        elif is_required and is_list(field):
            values[field.name] = [sample_of(field.message_type) if field.message_type else "0"]
        elif is_required:
            values[field.name] = {
                field.CPPTYPE_STRING: "x", field.CPPTYPE_DOUBLE: 1.0, field.CPPTYPE_BOOL: False,
                field.CPPTYPE_ENUM: field.enum_type.values[0].name if field.enum_type else "",
            }.get(field.cpp_type, 1)  # fmt: skip
    return values


def mlflow_routes() -> list[Route]:
    services = [
        service_pb2.DESCRIPTOR.services_by_name["MlflowService"],
        model_registry_pb2.DESCRIPTOR.services_by_name["ModelRegistryService"],
        mlflow_artifacts_pb2.DESCRIPTOR.services_by_name["MlflowArtifactsService"],
    ]
    routes = []
    for service in services:
        for call in service.methods:
            sample = sample_of(call.input_type)
            for endpoint in call.GetOptions().Extensions[databricks_pb2.rpc].endpoints:
                raw = re.sub(
                    r"\{(?:\w+\.)?(\w+)\}|<(?:path:)?(\w+)>",
                    lambda m: str(SAMPLES.get(m[1] or m[2], "nothing")),
                    endpoint.path,
                )
                prefix = f"/api/{max(endpoint.since.major, 2)}.0"
                method = endpoint.method.lower()
                reads = method == "get" or raw.rsplit("/", 1)[1] in READING_POSTS
                text = json.dumps(sample)
                if method == "get":
                    query = "&".join(
                        f"{key}={value}"
                        for key, value in sample.items()
                        if key not in endpoint.path
                    )
                    raw, text = f"{raw}?{query}", None
                elif raw.startswith("/mlflow-artifacts/artifacts/"):
                    text = "content"
                routes.append(Route(method, prefix + raw, "read" if reads else "write", text))
    for path in (
        "/get-artifact?run_id=" + "f" * 32,
        "/model-versions/get-artifact?name=x&version=1",
    ):
        routes.append(Route("get", path + "&path=a.txt", "read"))
    return routes


def call(server: Server, route: Route, token: str | None, project: str = "") -> requests.Response:
    path = route.path
    if project:
        path += ("&" if "?" in path else "?") + f"project={project}"
    headers = {"Content-Type": "application/json"} if route.body is not None else {}
    response = server.request(
        route.method, path, token=token, headers=headers, data=route.body, stream=True, timeout=20
    )
    if "event-stream" not in response.headers.get("Content-Type", ""):
        response.content  # noqa: B018: read to the end
    response.close()
    return response


def is_served(response: requests.Response) -> bool:
    if response.status_code not in (404, 405):
        return True
    try:
        return response.json().get("error_code") not in (None, "ENDPOINT_NOT_FOUND")
    except ValueError:
        return False


# --- the server of these tests


@dataclass
class Site:
    server: Server
    tokens: dict[str, str]  # of each role in project default
    outsider: str  # a developer of project vision, who has no part in default
    removed: str  # once a member of default, with a token of that time
    mlflow: list[Route]  # as far as the server has them


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Iterator[Site]:
    with running_server(tmp_path_factory.mktemp("matrix"), contract) as server:
        tokens = {"admin": server.token}
        for role in ("viewer", "developer", "operator"):
            server.takt("user", "add", role, "--role", role)
            tokens[role] = server.json("token", "create", "--user", role)["token"]
        server.takt("project", "create", "vision")
        for name, project in (("nora", "vision"), ("remo", "default")):
            server.takt("user", "add", name, "--role", "none")
            server.takt("project", "grant", project, name, "--role", "developer")
        outsider = server.json("--project", "vision", "token", "create", "--user", "nora")["token"]
        removed = server.json("token", "create", "--user", "remo")["token"]
        server.takt("project", "revoke", "default", "remo")
        served = [r for r in mlflow_routes() if is_served(call(server, r, server.token))]
        yield Site(server, tokens, outsider, removed, served)


def expect(response: requests.Response, route: Route, who: str, allowed: bool) -> None:
    where = f"{who}: {route} -> {response.status_code}"
    if allowed:
        assert response.status_code not in (401, 403), where
        assert response.status_code < 500, where
    else:
        assert response.status_code == 403, where
        body = response.json()
        code = body.get("error_code") or body["error"]["code"]
        assert code in ("permission_denied", "PERMISSION_DENIED"), where


@pytest.mark.parametrize("role", ROLES)
def test_each_role_may_call_exactly_the_routes_of_its_rights(
    site: Site, contract: Contract, role: str
) -> None:
    allowed = denied = 0
    for route in contract_routes(contract):
        if route.right == "anonymous":
            continue
        may = ROLES[role] >= RIGHTS[route.right]
        expect(call(site.server, route, site.tokens[role]), route, role, may)
        allowed, denied = allowed + may, denied + (not may)
    assert allowed > 30
    assert denied > 8 or role == "admin"


@pytest.mark.parametrize("role", ROLES)
def test_mlflows_routes_ask_for_the_same_roles(site: Site, role: str) -> None:
    assert len(site.mlflow) > 50, "the descriptors gave no routes"
    for route in site.mlflow:
        may = ROLES[role] >= RIGHTS[route.right]
        expect(call(site.server, route, site.tokens[role]), route, role, may)


def test_no_route_opens_without_a_token(site: Site, contract: Contract) -> None:
    for route in [*contract_routes(contract), *site.mlflow]:
        if route.right == "anonymous":
            continue
        for token in (None, "takt_0011223344556677_" + "0" * 64, "taktjob_00_00"):
            answer = call(site.server, route, token)
            assert answer.status_code == 401, f"{route} with {token}: {answer.status_code}"


def test_who_has_no_part_in_a_project_is_refused_on_every_route(
    site: Site, contract: Contract
) -> None:
    for route in contract_routes(contract):
        if route.right == "anonymous":
            continue
        for project in ("default", "no-such-project"):
            answer = call(site.server, route, site.outsider, project)
            expect(answer, route, f"an outsider of {project}", False)
        expect(call(site.server, route, site.removed), route, "a former member",
               route.right == "any")  # fmt: skip
    for route in site.mlflow:
        expect(call(site.server, route, site.removed), route, "a former member", False)


def test_an_outsider_sees_only_its_own_projects(site: Site) -> None:
    names = [p["name"] for p in site.server.json("project", "ls", token=site.outsider)["items"]]
    assert names == ["vision"]
    assert (
        site.server.run("data", "ls", "--project", "default", token=site.outsider).returncode == 3
    )


# --- things of one project, asked from another


@dataclass
class Things:
    experiment: str
    run: str
    model_id: str
    job: int


@pytest.fixture(scope="module")
def things(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Things:
    """One of each kind, in project default, with its children."""
    server = site.server
    folder = tmp_path_factory.mktemp("things")
    (folder / "a.csv").write_text("x\n1\n")
    server.takt("data", "add", "secret-data", folder / "a.csv")

    def mlflow(path: str, body: dict) -> dict:
        answer = server.request("POST", f"/api/2.0/mlflow/{path}", json=body)
        assert answer.ok, answer.text
        return answer.json()

    experiment = mlflow("experiments/create", {"name": "secret-experiment"})["experiment_id"]
    run = mlflow("runs/create", {"experiment_id": experiment, "start_time": 1})["run"]["info"]
    run_id = run["run_id"]
    mlflow("runs/log-metric", {"run_id": run_id, "key": "m", "value": 1, "timestamp": 1, "step": 0})
    mlflow("runs/log-parameter", {"run_id": run_id, "key": "p", "value": "secret-param"})
    put = server.request(
        "PUT",
        f"/api/2.0/mlflow-artifacts/artifacts/{experiment}/{run_id}/artifacts/model/a.txt",
        data=b"secret-artifact",
    )
    assert put.ok, put.text
    model = mlflow("logged-models", {"experiment_id": experiment, "name": "secret-logged"})
    mlflow("registered-models/create", {"name": "secret-model"})
    source = {"source": f"runs:/{run_id}/model", "run_id": run_id}
    mlflow("model-versions/create", {"name": "secret-model"} | source)
    spec = {"kind": "Job", "name": "secret-job", "spec": {"command": ["echo", "secret-log"]}}
    job = server.api("POST", "jobs", json=spec)["number"]
    server.wait_job(job)
    return Things(experiment, run_id, model["model"]["info"]["model_id"], job)


def test_no_thing_or_child_of_another_project_can_be_read(site: Site, things: Things) -> None:
    run, experiment, job = things.run, things.experiment, things.job
    v2, artifacts = "/api/2.0/mlflow", "/api/2.0/mlflow-artifacts/artifacts"
    for path in [
        "/api/v1/datasets/secret-data", "/api/v1/datasets/secret-data/versions/1",
        "/api/v1/datasets/secret-data/versions/1/files",
        "/api/v1/datasets/secret-data/versions/1/content/a.csv",
        "/api/v1/datasets/secret-data/versions/1/preview",
        f"/api/v1/experiments/{experiment}", f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/metrics/m",
        f"/api/v1/runs/{run}/artifacts", f"/api/v1/runs/{run}/content/model/a.txt",
        "/api/v1/models/secret-model", "/api/v1/models/secret-model/versions/1",
        "/api/v1/models/secret-model/versions/1/files",
        "/api/v1/models/secret-model/versions/1/content/a.txt",
        f"/api/v1/jobs/{job}", f"/api/v1/jobs/{job}/log",
        f"{v2}/experiments/get?experiment_id={experiment}", f"{v2}/runs/get?run_id={run}",
        f"{v2}/experiments/get-by-name?experiment_name=secret-experiment",
        f"{v2}/metrics/get-history?run_id={run}&metric_key=m", f"{v2}/artifacts/list?run_id={run}",
        f"{v2}/logged-models/{things.model_id}", f"{v2}/registered-models/get?name=secret-model",
        f"{v2}/model-versions/get?name=secret-model&version=1",
        f"{v2}/model-versions/get-download-uri?name=secret-model&version=1",
        f"{artifacts}/{experiment}/{run}/artifacts/model/a.txt",
        f"/get-artifact?run_id={run}&path=model/a.txt",
        "/model-versions/get-artifact?name=secret-model&version=1&path=a.txt",
    ]:  # fmt: skip
        mine = site.server.request("GET", path)
        assert mine.status_code == 200, f"{path} is not there at all: {mine.status_code}"
        answer = site.server.request("GET", path, token=site.outsider)
        assert answer.status_code == 404, f"{path}: {answer.status_code} {answer.text[:300]}"
        assert "secret-artifact" not in answer.text and "secret-param" not in answer.text
    listing = f"{artifacts}?path={experiment}/{run}/artifacts/model"
    assert "a.txt" not in site.server.request("GET", listing, token=site.outsider).text


def test_lists_searches_and_explanations_hold_nothing_of_another_project(
    site: Site, things: Things
) -> None:
    server = site.server
    for path in ("datasets", "models", "experiments", "runs", "jobs", "pipelines", "services",
                 "events?limit=1000", f"lineage?ref=run/{things.run}", "run-columns"):  # fmt: skip
        answer = server.request("GET", f"/api/v1/{path}", token=site.outsider)
        assert answer.status_code == 200, f"{path}: {answer.status_code} {answer.text[:300]}"
        # Lineage names the thing that was asked for, and nothing else.
        rest = answer.text.replace(things.run, "") if "lineage" in path else answer.text
        assert "secret" not in rest and things.run not in rest, f"{path}: {answer.text[:500]}"
    for path, body in [
        ("runs/search", {"experiment_ids": [things.experiment]}),
        ("experiments/search", {"max_results": 100}),
        ("logged-models/search", {"experiment_ids": [things.experiment]}),
    ]:
        answer = server.request("POST", f"/api/2.0/mlflow/{path}", json=body, token=site.outsider)
        assert answer.status_code in (200, 404), answer.text
        assert "secret" not in answer.text and things.run not in answer.text, (
            f"{path}: {answer.text}"
        )
    for path in ("registered-models/search", "model-versions/search"):
        answer = server.request("GET", f"/api/2.0/mlflow/{path}", token=site.outsider)
        assert answer.status_code == 200 and "secret" not in answer.text


def test_no_thing_or_child_of_another_project_can_be_changed(site: Site, things: Things) -> None:
    server, run = site.server, things.run
    before = server.request("GET", f"/api/2.0/mlflow/runs/get?run_id={run}").json()
    v1, v2 = "/api/v1", "/api/2.0/mlflow"
    artifact = (
        f"/api/2.0/mlflow-artifacts/artifacts/{things.experiment}/{run}/artifacts/model/a.txt"
    )
    point = {"run_id": run, "key": "m", "value": 2, "timestamp": 2, "step": 1}
    for method, path, body in [
        ("DELETE", f"{v1}/datasets/secret-data/versions/1", None),
        ("DELETE", f"{v1}/runs/{run}", None),
        ("PUT", f"{v1}/runs/{run}/tags/t", {"value": "x"}),
        ("DELETE", f"{v1}/models/secret-model", None),
        ("PATCH", f"{v1}/models/secret-model", {"description": "x"}),
        ("DELETE", f"{v1}/models/secret-model/versions/1", None),
        ("PUT", f"{v1}/models/secret-model/aliases/best", {"version": 1}),
        ("POST", f"{v1}/jobs/{things.job}/cancel", {}),
        ("POST", f"{v2}/runs/log-metric", point),
        ("POST", f"{v2}/runs/log-parameter", {"run_id": run, "key": "q", "value": "x"}),
        ("POST", f"{v2}/runs/log-batch", {"run_id": run, "tags": [{"key": "t", "value": "x"}]}),
        ("POST", f"{v2}/runs/set-tag", {"run_id": run, "key": "t", "value": "x"}),
        ("POST", f"{v2}/runs/update", {"run_id": run, "status": "FAILED"}),
        ("POST", f"{v2}/runs/delete", {"run_id": run}),
        ("POST", f"{v2}/experiments/delete", {"experiment_id": things.experiment}),
        ("POST", f"{v2}/runs/create", {"experiment_id": things.experiment, "start_time": 1}),
        ("DELETE", f"{v2}/logged-models/{things.model_id}", None),
        ("DELETE", f"{v2}/registered-models/delete", {"name": "secret-model"}),
        ("POST", f"{v2}/registered-models/alias",
         {"name": "secret-model", "alias": "best", "version": "1"}),
        ("POST", f"{v2}/model-versions/create",
         {"name": "stolen", "source": f"runs:/{run}/model", "run_id": run}),
    ]:  # fmt: skip
        answer = server.request(method, path, json=body, token=site.outsider)
        assert answer.status_code in (400, 404), f"{method} {path}: {answer.status_code}"
    server.request("DELETE", artifact, token=site.outsider)  # finds nothing
    put = server.request("PUT", artifact, data=b"changed", token=site.outsider)
    assert put.status_code in (400, 404), put.text
    assert server.request("GET", f"/get-artifact?run_id={run}&path=model/a.txt").content == (
        b"secret-artifact"
    )
    assert server.request("GET", f"/api/2.0/mlflow/runs/get?run_id={run}").json() == before
    assert server.api("GET", "datasets/secret-data")["name"] == "secret-data"
    assert server.api("GET", "models/secret-model")["name"] == "secret-model"


# --- tokens that are worth less than their user


def test_a_scoped_token_is_held_to_its_role_and_project(site: Site, contract: Contract) -> None:
    made = site.server.json("token", "create", "--role", "viewer", "--only-project", "--expires",
                            "1h", "--note", "dashboard")  # fmt: skip
    assert made["role"] == "viewer" and made["only_project"] and made["expires_at"]
    for route in contract_routes(contract):
        if route.right == "anonymous":
            continue
        if route.name == "/api/v1/tokens" and route.method == "post":
            expect(call(site.server, route, made["token"]), route, "a scoped token", False)
            continue
        may = RIGHTS[route.right] <= RIGHTS["read"]
        expect(call(site.server, route, made["token"]), route, "a scoped token", may)
        answer = call(site.server, route, made["token"], "vision")
        expect(answer, route, "a scoped token elsewhere", False)


def test_a_jobs_token_reads_its_project_and_logs_runs_and_nothing_else(
    site: Site, contract: Contract, tmp_path: pathlib.Path
) -> None:
    spec = {"kind": "Job", "name": "peek",
            "spec": {"command": ["sh", "-c", "echo token=$TAKT_TOKEN; sleep 60"]}}  # fmt: skip
    job = site.server.api("POST", "jobs", json=spec)["number"]
    token = ""
    for _ in range(400):
        log = site.server.request("GET", f"/api/v1/jobs/{job}/log").text
        if found := re.search(r"token=(taktjob_\w+)", log):
            token = found[1]
            break
    assert token, "the job did not print its token"
    writable = ("/api/v1/runs", "/api/v1/models", "/api/v1/blobs", "/api/v1/experiments")
    for route in contract_routes(contract):
        if route.right in ("anonymous", "any"):
            continue
        may = route.right == "read" or (
            route.right == "write"
            and route.name.startswith(writable)
            and not route.name.endswith("/reproduce")  # which submits a job
        )
        expect(call(site.server, route, token), route, "a job", may)
        expect(call(site.server, route, token, "vision"), route, "a job elsewhere", False)
    assert site.server.request("POST", "/api/v1/tokens", json={}, token=token).status_code == 403
    site.server.api("POST", f"jobs/{job}/cancel", json={})
    site.server.wait_job(job)
    assert site.server.request("GET", "/api/v1/runs", token=token).status_code == 401


# --- signing in


def basic(server: Server, user: str, password: str) -> int:
    return requests.get(
        f"{server.url}/api/2.0/mlflow/experiments/get?experiment_id=0", auth=(user, password),
        timeout=10,
    ).status_code  # fmt: skip


def test_basic_takes_the_tokens_user_or_id_and_the_token(site: Site) -> None:
    server = site.server
    made = server.json("token", "create", "--user", "developer")
    assert basic(server, "developer", made["token"]) == 200
    assert basic(server, made["id"], made["token"]) == 200
    assert basic(server, "admin", made["token"]) == 401
    assert basic(server, "developer", site.tokens["viewer"]) == 401
    assert basic(server, "developer", "") == 401
    assert basic(server, "developer", "developer") == 401
    server.takt("token", "revoke", made["id"])
    assert basic(server, "developer", made["token"]) == 401


def test_a_disabled_user_is_out_with_the_next_request(site: Site) -> None:
    server = site.server
    server.takt("user", "add", "ida")
    token = server.json("token", "create", "--user", "ida")["token"]
    assert server.request("GET", "/api/v1/runs", token=token).status_code == 200
    server.takt("user", "set", "ida", "--disable")
    assert server.request("GET", "/api/v1/runs", token=token).status_code == 401
    server.takt("user", "set", "ida", "--enable", "--role", "viewer")
    assert server.request("GET", "/api/v1/runs", token=token).status_code == 200
    last = server.run("user", "set", "admin", "--disable")
    assert last.returncode == 5 and "last admin" in last.stderr

# SPDX-License-Identifier: Apache-2.0
"""The registry as the gate: rules from YAML hold an alias back until the evidence is there."""

import pathlib
import pickle

import mlflow
import pytest
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException

from takt_server import Server

RULES = """\
kind: Model
name: digits
spec:
  description: the digits of the readme
  rules:
    - {name: accuracy, for: production, metric: accuracy, data: digits-test, at_least: 0.9}
    - {name: not-worse, for: production, metric: accuracy, data: digits-test, not_worse_by: 0.01}
    - {name: second-person, for: production, approval: 1}
    - {name: no-code, for: production, code: safe}
"""
EVALUATE = """\
kind: Job
name: evaluate
spec:
  command: [sh, -c, 'echo "{\\"accuracy\\": %s}" > $TAKT_OUTPUT_METRICS']
  inputs: {model: {ref: model/digits@%d}, test: digits-test@1}
  outputs: {metrics: json}
"""


@pytest.fixture(scope="module")
def maya(shared_server: Server) -> str:
    shared_server.takt("user", "add", "maya", "--role", "operator")
    return shared_server.json("token", "create", "--user", "maya")["token"]


@pytest.fixture(scope="module")
def lin(shared_server: Server) -> str:
    shared_server.takt("user", "add", "lin", "--role", "developer")
    return shared_server.json("token", "create", "--user", "lin")["token"]


def register(server: Server, folder: pathlib.Path, model: str, text: str, token: str) -> int:
    """A job that writes a model, and its registration, as the CLI has them."""
    code = folder / f"code-{model}-{text}"
    code.mkdir()
    words = ["submit", "--output", "model=model", "--wait", "--", "sh", "-c"]
    job = server.json(
        *words, f'echo {text} > "$TAKT_OUTPUT_MODEL/model.onnx"', cwd=code, token=token
    )
    answer = server.json("models", "register", model, "--run", job["run"], token=token)
    return answer["version"]


def refused(server: Server, *words: str, code: int, token: str | None = None) -> str:
    result = server.run(*words, token=token)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    return result.stdout + result.stderr


def evaluate(server: Server, folder: pathlib.Path, version: int, accuracy: float) -> None:
    file = folder / f"evaluate-{version}-{accuracy}.yaml"
    file.write_text(EVALUATE % (accuracy, version))
    server.takt("submit", file, "--wait", cwd=folder)


def test_an_alias_moves_when_its_rules_are_met_and_not_before(
    shared_server: Server, tmp_path: pathlib.Path, maya: str, lin: str
):
    server = shared_server
    (tmp_path / "test.csv").write_text("x,label\n1,0\n2,1\n")
    (tmp_path / "model.yaml").write_text(RULES)
    server.takt("data", "add", "digits-test", tmp_path / "test.csv")
    server.takt("apply", "-f", tmp_path / "model.yaml")
    assert "second-person" in server.takt("models", "rules", "show", "digits")
    # A developer may register, but not take the rules away.
    refused(server, "models", "rules", "set", "digits", "-f", str(tmp_path / "model.yaml"),
            code=3, token=lin)  # fmt: skip
    assert register(server, tmp_path, "digits", "one", lin) == 1

    shown = refused(server, "models", "check", "digits@1", "--for", "production", code=1)
    assert "unmeasured" in shown and "digits@1 may not take production" in shown
    text = refused(server, "models", "alias", "digits@1", "production", code=3, token=lin)
    assert "rule 'accuracy' wants accuracy at least 0.9 on digits-test" in text
    assert "it was not measured on digits-test" in text
    assert "takt models measure digits@1 accuracy=VALUE --data digits-test" in text
    server.takt("models", "alias", "digits@1", "candidate", token=lin)

    evaluate(server, tmp_path, 1, 0.93)
    text = refused(server, "models", "alias", "digits@1", "production", code=3, token=lin)
    assert "rule 'second-person' wants approval by someone other than lin" in text
    refused(server, "models", "approve", "digits@1", "--for", "production", code=3, token=lin)
    words = ["--for", "production", "--comment", "looked at the errors"]
    server.takt("models", "approve", "digits@1", *words, token=maya)
    assert "digits@1 may take production" in server.takt(
        "models", "check", "digits@1", "--for", "production"
    )
    server.takt("models", "alias", "digits@1", "production", token=lin)

    assert register(server, tmp_path, "digits", "two", lin) == 2
    server.takt("models", "approve", "digits@2", "--for", "production", token=maya)
    evaluate(server, tmp_path, 2, 0.91)
    text = refused(server, "models", "alias", "digits@2", "production", code=3, token=lin)
    assert "production of digits stays on version 1: rule 'not-worse'" in text
    assert "0.91 against 0.93 of version 1 on digits-test@1" in text
    evaluate(server, tmp_path, 2, 0.97)
    server.takt("models", "alias", "digits@2", "production", token=lin)
    assert server.api("GET", "models/digits")["aliases"]["production"] == 2

    server.takt("models", "rollback", "digits", "production", "--reason", "too slow", token=lin)
    assert server.api("GET", "models/digits")["aliases"]["production"] == 1
    history = server.takt("models", "history", "digits", "production")
    assert "rolled-back" in history and "too slow" in history
    refused(server, "models", "rollback", "digits", "production", code=5)

    events = server.api("GET", "events?limit=1000&subject=model/digits")["items"]
    told = [(event["verb"], event["actor"]) for event in reversed(events)]
    for verb, actor in [
        ("model.rules-set", "admin"),
        ("model.alias-refused", "lin"),
        ("model.approved", "maya"),
        ("model.alias-set", "lin"),
        ("model.alias-rolled-back", "lin"),
    ]:
        assert (verb, actor) in told, told
    assert "approved-by" in server.takt("why", "model/digits@1")

    evidence = server.api("GET", "models/digits/versions/1/evidence")
    assert evidence["submitters"] == ["lin"]
    assert evidence["job"].startswith("job/") and evidence["code"].startswith("code/")
    assert [m["data"] for m in evidence["measurements"] if m["metric"] == "accuracy"] == [
        "digits-test@1"
    ]
    shown = server.takt("models", "show", "digits@1")
    assert "approved for production by maya" in shown and "digits-test@1" in shown


def test_parity_and_load_tests_are_rules_too(
    shared_server: Server, tmp_path: pathlib.Path, lin: str
):
    server = shared_server
    rules = [{"name": "parity", "parity": "pass"},
             {"name": "latency", "latency": "p99_ms", "at_most": 20}]  # fmt: skip
    server.api("PUT", "models/fast/rules", json={"rules": rules})
    register(server, tmp_path, "fast", "weights", lin)
    text = refused(server, "models", "alias", "fast@1", "live", code=3)
    assert "rule 'parity' wants a parity report that passed, but it has no parity report" in text
    (tmp_path / "parity.json").write_text('{"verdict": "pass", "max_difference": 1e-6}')
    (tmp_path / "load.yaml").write_text("p99_ms: 12.5\nrequests: 10000\n")
    server.takt("models", "report", "fast@1", "parity", "-f", tmp_path / "parity.json", token=lin)
    server.takt("models", "report", "fast@1", "load-test", "-f", tmp_path / "load.yaml")
    server.takt("models", "alias", "fast@1", "live")
    missing = server.api("PUT", "models/fast/versions/1/reports/other", expect=400, json={})
    assert "parity, load-test" in missing["error"]["hint"]


class Net:
    """Pickled by the test as a class of its own."""

    def __reduce__(self):
        return (print, ("loaded",))


def test_mlflow_clients_meet_the_same_gate_and_pickles_show_what_they_run(
    shared_server: Server, tmp_path: pathlib.Path, maya: str, monkeypatch: pytest.MonkeyPatch
):
    server = shared_server
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", server.token)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    mlflow.set_tracking_uri(server.url)
    mlflow.set_registry_uri(server.url)
    client = MlflowClient()
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Net()))
    mlflow.set_experiment("gate")
    with mlflow.start_run() as run:
        mlflow.log_metric("accuracy", 0.99)
        mlflow.log_artifact(tmp_path / "model.pkl", "model")
    client.create_registered_model("net")
    client.create_model_version("net", f"runs:/{run.info.run_id}/model", run.info.run_id)
    version = server.api("GET", "models/net/versions/1")
    assert version["code"] == {"verdict": "executes", "globals": ["builtins.print"]}
    assert "EXECUTES CODE when it is loaded (builtins.print)" in server.takt(
        "models", "show", "net@1"
    )
    rules = [{"name": "seen", "for": "champion", "approval": 1},
             {"name": "good", "for": "champion", "metric": "accuracy", "at_least": 0.9},
             {"name": "plain", "for": "safe", "code": "safe"}]  # fmt: skip
    server.api("PUT", "models/net/rules", json={"rules": rules})
    with pytest.raises(MlflowException) as caught:
        client.set_registered_model_alias("net", "champion", "1")
    assert caught.value.error_code == "PERMISSION_DENIED"
    assert "rule 'seen' wants approval by someone other than" in str(caught.value)
    with pytest.raises(MlflowException) as caught:
        client.set_registered_model_alias("net", "safe", "1")
    assert "a pickle that executes builtins.print" in str(caught.value)
    server.takt("models", "approve", "net@1", "--for", "champion", token=maya)
    client.set_registered_model_alias("net", "champion", "1")
    assert client.get_model_version_by_alias("net", "champion").version == "1"


def test_a_pipeline_that_registers_against_the_rules_stops_with_the_rule(
    shared_server: Server, tmp_path: pathlib.Path, maya: str
):
    server = shared_server
    (tmp_path / "x.csv").write_text("x\n1\n")
    server.takt("data", "add", "gate-in", tmp_path / "x.csv")
    server.api("PUT", "models/piped/rules", json={"rules": [
        {"name": "accuracy", "for": "candidate", "metric": "accuracy", "data": "gate-in@1",
         "at_least": 0.9}]})  # fmt: skip
    (tmp_path / "line.yaml").write_text("""\
kind: Pipeline
name: gate-line
spec:
  params: {accuracy: "0.5"}
  nodes:
    - name: train
      outputs: {model: {kind: model}}
      job: {command: [sh, -c, 'echo w > $TAKT_OUTPUT_MODEL/m.onnx']}
    - name: evaluate
      inputs: {model: "${nodes.train.outputs.model}", test: gate-in}
      params: {accuracy: "${params.accuracy}"}
      outputs: {metrics: {kind: json}}
      job:
        command:
          - sh
          - -c
          - 'echo "{\\"accuracy\\": $TAKT_PARAM_ACCURACY}" > $TAKT_OUTPUT_METRICS'
    - name: register
      action: register
      inputs:
        model: "${nodes.train.outputs.model}"
        metrics: "${nodes.evaluate.outputs.metrics}"
      with: {model: piped, alias: candidate}
""")
    failed = server.run("pipeline", "run", tmp_path / "line.yaml", "--wait", cwd=tmp_path)
    assert failed.returncode == 1, (failed.stdout, failed.stderr)
    run = server.api("GET", "pipelines/gate-line/runs/1")
    node = next(node for node in run["nodes"] if node["name"] == "register")
    assert "rule 'accuracy' wants accuracy at least 0.9 on gate-in@1" in node["reason"]
    assert "found 0.5 on gate-in@1" in node["reason"]
    server.takt(
        "pipeline", "run", tmp_path / "line.yaml", "-p", "accuracy=0.95", "--wait", cwd=tmp_path
    )
    assert server.api("GET", "models/piped")["aliases"] == {"candidate": 1}

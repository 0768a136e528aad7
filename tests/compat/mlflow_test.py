# SPDX-License-Identifier: Apache-2.0
"""The unmodified mlflow client against takt: every call that clients need."""

import contextlib
import math
import pathlib
from collections.abc import Iterator

import mlflow
import numpy as np
import pytest
import requests
from mlflow import MlflowClient
from mlflow.exceptions import MlflowException
from takt_server import Server


@pytest.fixture
def client(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> Iterator[MlflowClient]:
    """Signed in, in an experiment of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", shared_server.token)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("GIT_PYTHON_REFRESH", "quiet")
    mlflow.set_tracking_uri(shared_server.url)
    mlflow.set_registry_uri(shared_server.url)
    mlflow.set_experiment(f"test {tmp_path.name}")
    yield MlflowClient()
    with contextlib.suppress(Exception):
        mlflow.end_run()


def refused(call, *arguments, **named) -> MlflowException:
    with pytest.raises(MlflowException) as caught:
        call(*arguments, **named)
    return caught.value


def test_experiments_are_made_found_renamed_deleted_restored(client: MlflowClient) -> None:
    made = client.create_experiment("alpha", tags={"team": "vision"})
    assert client.get_experiment(made).name == "alpha"
    assert client.get_experiment(made).artifact_location == f"mlflow-artifacts:/{made}"
    assert client.get_experiment_by_name("alpha").tags == {"team": "vision"}
    assert client.get_experiment_by_name("no such") is None
    assert client.get_experiment("0").name == "Default"
    taken = refused(client.create_experiment, "alpha")
    assert taken.error_code == "RESOURCE_ALREADY_EXISTS"
    client.rename_experiment(made, "beta")
    client.set_experiment_tag(made, "stage", "dev")
    assert client.get_experiment(made).tags == {"team": "vision", "stage": "dev"}
    client.delete_experiment_tag(made, "stage")
    found = client.search_experiments(filter_string="name = 'beta' AND tags.team ILIKE 'VIS%'")
    assert [experiment.experiment_id for experiment in found] == [made]
    pages = client.search_experiments(max_results=1)
    assert len(pages) == 1 and pages.token
    client.delete_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "deleted"
    assert refused(client.create_run, made).error_code == "INVALID_PARAMETER_VALUE"
    client.restore_experiment(made)
    assert client.get_experiment(made).lifecycle_stage == "active"
    assert refused(client.get_experiment, "987654").error_code == "RESOURCE_DOES_NOT_EXIST"


def test_a_run_keeps_what_is_logged(client: MlflowClient) -> None:
    with mlflow.start_run(run_name="first", tags={"a": "1"}) as run:
        mlflow.log_param("lr", 0.1)
        mlflow.log_params({"depth": 3, "name": "tree"})
        mlflow.log_metric("loss", 0.5, step=1)
        mlflow.log_metrics({"loss": 0.25, "accuracy": 0.9}, step=2)
        mlflow.set_tag("b", "2")
        mlflow.set_tags({"c": "3"})
        mlflow.delete_tag("a")
    kept = client.get_run(run.info.run_id)
    assert kept.info.run_name == "first"
    assert kept.info.status == "FINISHED"
    assert kept.info.end_time >= kept.info.start_time
    assert kept.data.params == {"lr": "0.1", "depth": "3", "name": "tree"}
    assert kept.data.metrics == {"loss": 0.25, "accuracy": 0.9}
    assert kept.data.tags["b"] == "2" and "a" not in kept.data.tags
    history = client.get_metric_history(run.info.run_id, "loss")
    assert [(point.step, point.value) for point in history] == [(1, 0.5), (2, 0.25)]


def test_a_param_stays_as_it_was_first_logged(client: MlflowClient) -> None:
    with mlflow.start_run() as run:
        mlflow.log_param("lr", 0.1)
        mlflow.log_param("lr", 0.1)
        changed = refused(mlflow.log_param, "lr", 0.2)
        assert changed.error_code == "INVALID_PARAMETER_VALUE"
        assert "Changing param values is not allowed" in changed.message
    assert client.get_run(run.info.run_id).data.params == {"lr": "0.1"}


def test_numbers_that_are_none_and_infinities_are_exact(client: MlflowClient) -> None:
    with mlflow.start_run() as run:
        for step, value in enumerate([math.nan, math.inf, -math.inf, 1.5]):
            mlflow.log_metric("m", value, step=step)
        mlflow.log_metric("only", math.nan)
    history = [point.value for point in client.get_metric_history(run.info.run_id, "m")]
    assert math.isnan(history[0]) and history[1:] == [math.inf, -math.inf, 1.5]
    assert math.isnan(client.get_run(run.info.run_id).data.metrics["only"])


def test_asynchronous_and_large_batches_arrive(
    client: MlflowClient, shared_server: Server
) -> None:
    with mlflow.start_run() as run:
        for step in range(50):
            mlflow.log_metric("slow", step, step=step, synchronous=False)
        mlflow.flush_async_logging()
        metrics = [mlflow.entities.Metric("many", i, i, i) for i in range(1000)]
        client.log_batch(run.info.run_id, metrics=metrics)
    point = {"key": "m", "value": 1, "timestamp": 1}
    answer = shared_server.request(
        "POST",
        "/api/2.0/mlflow/runs/log-batch",
        json={"run_id": run.info.run_id, "metrics": [point | {"step": i} for i in range(1001)]},
    )
    assert answer.status_code == 400 and "at most 1000 metrics" in answer.json()["message"]
    assert len(client.get_metric_history(run.info.run_id, "slow")) == 50
    assert len(client.get_metric_history(run.info.run_id, "many")) == 1000


def test_nested_runs_point_at_their_parent_and_runs_resume(client: MlflowClient) -> None:
    with mlflow.start_run() as parent, mlflow.start_run(nested=True) as child:
        pass
    tags = client.get_run(child.info.run_id).data.tags
    assert tags["mlflow.parentRunId"] == parent.info.run_id
    with mlflow.start_run(run_id=child.info.run_id):
        assert client.get_run(child.info.run_id).info.status == "RUNNING"
        mlflow.log_metric("later", 1)
    assert client.get_run(child.info.run_id).info.status == "FINISHED"
    with contextlib.suppress(ZeroDivisionError), mlflow.start_run() as broken:
        _ = 1 / 0
    assert client.get_run(broken.info.run_id).info.status == "FAILED"


def test_a_deleted_run_refuses_writes_until_it_is_restored(client: MlflowClient) -> None:
    with mlflow.start_run() as run:
        pass
    client.delete_run(run.info.run_id)
    refusal = refused(client.log_metric, run.info.run_id, "m", 1)
    assert "must be in the 'active' state" in refusal.message
    client.restore_run(run.info.run_id)
    client.log_metric(run.info.run_id, "m", 1)
    assert refused(client.get_run, "0" * 32).error_code == "RESOURCE_DOES_NOT_EXIST"


def test_files_go_up_list_and_come_down(client: MlflowClient, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a b.txt").write_text("hello")
    (folder / "big.bin").write_bytes(bytes(range(256)) * 40_000)
    with mlflow.start_run() as run:
        mlflow.log_artifacts(str(folder), "data")
        mlflow.log_artifact(str(folder / "deep" / "a b.txt"))
        mlflow.log_text("text", "notes/n.txt")
        mlflow.log_dict({"k": [1]}, "config.json")
        mlflow.log_table({"x": [1, 2]}, "table.json")
        mlflow.log_image(np.zeros((4, 4, 3), dtype=np.uint8), "image.png")
    run_id = run.info.run_id
    names = {item.path: item.is_dir for item in client.list_artifacts(run_id)}
    assert names["data"] and names["notes"] and not names["config.json"]
    assert [i.path for i in client.list_artifacts(run_id, "data")] == ["data/big.bin", "data/deep"]
    assert client.list_artifacts(run_id, "nothing") == []
    assert client.list_artifacts(run_id, "config.json") == []
    got = pathlib.Path(client.download_artifacts(run_id, "data", str(tmp_path)))
    assert (got / "big.bin").read_bytes() == (folder / "big.bin").read_bytes()
    assert (got / "deep" / "a b.txt").read_text() == "hello"
    assert mlflow.artifacts.load_text(f"runs:/{run_id}/notes/n.txt") == "text"
    assert mlflow.artifacts.load_dict(f"runs:/{run_id}/config.json") == {"k": [1]}
    assert list(mlflow.load_table("table.json", run_ids=[run_id])["x"]) == [1, 2]


def test_downloads_cannot_run_in_a_browser_or_leave_their_root(
    client: MlflowClient, shared_server: Server
) -> None:
    with mlflow.start_run() as run:
        mlflow.log_text("<script>alert(1)</script>", "page.html")
    place = f"{run.info.experiment_id}/{run.info.run_id}/artifacts"
    root = f"/api/2.0/mlflow-artifacts/artifacts/{place}"
    answer = shared_server.request("GET", f"{root}/page.html")
    assert answer.status_code == 200
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "sandbox" in answer.headers["Content-Security-Policy"]
    for path in ("..%2f..%2fetc/passwd", "%252e%252e/x", "a%5cb", "a%2523b", "%2fetc%2fpasswd"):
        for method in ("GET", "PUT", "DELETE"):
            answer = shared_server.request(method, f"{root}/{path}", data=b"x")
            assert answer.status_code == 400, (method, path, answer.text)
    answer = shared_server.request(
        "GET", "/get-artifact", params={"run_id": run.info.run_id, "path": "../../etc/passwd"}
    )
    assert answer.status_code == 400 and "Invalid path" in answer.json()["message"]
    answer = shared_server.request("GET", f"{root}/none.txt")
    assert answer.status_code == 404


def test_inputs_are_kept_and_searched(client: MlflowClient) -> None:
    data = mlflow.data.from_numpy(np.arange(12).reshape(4, 3), name="digits")
    with mlflow.start_run() as run:
        mlflow.log_input(data, context="training", tags={"k": "v"})
    kept = client.get_run(run.info.run_id).inputs.dataset_inputs
    assert [(item.dataset.name, item.dataset.digest) for item in kept] == [("digits", data.digest)]
    found = mlflow.search_runs(
        filter_string="dataset.name = 'digits' AND dataset.context = 'training'"
    )
    assert list(found.run_id) == [run.info.run_id]


def test_searches_filter_order_and_page(client: MlflowClient) -> None:
    for index in range(7):
        with mlflow.start_run(run_name=f"run {index}"):
            mlflow.log_metric("score", math.nan if index == 6 else index / 10)
            mlflow.log_param("kind", "even" if index % 2 == 0 else "odd")
            mlflow.set_tag("with space", str(index))

    def names(**arguments) -> list[str]:
        return list(mlflow.search_runs(**arguments)["tags.mlflow.runName"])

    assert names(filter_string="metrics.score > 0.25 and params.kind = 'odd'") == ["run 5", "run 3"]
    assert names(order_by=["metrics.score DESC"])[0] == "run 5"
    assert names(order_by=["metrics.score ASC"])[-1] == "run 6"
    assert names(filter_string="tags.`with space` = '4'") == ["run 4"]
    finished = "attributes.run_name LIKE 'run%' AND status = 'FINISHED'"
    assert names(filter_string=finished, max_results=2) == ["run 6", "run 5"]
    experiment = mlflow.search_runs().experiment_id[0]
    order = ["params.kind", "metrics.score"]
    page = client.search_runs([experiment], max_results=3, order_by=order)
    seen = [run.info.run_name for run in page]
    while page.token:
        page = client.search_runs(
            [experiment], max_results=3, order_by=order, page_token=page.token
        )
        seen += [run.info.run_name for run in page]
    assert seen == ["run 0", "run 2", "run 4", "run 6", "run 1", "run 3", "run 5"]
    wrong = refused(client.search_runs, [experiment], "metrics.score > 'x'")
    assert wrong.error_code == "INVALID_PARAMETER_VALUE"
    garbage = refused(client.search_runs, [experiment], page_token="garbage")
    assert garbage.error_code == "INVALID_PARAMETER_VALUE"


def test_searches_take_or_not_parentheses_and_every_experiment(
    client: MlflowClient, shared_server: Server, tmp_path: pathlib.Path
) -> None:
    label = tmp_path.name
    ids = [client.create_experiment(f"{label} {index}") for index in range(2)]
    for index in range(6):
        run = client.create_run(ids[index % 2], run_name=f"run {index}", tags={"label": label})
        client.log_param(run.info.run_id, "lr", 10.0**-index)
        if index < 4:
            client.log_metric(run.info.run_id, "score", index)
            client.log_metric(run.info.run_id, "other", index)

    def names(filter_string: str, experiments: list[str] = (), **arguments) -> set[str]:
        found = client.search_runs(list(experiments), filter_string, **arguments)
        return {run.info.run_name for run in found}

    mine = f"tags.label = '{label}'"
    assert names(f"{mine} AND (metrics.score < 1 OR metrics.score > 2)") == {"run 0", "run 3"}
    assert names(f"{mine} AND NOT metrics.score < 3") == {"run 3", "run 4", "run 5"}
    assert names(f"{mine} AND metrics.score IN (1, 2)") == {"run 1", "run 2"}
    assert names(f"{mine} AND params.lr < 0.001", ids) == {"run 4", "run 5"}
    assert names("metrics.score IS NULL", [ids[0]]) == {"run 4"}
    assert names(f"{mine} AND experiment_name LIKE '%0'") == {"run 0", "run 2", "run 4"}
    body = {"filter": mine, "max_results": 2, "count": True, "columns": ["metrics.score"]}
    answer = shared_server.request("POST", "/api/2.0/mlflow/runs/search", json=body).json()
    assert answer["total"] == 6 and len(answer["runs"]) == 2 and answer["next_page_token"]
    for found in answer["runs"]:
        assert "params" not in found["data"] or found["data"]["params"] == []
        assert {metric["key"] for metric in found["data"].get("metrics", [])} <= {"score"}


def test_pages_are_whole_while_runs_are_added(client: MlflowClient) -> None:
    experiment = client.create_experiment("paged")
    wanted = [client.create_run(experiment).info.run_id for _ in range(25)]
    seen, token, pages = [], None, 0
    while pages == 0 or token:
        page = client.search_runs([experiment], max_results=4, page_token=token)
        seen += [run.info.run_id for run in page]
        token, pages = page.token, pages + 1
        client.create_run(experiment)
    assert not token and pages == 7, "the last page has no token"
    assert sorted(seen) == sorted(wanted), "new runs are newer than the place: none repeats"
    first = client.search_runs([experiment], max_results=4)
    assert first.token, "what is cut off is said"
    other = refused(
        client.search_runs, [experiment], "status = 'RUNNING'", page_token=first.token
    )
    assert other.error_code == "INVALID_PARAMETER_VALUE"
    for garbage in ("garbage", "e30=", "eyJvZmZzZXQiOiAxfQ=="):
        wrong = refused(client.search_runs, [experiment], page_token=garbage)
        assert wrong.error_code == "INVALID_PARAMETER_VALUE" and "page token" in wrong.message
        for call in (
            client.search_experiments,
            client.search_registered_models,
            client.search_model_versions,
        ):
            wrong = refused(call, page_token=garbage)
            assert wrong.error_code == "INVALID_PARAMETER_VALUE"


def test_search_errors_have_the_words_that_clients_know(client: MlflowClient) -> None:
    experiment = client.create_experiment("wrong searches")

    def message(filter_string: str = "", **arguments) -> str:
        wrong = refused(client.search_runs, [experiment], filter_string, **arguments)
        assert wrong.error_code == "INVALID_PARAMETER_VALUE"
        return wrong.message

    assert "Expected numeric value type for metric. Found 'x'" in message("metrics.a > 'x'")
    assert "Expected a quoted string value for parameter" in message("params.a = 5")
    assert "either not quoted or unidentified quote types" in message("params.a = x")
    assert "Invalid entity type 'm'" in message("m.a = 1")
    assert "Invalid attribute key 'acc' specified" in message("acc = 1")
    assert "Invalid comparator '~'" in message("metrics.a ~ 1")
    assert "Invalid clause(s) in filter string" in message("metrics.a = 1 foo")
    assert "expected a non-empty list of string values" in message("run_id IN ()")
    assert "duplicate fields" in message(order_by=["metrics.a", "metrics.a DESC"])
    assert "Invalid attribute key 'a' specified" in message(order_by=["a"])
    assert "Invalid ordering key" in message(order_by=["metrics.a UP"])
    assert "It must be at most 50000, but got value 50001" in message(max_results=50_001)
    too_many = refused(client.search_registered_models, max_results=1001)
    assert "It must be at most 1000, but got value 1001" in too_many.message
    assert "at character 15" in message("metrics.acc > 'x'")


def test_registry_searches_filter_order_and_page(client: MlflowClient) -> None:
    for index in range(5):
        client.create_registered_model(f"srch-{index}", tags={"parity": str(index % 2)})
        for _ in range(2):
            client.create_model_version(f"srch-{index}", "s3://bucket/model")
    mine = "name LIKE 'srch-%'"

    def models(filter_string: str, **arguments) -> list[str]:
        return [m.name for m in client.search_registered_models(filter_string, **arguments)]

    assert models(f"{mine} AND tags.parity = '1'") == ["srch-1", "srch-3"]
    assert models(f"{mine} AND NOT tags.parity = '1'", order_by=["name DESC"])[0] == "srch-4"
    assert models("name = 'srch-0' OR name = 'srch-2'") == ["srch-0", "srch-2"]
    page = client.search_registered_models(mine, max_results=2)
    seen = [model.name for model in page]
    assert [v.version for v in page[0].latest_versions] in (["2"], [2])
    while page.token:
        client.create_registered_model(f"srch-0{len(seen)}")
        page = client.search_registered_models(mine, max_results=2, page_token=page.token)
        seen += [model.name for model in page]
    assert seen == [f"srch-{index}" for index in range(5)]
    found = client.search_model_versions(f"{mine} AND version_number > 1", order_by=["name DESC"])
    assert [version.name for version in found] == [f"srch-{index}" for index in (4, 3, 2, 1, 0)]
    page = client.search_model_versions(mine, max_results=3)
    assert len(page) == 3 and page.token


def fitted():
    from sklearn.linear_model import LogisticRegression

    features = np.array([[0.0], [1.0], [2.0], [3.0]])
    return features, LogisticRegression().fit(features, [0, 0, 1, 1])


def test_a_model_is_logged_registered_named_and_loaded(client: MlflowClient) -> None:
    features, model = fitted()
    with mlflow.start_run() as run:
        mlflow.log_metric("accuracy", 1.0)
        mlflow.log_metric("nothing", math.nan)
        logged = mlflow.sklearn.log_model(
            model, name="model", params={"c": 1}, registered_model_name="iris"
        )
    assert mlflow.get_logged_model(logged.model_id).status.value == "READY"
    version = client.get_model_version("iris", "1")
    assert version.run_id == run.info.run_id and version.status == "READY"
    client.set_registered_model_alias("iris", "champion", "1")
    for uri in (
        "models:/iris@champion",
        "models:/iris/1",
        "models:/iris/latest",
        f"models:/{logged.model_id}",
        f"runs:/{run.info.run_id}/model",
        logged.model_uri,
    ):
        assert list(mlflow.sklearn.load_model(uri).predict(features)) == [0, 0, 1, 1], uri
    generic = mlflow.pyfunc.load_model("models:/iris@champion")
    assert list(generic.predict(features)) == [0, 0, 1, 1]
    assert mlflow.get_logged_model(logged.model_id).metrics[0].key in ("accuracy", "nothing")
    found = mlflow.search_logged_models(
        experiment_ids=[run.info.experiment_id],
        filter_string="metrics.accuracy > 0.5",
        output_format="list",
    )
    assert [one.model_id for one in found] == [logged.model_id]


def test_a_registered_version_keeps_its_files_when_the_runs_change(client: MlflowClient) -> None:
    with mlflow.start_run() as run:
        mlflow.log_text("one", "thing/file.txt")
    client.create_registered_model("frozen")
    run_id = run.info.run_id
    version = client.create_model_version("frozen", f"runs:/{run_id}/thing", run_id)
    with mlflow.start_run(run_id=run.info.run_id):
        mlflow.log_text("two", "thing/file.txt")
    uri = client.get_model_version_download_uri("frozen", version.version)
    got = pathlib.Path(mlflow.artifacts.download_artifacts(uri))
    assert (got / "file.txt").read_text() == "one"


def test_the_registry_answers_the_client(client: MlflowClient) -> None:
    features, model = fitted()
    with mlflow.start_run():
        first = mlflow.sklearn.log_model(model, name="model")
    client.create_registered_model("reg", tags={"a": "1"}, description="d")
    assert refused(client.create_registered_model, "reg").error_code == "RESOURCE_ALREADY_EXISTS"
    for _ in range(2):
        mlflow.register_model(first.model_uri, "reg")
    client.update_registered_model("reg", description="changed")
    client.set_registered_model_tag("reg", "b", "2")
    client.delete_registered_model_tag("reg", "a")
    client.update_model_version("reg", "2", description="second")
    client.set_model_version_tag("reg", "2", "k", "v")
    client.set_registered_model_alias("reg", "live", "2")
    client.transition_model_version_stage("reg", "1", "Production")
    kept = client.get_registered_model("reg")
    assert kept.description == "changed" and kept.tags == {"b": "2"}
    assert kept.aliases == {"live": "2"} or kept.aliases == {"live": 2}
    assert client.get_model_version_by_alias("reg", "live").description == "second"
    assert client.get_model_version("reg", "2").tags == {"k": "v"}
    client.delete_model_version_tag("reg", "2", "k")
    assert [v.version for v in client.get_latest_versions("reg", ["Production"])] in (["1"], [1])
    assert len(client.search_model_versions("name = 'reg'")) == 2
    assert [m.name for m in client.search_registered_models("name LIKE 're%'")] == ["reg"]
    assert [m.name for m in client.search_registered_models("tags.b = '2'")] == ["reg"]
    client.delete_registered_model_alias("reg", "live")
    assert client.get_registered_model("reg").aliases == {}
    copied = client.copy_model_version("models:/reg/2", "copy")
    loaded = mlflow.sklearn.load_model(f"models:/copy/{copied.version}")
    assert list(loaded.predict(features)) == [0, 0, 1, 1]
    client.rename_registered_model("reg", "renamed")
    client.delete_model_version("renamed", "1")
    gone, wrong = "RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE"
    assert refused(client.get_model_version, "renamed", "1").error_code == gone
    client.delete_registered_model("renamed")
    assert refused(client.get_registered_model, "renamed").error_code == gone
    for bad in ("a/b", "a:b"):
        assert refused(client.create_registered_model, bad).error_code == wrong
    reserved = refused(client.set_registered_model_alias, "copy", "latest", "1")
    assert reserved.error_code == wrong


def test_prompts_are_kept_apart_from_models(client: MlflowClient) -> None:
    mlflow.genai.register_prompt(name="greeting", template="Hello {{name}}")
    assert mlflow.genai.load_prompt("prompts:/greeting/1").template == "Hello {{name}}"
    assert "greeting" not in [model.name for model in client.search_registered_models()]


def test_automatic_logging_of_a_fit_arrives(client: MlflowClient) -> None:
    mlflow.sklearn.autolog(log_input_examples=False)
    try:
        with mlflow.start_run() as run:
            fitted()
    finally:
        mlflow.sklearn.autolog(disable=True)
    kept = client.get_run(run.info.run_id)
    assert "C" in kept.data.params and kept.data.metrics
    assert kept.outputs.model_outputs


def test_dangerous_sources_are_refused(client: MlflowClient) -> None:
    client.create_registered_model("safe")
    for source in (
        "/etc/passwd", "file:" + "///etc", "./x",
        "mlflow-artifacts:/../../etc", "mlflow-artifacts:/x/%2e%2e/y",
    ):  # fmt: skip
        refusal = refused(client.create_model_version, "safe", source)
        assert refusal.error_code == "INVALID_PARAMETER_VALUE", source
    assert client.search_model_versions("name = 'safe'") == []


def test_errors_have_the_words_that_clients_know(
    client: MlflowClient, shared_server: Server
) -> None:
    def post(path: str, body: object) -> requests.Response:
        return shared_server.request("POST", f"/api/2.0/mlflow/{path}", json=body)

    answer = post("runs/log-metric", {"run_id": "x" * 32, "key": "m", "value": 1})
    assert answer.status_code == 400
    assert answer.json()["error_code"] == "INVALID_PARAMETER_VALUE"
    assert "Missing value for required parameter 'timestamp'" in answer.json()["message"]
    answer = post("runs/log-batch", {"run_id": "x" * 32, "metrics": [{"key": "m", "value": 1}]})
    assert "Missing value for required parameter 'metrics[0].timestamp'" in answer.json()["message"]
    answer = post("experiments/create", {"name": 123})
    assert "Invalid value 123 for parameter 'name' supplied" in answer.json()["message"]
    answer = post("runs/set-tag", {"run_uuid": "0" * 32, "key": "a", "value": "b"})
    assert answer.status_code == 404 and "not found" in answer.json()["message"]
    answer = shared_server.request("POST", "/api/2.0/mlflow/no/such/route", json={})
    assert answer.status_code == 404 and "error_code" not in answer.text
    assert shared_server.request("GET", "/api/3.0/mlflow/server-info").status_code == 404
    plain = {"Content-Type": "text/plain"}
    path = "/api/2.0/mlflow/runs/create"
    assert shared_server.request("POST", path, data="{}", headers=plain).status_code == 400
    answer = shared_server.request("GET", "/api/2.0/mlflow/runs/get", token="takt_wrong")
    assert answer.status_code == 401 and answer.json()["error_code"] == "UNAUTHENTICATED"
    path = "/ajax-api/2.0/mlflow/experiments/get"
    assert shared_server.request("GET", path, params={"experiment_id": "0"}).ok


def test_takts_own_views_show_the_same(client: MlflowClient, shared_server: Server) -> None:
    features, model = fitted()
    with mlflow.start_run(run_name="viewed") as run:
        mlflow.log_param("lr", 0.1)
        mlflow.log_metrics({"acc": 0.5, "train/loss": math.nan}, step=3)
        mlflow.log_text("x", "notes/n.txt")
        mlflow.sklearn.log_model(model, name="model", registered_model_name="viewed")
    run_id, experiment = run.info.run_id, run.info.experiment_id
    name = client.get_experiment(experiment).name
    api = shared_server.api
    assert name in [item["name"] for item in api("GET", "experiments")["items"]]
    wanted = {"experiment": name, "filter": "metrics.acc > 0.4", "order": "-metrics.acc"}
    listed = api("GET", "runs", params=wanted)
    assert [item["id"] for item in listed["items"]] == [run_id]
    assert listed["items"][0]["metrics"]["train/loss"]["value"] == "NaN"
    narrow = api("GET", "runs", params={"experiment": experiment, "columns": "metrics.acc"})
    assert list(narrow["items"][0]["metrics"]) == ["acc"] and narrow["items"][0]["params"] == {}
    detail = api("GET", f"runs/{run_id}")
    assert detail["links"]["models"] == ["model/viewed@1"] and detail["artifact_files"] >= 1
    columns = api("GET", "run-columns", params={"experiment": experiment})
    assert {"name": "metrics.acc", "kind": "metric", "key": "acc", "runs": 1} in columns["items"]
    assert api("GET", f"runs/{run_id}/metrics/acc")["points"][0]["step"] == 3
    assert api("GET", f"runs/{run_id}/artifacts")["items"][0]["path"] == "notes"
    assert api("GET", f"runs/{run_id}/content/notes/n.txt") == b"x"
    wrong = api("GET", "runs", expect=400, params={"filter": "metrics.acc >"})
    assert wrong["error"]["field"] == "filter"
    models = {item["name"]: item for item in api("GET", "models")["items"]}
    assert models["viewed"]["latest"] == 1
    api("PUT", "models/viewed/aliases/best", json={"version": 1})
    version = api("GET", "models/viewed/versions/best")
    assert version["run"] == f"run/{run_id}" and version["files"] > 0
    files = [item["path"] for item in api("GET", "models/viewed/versions/1/files")["items"]]
    assert "MLmodel" in files
    assert api("GET", "models/viewed/versions/1/content/MLmodel").startswith(b"artifact_path")
    files_of_run = {"run": run_id, "path": "notes", "alias": "notes"}
    again = api("POST", "models/viewed/versions", expect=201, json=files_of_run)
    assert again["version"] == 2 and again["aliases"] == ["notes"]
    api("POST", "models/viewed/versions", expect=200, json=files_of_run)
    missing = api("GET", "models/viewd", expect=404)
    assert "viewed" in missing["error"]["hint"]

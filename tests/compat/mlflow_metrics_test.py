# SPDX-License-Identifier: Apache-2.0
"""Long metric histories by the unmodified client, while and after the server folds them."""

import contextlib
import math
import pathlib
import random
import sqlite3

import mlflow
import pytest
from mlflow import MlflowClient
from mlflow.entities import Metric
from takt_server import Server, wait_until

Place = tuple[int, int, bool, float]


def place(point: Metric) -> Place:
    is_nan = math.isnan(point.value)
    return point.timestamp, point.step, is_nan, 0.0 if is_nan else point.value


def fresh_client(server: Server, monkeypatch: pytest.MonkeyPatch) -> MlflowClient:
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", server.token)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    mlflow.set_tracking_uri(server.url)
    return MlflowClient()


def rows(server: Server, table: str) -> int:
    uri = f"file:{server.data}/takt.db?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=10)) as db:
        return db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]


def bulk(server: Server, path: str, **arguments: object) -> list[dict]:
    answer = server.request("GET", f"/ajax-api/2.0/mlflow/metrics/{path}", params=arguments)
    assert answer.status_code == 200, answer.text
    return answer.json()["metrics"]


def test_a_long_history_is_whole_while_it_is_folded_and_after_a_kill(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)
    client = fresh_client(server, monkeypatch)
    run = client.create_run("0").info.run_id
    rng = random.Random(5)
    special = [math.nan, math.inf, -math.inf, -0.0]
    logged: dict[Place, Metric] = {}
    for start in range(0, 30_000, 1000):
        batch = [
            Metric("loss", special[i % 7] if i % 7 < 4 else rng.random(), 1000 + i // 2, i)
            for i in range(start, start + 990)
        ]
        batch += rng.choices(list(logged.values()), k=10) if logged else []
        client.log_batch(run, metrics=batch)
        logged.update({place(point): point for point in batch})
        if start == 15_000:
            server.kill()
            server.start()
        if start % 10_000 == 0:
            read = client.get_metric_history(run, "loss")
            assert [place(point) for point in read] == sorted(logged)
    wait_until(lambda: rows(server, "metric_folds") == 0, what="the end of folding")
    assert rows(server, "metric_chunks") >= 100 and rows(server, "metric_head") < 200
    read = client.get_metric_history(run, "loss")
    assert [place(point) for point in read] == sorted(logged)
    client.log_batch(run, metrics=read[5000:6000])
    client.set_terminated(run)
    assert len(client.get_metric_history(run, "loss")) == len(logged)
    assert server.api("GET", f"runs/{run}/metrics/loss")["total"] == len(logged)


def test_curves_and_bulk_histories_thin_and_keep_extremes(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)
    client = fresh_client(shared_server, monkeypatch)
    runs = [client.create_run("0").info.run_id for _ in range(3)]
    for run in runs[:2]:
        for start in range(0, 5000, 1000):
            client.log_batch(run, metrics=[
                Metric("loss", 100.0 if i == 1234 else i % 10, 10 * i, i)
                for i in range(start, start + 1000)
            ])  # fmt: skip
    client.log_metric(runs[0], "one", math.nan, step=4)

    wanted = {"run": runs, "key": "loss", "buckets": 100}
    curves = shared_server.api("GET", "curves", params=wanted)
    assert [curve["run"] for curve in curves["items"]] == runs
    first = curves["items"][0]
    assert first["total"] == 5000 and first["is_thinned"] and sum(first["count"]) == 5000
    assert 50 <= len(first["x"]) <= 100 and first["x"] == sorted(first["x"])
    assert max(first["max"]) == 100 and set(first["min"][:-1]) == {0} and first["x"][-1] == 4999
    assert curves["items"][2]["x"] == [] and curves["items"][2]["total"] == 0
    part = wanted | {"x": "time", "from": 12_340, "to": 12_360}
    part = shared_server.api("GET", "curves", params=part)["items"][0]
    assert part["x"] == [12_340, 12_350, 12_360] and not part["is_thinned"]
    one = shared_server.api("GET", "curves", params={"run": runs[0], "key": "one"})["items"][0]
    assert one["min"] == one["last"] == ["NaN"]
    for wrong in ({"key": ""}, {"run": []}, {"x": "epoch"}, {"buckets": 0}, {"run": runs * 40}):
        shared_server.api("GET", "curves", expect=400, params=wanted | wrong)
    shared_server.api("GET", "curves", expect=404, params=wanted | {"run": "0" * 32})

    whole = bulk(shared_server, "get-history-bulk", run_id=runs, metric_key="loss")
    assert len(whole) == 10_000 and whole[0]["run_id"] == min(runs[:2])
    short = bulk(shared_server, "get-history-bulk", run_id=runs, metric_key="loss", max_results=7)
    assert [point["step"] for point in short] == list(range(7))
    sampled = bulk(shared_server, "get-history-bulk-interval", run_ids=runs, metric_key="loss",
                   max_results=50, start_step=1000, end_step=2999)  # fmt: skip
    steps = [point["step"] for point in sampled if point["run_id"] == runs[0]]
    assert len(steps) <= 50 and steps[0] == 1000 and steps[-1] == 2999 and 1234 in steps
    last = bulk(shared_server, "get-history-bulk-interval", run_ids=runs[:1], metric_key="loss",
                max_results=1)  # fmt: skip
    assert [point["step"] for point in last] == [4999]


def test_a_run_of_ten_thousand_metrics_is_read_at_once(
    shared_server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.chdir(tmp_path)
    client = fresh_client(shared_server, monkeypatch)
    run = client.create_run("0").info.run_id
    for start in range(0, 10_000, 1000):
        client.log_batch(
            run, metrics=[Metric(f"m/{i}", i, 1, 0) for i in range(start, start + 1000)]
        )
    kept = client.get_run(run).data.metrics
    assert len(kept) == 10_000 and kept["m/9999"] == 9999
    assert client.get_metric_history(run, "m/77")[0].value == 77
    found = client.search_runs(["0"], "metrics.`m/77` = 77")
    assert [item.info.run_id for item in found] == [run]

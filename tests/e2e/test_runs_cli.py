# SPDX-License-Identifier: Apache-2.0
"""takt runs: what a person types to find runs, and what is said when it is wrong."""

import pytest
from takt_server import Server

MLFLOW = "/api/2.0/mlflow"


def make_run(server: Server, experiment: str, index: int) -> str:
    def call(path: str, body: dict) -> dict:
        answer = server.request("POST", f"{MLFLOW}/{path}", json=body)
        assert answer.ok, answer.text
        return answer.json()

    asked = {"experiment_id": experiment, "run_name": f"run {index}", "start_time": 1000 + index}
    run = call("runs/create", asked)["run"]["info"]["run_id"]
    batch = {
        "run_id": run,
        "metrics": [{"key": "acc", "value": index / 10, "timestamp": 1, "step": 0}],
        "params": [{"key": "lr", "value": str(10**-index)}],
        "tags": [{"key": "team", "value": "vision" if index % 2 else "text"}],
    }
    call("runs/log-batch", batch)
    return run


@pytest.fixture(scope="module")
def seeded(shared_server: Server) -> Server:
    for name, indices in (("first", range(4)), ("second", range(4, 7))):
        path = f"{MLFLOW}/experiments/create"
        made = shared_server.request("POST", path, json={"name": name}).json()["experiment_id"]
        for index in indices:
            make_run(shared_server, made, index)
    return shared_server


def names(found: dict) -> list[str]:
    return [item["name"] for item in found["items"]]


def test_runs_of_all_experiments_are_filtered_ordered_and_counted(seeded: Server) -> None:
    assert names(seeded.json("runs", "ls"))[0] == "run 6"
    words = ("--filter", "metrics.acc > 0.2 AND (tags.team = 'text' OR NOT params.lr < 0.001)")
    found = seeded.json("runs", "search", *words, "--order", "metrics.acc DESC")
    assert names(found) == ["run 6", "run 4", "run 3"] and found["total"] == 3
    assert names(seeded.json("runs", "ls", "--experiment", "second", "--order", "start_time")) == [
        "run 4",
        "run 5",
        "run 6",
    ]
    assert seeded.takt("runs", "ls", "--count", "--experiment", "first").strip() == "4"
    assert seeded.json("runs", "search", *words, "--count") == {"total": 3}


def test_a_cut_is_said_and_all_shows_all(seeded: Server) -> None:
    cut = seeded.run("runs", "ls", "--limit", "2")
    assert cut.returncode == 0 and "2 of 7 runs" in cut.stderr and "--all" in cut.stderr
    whole = seeded.run("runs", "ls", "--all")
    assert whole.stderr == "" and whole.stdout.count("run ") == 7


def test_columns_are_those_asked_for(seeded: Server) -> None:
    words = ("runs", "ls", "--columns", "metrics.acc,params.lr,user", "--limit", "7")
    head, *lines = seeded.takt(*words).splitlines()
    assert head.split()[-3:] == ["metrics.acc", "params.lr", "user"] and len(lines) == 7
    assert "0.6" in lines[0] and "1e-06" in lines[0]
    found = seeded.json(*words)
    assert "team" not in found["items"][0]["tags"] and list(found["items"][0]["params"]) == ["lr"]


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (
            ("--filter", "metrics.acc > 'high'"),
            ["  metrics.acc > 'high'\n                ^\n", "without quotes"],
        ),
        (("--filter", "metrics.acc > 1 AN tags.x = 'y'"), ["'AN'", "joined by AND or OR"]),
        (("--filter", "metrix.acc > 1"), ["did you mean 'metrics'?"]),
        (("--filter", "(metrics.acc > 1"), ["  ^\n", "close it with )"]),
        (("--filter", "accuracy > 1"), ["write metrics.accuracy, params.accuracy"]),
        (("--order", "metrics.acc UP"), ["Invalid ordering key", "KEY DESC"]),
        (("--columns", "colour.x"), ["'colour.x' is no column"]),
        (("--limit", "0"), ["--limit"]),
    ],
)
def test_a_mistake_is_pointed_at(seeded: Server, words: tuple[str, ...], texts: list[str]) -> None:
    result = seeded.run("runs", "search", *words)
    assert result.returncode == 2, result.stdout
    for text in texts:
        assert text in result.stderr, result.stderr


def test_an_unknown_experiment_names_the_nearest(seeded: Server) -> None:
    result = seeded.run("runs", "ls", "--experiment", "frist")
    assert result.returncode == 4 and "did you mean 'first'?" in result.stderr

# SPDX-License-Identifier: Apache-2.0
"""`takt db check` on damaged stores, and `takt db migrate` to a real PostgreSQL."""

import hashlib
import json
import pathlib
import sqlite3
import subprocess
from collections.abc import Iterator

import pytest
import requests

from postgres_server import Postgres, running_postgres
from takt_server import TAKT, Server, own_environment


def db(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TAKT), "db", *map(str, words)], capture_output=True, text=True, timeout=120,
        env=own_environment(**environment),
    )  # fmt: skip


def check(server: Server, *words: object) -> tuple[int, dict]:
    result = db("check", "--data-dir", server.data, "--json", *words)
    assert result.stdout, result.stderr
    return result.returncode, json.loads(result.stdout)


@pytest.fixture
def filled(server: Server, tmp_path: pathlib.Path) -> Server:
    """Small files (a pack), a large one (alone), a run with metrics and an artifact, a model."""
    folder = tmp_path / "set"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.txt").write_text(f"sample {number}\n" * 20)
    (folder / "large.bin").write_bytes(bytes(range(256)) * 8192)
    server.takt("data", "add", "set", folder)
    v2 = "/api/2.0/mlflow"
    run = server.request("POST", f"{v2}/runs/create", json={"experiment_id": "0"}).json()["run"]
    run_id = run["info"]["run_id"]
    for step in range(20):
        body = {"run_id": run_id, "key": "loss", "value": 1 / (step + 1), "timestamp": step,
                "step": step}  # fmt: skip
        assert server.request("POST", f"{v2}/runs/log-metric", json=body).ok
    body = {"run_id": run_id, "key": "odd", "value": "NaN", "timestamp": 1, "step": 0}
    assert server.request("POST", f"{v2}/runs/log-metric", json=body).ok
    body = {"run_id": run_id, "key": "note", "value": "tab\there, line\nthere, \\ and ä中"}
    assert server.request("POST", f"{v2}/runs/set-tag", json=body).ok
    path = f"/api/2.0/mlflow-artifacts/artifacts/0/{run_id}/artifacts/model/weights.bin"
    assert server.request("PUT", path, data=b"w" * 5000).ok
    assert server.request("POST", f"{v2}/registered-models/create", json={"name": "m"}).ok
    body = {"name": "m", "source": f"runs:/{run_id}/model", "run_id": run_id}
    assert server.request("POST", f"{v2}/model-versions/create", json=body).ok
    server.takt("user", "add", "vera", "--role", "viewer")
    return server


def answers(server: Server) -> dict[str, object]:
    """What people see of a store, to be compared before and after."""
    v2 = "/api/2.0/mlflow"
    runs = server.request("POST", f"{v2}/runs/search", json={"experiment_ids": ["0"]}).json()
    run_id = runs["runs"][0]["info"]["run_id"]
    history = f"{v2}/metrics/get-history?run_id={run_id}&metric_key="
    return {
        "runs": runs,
        "history": [server.request("GET", history + key).json() for key in ("loss", "odd")],
        "datasets": server.api("GET", "datasets/set/versions/1"),
        "files": server.api("GET", "datasets/set/versions/1/files"),
        "model": server.api("GET", "models/m"),
        "users": server.api("GET", "users"),
        "tokens": server.api("GET", "tokens"),
        "events": server.api("GET", "audit?limit=1000")["items"],
        "weights": hashlib.sha256(
            server.request("GET", f"/get-artifact?run_id={run_id}&path=model/weights.bin").content
        ).hexdigest(),
        "large": hashlib.sha256(
            server.request("GET", "/api/v1/datasets/set/versions/1/content/large.bin").content
        ).hexdigest(),
    }


# --- check


def test_a_healthy_store_has_no_problem_running_or_stopped(filled: Server) -> None:
    code, running = check(filled)
    assert (code, running["problems"]) == (0, [])
    assert running["blobs_read"] == running["blobs"] > 50 and running["packs"] >= 1
    assert running["head"] == filled.api("GET", "audit/verify")["head"]["hash"]
    filled.stop()
    before = (filled.data / "takt.db").read_bytes()
    code, stopped = check(filled)
    assert (code, stopped["problems"]) == (0, [])
    assert stopped["events"] == running["events"] and stopped["rows"] >= running["rows"]
    assert (filled.data / "takt.db").read_bytes() == before
    printed = db("check", "--data-dir", filled.data, "--blobs", "10")
    assert printed.returncode == 0 and "no problem found" in printed.stdout


def test_a_corrupted_page_is_found(filled: Server) -> None:
    filled.stop()
    file = filled.data / "takt.db"
    page = 4096
    with sqlite3.connect(file) as database:
        root = database.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
        ).fetchone()[0]
    database.close()
    content = bytearray(file.read_bytes())
    content[(root - 1) * page : root * page] = b"\xa5" * page
    file.write_bytes(content)
    code, report = check(filled)
    assert code == 1 and report["problems_found"] > 0
    assert any("runs" in problem or "database" in problem for problem in report["problems"])
    printed = db("check", "--data-dir", filled.data)
    assert printed.returncode == 1 and "PROBLEM" in printed.stdout


def fails_as_corrupted(server: Server, path: str) -> bool:
    """An error, or for what is too large to be read ahead, a body that is cut before its end."""
    try:
        answer = server.request("GET", path)
    except requests.RequestException:
        return True
    return answer.status_code == 500 and "corrupted blob" in answer.text


def test_a_corrupted_artifact_is_not_sent_as_if_it_were_whole(filled: Server) -> None:
    v2 = "/api/2.0/mlflow"
    runs = filled.request("POST", f"{v2}/runs/search", json={"experiment_ids": ["0"]}).json()
    run_id = runs["runs"][0]["info"]["run_id"]
    content = bytes(range(256)) * (9 << 12)  # over what is read ahead
    digest = hashlib.sha256(content).hexdigest()
    path = f"/api/2.0/mlflow-artifacts/artifacts/0/{run_id}/artifacts/big.bin"
    assert filled.request("PUT", path, data=content).ok
    read = f"/get-artifact?run_id={run_id}&path=big.bin"
    assert filled.request("GET", read).content == content
    file = filled.data / "blobs/loose" / digest[:2] / digest[2:]
    file.chmod(0o644)
    file.write_bytes(content[:-1] + b"!")
    assert fails_as_corrupted(filled, read)
    assert check(filled)[1]["problems_found"] == 1


def test_corrupted_blobs_are_found_by_check_and_by_reads(filled: Server) -> None:
    loose = [f for f in (filled.data / "blobs/loose").rglob("*") if f.is_file()]
    large = max(loose, key=lambda file: file.stat().st_size)
    content = bytearray(large.read_bytes())
    content[1_000_000] ^= 1
    large.chmod(0o644)
    large.write_bytes(content)
    digest = large.parent.name + large.name
    code, report = check(filled)
    assert code == 1 and report["problems_found"] == 1
    assert digest in report["problems"][0] and str(large) in report["problems"][0]
    assert fails_as_corrupted(filled, "/api/v1/datasets/set/versions/1/content/large.bin")
    pack = next((filled.data / "blobs/packs").glob("*.pack"))
    pack.unlink()
    code, report = check(filled, "--blobs", "0")
    assert code == 1 and report["problems_found"] >= 50
    assert any(str(pack) in problem and "missing" in problem for problem in report["problems"])


def test_a_data_folder_that_is_not_there_is_not_made(tmp_path: pathlib.Path) -> None:
    result = db("check", "--data-dir", tmp_path / "none")
    assert result.returncode == 4 and "there is no database" in result.stderr
    assert not (tmp_path / "none").exists()


# --- migrate


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as running:
        yield running


def test_an_installation_moves_to_postgresql_with_everything_in_it(
    filled: Server, postgres: Postgres
) -> None:
    uri = postgres.create_database("moved")
    kept_token = filled.json("token", "create", "--note", "kept")["token"]
    before = answers(filled)
    refused = db("migrate", "--data-dir", filled.data, "--to", uri)
    assert refused.returncode == 5 and "stop the server" in refused.stderr
    filled.stop()
    file = (filled.data / "takt.db").read_bytes()
    moved = db("migrate", "--data-dir", filled.data, "--to", uri, "--json")
    assert moved.returncode == 0, moved.stderr
    report = json.loads(moved.stdout)
    assert (filled.data / "takt.db").read_bytes() == file
    with sqlite3.connect(filled.data / "takt.db") as database:
        for table in report["tables"]:
            name = table["name"]
            here = database.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0]
            there = int(postgres.sql(f'SELECT COUNT(*) FROM "{name}"', "moved"))
            assert here == there == table["rows"], name
    database.close()
    assert report["rows"] == sum(table["rows"] for table in report["tables"]) > 100
    # A second time it is refused: nothing is overwritten.
    again = db("migrate", "--data-dir", filled.data, "--to", uri)
    assert again.returncode == 5 and "in use" in again.stderr

    filled.settings["database"] = uri
    filled.start()
    assert answers(filled) == before
    assert filled.request("GET", "/api/v1/whoami", token=kept_token).status_code == 200
    # It goes on: numbers, chain, content.
    filled.takt("data", "add", "set", filled.data / "admin-token")
    assert filled.api("GET", "datasets/set")["name"] == "set"
    verified = filled.api("GET", "audit/verify")
    assert verified["intact"] and verified["events"] > len(before["events"])
    code, checked = check(filled, "--database", uri)
    assert (code, checked["problems"]) == (0, [])
    assert checked["database"] == "postgresql" and checked["events"] == verified["events"]


def test_a_move_that_fails_leaves_nothing_and_can_be_repeated(
    filled: Server, postgres: Postgres
) -> None:
    uri = postgres.create_database("half")
    filled.stop()
    file = filled.data / "takt.db"
    with sqlite3.connect(file) as database:  # text that PostgreSQL cannot hold
        database.execute("UPDATE runs SET name = CAST(x'FF' AS TEXT)")
    database.close()
    failed = db("migrate", "--data-dir", filled.data, "--to", uri)
    assert failed.returncode != 0 and "table runs" in failed.stderr
    assert postgres.sql("SELECT COUNT(*) FROM events", "half") == "0"
    assert postgres.sql("SELECT COUNT(*) FROM blobs", "half") == "0"
    with sqlite3.connect(file) as database:
        database.execute("UPDATE runs SET name = 'mended'")
    database.close()
    assert db("migrate", "--data-dir", filled.data, "--to", uri).returncode == 0


def test_a_wrong_target_is_named(filled: Server) -> None:
    filled.stop()
    for target in ("mysql://x/y", "takt.db"):
        result = db("migrate", "--data-dir", filled.data, "--to", target)
        assert result.returncode == 2 and "postgresql://" in result.stderr
    result = db("migrate", "--data-dir", filled.data, "--to", "postgresql://127.0.0.1:9/none")
    assert result.returncode == 69, result.stderr

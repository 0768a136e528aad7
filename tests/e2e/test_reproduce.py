# SPDX-License-Identifier: Apache-2.0
"""A run again from its record, and two runs side by side."""

import pathlib
import sys
import tempfile
from collections.abc import Iterator

import pytest

from contract import ROOT
from takt_server import Server

TRAIN = """\
sum=$(awk 'NR>1{s+=$1} END{print s}' "$TAKT_INPUT_DATA/in.csv")
echo "{\\"score\\": $((sum * TAKT_PARAM_RATE)), \\"seed\\": $TAKT_SEED}" > "$TAKT_OUTPUT_METRICS"
"""
JOB = """\
kind: Job
name: train
spec:
  command: [sh, train.sh]
  inputs: {data: numbers@1}
  params: {rate: 2}
  seed: 7
  outputs: {metrics: json}
"""


@pytest.fixture(scope="module")
def first(shared_server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run of a small script on numbers@1; there is a numbers@2."""
    folder = tmp_path_factory.mktemp("train")
    for text in ("x\n1\n2\n", "x\n1\n2\n4\n"):
        (folder / "in.csv").write_text(text)
        shared_server.takt("data", "add", "numbers", folder / "in.csv")
    (folder / "train.sh").write_text(TRAIN)
    (folder / "job.yaml").write_text(JOB)
    return shared_server.json("submit", folder / "job.yaml", "--wait", cwd=folder)["run"]


def reproduce(server: Server, run: str, *words: str, code: int) -> str:
    result = server.run("reproduce", run, *words)
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    return result.stdout


def test_a_run_is_reproduced_equal_and_linked_to_the_first(shared_server: Server, first: str):
    server = shared_server
    out = reproduce(server, first, code=0)
    assert "equal: every metric has the value it had" in out
    answer = server.json("reproduce", first)
    assert answer["diff"]["verdict"] == "equal" and answer["diff"]["metrics"]["same"] == 2
    again = answer["job"]["run"]
    edges = server.api("GET", f"lineage?ref=run/{again}")["edges"]
    assert any(
        edge["relation"] == "reproduces" and edge["to"] == f"run/{first}" for edge in edges
    ), edges
    assert server.api("GET", f"runs/{again}")["tags"]["takt.reproduces"] == first


def test_a_changed_input_is_named_and_exits_with_7(shared_server: Server, first: str):
    out = reproduce(shared_server, first, "--input", "data=numbers@2", code=7)
    assert "data          1 of 1 input differs" in out
    assert "dataset/numbers@1 (2 rows) → dataset/numbers@2 (3 rows)" in out
    assert "score  6 → 14  (+8)" in out
    assert (
        "different; the first input that differs is data: input data was dataset/numbers@1, is "
        "dataset/numbers@2" in out
    )


def test_parameters_seed_tolerance_and_chosen_metrics(shared_server: Server, first: str):
    server = shared_server
    out = reproduce(server, first, "--param", "rate=3", code=7)
    assert "parameter rate was 2, is 3" in out
    assert "score  6 → 9  (+3)" in out
    out = reproduce(server, first, "--seed", "8", code=7)
    assert "first input that differs is seed was 7, is 8" in out
    out = reproduce(server, first, "--seed", "8", "--tolerance", "0.2", code=0)
    assert "within the tolerance of 0.2; seed was 7, is 8" in out
    reproduce(server, first, "--seed", "8", "--metric", "score", code=0)
    reproduce(server, first, "--metric", "no-such", code=7)
    assert "tolerance" in server.run("reproduce", first, "--tolerance", "x").stderr


def make_python(folder: pathlib.Path, version: str) -> pathlib.Path:
    """A virtual environment of links, with one package whose version the script reports."""
    venv = folder / "venv"
    site = venv / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
    if not venv.exists():
        (venv / "bin").mkdir(parents=True)
        system = pathlib.Path(sys.executable).resolve()
        (venv / "bin/python").symlink_to(system)
        (venv / "pyvenv.cfg").write_text(f"home = {system.parent}\n")
        site.mkdir(parents=True)
    for old in site.glob("weights-*"):
        (old / "METADATA").unlink()
        old.rmdir()
    info = site / f"weights-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: weights\nVersion: {version}\n")
    return venv / "bin/python"


@pytest.fixture
def open_folder() -> Iterator[pathlib.Path]:
    """A folder that jobs can read: they run as another user."""
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        path = pathlib.Path(folder)
        path.chmod(0o755)
        yield path


def test_a_changed_package_is_named(
    shared_server: Server, tmp_path: pathlib.Path, open_folder: pathlib.Path
):
    server = shared_server
    python = make_python(open_folder, "1.5")
    code = tmp_path / "code"
    code.mkdir()
    (code / "train.py").write_text(
        "import importlib.metadata, json, os\n"
        "score = float(importlib.metadata.version('weights'))\n"
        "json.dump({'score': score}, open(os.environ['TAKT_OUTPUT_METRICS'], 'w'))\n"
    )
    (code / "job.yaml").write_text(
        "kind: Job\nname: packaged\nspec:\n  command: [python, train.py]\n"
        f"  environment: {{python: {python}}}\n  outputs: {{metrics: json}}\n"
    )
    run = server.json("submit", code / "job.yaml", "--wait", cwd=code)["run"]
    reproduce(server, run, code=0)
    make_python(open_folder, "1.75")
    out = reproduce(server, run, code=7)
    assert "weights  1.5 → 1.75" in out
    assert "the first input that differs is environment: weights was 1.5, is 1.75" in out


def test_what_cannot_be_reproduced_says_why(shared_server: Server, tmp_path: pathlib.Path):
    server = shared_server
    made = server.request(
        "POST", "/api/2.0/mlflow/runs/create", json={"experiment_id": "0", "start_time": 1}
    ).json()["run"]["info"]["run_id"]
    bare = server.run("reproduce", made)
    assert bare.returncode == 5 and "was not made by a job" in bare.stderr
    assert server.run("reproduce", "0" * 32).returncode == 4
    quiet = server.json("submit", "--wait", "--", "true", cwd=tmp_path)["run"]
    nothing = server.run("reproduce", quiet)
    assert nothing.returncode == 5 and "there is nothing to compare" in nothing.stderr
    (tmp_path / "once.sh").write_text(
        'test -z "$TAKT_PARAM_FAILS" || exit 3\necho "{\\"a\\": 1}" > "$TAKT_OUTPUT_METRICS"\n'
    )
    (tmp_path / "job.yaml").write_text(
        "kind: Job\nname: once\nspec:\n  command: [sh, once.sh]\n  params: {fails: ''}\n"
        "  outputs: {metrics: json}\n"
    )
    once = server.json("submit", tmp_path / "job.yaml", "--wait", cwd=tmp_path)["run"]
    failed = server.run("reproduce", once, "--param", "fails=yes")
    assert failed.returncode == 1 and "failed" in failed.stderr


def test_two_runs_are_held_against_each_other(
    shared_server: Server, first: str, tmp_path: pathlib.Path
):
    server = shared_server
    (tmp_path / "train.sh").write_text(TRAIN.replace("s+=$1", "s+=10*$1"))
    (tmp_path / "notes.md").write_text("new\n")
    (tmp_path / "job.yaml").write_text(JOB.replace("rate: 2", "rate: 3"))
    second = server.json("submit", tmp_path / "job.yaml", "--wait", cwd=tmp_path)["run"]
    out = server.takt("runs", "diff", first, second)
    for line in [
        "changed  train.sh  +1 -1",
        "added  notes.md  +1 -0",
        "environment   none recorded",
        "data          same (1 input)",
        "rate  2 → 3",
        "--- a/train.sh",
        "+++ b/train.sh",
        "@@ -1,2 +1,2 @@",
        "score  6 → 90  (+84)",
    ]:
        assert line in out, out
    assert "@@" not in server.takt("runs", "diff", first, second, "--brief")
    diff = server.json("runs", "diff", first, f"run/{second}")
    assert diff["first_difference"] == "code: in.csv was removed"
    missing = server.run("runs", "diff", first, "0" * 32)
    assert missing.returncode == 4

# SPDX-License-Identifier: Apache-2.0
"""Jobs through the CLI: what a script sees, how it is stopped, what survives."""

import os
import pathlib
import subprocess
import time

import pytest
import requests

from takt_server import TAKT, Server, own_environment, wait_until


@pytest.fixture
def code(tmp_path) -> pathlib.Path:
    folder = tmp_path / "code"
    folder.mkdir()
    return folder


def submit(server: Server, code: pathlib.Path, *words: str) -> int:
    return server.json("submit", *words, cwd=code)["number"]


def log_of(server: Server, number: int) -> str:
    return server.takt("logs", str(number))


def test_a_job_reads_inputs_and_writes_outputs(server: Server, code, tmp_path):
    (tmp_path / "in.csv").write_text("x\n1\n2\n")
    server.takt("data", "add", "numbers", tmp_path / "in.csv")
    (code / "sum.sh").write_text(
        "sum=$(awk 'NR>1{s+=$1} END{print s}' \"$TAKT_INPUT_DATA/in.csv\")\n"
        'echo "{\\"sum\\": $sum}" > "$TAKT_OUTPUT_METRICS"\n'
        'cp "$TAKT_INPUT_DATA/in.csv" "$TAKT_OUTPUT_COPY/"\n'
        'echo "seed $TAKT_SEED param $TAKT_PARAM_HIDDEN"\n'
    )
    (code / "job.yaml").write_text(
        "kind: Job\nname: sum\nspec:\n  command: [sh, sum.sh]\n  inputs: {data: numbers@1}\n"
        "  params: {hidden: 64}\n  seed: 7\n"
        "  outputs: {metrics: {kind: json}, copy: {kind: dataset, name: copied}}\n"
    )
    number = submit(server, code, "job.yaml")
    job = server.wait_job(number)
    assert job["state"] == "succeeded", job
    assert job["outputs"]["metrics"]["json"] == {"sum": 3}
    assert job["outputs"]["copy"]["ref"] == "dataset/copied@1"
    assert "seed 7 param 64" in log_of(server, number)
    edges = server.api("GET", f"lineage?ref=job/{number}")["edges"]
    assert any(
        e["to"] == "dataset/numbers@1"
        for e in server.api(
            "GET",
            f"lineage?ref={job['run']}" if "/" in job["run"] else f"lineage?ref=run/{job['run']}",
        )["edges"]
    ), edges


def test_a_failing_script_names_its_exit_code_and_last_lines(server: Server, code):
    number = submit(server, code, "--", "sh", "-c", "echo about to fail; exit 3")
    job = server.wait_job(number)
    assert job["state"] == "failed"
    assert "3" in job["reason"]
    why = server.takt("why", f"job/{number}")
    assert "about to fail" in why


def test_a_job_that_hangs_ends_at_its_timeout(server: Server, code):
    number = submit(server, code, "--timeout", "1s", "--", "sleep", "600")
    job = server.wait_job(number)
    assert job["state"] == "failed"
    assert "time" in job["reason"]


def marked_processes(mark: str) -> list[int]:
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            is_zombie = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
            if not is_zombie and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_cancel_kills_the_whole_tree_also_what_left_its_session(server: Server, code):
    mark = f"73{os.getpid()}{int(time.time()) % 1000}"
    number = submit(
        server,
        code,
        "--",
        "sh",
        "-c",
        f"setsid -f sleep {mark}; (sleep {mark} &) ; echo up; sleep {mark}",
    )
    wait_until(lambda: len(marked_processes(mark)) >= 3, 20, what="the three sleepers")
    server.takt("jobs", "cancel", str(number))
    assert server.wait_job(number)["state"] == "cancelled"
    wait_until(lambda: not marked_processes(mark), 10, what="the end of every process")


def test_jobs_outlive_kill_9_and_their_end_is_not_lost(server: Server, code):
    running = submit(
        server,
        code,
        "--cpu",
        "100m",
        "--",
        "sh",
        "-c",
        "while [ ! -e go ]; do sleep 0.1; done; echo went on; exit 7",
    )
    ended = submit(server, code, "--cpu", "100m", "--", "sh", "-c", "sleep 2; echo ended alone")
    wait_until(
        lambda: all(server.api("GET", f"jobs/{n}")["state"] == "running" for n in (running, ended)),
        20,
        what="both running",
    )
    server.kill()
    # The second job ends while no server is there: its shim writes the record alone.
    record = server.data / f"jobs/{ended}/attempts/1/exit.json"
    wait_until(record.exists, 20, what="the exit record")
    server.start()
    job = server.wait_job(ended)
    assert job["state"] == "succeeded"
    assert "ended alone" in log_of(server, ended)
    assert server.api("GET", f"jobs/{running}")["state"] == "running"
    work = next((server.data / f"jobs/{running}").rglob("work"))
    (work / "go").touch()
    job = server.wait_job(running)
    assert job["state"] == "failed"
    assert job["attempts"][0]["exit_code"] == 7
    assert len(job["attempts"]) == 1


def test_stop_all_ends_a_job_that_the_next_server_runs_to_its_end(server: Server, code):
    """The first attempt waits for ever; the second finds the first one's mark and ends."""
    script = 'm="$TAKT_CHECKPOINT_DIR/m"; [ ! -e "$m" ] || exit 0; touch "$m"; sleep 1000'
    number = submit(server, code, "--", "sh", "-c", script)
    mark = server.data / f"jobs/{number}/checkpoint/m"
    wait_until(mark.exists, 20, what="the first attempt's mark")
    result = subprocess.run(
        [str(TAKT), "stop", "--all", "--data-dir", str(server.data)],
        capture_output=True, text=True, timeout=90, env=own_environment(),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "ended 1 running jobs, replicas and gateways" in result.stdout
    server.wait_ended()
    server.start()
    job = server.wait_job(number)
    assert job["state"] == "succeeded"
    assert [attempt["failure"] for attempt in job["attempts"]] == ["lost", "none"]
    assert "takt stop --all" in job["attempts"][0]["reason"]


def test_a_retry_resumes_from_its_checkpoint(server: Server, code):
    number = submit(
        server, code, "--retries", "2", "--", "sh", "-c",
        'n=$(cat "$TAKT_CHECKPOINT_DIR/n" 2>/dev/null || echo 0); n=$((n+1)); '
        'echo $n > "$TAKT_CHECKPOINT_DIR/n"; echo attempt $n; [ $n -ge 3 ]',
    )  # fmt: skip
    job = server.wait_job(number)
    assert job["state"] == "succeeded"
    assert len(job["attempts"]) == 3
    assert "attempt 3" in log_of(server, number)


def test_a_waiting_job_says_why_with_numbers(make_server, code):
    server = make_server(cpu="1000m").start()
    first = submit(server, code, "--cpu", "800m", "--", "sleep", "30")
    wait_until(
        lambda: server.api("GET", f"jobs/{first}")["state"] == "running",
        20,
        what="the first running",
    )
    second = submit(server, code, "--cpu", "500m", "--", "true")
    reason = wait_until(
        lambda: server.api("GET", f"jobs/{second}").get("reason"), 10, what="a reason"
    )
    assert "500m" in reason
    assert f"job {first}" in reason
    too_big = server.run("submit", "--cpu", "2000m", "--", "true", cwd=code)
    assert too_big.returncode != 0
    assert "2" in too_big.stderr
    server.takt("jobs", "cancel", str(first))
    assert server.wait_job(second)["state"] == "succeeded"


def test_a_job_cannot_read_the_store_nor_write_its_input(server: Server, code, tmp_path):
    (tmp_path / "in.csv").write_text("x\n1\n")
    server.takt("data", "add", "d", tmp_path / "in.csv")
    number = submit(
        server, code, "--input", "data=d@1", "--", "sh", "-c",
        f'cat {server.data}/takt.db {server.data}/admin-token; echo "db $?"; '
        'echo bad > "$TAKT_INPUT_DATA/in.csv"; echo "input $?"; cat "$TAKT_INPUT_DATA/in.csv"; '
        f"ls {server.data}/jobs; env | grep -c ADMIN",
    )  # fmt: skip
    server.wait_job(number)
    log = log_of(server, number)
    assert "db 0" not in log
    assert "input 0" not in log
    assert server.token not in log
    assert "x\n1" in log


def test_a_gigabyte_of_log_is_kept_whole_and_does_not_hurt(server: Server, code):
    number = submit(
        server,
        code,
        "--",
        "sh",
        "-c",
        "head -c 1073741824 /dev/zero | tr '\\0' 'x'; echo; echo the end",
    )
    assert server.wait_job(number, 180)["state"] == "succeeded"
    response = server.request("GET", f"/api/v1/jobs/{number}/log?from=-8")
    assert response.text == "the end\n"
    assert int(response.headers["Takt-Log-Size"]) == 1073741824 + 1 + 8
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    resident_kb = int(
        next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]
    )
    assert resident_kb < 200_000


def test_running_out_of_memory_is_called_that(server: Server, code):
    (code / "grow.py").write_text("x = []\nwhile True:\n    x.append(bytearray(1 << 22))\n")
    number = submit(server, code, "--memory", "64MiB", "--", "/usr/bin/python3", "grow.py")
    job = server.wait_job(number, 90)
    assert job["state"] == "failed"
    assert "memory" in job["reason"], job


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Job\nname: a\nspec: {comand: [x]}\n", "command"),
        ("kind: Job\nname: a\nspec: {command: 7}\n", "spec.command"),
        ("kind: Job\nname: a\nspec: {command: [x], resources: {gpus: 128}}\n", "gpus"),
        ("kind: Job\nname: a\nspec: {command: [x], inputs: {d: nothing@3}}\n", "nothing"),
        ("kind: Job\nname: a\nspec: [\n", "line"),
    ],
)
def test_wrong_specs_are_refused_by_field(server: Server, code, text, message):
    (code / "job.yaml").write_text(text)
    result = server.run("submit", "job.yaml", cwd=code)
    assert result.returncode in (2, 4), result.stderr
    assert message in result.stderr
    assert server.api("GET", "jobs")["items"] == []


def test_a_job_token_ends_with_its_job(server: Server, code):
    number = submit(server, code, "--", "sh", "-c", "echo TOKEN=$MLFLOW_TRACKING_TOKEN")
    server.wait_job(number)
    token = log_of(server, number).split("TOKEN=")[1].strip()

    # An answer with an error status is false in a condition, hence the comparison.
    def answer() -> requests.Response:
        return server.request("GET", "/api/v1/datasets", token=token)

    wait_until(lambda: answer().status_code == 401, 10, what="the token's end")
    assert "has ended" in answer().json()["error"]["message"]

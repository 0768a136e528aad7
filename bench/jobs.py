#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No-op jobs: from the submission to the start of the command, one at a time, and jobs per second
when all are submitted at once. Baselines on the same machine: posix_spawn of `true` alone, and the
same with a record of each job written and synced before and after, as durable as takt's."""

import argparse
import json
import os
import pathlib
import time
from datetime import datetime

import measure
from measure import Server, Table, median, ratio, spread

SPEC = {"kind": "Job", "name": "nothing",
        "spec": {"command": ["true"], "resources": {"cpu": "50m", "memory": "16MiB"}}}  # fmt: skip
ENDED = ("succeeded", "failed", "cancelled")


def unix_seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def submit_one_by_one(server: Server, count: int) -> tuple[list[float], list[float]]:
    """Seconds from before the request to the start of the command, and to the recorded end. takt's
    times have milliseconds, cut off."""
    to_start, to_end = [], []
    for _ in range(count):
        begun = time.time()
        number = server.api("POST", "jobs", json=SPEC)["number"]
        job = ended_job(server, number)
        to_start.append(unix_seconds(job["attempts"][-1]["started_at"]) - begun)
        to_end.append(unix_seconds(job["ended_at"]) - begun)
    return to_start, to_end


def ended_job(server: Server, number: int) -> dict:
    deadline = time.monotonic() + 60
    while True:
        job = server.api("GET", f"jobs/{number}")
        if job["state"] in ENDED:
            assert job["state"] == "succeeded", job
            return job
        assert time.monotonic() < deadline, job
        time.sleep(0.02)


def submit_at_once(server: Server, count: int, folder: pathlib.Path) -> tuple[float, float]:
    """Jobs per second from the first submission to the last end, and CPU seconds per job of server,
    shims and commands."""
    assert server.process is not None
    pid = server.process.pid
    reaper = measure.Reaper(measure.children_of(os.getpid()))
    body = folder / "job.json"
    body.write_text(json.dumps(SPEC))
    last = server.api("GET", "jobs?page_size=1")["items"][0]["number"]
    cpu = measure.process_cpu_s(pid) + measure.children_cpu_s(pid)
    begun = time.time()
    measure.load(
        server.port, "/api/v1/jobs", "--requests", str(count),
        "--header", "Content-Type: application/json",
        "--header", f"Authorization: Bearer {server.token}", body=body, connections=4,
    )  # fmt: skip
    ended = max(
        unix_seconds(ended_job(server, n)["ended_at"]) for n in range(last + 1, last + count + 1)
    )
    time.sleep(0.2)  # the last shims end
    reaper.reap()
    cpu = measure.process_cpu_s(pid) + measure.children_cpu_s(pid) - cpu + reaper.cpu_s
    return count / (ended - begun), cpu / count


def spawn_loop(count: int, folder: pathlib.Path | None) -> tuple[list[float], list[float], float]:
    """Seconds until posix_spawn has returned (the command is executed then) and until it has ended,
    one after another; jobs per second. With a folder each job is recorded twice, synced."""
    to_start, to_end = [], []
    first = time.perf_counter()
    for number in range(count):
        begun = time.perf_counter()
        if folder:
            write_synced(folder / f"{number}.lease")
        pid = os.posix_spawn("/bin/true", ["true"], {})
        to_start.append(time.perf_counter() - begun)
        os.waitpid(pid, 0)
        if folder:
            write_synced(folder / f"{number}.exit")
        to_end.append(time.perf_counter() - begun)
    return to_start, to_end, count / (time.perf_counter() - first)


def write_synced(path: pathlib.Path) -> None:
    for target, flags in ((path, os.O_WRONLY | os.O_CREAT), (path.parent, os.O_RDONLY)):
        descriptor = os.open(target, flags, 0o600)
        if target is path:
            os.write(descriptor, b'{"state": "recorded"}')
        os.fsync(descriptor)
        os.close(descriptor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=50)
    count = parser.parse_args().jobs
    measure.begin("No-op jobs")
    with measure.work_folder() as folder:
        records = folder / "records"
        records.mkdir()
        plain_start, plain_end, plain_rate = spawn_loop(count, None)
        synced_start, synced_end, synced_rate = spawn_loop(count, records)
        with measure.running_server(folder) as server:
            submit_one_by_one(server, 5)
            to_start, to_end = submit_one_by_one(server, count)
            rate, cpu = submit_at_once(server, count, folder)
    table = Table(
        "", "takt", "posix_spawn, synced records", "posix_spawn alone", "takt / synced records"
    )
    for what, ours, synced, plain in (
        ("submit to start, ms: median (least to most)", to_start, synced_start, plain_start),
        ("submit to recorded end, ms", to_end, synced_end, plain_end),
    ):
        table.add(
            what,
            *(spread(v, 1e3, 2) for v in (ours, synced, plain)),
            ratio(median(ours), median(synced)),
        )
    table.add(f"jobs per second ({count} at once; baselines one by one)", f"{rate:.1f}",
              f"{synced_rate:.1f}",
              f"{plain_rate:.1f}", ratio(rate, synced_rate))  # fmt: skip
    table.add("CPU per job, server, shim and command, ms", f"{cpu * 1e3:.2f}", "", "", "")
    table.print()


if __name__ == "__main__":
    main()

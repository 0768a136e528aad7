#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a pipeline adds to each task: chains of no-op nodes, wall time and CPU per node. Gates are
decided by takt itself, jobs are processes. Baseline: `make` with a chain of as many targets whose
recipes write the target and sync it."""

import argparse
import itertools
import os
import pathlib
import resource
import subprocess
import time
from datetime import datetime

import measure
from measure import Server, Table, median, ratio, wait_until

RESOURCES = {"cpu": "50m", "memory": "16MiB"}
SOURCE = {
    "name": "source",
    "outputs": {"metrics": {"kind": "json"}},
    "job": {"command": 'echo \'{"score": 1}\' > "$TAKT_OUTPUT_METRICS"', "resources": RESOURCES},
}


def gate_chain(count: int) -> dict:
    """A job that gives the metrics, then gates that each wait for the one before. Their conditions
    differ, so that no result is taken from the cache."""
    nodes = [SOURCE]
    for number in range(count):
        nodes.append(
            {
                "name": f"gate-{number}",
                "action": "gate",
                "needs": [nodes[-1]["name"]],
                "inputs": {"metrics": "${nodes.source.outputs.metrics}"},
                "with": {"conditions": [f"score >= -{number}"]},
            }
        )
    return {"kind": "Pipeline", "name": "gates", "spec": {"nodes": nodes}}


def job_nodes(count: int, is_chain: bool) -> dict:
    name = "jobs-chain" if is_chain else "jobs-wide"
    nodes: list[dict] = []
    for number in range(count):
        node = {
            "name": f"job-{number}",
            "params": {
                "number": number,
                "pipeline": name,
            },  # else the other pipeline's result is taken
            "job": {"command": ["true"], "resources": RESOURCES},
        }
        if is_chain and nodes:
            node["needs"] = [nodes[-1]["name"]]
        nodes.append(node)
    return {"kind": "Pipeline", "name": name, "spec": {"nodes": nodes}}


def unix_seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def run_pipeline(server: Server, definition: dict) -> dict[str, float]:
    """Seconds of wall and of CPU per node, and the median step from one node's end to the next."""
    assert server.process is not None
    pid = server.process.pid
    name = definition["name"]
    server.api("POST", "pipelines", json={"definition": definition})
    reaper = measure.Reaper(measure.children_of(os.getpid()))
    cpu = measure.process_cpu_s(pid) + measure.children_cpu_s(pid)
    number = server.api("POST", f"pipelines/{name}/runs", json={})["number"]
    newest = f"pipelines/{name}/runs?limit=1"
    wait_until(  # the short list: asking for the whole run would be measured along
        lambda: server.api("GET", newest)["items"][0]["state"] != "running",
        300, every=0.2, what="the end of the run",
    )  # fmt: skip
    time.sleep(0.2)  # the last shims end
    reaper.reap()
    cpu = measure.process_cpu_s(pid) + measure.children_cpu_s(pid) - cpu + reaper.cpu_s
    run = server.api("GET", f"pipelines/{name}/runs/{number}")
    assert run["state"] == "succeeded", run["reason"]
    assert all(node["state"] == "done" for node in run["nodes"]), (
        "a result was taken from the cache"
    )
    ends = sorted(unix_seconds(node["ended_at"]) for node in run["nodes"])
    count = len(ends)
    return {
        "wall": (unix_seconds(run["ended_at"]) - unix_seconds(run["started_at"])) / count,
        "step": median(b - a for a, b in itertools.pairwise(ends)),
        "cpu": cpu / count,
    }


def run_make(folder: pathlib.Path, count: int) -> dict[str, float]:
    """The same chain in make: `: > target; sync target` in each recipe."""
    lines = [f"all: t{count - 1}"]
    for number in range(count):
        before = f" t{number - 1}" if number else ""
        lines += [f"t{number}:{before}", f"\t@echo done > t{number}; sync t{number} ."]
    (folder / "Makefile").write_text("\n".join(lines) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(["make", "-s", "-j1", "-C", folder], check=True, stdin=subprocess.DEVNULL)
    wall = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": wall / count, "step": wall / count, "cpu": cpu / count}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    count = parser.parse_args().nodes
    measure.begin(f"Pipelines of {count} nodes")
    with measure.work_folder() as folder:
        for name in ("make", "server"):
            (folder / name).mkdir()
        with measure.running_server(folder / "server") as server:
            results = {
                "make, a chain of synced targets": run_make(folder / "make", count),
                "takt, a chain of gates (and the job that feeds them)": run_pipeline(
                    server, gate_chain(count)
                ),
                "takt, a chain of jobs": run_pipeline(server, job_nodes(count, True)),
                "takt, jobs side by side": run_pipeline(server, job_nodes(count, False)),
            }
    peer = next(iter(results.values()))
    table = Table(
        "", "wall per task, ms", "median step, ms", "CPU per task, ms", "wall / make", "CPU / make"
    )
    for name, result in results.items():
        table.add(name, *(f"{result[key] * 1e3:.2f}" for key in ("wall", "step", "cpu")),
                  ratio(result["wall"], peer["wall"]),
                  ratio(result["cpu"], peer["cpu"]))  # fmt: skip
    table.add("aim", "", "<= 10", "<= 5", "", "")
    table.print()
    print("- CPU: of the server, the shims and the commands; takt's times have milliseconds")


if __name__ == "__main__":
    main()

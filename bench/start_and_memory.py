#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Start of the server until it is ready, and what all of takt's processes hold when idle after the
line of examples/hello ran once and its service stopped. Baseline: `mlflow server`, the tracking
server alone, if the Python that runs this has it; else Python's own http.server."""

import argparse
import importlib.util
import pathlib
import sys
import time

import measure
from measure import Server, Table, median, pss_bytes, ratio, spread, wait_until

HELLO = measure.ROOT / "examples/hello"
MIB = 1 << 20


def start_seconds(server: Server) -> float:
    begun = time.perf_counter()
    server.start(wait=False)
    measure.wait_answer(server.port, "/readyz")
    return time.perf_counter() - begun


def measure_starts(folder: pathlib.Path, count: int) -> tuple[float, list[float]]:
    """Seconds of the first start, which makes the database, and of `count` later ones."""
    server = Server(folder)
    try:
        first = start_seconds(server)
        server.stop()
        later = []
        for _ in range(count):
            later.append(start_seconds(server))
            server.stop()
        return first, later
    finally:
        server.destroy()


def run_line(server: Server) -> None:
    """Data, pipeline, approval by another user, a live service; then the service is stopped."""
    server.takt("user", "add", "maya", "--role", "operator")
    approver = server.json("token", "create", "--user", "maya")["token"]
    server.takt("data", "add", "hello-raw", HELLO / "data/sensors.csv")
    number = server.json("pipeline", "run", HELLO / "pipeline.yaml")["number"]

    def reaches(state: str) -> None:
        run = f"pipelines/hello-line/runs/{number}"
        wait_until(lambda: server.api("GET", run)["state"] == state, 120, every=0.2, what=state)

    reaches("waiting-approval")
    server.takt("pipeline", "approve", "hello-line", str(number), "promote", token=approver)
    reaches("succeeded")
    server.takt("services", "stop", "hello")
    wait_until(lambda: not server.api("GET", "jobs?state=open&kind=replica")["items"], 60,
               what="the end of the replicas")  # fmt: skip


def idle_takt(folder: pathlib.Path, settle_seconds: float) -> dict[str, int]:
    """PSS by process after the line has run and its service has stopped."""
    with measure.running_server(folder) as server:
        run_line(server)
        time.sleep(settle_seconds)
        assert server.process is not None
        sizes = pss_bytes({server.process.pid, *server.descendants()})
        return {f"{measure.command_of(pid)} ({pid})": size for pid, size in sizes.items()}


def mlflow_command(folder: pathlib.Path, port: int) -> list[str]:
    return [
        sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--backend-store-uri", f"sqlite:///{folder}/mlflow.db",
        "--artifacts-destination", str(folder / "artifacts"), "--workers", "1",
    ]  # fmt: skip


def plain_command(port: int) -> list[str]:
    return ["/usr/bin/python3", "-m", "http.server", "--bind", "127.0.0.1", str(port)]


def measure_peer(folder: pathlib.Path, starts: int) -> tuple[str, list[float], int]:
    """Name, seconds of each start but the first, and bytes at rest after the last."""
    is_mlflow = importlib.util.find_spec("mlflow") is not None
    if is_mlflow:
        name, path = "mlflow server, 1 worker, no job execution", "/health"
    else:
        name, path, starts = "python3 -m http.server", "/", starts + 5
    seconds, size = [], 0
    for _ in range(starts + 1):
        port = measure.free_port()
        command = mlflow_command(folder, port) if is_mlflow else plain_command(port)
        begun = time.perf_counter()
        with measure.started(
            *command, log=folder / "peer.log",
            # Its smallest form: without the processes that run jobs of evaluation and the like.
            MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false",
        ) as process:  # fmt: skip
            measure.wait_answer(port, path)
            seconds.append(time.perf_counter() - begun)
            time.sleep(2)
            size = sum(pss_bytes(measure.session_of(process.pid)).values())
    return name, seconds[1:], size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument("--peer-starts", type=int, default=3, help="at least 1")
    parser.add_argument("--settle-seconds", type=float, default=5)
    options = parser.parse_args()
    measure.begin("Start and idle memory")
    with measure.work_folder() as folder:
        for name in ("starts", "line", "peer"):
            (folder / name).mkdir()
        first, starts = measure_starts(folder / "starts", options.starts)
        peer, peer_starts, peer_bytes = measure_peer(folder / "peer", options.peer_starts)
        processes = idle_takt(folder / "line", options.settle_seconds)
    total = sum(processes.values())
    table = Table("", "takt", peer, "takt / peer", "aim")
    table.add("start on an existing folder until ready, s: median (least to most)",
              spread(starts, digits=3), spread(peer_starts, digits=3),
              ratio(median(starts), median(peer_starts)), "< 0.5 s")  # fmt: skip
    table.add("first start on an empty folder, s", f"{first:.3f}", "", "", "")
    table.add("idle, PSS of all processes, MiB", f"{total / MIB:.1f}", f"{peer_bytes / MIB:.1f}",
              ratio(total, peer_bytes), "< 80 MB")  # fmt: skip
    table.print()
    for name, size in sorted(processes.items(), key=lambda item: -item[1]):
        print(f"- {name}: {size / MIB:.1f} MiB")
    print("- the page cache is warm in all starts; the peer has answered one request")


if __name__ == "__main__":
    main()

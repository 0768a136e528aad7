#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tracking beside `mlflow server`: single metrics of 16 clients, batches, run creation, searches,
histories, bytes a point, start. Both on SQLite, both acknowledging only what is on disk (takt:
WAL with synchronous=FULL, the peer: its default, a rollback journal with synchronous=FULL)."""

import argparse
import contextlib
import json
import pathlib
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import measure
import requests
from measure import Server, Table, ratio, wait_until

POINTS_PER_BATCH = 1000
SERIES_PER_BATCH = 10
HISTORY_POINTS = 25_000
STARTED_MS = 1_700_000_000_000
WORDS_PER_RUN = (10, 10, 5)  # params, metrics, tags


@dataclass
class Target:
    """A server under test, reached by MLflow's API."""

    name: str
    port: int
    database: pathlib.Path
    folder: pathlib.Path
    token: str = ""
    experiment: str = ""
    session: requests.Session = field(default_factory=requests.Session)

    @property
    def headers(self) -> list[str]:
        return ["Content-Type: application/json"] + (
            [f"Authorization: Bearer {self.token}"] if self.token else []
        )

    def post(self, path: str, body: object) -> dict:
        answer = self.session.post(
            f"http://127.0.0.1:{self.port}/api/2.0/mlflow/{path}",
            data=json.dumps(body),
            headers=dict(header.split(": ", 1) for header in self.headers),
            timeout=120,
        )
        if not answer.ok:
            sys.exit(f"{self.name}: {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json()

    def new_run(self) -> str:
        body = {"experiment_id": self.experiment, "start_time": STARTED_MS}
        return self.post("runs/create", body)["run"]["info"]["run_id"]

    def load(self, path: str, *words: str, bodies: list[object] = (), **more: int) -> dict:
        files = []
        for i, body in enumerate(bodies):
            files.append(self.folder / f"body-{i}.json")
            # Numbers that count up were text until now.
            files[-1].write_text(json.dumps(body).replace('"~', "").replace('~"', ""))
        flags = [word for header in self.headers for word in ("--header", header)]
        return measure.load(
            self.port, "/api/2.0/mlflow/" + path, *flags, *words, body=files or None, **more
        )


def seconds(count: float, warmup: float = 0.5) -> list[str]:
    return ["--seconds", str(count), "--warmup-seconds", str(warmup)]


def single_metric(run: str) -> dict:
    # bench-load counts #COUNTER up.
    return {
        "run_id": run, "key": "loss", "value": 0.6931471805599453,
        "timestamp": "~17000#COUNTER~", "step": "~#COUNTER~",
    }  # fmt: skip


def batch(run: str, rng: random.Random) -> dict:
    """Ten series of a hundred steps, the values as single-precision losses are."""
    each = POINTS_PER_BATCH // SERIES_PER_BATCH
    return {
        "run_id": run,
        "metrics": [
            {
                "key": f"metric_{series}",
                "value": float32(rng.random()),
                "timestamp": f"~17#COUNTER{step:03d}~",
                "step": f"~#COUNTER{step:02d}~",
            }
            for step in range(each)
            for series in range(SERIES_PER_BATCH)
        ],
    }


def float32(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def fill_history(target: Target, run: str) -> None:
    for start in range(0, HISTORY_POINTS, POINTS_PER_BATCH):
        points = [
            {"key": "loss", "value": 1 / (1 + i), "timestamp": STARTED_MS + i, "step": i}
            for i in range(start, start + POINTS_PER_BATCH)
        ]
        target.post("runs/log-batch", {"run_id": run, "metrics": points})


def log_figures(target: Target, length: float) -> dict[str, float]:
    """What writing costs."""
    rng = random.Random(1)
    figures = {}
    runs = [target.new_run() for _ in range(16)]
    bodies = [single_metric(run) for run in runs]
    many = target.load("runs/log-metric", *seconds(length), bodies=bodies, connections=16)
    figures["log_metric_rate"] = many["rate"]
    figures["log_metric_p99_ms"] = many["p99_us"] / 1000
    one = target.load("runs/log-metric", *seconds(length), bodies=[single_metric(target.new_run())])
    figures["log_metric_1_p50_ms"] = one["p50_us"] / 1000
    one = target.load("runs/log-batch", *seconds(length), bodies=[batch(target.new_run(), rng)])
    figures["log_batch_p50_ms"] = one["p50_us"] / 1000
    bodies = [batch(target.new_run(), rng) for _ in range(16)]
    # By count: the peer may not finish one of each client's within seconds.
    many = target.load("runs/log-batch", "--requests", "48", bodies=bodies, connections=16)
    figures["batch_points_rate"] = many["rate"] * POINTS_PER_BATCH
    create = {"experiment_id": target.experiment, "start_time": STARTED_MS, "tags": []}
    one = target.load("runs/create", *seconds(length), bodies=[create])
    figures["create_p50_ms"] = one["p50_us"] / 1000
    many = target.load("runs/create", *seconds(length), bodies=[create], connections=16)
    figures["create_rate"] = many["rate"]
    return figures


def read_figures(
    target: Target, requests_of_reads: int, history_run: str, filled: str
) -> dict[str, float]:
    """What reading costs, of an experiment with the options' number of runs."""
    search = {
        "experiment_ids": [filled], "max_results": 100,
        "filter": "metrics.metric_3 > 0.5", "order_by": ["metrics.metric_1 DESC"],
    }  # fmt: skip
    whole = {"experiment_ids": [filled], "max_results": 1000}
    get = f"metrics/get-history?run_id={history_run}&metric_key=loss&max_results={HISTORY_POINTS}"
    found = target.post("runs/search", search)["runs"]
    assert len(found) == 100, f"{target.name} found {len(found)} runs"
    figures = {}
    for name, path, bodies in [
        ("search_100_ms", "runs/search", [search]),
        ("search_1000_ms", "runs/search", [whole]),
        ("history_ms", get, []),
    ]:
        read = target.load(path, "--requests", str(requests_of_reads), bodies=bodies)
        figures[name] = read["p50_us"] / 1000
    return figures


def run_words(index: int) -> tuple[dict[str, str], dict[str, float], dict[str, str]]:
    """The same params, metrics and tags for both sides."""
    rng = random.Random(index)
    params, metrics, tags = WORDS_PER_RUN
    return (
        {f"param_{i}": f"{rng.random():.6f}" for i in range(params)},
        {f"metric_{i}": rng.random() for i in range(metrics)},
        {f"tag_{i}": rng.choice(["red", "green", "blue"]) for i in range(tags)},
    )


def fill_takt(target: Target, experiment: str, count: int) -> None:
    for index in range(count):
        params, metrics, tags = run_words(index)
        body = {"experiment_id": experiment, "start_time": STARTED_MS + index}
        run = target.post("runs/create", body)["run"]["info"]["run_id"]
        target.post("runs/log-batch", {
            "run_id": run,
            "params": [{"key": k, "value": v} for k, v in params.items()],
            "metrics": [{"key": k, "value": v, "timestamp": STARTED_MS, "step": 0}
                        for k, v in metrics.items()],
            "tags": [{"key": k, "value": v} for k, v in tags.items()],
        })  # fmt: skip


def fill_peer(target: Target, experiment: str, count: int) -> None:
    """Straight into its tables: by its API a hundred thousand runs take hours."""
    with contextlib.closing(sqlite3.connect(target.database, timeout=60)) as db, db:
        for index in range(count):
            params, metrics, tags = run_words(index)
            run = uuid.uuid4().hex
            db.execute(
                "INSERT INTO runs (run_uuid, name, source_type, source_name, entry_point_name, "
                "user_id, status, start_time, lifecycle_stage, artifact_uri, experiment_id) VALUES "
                "(?, ?, 'UNKNOWN', '', '', 'bench', 'RUNNING', ?, 'active', ?, ?)",
                (run, f"run-{index}", STARTED_MS + index, f"file:///tmp/{run}", experiment),
            )
            for table, words in (("params", params), ("tags", tags | {"mlflow.runName": run})):
                db.executemany(
                    f"INSERT INTO {table} (key, value, run_uuid) VALUES (?, ?, ?)",
                    [(key, value, run) for key, value in words.items()],
                )
            for table in ("metrics", "latest_metrics"):
                db.executemany(
                    f"INSERT INTO {table} (key, value, timestamp, run_uuid, step, is_nan) "
                    "VALUES (?, ?, ?, ?, 0, 0)",
                    [(key, value, STARTED_MS, run) for key, value in metrics.items()],
                )


def log_points(target: Target, count: int) -> None:
    """Batches by the API, of runs that go on for a hundred thousand points each."""
    rng = random.Random(2)
    for start in range(0, count, 100_000):
        batches = min(count - start, 100_000) // POINTS_PER_BATCH
        target.load("runs/log-batch", "--requests", str(batches),
                    bodies=[batch(target.new_run(), rng)])  # fmt: skip


def log_fresh_points(target: Target, count: int) -> None:
    """As above, but no value is like another, as it is in training: for the bytes of a point."""
    rng = random.Random(3)
    each = POINTS_PER_BATCH // SERIES_PER_BATCH
    run = target.new_run()
    for start in range(0, count // SERIES_PER_BATCH, each):
        points = [
            {
                "key": f"metric_{series}",
                "value": float32(2.0 + 0.1 * rng.random()),
                "timestamp": STARTED_MS + 1000 * step + rng.randrange(20),
                "step": step,
            }
            for step in range(start, start + each)
            for series in range(SERIES_PER_BATCH)
        ]
        target.post("runs/log-batch", {"run_id": run, "metrics": points})


def stored_bytes(database: pathlib.Path) -> int:
    return sum(path.stat().st_size for path in database.parent.glob(database.name + "*"))


def wait_folded(database: pathlib.Path) -> None:
    """Until takt has nothing left to fold."""
    uri = f"file:{database}?mode=ro"
    with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=60)) as db:
        wait_until(lambda: db.execute("SELECT COUNT(*) FROM metric_folds").fetchone() == (0,),
                   600, every=0.2, what="the end of folding")  # fmt: skip


@contextlib.contextmanager
def takt(folder: pathlib.Path) -> Iterator[tuple[Target, Server]]:
    with measure.running_server(folder) as server:
        target = Target("takt", server.port, server.data / "takt.db", folder, server.token)
        yield target, server


@contextlib.contextmanager
def peer(folder: pathlib.Path, workers: int) -> Iterator[Target]:
    port = measure.free_port()
    database = folder / "mlflow.db"
    command = [
        sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port),
        "--backend-store-uri", f"sqlite:///{database}", "--workers", str(workers),
        "--artifacts-destination", str(folder / "artifacts"),
    ]  # fmt: skip
    with measure.started(
        *command, log=folder / "peer.log",
        MLFLOW_DISABLE_TELEMETRY="true", MLFLOW_SERVER_ENABLE_JOB_EXECUTION="false",
    ):  # fmt: skip
        measure.wait_answer(port, "/health")
        yield Target("mlflow", port, database, folder)


def figures_of(target: Target, options: argparse.Namespace) -> dict[str, float]:
    """All figures of a server that runs; its experiment of many runs is filled on the way."""
    name = uuid.uuid4().hex[:8]
    target.experiment = target.post("experiments/create", {"name": f"log-{name}"})["experiment_id"]
    figures = log_figures(target, options.seconds)
    history_run = target.new_run()
    fill_history(target, history_run)
    filled = target.post("experiments/create", {"name": f"runs-{name}"})["experiment_id"]
    (fill_takt if target.name == "takt" else fill_peer)(target, filled, options.runs)
    if target.name == "takt":
        wait_folded(target.database)
    return figures | read_figures(target, options.reads, history_run, filled)


def bytes_per_point(target: Target, points: int) -> float:
    """By how much the file grows. The logs that databases keep beside it are counted on both."""
    target.experiment = target.post("experiments/create", {"name": "size"})["experiment_id"]
    before = stored_bytes(target.database)
    log_fresh_points(target, points)
    return (stored_bytes(target.database) - before) / points


def takt_bytes_per_point(folder: pathlib.Path, points: int) -> float:
    """As above; the file is looked at when the server has stopped and all lies in it."""
    server = Server(folder)
    try:
        server.start()
        target = Target("takt", server.port, server.data / "takt.db", folder, server.token)
        target.experiment = target.post("experiments/create", {"name": "size"})["experiment_id"]
        server.stop()
        before = stored_bytes(target.database)
        server.start()
        target.session = requests.Session()
        log_fresh_points(target, points)
        wait_folded(target.database)
        server.stop()
        return (stored_bytes(target.database) - before) / points
    finally:
        server.destroy()


def start_figures(server: Server) -> dict[str, float]:
    """A start with all of it stored, and the memory then."""
    server.stop()
    begun = time.perf_counter()
    server.start(wait=False)
    measure.wait_answer(server.port, "/readyz")
    took = time.perf_counter() - begun
    time.sleep(1)
    assert server.process is not None
    return {
        "start_s": took,
        "idle_mib": sum(measure.pss_bytes([server.process.pid]).values()) / 2**20,
        "database_mib": stored_bytes(server.data / "takt.db") / 2**20,
    }


ROWS = [
    # figure, words, more is better, aim as a ratio
    ("log_metric_rate", "single metrics a second, 16 clients", True, "100 x"),
    ("log_metric_p99_ms", "the same, p99, ms", False, "1/20"),
    ("log_metric_1_p50_ms", "single metric, 1 client, p50, ms", False, ""),
    ("log_batch_p50_ms", "log-batch of 1,000 points, p50, ms", False, "1/50"),
    ("batch_points_rate", "points a second in such batches, 16 clients", True, ""),
    ("create_p50_ms", "run creation, p50, ms", False, "1/20"),
    ("create_rate", "runs created a second, 16 clients", True, ""),
    ("search_100_ms", "search of 100, filter and order by metric, p50, ms", False, "1/50"),
    ("search_1000_ms", "1,000 full runs, p50, ms", False, "1/50"),
    ("history_ms", "history of 25,000 points, p50, ms", False, "1/50"),
    ("bytes_per_point", "bytes a point on disk", False, "1/5"),
    ("start_s", "start with all stored, s", False, "< 0.5 s"),
    ("idle_mib", "memory then (PSS), MiB", False, "< 80 MB"),
    ("database_mib", "database, MiB", False, ""),
]


def number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_side_by_side(ours: dict[str, float], theirs: dict[str, float]) -> None:
    table = Table("", "takt", "mlflow server", "takt / peer", "aim")
    for name, words, _, aim in ROWS:
        if name in ours:
            other = theirs.get(name)
            share = ratio(ours[name], other) if other else ""
            table.add(words, number(ours[name]), number(other), share, aim)
    table.print()


def print_growth(small: dict[str, float], large: dict[str, float], points: int) -> None:
    table = Table("", "takt", f"after {points:,} points more", "worse by")
    for name, words, is_more_better, _ in ROWS:
        if name in small and name in large:
            share = small[name] / large[name] if is_more_better else large[name] / small[name]
            worse = f"{(share - 1) * 100:.0f} %" if share > 1 else "-"
            table.add(words, number(small[name]), number(large[name]), worse)
    table.print()


def mlflow_version() -> str:
    done = subprocess.run([sys.executable, "-m", "mlflow", "--version"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done.stdout.strip() or "missing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="runs that searches go over")
    parser.add_argument("--seconds", type=float, default=4, help="of each figure")
    parser.add_argument("--reads", type=int, default=15, help="requests of each reading figure")
    parser.add_argument("--size-points", type=int, default=100_000, help="for the bytes a point")
    parser.add_argument("--more-points", type=int, default=0,
                        help="log so many to takt, and measure it again")  # fmt: skip
    parser.add_argument("--workers", type=int, default=4, help="of the peer; its default is 4")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--full", action="store_true",
                        help="100,000 runs and 100,000,000 points more")  # fmt: skip
    options = parser.parse_args()
    if options.full:
        options.runs, options.more_points = 100_000, 100_000_000
    measure.begin("Tracking")
    print(f"peer: {mlflow_version()}, {options.workers} workers, without job execution")
    print(f"runs that searches go over: {options.runs:,}\n", flush=True)
    with measure.work_folder() as folder:
        for name in ("takt", "takt-size", "peer", "peer-size"):
            (folder / name).mkdir()
        theirs: dict[str, float] = {}
        if not options.no_peer:
            with peer(folder / "peer", options.workers) as target:
                theirs = figures_of(target, options)
            with peer(folder / "peer-size", options.workers) as target:
                theirs["bytes_per_point"] = bytes_per_point(target, options.size_points)
            shutil.rmtree(folder / "peer")
        size = takt_bytes_per_point(folder / "takt-size", options.size_points)
        with takt(folder / "takt") as (target, server):
            ours = figures_of(target, options) | {"bytes_per_point": size}
            ours |= start_figures(server)
            print_side_by_side(ours, theirs)
            if options.more_points:
                target.session = requests.Session()
                log_points(target, options.more_points)
                wait_folded(target.database)
                again = figures_of(target, options) | start_figures(server)
                print_growth(ours, again, options.more_points)


if __name__ == "__main__":
    main()

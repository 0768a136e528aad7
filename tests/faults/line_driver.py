# SPDX-License-Identifier: Apache-2.0
"""The line from `data add` to the promoted canary, driven by a client that outlives its server:
a command whose server died is given again to the server that is started in its place."""

import collections
import contextlib
import json
import pathlib
import re
import sqlite3
import time
from typing import Any

import requests

from takt_server import Server, wait_until

COMMAND_TRIES = 30
NEVER_STARTED = "the server stopped before the attempt was started"


class LineDriver:
    """Gives commands until they are done; starts the server anew, without a fault, when it died."""

    def __init__(self, server: Server, **first_environment: str) -> None:
        self.server = server
        self.client_environment: dict[str, str] = {}
        self.deaths = 0
        server.start(wait=False, **first_environment)
        self.wait_up()

    def wait_up(self) -> None:
        """Until readyz answers, over deaths while starting."""

        def up() -> bool:
            if not self.server.is_running():
                self._start_again()
            try:
                return requests.get(f"{self.server.url}/readyz", timeout=2).status_code == 200
            except requests.RequestException:
                return False

        wait_until(up, 40, every=0.02, what="readyz")

    def _start_again(self) -> None:
        assert self.server.process is not None
        # A server that stops for another reason than the kill is a defect, not a fault of the test.
        assert self.server.process.returncode == -9, self.server.log()[-4000:]
        self.deaths += 1
        self.server.start(wait=False)

    def has_died(self) -> bool:
        """Whether the server is gone; starts it again. A death may show after its effect."""
        for _ in range(20):
            if not self.server.is_running():
                self.wait_up()
                return True
            time.sleep(0.01)
        return False

    def command(self, *words: Any, accept: str = "", **arguments: Any) -> str:
        """`accept` is what a repeated command may be told about its first time, which was done."""
        deaths = self.deaths
        for _ in range(COMMAND_TRIES):
            result = self.server.run(*words, environment=self.client_environment, **arguments)
            if result.returncode == 0:
                return result.stdout
            said = result.stdout + result.stderr
            is_repeated = self.has_died() or self.deaths > deaths
            if is_repeated and accept and re.search(accept, said):
                return said
            # 6: the server cannot be reached or is not ready.
            assert is_repeated, f"{words} ended with {result.returncode}: {said}\n{self.tail()}"
        raise AssertionError(f"{words} was never done: {said}\n{self.tail()}")

    def api(self, path: str) -> Any:
        for _ in range(COMMAND_TRIES):
            try:
                return self.server.api("GET", path)
            except (requests.ConnectionError, requests.Timeout):
                assert self.has_died(), f"GET {path}: the server hung up\n{self.tail()}"
        raise AssertionError(f"GET {path} was never answered")

    def tail(self) -> str:
        return "the server's log ends in:\n" + self.server.log()[-6000:]

    def run_line(
        self,
        pipeline: pathlib.Path,
        name: str,
        key: str,
        token: str,
        *params: str,
        seconds: float = 60,
    ) -> None:
        """One pipeline run, approved by the owner of `token` where it waits."""
        words = [word for param in params for word in ("-p", param)]
        self.command("pipeline", "run", pipeline, *words, "--request-key", key)
        number = self.run_number(name, key)
        self.wait_run(name, number, "waiting-approval", seconds)
        self.command(
            "pipeline", "approve", name, str(number), "promote", "--note", "seen", token=token,
            accept="cannot be approved|is (running|done|approved|ready)|has ended",
        )  # fmt: skip
        self.wait_run(name, number, "succeeded", seconds)

    def run_number(self, name: str, key: str) -> int:
        """The run that the key names: giving the command again tells it and starts none."""
        return json.loads(self.command("--json", "pipeline", "run", name, "--request-key", key))[
            "number"
        ]

    def wait_run(self, name: str, number: int, wanted: str, seconds: float = 60) -> dict[str, Any]:
        states = ["running", "waiting-approval", wanted]
        deadline = time.monotonic() + seconds
        while True:
            run = self.api(f"pipelines/{name}/runs/{number}")
            if run["state"] == wanted:
                return run
            shown = [(n["name"], n["state"], n.get("reason", "")) for n in run["nodes"]]
            assert run["state"] in states, f"run {number} {run['state']}: {shown}\n{self.tail()}"
            assert time.monotonic() < deadline, f"run {number} waits: {shown}\n{self.tail()}"
            time.sleep(0.03)

    def approver(self, name: str) -> str:
        """The token of another user. A token is told once: who never heard it makes another."""
        self.command("user", "add", name, "--role", "operator", accept="exists already")
        return json.loads(self.command("--json", "token", "create", "--user", name))["token"]


def run_hello(driver: LineDriver, hello: pathlib.Path) -> None:
    """`hello` is a copy of the example: who edits the original meanwhile changes nothing."""
    driver.command("data", "add", "hello-raw", hello / "data/sensors.csv")
    token = driver.approver("maya")
    driver.run_line(hello / "pipeline.yaml", "hello-line", "first", token)
    driver.run_line(hello / "pipeline.yaml", "hello-line", "second", token, "epochs=60")


def all_events(server: Server) -> list[dict[str, Any]]:
    """Every event, oldest first; their numbers have no gap."""
    items, before = [], ""
    while True:
        page = server.api("GET", "events?limit=500" + before)
        items += page["items"]
        if "next_page_token" not in page:
            break
        before = "&page_token=" + page["next_page_token"]
    assert len({event["sequence"] for event in items}) == len(items)
    # Those of no project are not listed; the log itself tells whether a number is missing.
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/takt.db?mode=ro", uri=True)) as db:
        count, last = db.execute("SELECT count(*), max(sequence) FROM events").fetchone()
    assert count == last, f"{count} events are numbered up to {last}"
    return sorted(items, key=lambda event: event["sequence"])


def job_of(server: Server, number: str) -> dict[str, Any]:
    return server.api("GET", f"jobs/{number}")


def is_of_gateway(job: dict[str, Any]) -> bool:
    return job["kind"] == "gateway"


def outcome(
    server: Server, service: str, pipeline: str, has_same_bytes: bool = True
) -> dict[str, Any]:
    """What the line left, in terms that do not depend on numbers drawn at random. Models that say
    when they were made do not have the same bytes."""
    events = all_events(server)
    numbers = sorted(
        {e["subject"].removeprefix("job/") for e in events if e["subject"].startswith("job/")},
        key=int,
    )
    jobs = {number: job_of(server, number) for number in numbers}
    runs = server.api("GET", "runs?limit=500")["items"]
    # A replica's owner ends in a number that the gateway's restarts draw from too.
    for job in jobs.values():
        if job["kind"] == "replica":
            job["owner"] = job["owner"].rpartition("#")[0]
    owners = {f"job/{number}": f"job of {job['owner']}" for number, job in jobs.items()}
    names = owners | {
        run["ref"]: "run of " + owners.get(run.get("job") or "", "nobody") for run in runs
    }
    gateway = {f"job/{number}" for number, job in jobs.items() if is_of_gateway(job)}
    told: collections.Counter[tuple[str, str]] = collections.Counter()
    for event in events:
        # The gateway's job is a matter of its own; a token that was never heard of is made again.
        if event["subject"] in gateway or event["verb"].startswith("token."):
            continue
        subject = names.get(event["subject"], event["subject"])
        if event["verb"] == "job.attempt-ended" and NEVER_STARTED in event["details"].get(
            "reason", ""
        ):
            told["job.placed", subject] -= 1  # placed again as another attempt, none having run
        else:
            told[event["verb"], subject] += 1
    datasets = [
        (version["ref"], version["tree"] if "tree" in version else version.get("digest"))
        for dataset in server.api("GET", "datasets")["items"]
        for version in server.api("GET", f"datasets/{dataset['name']}/versions")["items"]
    ]
    models = [
        (version["ref"], version["tree"] if has_same_bytes else "", names[version["run"]])
        for version in server.api("GET", f"models/{service}/versions")["items"]
    ]
    shown = server.api("GET", f"services/{service}")
    return {
        "jobs": sorted(
            (job["owner"], job["state"]) for job in jobs.values() if not is_of_gateway(job)
        ),
        "open gateways": len(
            [j for j in jobs.values() if is_of_gateway(j) and "ended_at" not in j]
        ),
        "runs": sorted((names[run["ref"]], run["status"], str(run["params"])) for run in runs),
        "datasets": sorted(datasets),
        "models": sorted(models),
        "revisions": [
            (r["number"], r["model"], r["state"], r["role"], r["share"], r["ready_replicas"])
            for r in sorted(shown["revisions"], key=lambda r: r["number"])
        ],
        "pipeline runs": [
            (number, run["state"], [(n["name"], n["state"], n["attempt"]) for n in run["nodes"]])
            for number in range(1, server.api("GET", f"pipelines/{pipeline}")["last_run"] + 1)
            for run in [server.api("GET", f"pipelines/{pipeline}/runs/{number}")]
        ],
        "events": sorted((*what, times) for what, times in told.items()),
    }


def settled_outcome(
    server: Server, service: str, pipeline: str, has_same_bytes: bool = True
) -> dict[str, Any]:
    """The outcome once all replicas answer and nothing more is told."""

    def at_rest() -> bool:
        shown = server.api("GET", f"services/{service}")
        wanted = [r for r in shown["revisions"] if r["role"] in ("stable", "previous")]
        return all(r["ready_replicas"] == 1 and r["state"] == "ready" for r in wanted)

    wait_until(at_rest, 20, every=0.03, what="the service at rest")

    def gateway_runs() -> bool:
        found = outcome(server, service, pipeline, has_same_bytes)
        return found if found["open gateways"] == 1 else None

    return wait_until(gateway_runs, 20, every=0.1, what="the gateway")


def differences(expected: dict[str, Any], found: dict[str, Any]) -> str:
    lines = []
    for key in expected:
        if expected[key] == found[key]:
            continue
        if isinstance(expected[key], list):
            lost = [str(item) for item in expected[key] if item not in found[key]]
            more = [str(item) for item in found[key] if item not in expected[key]]
            lines += [f"{key}: lost {item}" for item in lost] + [
                f"{key}: more {item}" for item in more
            ]
        else:
            lines.append(f"{key}: {found[key]}, not {expected[key]}")
    return "\n".join(lines)


def commits_of(server: Server) -> int:
    """How many commits appended events, as the server that counts has logged them."""
    return len(re.findall(r"a commit appended events", server.log()))


def answers(server: Server, service: str) -> bool:
    """A prediction through the gateway."""
    body = {"inputs": [{"name": "X", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]}
    try:
        return requests.post(
            f"{server.gateway_url}/v2/models/{service}/infer", json=body, timeout=5
        ).ok
    except requests.RequestException:
        return False

# SPDX-License-Identifier: Apache-2.0
"""A real takt server on a folder of its own: started, killed and asked by the end-to-end tests."""

import contextlib
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from typing import Any

import requests

from contract import ROOT, Contract

BIN = pathlib.Path(os.environ.get("TAKT_BIN", ROOT / "build/release/bin")).resolve()
TAKT = BIN / "takt"
PYTHON = ROOT / "build/venv-test/bin/python"


_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_ports = itertools.cycle(range(20000 + _worker * 1000, 21000 + _worker * 1000))


def free_port() -> int:
    """A port that is free now and not given out soon again: below those of outgoing connections,
    and of this test process alone."""
    while True:
        port = next(_ports)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return port


def wait_until(
    done: Callable[[], Any], seconds: float = 30, every: float = 0.05, what: str = "the condition"
) -> Any:
    """The first true value of `done`; fails with the last one after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = done()
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come within {seconds} s"
        time.sleep(every)


def own_environment(**extra: str) -> dict[str, str]:
    """The environment without what another takt may have left in it."""
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("TAKT_", "MLFLOW_"))
    }
    return kept | extra


class Failed(AssertionError):
    """A command of the CLI that ended badly though the test expected success."""

    def __init__(self, result: subprocess.CompletedProcess[str]) -> None:
        self.result = result
        super().__init__(
            f"{' '.join(map(str, result.args))} ended with {result.returncode}\n"
            f"{result.stdout}{result.stderr}"
        )


class Server:
    """One data folder and the server process on it. The ports stay the same over restarts."""

    def __init__(
        self, folder: pathlib.Path, contract: Contract | None = None, **settings: str
    ) -> None:
        self.data = folder / "data"
        self.log_path = folder / "server.log"
        self.contract = contract
        self.port = free_port()
        self.gateway_port = free_port()
        self.gateway_grpc_port = free_port()
        self.settings = settings
        self.process: subprocess.Popen[bytes] | None = None
        self.session = requests.Session()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def gateway_url(self) -> str:
        return f"http://127.0.0.1:{self.gateway_port}"

    @property
    def token(self) -> str:
        return (self.data / "admin-token").read_text().strip()

    def command(self) -> list[str]:
        words = [
            str(TAKT),
            "server",
            "--data-dir",
            str(self.data),
            "--listen",
            f"127.0.0.1:{self.port}",
        ]
        words += ["--gateway-listen", f"127.0.0.1:{self.gateway_port}"]
        words += ["--gateway-grpc-listen", f"127.0.0.1:{self.gateway_grpc_port}"]
        for name, value in self.settings.items():
            words += ["--" + name.replace("_", "-"), value]
        return words

    def start(self, wait: bool = True, **environment: str) -> "Server":
        assert not self.is_running(), "the server is running already"
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                self.command(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=own_environment(**environment),
                start_new_session=True,
            )
        if wait:
            self.wait_ready()
        return self

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def wait_ready(self, seconds: float = 20) -> None:
        def ready() -> bool:
            assert self.is_running(), f"the server ended while starting:\n{self.log()[-4000:]}"
            with contextlib.suppress(requests.ConnectionError):
                return requests.get(f"{self.url}/readyz", timeout=2).status_code == 200
            return False

        wait_until(ready, seconds, what="readyz")

    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def kill(self) -> None:
        """kill -9 of the server alone: shims, jobs, replicas and the gateway stay."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self, seconds: float = 30) -> int:
        """SIGTERM, and the exit status."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.wait_ended(seconds)

    def wait_ended(self, seconds: float = 30) -> int:
        """The exit status of a server that was told to end."""
        assert self.process is not None
        return self.process.wait(seconds)

    def restart(self) -> None:
        self.stop()
        self.start()

    def descendants(self) -> list[int]:
        """Every process that runs because of this data folder (its path is in its environment or
        command line): shims, jobs, replicas, the gateway."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
                if (
                    str(self.data).encode() + b"/" in words
                    or str(self.data).encode() + b"\0" in words
                ):
                    found.append(int(entry.name))
        return found

    def destroy(self) -> None:
        """Ends the server and whatever it left running: shims first, so that none starts anew."""
        if self.is_running():
            self.kill()
        for _ in range(50):
            left = self.descendants()
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.05)

    def api(self, method: str, path: str, expect: int | None = None, **arguments: Any) -> Any:
        """A request to /api/v1; the answer is held against the contract. Returns its JSON."""
        response = self.request(method, "/api/v1/" + path.lstrip("/"), **arguments)
        answer = f"{method} {path}: {response.status_code} {response.text[:2000]}"
        assert response.ok if expect is None else response.status_code == expect, answer
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return response.json() if is_json and response.content else response.content

    def request(
        self, method: str, path: str, token: str | None = "admin", **arguments: Any
    ) -> requests.Response:
        headers = dict(arguments.pop("headers", {}))
        if token:
            headers.setdefault(
                "Authorization", f"Bearer {self.token if token == 'admin' else token}"
            )
        arguments.setdefault("timeout", 60)
        response = self.session.request(method, self.url + path, headers=headers, **arguments)
        if self.contract and path.startswith("/api/v1/") and not arguments.get("stream"):
            self.contract.validate(response)
        return response

    def run(
        self,
        *words: str | pathlib.Path,
        token: str | None = None,
        cwd: pathlib.Path | None = None,
        timeout: float = 120,
        environment: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """A command of the CLI as a user of this server gives it; never fails by itself."""
        return subprocess.run(
            [str(TAKT), *map(str, words)],
            env=own_environment(
                TAKT_URL=self.url, TAKT_TOKEN=token or self.token, **(environment or {})
            ),
            cwd=cwd, timeout=timeout, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def takt(self, *words: str | pathlib.Path, **arguments: Any) -> str:
        result = self.run(*words, **arguments)
        if result.returncode != 0:
            raise Failed(result)
        return result.stdout

    def json(self, *words: str | pathlib.Path, **arguments: Any) -> Any:
        return json.loads(self.takt("--json", *words, **arguments))

    def wait_job(self, number: int, seconds: float = 60) -> dict[str, Any]:
        """The job once it has ended."""
        ended = ("succeeded", "failed", "cancelled")
        return wait_until(
            lambda: job if (job := self.api("GET", f"jobs/{number}"))["state"] in ended else None,
            seconds,
            what=f"the end of job {number}",
        )


@contextlib.contextmanager
def running_server(
    folder: pathlib.Path, contract: Contract | None = None, **settings: str
) -> Iterator[Server]:
    server = Server(folder, contract, **settings)
    try:
        server.start()
        yield server
    finally:
        server.destroy()

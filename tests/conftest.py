# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all end-to-end tests. Each server has a folder and ports of its own."""

import pathlib
from collections.abc import Callable, Iterator

import pytest

from contract import ROOT, Contract
from takt_server import TAKT, Server


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: takes more than half a minute")
    if not TAKT.exists():
        raise pytest.UsageError(
            f"{TAKT} does not exist; build it: ./quickstart --no-run, or set TAKT_BIN"
        )


@pytest.fixture(scope="session")
def contract() -> Contract:
    return Contract()


@pytest.fixture
def make_server(tmp_path: pathlib.Path, contract: Contract) -> Iterator[Callable[..., Server]]:
    """make_server(**settings) gives a server that is not started yet, and cleans up after it."""
    servers: list[Server] = []

    def make(**settings: str) -> Server:
        folder = tmp_path / f"server{len(servers)}"
        folder.mkdir()
        servers.append(Server(folder, contract, **settings))
        return servers[-1]

    yield make
    for server in servers:
        server.destroy()


@pytest.fixture
def server(make_server: Callable[..., Server]) -> Server:
    """A fresh server, started."""
    return make_server().start()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> Iterator[Server]:
    """One server for a module's tests, which must not disturb each other."""
    folder = tmp_path_factory.mktemp("server")
    shared = Server(folder, contract)
    try:
        yield shared.start()
    finally:
        shared.destroy()


@pytest.fixture(scope="module")
def live(shared_server: Server) -> Server:
    """The shared server after one run of examples/hello: hello@1 is live, the run waits for a
    person's approval. maya is an operator."""
    server = shared_server
    hello = ROOT / "examples/hello"
    server.takt("data", "add", "hello-raw", hello / "data/sensors.csv")
    server.takt("pipeline", "run", hello / "pipeline.yaml", "--wait")
    server.takt("user", "add", "maya", "--role", "operator")
    return server

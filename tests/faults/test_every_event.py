# SPDX-License-Identifier: Apache-2.0
"""A server that is killed around every commit of the line still ends with the same line.

TAKT_FAULT_COMMIT (src/store/README.md) kills the server right before, or right after, its N-th
commit that appends events; N goes from 1 until the line ends without reaching N. The driver repeats
the command that was cut and starts the server anew.

The slices only spread the enumeration over the test processes. Stations commit on threads of their
own, so which event is the N-th may differ a little from pass to pass.
"""

import pathlib
import shutil
from typing import Any

import pytest

from contract import ROOT
from faults.line_driver import (
    LineDriver,
    answers,
    commits_of,
    differences,
    run_hello,
    settled_outcome,
)
from takt_server import Server, wait_until

SLICES = 10
N_MAX = 1000  # a line that never ends


def one_pass(folder: pathlib.Path, fault: str) -> tuple[dict[str, Any], int, int]:
    """The outcome, how often the server died, how many commits the first server made."""
    hello = shutil.copytree(ROOT / "examples/hello", folder / "hello")
    server = Server(folder)
    try:
        driver = LineDriver(server, TAKT_FAULT_COMMIT=fault)
        run_hello(driver, hello)
        found = settled_outcome(server, "hello", "hello-line")
        wait_until(lambda: answers(server, "hello"), 10, what="an answer through the gateway")
        return found, driver.deaths, commits_of(server)
    finally:
        server.destroy()


@pytest.fixture(scope="session")
def unfaulted(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], int]:
    """The outcome that all others must equal, and its number of commits."""
    found, deaths, commits = one_pass(tmp_path_factory.mktemp("faults") / "count", "count")
    assert deaths == 0
    assert commits > 60
    # Traffic changes as each of the two revisions gets ready; nothing else is told twice.
    assert [event for event in found["events"] if event[2] != 1] == [
        ("traffic.changed", "service/hello", 2)
    ]
    return found, commits


def go_through(tmp_path: pathlib.Path, unfaulted, kind: str, first: int, step: int) -> None:
    expected, commits = unfaulted
    failures = []
    for n in range(first, N_MAX, step):
        folder = tmp_path / f"{kind}-{n}"
        try:
            found, deaths, _ = one_pass(folder, f"{kind}:{n}")
        except AssertionError as error:
            failures.append(f"{kind}:{n}: {error}")
            continue
        if found != expected:
            failures.append(f"{kind}:{n}:\n{differences(expected, found)}")
        if deaths == 0 and n > commits:
            break
        if n > commits + 40:
            failures.append(f"the line grows by its faults: {kind}:{n} of {commits} still hit")
            break
    assert not failures, "\n\n".join(failures)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("first", range(1, SLICES + 1))
@pytest.mark.parametrize("kind", ["before", "after"])
def test_a_kill_at_every_commit_changes_nothing(tmp_path, unfaulted, kind: str, first: int):
    go_through(tmp_path, unfaulted, kind, first, SLICES)

# SPDX-License-Identifier: Apache-2.0
"""Ten kill -9 of the server at random moments of the line on examples/digits: same end.

The moments are drawn by TAKT_FAULT_SEED (printed). Jobs go on while the server is down: what their
mlflow client could not say is said again by its own retries.
"""

import os
import pathlib
import random
import shutil
import subprocess
import threading
import time
from typing import Any

import pytest

from contract import ROOT
from faults.line_driver import LineDriver, differences, settled_outcome
from takt_server import Server, own_environment

DIGITS = ROOT / "examples/digits"
PYTHON = os.environ.get("TAKT_EXAMPLE_PYTHON", str(ROOT / "build/venv-example/bin/python"))
KILLS = 10
SEED = int(os.environ.get("TAKT_FAULT_SEED", "0")) or random.SystemRandom().randrange(1, 1_000_000)


class Killer:
    """Kills the server again and again, each time a while after the driver started it anew."""

    def __init__(self, driver: LineDriver, gaps: list[float]) -> None:
        self.driver = driver
        self.gaps = gaps
        self.kills = 0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def __enter__(self) -> "Killer":
        self.thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.is_over.set()
        self.thread.join()

    def run(self) -> None:
        for gap in self.gaps:
            if self.is_over.wait(gap):
                return
            deaths = self.driver.deaths
            self.driver.server.process.kill()
            self.kills += 1
            while self.driver.deaths == deaths:
                if self.is_over.wait(0.01):
                    return


def run_digits(driver: LineDriver, digits: pathlib.Path, data: pathlib.Path) -> None:
    folder = pathlib.Path(PYTHON).parent
    driver.client_environment = {
        "PATH": f"{folder}:{os.environ['PATH']}", "VIRTUAL_ENV": str(folder.parent)
    }  # fmt: skip
    driver.command("data", "add", "digits-raw", data / "digits.csv")
    token = driver.approver("maya")
    driver.run_line(
        digits / "pipeline.yaml", "digits-line", "first", token, "hidden=32", seconds=200
    )
    driver.run_line(
        digits / "pipeline.yaml", "digits-line", "second", token, "hidden=128", seconds=200
    )


def one_line(
    folder: pathlib.Path, data: pathlib.Path, gaps: list[float]
) -> tuple[dict[str, Any], int, int, float]:
    """The outcome, the kills, those of them within the line, and the seconds that it took."""
    digits = shutil.copytree(
        DIGITS, folder / "digits", ignore=shutil.ignore_patterns("__pycache__")
    )
    server = Server(folder)
    try:
        driver = LineDriver(server)
        started = time.monotonic()
        with Killer(driver, gaps) as killer:
            run_digits(driver, digits, data)
        took = time.monotonic() - started
        within = killer.kills
        for _ in range(len(gaps) - within):  # the line was faster than its kills: at rest, then
            driver.wait_up()
            server.kill()
            driver.wait_up()
        driver.wait_up()
        found = settled_outcome(server, "digits", "digits-line", has_same_bytes=False)
        return found, driver.deaths, within, took
    finally:
        server.destroy()


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not pathlib.Path(PYTHON).exists(), reason="needs the example's environment")
def test_ten_kills_leave_the_same_line(tmp_path: pathlib.Path):
    data = tmp_path / "digits"
    subprocess.run(
        [PYTHON, str(DIGITS / "make_data.py"), str(data)], check=True, env=own_environment(),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    expected, deaths, _, took = one_line(tmp_path / "unharmed", data, [])
    assert deaths == 0
    draw = random.Random(SEED)
    gaps = [draw.uniform(0.05, 1.6 * took / KILLS) for _ in range(KILLS)]
    print(f"TAKT_FAULT_SEED={SEED}: the line takes {took:.1f} s; kills after {gaps}")
    found, deaths, within, took = one_line(tmp_path / "killed", data, gaps)
    print(f"{within} of {KILLS} kills fell into the line, which took {took:.1f} s")
    assert deaths == KILLS
    assert within >= KILLS // 2
    assert found == expected, differences(expected, found)

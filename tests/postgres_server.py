# SPDX-License-Identifier: Apache-2.0
"""A real PostgreSQL of a test's own: fresh folder, unix socket only."""

import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator

from takt_server import wait_until

ACCOUNT = "postgres"  # as root, PostgreSQL refuses to run


def _binaries() -> pathlib.Path:
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    assert found, "the tests need PostgreSQL's server programs: apt-get install postgresql"
    return found[-1].parent


class Postgres:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.binaries = _binaries()
        self.process: subprocess.Popen[bytes] | None = None

    def _run(self, *words: str, **arguments: object) -> subprocess.Popen[bytes]:
        user = ACCOUNT if os.geteuid() == 0 else None
        return subprocess.Popen(
            words, user=user, group=user, cwd="/", stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, **arguments,
        )  # fmt: skip

    def start(self) -> None:
        data = self.folder / "data"
        if not data.exists():
            made = self._run(
                str(self.binaries / "initdb"), "-D", str(data), "-U", "takt", "-E", "UTF8",
                "--locale=C", "-N", "--auth=trust",
            )  # fmt: skip
            output = made.communicate(timeout=120)[0]
            assert made.returncode == 0, output.decode()
        self.process = self._run(
            str(self.binaries / "postgres"), "-D", str(data), "-k", str(self.folder),
            "-c", "listen_addresses=", "-c", "shared_buffers=32MB", "-c", "fsync=off",
        )  # fmt: skip
        wait_until(lambda: self.sql("SELECT 1", "postgres") == "1", 60, what="PostgreSQL")

    def stop(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
            self.process.kill()

    def uri(self, database: str) -> str:
        return f"postgresql:///{database}?user=takt&host={self.folder}"

    def sql(self, text: str, database: str) -> str:
        done = subprocess.run(
            [str(self.binaries / "psql"), self.uri(database), "-AtqXc", text],
            capture_output=True, text=True, timeout=60, cwd="/",
        )  # fmt: skip
        return done.stdout.strip() if done.returncode == 0 else ""

    def create_database(self, name: str) -> str:
        self.sql(f"CREATE DATABASE {name}", "postgres")
        return self.uri(name)


@contextlib.contextmanager
def running_postgres() -> Iterator[Postgres]:
    folder = pathlib.Path(tempfile.mkdtemp(prefix="takt-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, ACCOUNT)
    postgres = Postgres(folder)
    try:
        postgres.start()
        yield postgres
    finally:
        postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)

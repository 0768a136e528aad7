# SPDX-License-Identifier: Apache-2.0
"""What every benchmark needs: the machine's facts, CPU time and memory of processes, a table."""

import contextlib
import ctypes
import json
import os
import pathlib
import platform
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
os.environ.setdefault("PYTEST_XDIST_WORKER", "gw9")  # ports that tests running beside do not take

from takt_server import BIN, TAKT, Server, free_port, own_environment, wait_until

__all__ = ["Server", "free_port", "wait_until"]

BENCH_BIN = pathlib.Path(os.environ.get("TAKT_BENCH_BIN", BIN)).resolve()
PR_SET_CHILD_SUBREAPER = 36


def program(name: str) -> pathlib.Path:
    path = BENCH_BIN / name
    if not path.exists():
        sys.exit(f"{path} is missing: cmake --build --preset release --target bench")
    return path


def begin(title: str) -> None:
    """Prints what is measured, and on what. Whatever the children leave is inherited from now on,
    so that its CPU time can be told (see `reaped_cpu_s`)."""
    if not TAKT.exists():
        sys.exit(f"{TAKT} is missing: cmake --build --preset release")
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    print(f"# {title}\n")
    for name, value in machine_facts().items():
        print(f"{name}: {value}")
    print(flush=True)


def machine_facts() -> dict[str, str]:
    processor = next(
        (
            line.split(":", 1)[1].strip()
            for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    memory_kib = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    folder = subprocess.run(
        ["df", "--output=fstype", tempfile.gettempdir()],
        capture_output=True,
        text=True,
        check=False,
    )
    version = subprocess.run([TAKT, "version"], capture_output=True, text=True, check=False)
    return {
        "time": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "machine": f"{len(os.sched_getaffinity(0))} cores, {processor}, {memory_kib >> 20} GiB, "
        f"temporary folder on {folder.stdout.split()[-1]}",
        "system": f"{distribution()}, Linux {platform.release()}",
        "load average before": "{:.2f} {:.2f} {:.2f}".format(*os.getloadavg()),
        "takt": f"{version.stdout.splitlines()[0] if version.stdout else '?'} ({build_type()})",
    }


def distribution() -> str:
    with contextlib.suppress(OSError):
        return platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    return "Linux"


def build_type() -> str:
    with contextlib.suppress(OSError):
        for line in (BIN.parent / "CMakeCache.txt").read_text().splitlines():
            if line.startswith("CMAKE_BUILD_TYPE:"):
                return line.split("=", 1)[1]
    return "installed"


class Table:
    """Rows of text under headings, printed as Markdown."""

    def __init__(self, *headings: str) -> None:
        self.rows = [headings]

    def add(self, *cells: object) -> None:
        self.rows.append(tuple(str(cell) for cell in cells))

    def print(self) -> None:
        lines = ["| " + " | ".join(row) + " |" for row in self.rows]
        lines.insert(1, "|" + "---|" * len(self.rows[0]))
        print("\n".join(lines) + "\n", flush=True)


def ratio(ours: float, theirs: float) -> str:
    """How many times theirs is ours; as a fraction where it is small."""
    if not ours or not theirs:
        return "-"
    share = ours / theirs
    return f"{share:.2f} x" if share >= 0.1 else f"1/{1 / share:.0f}"


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def spread(values: list[float], scale: float = 1, digits: int = 1) -> str:
    """The median and, in parentheses, the least and the most."""
    low, middle, high = (
        f"{v * scale:.{digits}f}" for v in (min(values), median(values), max(values))
    )
    return f"{middle} ({low} to {high})"


def process_cpu_s(pid: int) -> float:
    """CPU time of all threads of a running process, to the nanosecond (its children left out)."""
    return time.clock_gettime((~pid << 3) | 2)


def children_cpu_s(pid: int) -> float:
    """CPU time of those children of a running process that it has waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


class Reaper:
    """Adds up the CPU time of processes that were left to us by their parents (takt's shims)."""

    def __init__(self, keep: Iterable[int]) -> None:
        self.keep = set(keep)  # children that others wait for
        self.cpu_s = 0.0
        self.count = 0

    def reap(self) -> None:
        """Takes all that have ended; those still running are not waited for."""
        for pid in children_of(os.getpid()):
            if pid in self.keep:
                continue
            with contextlib.suppress(ChildProcessError):
                ended, _, usage = os.wait4(pid, os.WNOHANG)
                if ended:
                    self.cpu_s += usage.ru_utime + usage.ru_stime
                    self.count += 1


def children_of(parent: int) -> list[int]:
    found = []
    for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
        with contextlib.suppress(OSError):
            found += [int(word) for word in (task / "children").read_text().split()]
    return found


def pss_bytes(pids: Iterable[int]) -> dict[int, int]:
    """Proportional set size by process; one that has ended is left out."""
    sizes = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    sizes[pid] = int(line.split()[1]) << 10
    return sizes


def command_of(pid: int) -> str:
    """The program's name and, if it is one, its subcommand."""
    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return " ".join([pathlib.Path(words[0]).name, *(w for w in words[1:2] if w.isalpha())])


def answers(port: int, path: str) -> bool:
    """Whether GET answers 200 on the loopback port right now."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as peer:
        peer.settimeout(5)
        peer.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        return b" 200" in peer.recv(64)
    return False


def wait_answer(port: int, path: str, seconds: float = 120) -> None:
    wait_until(lambda: answers(port, path), seconds, every=0.002, what=f"an answer of {path}")


def load(
    port: int,
    path: str,
    *words: str,
    body: pathlib.Path | Iterable[pathlib.Path] | None = None,
    connections: int = 1,
) -> dict[str, float]:
    """A run of the compiled load generator; every answer must be good. Several bodies are dealt
    out to the connections."""
    command = [program("bench-load"), "--target", f"127.0.0.1:{port}", "--path", path]
    command += ["--connections", str(connections), *words]
    if body:
        command += ["--method", "POST"]
        for path_of_body in [body] if isinstance(body, pathlib.Path) else body:
            command += ["--body", str(path_of_body)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    if result.returncode != 0:
        sys.exit(f"bench-load failed: {result.stderr}")
    figures = json.loads(result.stdout)
    if figures["errors"]:
        sys.exit(f"{figures['errors']:.0f} requests of {path} failed: {figures}")
    return figures


def load_grpc(
    port: int, method: str, request: pathlib.Path, connections: int, seconds: float
) -> dict[str, float]:
    command = [
        program("bench-load-grpc"),
        f"127.0.0.1:{port}",
        method,
        request,
        str(connections),
        str(seconds),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    if result.returncode != 0:
        sys.exit(f"bench-load-grpc failed: {result.stderr}")
    return json.loads(result.stdout)


@contextlib.contextmanager
def work_folder() -> Iterator[pathlib.Path]:
    """A folder of its own, open to the users that jobs run as; removed at the end."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="takt-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def started(
    *words: object, log: pathlib.Path, **environment: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs for the length of the block, in a session of its own."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            env=own_environment(**environment), start_new_session=True,
        )  # fmt: skip
    try:
        yield process
    except BaseException:
        print(f"{log.name} ends with:\n{log.read_text(errors='replace')[-2000:]}", file=sys.stderr)
        raise
    finally:
        end_session(process)


def session_of(leader: int) -> list[int]:
    """All processes of a session, by its leader's pid."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[3]) == leader:
                    found.append(int(entry.name))
    return found


def end_session(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in session_of(process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(15)
            if not session_of(process.pid):
                return


@contextlib.contextmanager
def running_server(folder: pathlib.Path, **settings: str) -> Iterator[Server]:
    server = Server(folder, **settings)
    try:
        yield server.start()
    finally:
        server.destroy()

# SPDX-License-Identifier: Apache-2.0
"""Data through the CLI: versions, dedupe, diff, interrupted adds, broken content."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from takt_server import TAKT, Server, own_environment


def write(folder: pathlib.Path, **files: str) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def test_the_same_bytes_are_the_same_version_and_a_change_is_a_new_one(server: Server, tmp_path):
    folder = write(tmp_path / "d", a__csv="x,label\n1,a\n2,b\n", b__txt="hello")
    assert server.json("data", "add", "d", folder)["version"] == 1
    assert server.json("data", "add", "d", folder)["version"] == 1
    (folder / "a.csv").write_text("x,label\n1,a\n3,b\n")
    assert server.json("data", "add", "d", folder, "--note", "fixed")["version"] == 2
    diff = server.json("data", "diff", "d@1", "d@2")
    assert diff["rows"][0]["added_rows"] == ["3,b"]
    assert diff["rows"][0]["removed_rows"] == ["2,b"]
    shown = server.json("data", "show", "d@2")
    assert shown["rows"] == 2
    assert shown["profile"]["class_balance"]["column"] == "label"
    server.takt("data", "get", "d@1", tmp_path / "back")
    assert (tmp_path / "back/a.csv").read_text() == "x,label\n1,a\n2,b\n"
    assert (tmp_path / "back/b.txt").read_text() == "hello"


def test_names_versions_and_files_that_are_not_there_are_named(server: Server, tmp_path):
    folder = write(tmp_path / "d", a__csv="x\n1\n")
    server.takt("data", "add", "digits", folder)
    for words, code, text in [
        (["data", "show", "digit"], 4, "did you mean 'digits'?"),
        (["data", "show", "digits@7"], 4, "versions that exist: 1"),
        (["data", "add", "d", tmp_path / "nothing"], 4, "nothing"),
        (["data", "add", "bad/name", folder], 2, "name"),
        (["data", "get", "digits@1", folder], 5, "not empty"),
    ]:
        result = server.run(*words)
        assert result.returncode == code, (words, result.stderr)
        assert text in result.stderr, (words, result.stderr)


def test_an_unreadable_file_stops_the_add_and_nothing_appears(server: Server, tmp_path):
    folder = write(tmp_path / "d", a__csv="x\n1\n")
    (folder / "b").symlink_to("/etc/passwd")
    result = server.run("data", "add", "d", folder)
    assert result.returncode != 0
    assert "b" in result.stderr
    assert server.api("GET", "datasets")["items"] == []


def test_a_removed_version_is_gone_but_its_number_stays_taken(server: Server, tmp_path):
    folder = write(tmp_path / "d", a__csv="x\n1\n")
    server.takt("data", "add", "d", folder)
    server.takt("data", "rm", "d@1")
    assert "was removed by admin" in server.run("data", "show", "d@1").stderr
    assert server.json("data", "add", "d", folder)["version"] == 2


def test_an_interrupted_add_leaves_nothing_and_goes_on_where_it_was(server: Server, tmp_path):
    folder = tmp_path / "big"
    folder.mkdir()
    for i in range(60):
        (folder / f"{i:03}.bin").write_bytes(os.urandom(1 << 20))
    process = subprocess.Popen(
        [str(TAKT), "data", "add", "big", str(folder)],
        env=own_environment(TAKT_URL=server.url, TAKT_TOKEN=server.token),
    )
    deadline = time.monotonic() + 20
    while stored(server) < 5 << 20 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = stored(server)
    assert server.api("GET", "datasets")["items"] == []
    version = server.json("data", "add", "big", folder)
    assert version["files"] == 60
    # What had arrived was not sent again: the store holds each file once.
    assert stored(server) < (60 << 20) * 1.1
    assert before > 0


def stored(server: Server) -> int:
    text = server.request("GET", "/metrics").text
    line = next(line for line in text.splitlines() if line.startswith("takt_store_blobs_bytes "))
    return int(line.split()[1])


def test_a_corrupted_blob_is_found_by_its_digest(server: Server, tmp_path):
    folder = write(tmp_path / "d", a__txt="some text that will be damaged " * 50)
    server.takt("data", "add", "d", folder)
    for pack in (server.data / "blobs/packs").rglob("*"):
        if pack.is_file():
            damaged = bytearray(pack.read_bytes())
            for i in range(60, min(len(damaged), 120)):
                damaged[i] ^= 0xFF
            pack.chmod(0o644)
            pack.write_bytes(damaged)
    result = server.run("data", "get", "d@1", tmp_path / "back")
    assert result.returncode != 0
    response = server.request("GET", "/api/v1/datasets/d/versions/1/content/a.txt")
    assert response.status_code == 500
    assert "corrupt" in response.json()["error"]["message"]


@pytest.mark.parametrize(
    "path",
    ["../../takt.db", "..%2f..%2ftakt.db", "%2e%2e/takt.db", "/etc/passwd", "a/../../b", "a%00b"],
)
def test_paths_that_try_to_leave_find_nothing(server: Server, tmp_path, path):
    server.takt("data", "add", "d", write(tmp_path / "d", a__csv="x\n1\n"))
    response = server.request("GET", f"/api/v1/datasets/d/versions/1/content/{path}")
    assert response.status_code in (400, 404)


def test_a_full_disk_during_an_add_loses_nothing(make_server, tmp_path):
    data = tmp_path / "small"
    data.mkdir()
    if (
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(data)]).returncode
        != 0
    ):
        pytest.fail("this test mounts a small tmpfs and needs root for it")
    try:
        server = make_server()
        server.data = data / "data"
        server.start()
        small = write(tmp_path / "s", a__csv="x\n1\n")
        server.takt("data", "add", "small", small)
        big = tmp_path / "b"
        big.mkdir()
        for i in range(40):
            (big / f"{i}.bin").write_bytes(os.urandom(1 << 20))
        result = server.run("data", "add", "big", big)
        assert result.returncode == 6, result.stderr
        assert "full" in result.stderr or "space" in result.stderr
        assert [d["name"] for d in server.api("GET", "datasets")["items"]] == ["small"]
        server.takt("data", "get", "small@1", tmp_path / "back")
        server.destroy()
    finally:
        subprocess.run(["umount", "-l", str(data)], check=False)

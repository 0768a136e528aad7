# SPDX-License-Identifier: Apache-2.0
"""The server itself: start, stop, sign-in, foreign callers, and the description of its API."""

import pathlib
import signal
import socket
import subprocess
from collections.abc import Callable

import requests
from contract import ROOT, Contract
from takt_server import TAKT, Server, own_environment, wait_until


def test_the_probes_answer_without_a_token(shared_server: Server) -> None:
    for path in ("/healthz", "/readyz", "/health", "/version", "/api/v1/version"):
        answer = requests.get(shared_server.url + path, timeout=5)
        assert answer.status_code == 200, path
    version = shared_server.api("GET", "version", token=None)["version"]
    assert version in (ROOT / "CMakeLists.txt").read_text()


def test_everything_else_wants_a_token(shared_server: Server) -> None:
    for path in ("whoami", "jobs", "datasets", "events", "users"):
        shared_server.api("GET", path, expect=401, token=None)
    refused = shared_server.api("GET", "whoami", expect=401, token="takt_wrong")
    assert refused["error"]["code"] == "unauthenticated"
    assert refused["error"]["message"]


def test_the_admin_token_is_private_and_never_logged(shared_server: Server) -> None:
    file = shared_server.data / "admin-token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert shared_server.token not in shared_server.log()
    assert shared_server.api("GET", "whoami")["user"] == "admin"


def test_a_foreign_host_or_origin_is_refused(shared_server: Server) -> None:
    with socket.create_connection(("127.0.0.1", shared_server.port), timeout=5) as connection:
        connection.sendall(
            b"GET /readyz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        )
        assert connection.recv(64).split()[1] in (b"400", b"403", b"421")
    answer = shared_server.request(
        "GET", "/api/v1/whoami", headers={"Origin": "http://evil.example"}
    )
    assert answer.status_code == 403
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert shared_server.request("GET", "/api/v1/whoami", headers=cross).status_code == 403


def test_every_answer_says_not_to_guess_its_type(shared_server: Server) -> None:
    answer = shared_server.request("GET", "/api/v1/whoami")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_second_server_on_the_same_folder_is_refused(shared_server: Server) -> None:
    second = subprocess.run(
        [TAKT, "server", "--data-dir", shared_server.data, "--listen", "127.0.0.1:0"],
        capture_output=True,
        text=True,
        timeout=20,
        env=own_environment(),
    )
    assert second.returncode != 0
    assert str(shared_server.data) in second.stderr
    shared_server.api("GET", "whoami")


def test_a_port_in_use_is_named(make_server: Callable[..., Server]) -> None:
    server = make_server()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", server.port))
        taken.listen()
        result = subprocess.run(
            server.command(), capture_output=True, text=True, timeout=20, env=own_environment()
        )
    assert result.returncode != 0
    assert str(server.port) in result.stderr


def test_an_unknown_flag_names_the_nearest(tmp_path: pathlib.Path) -> None:
    result = subprocess.run(
        [TAKT, "server", "--data-dirr", tmp_path],
        capture_output=True,
        text=True,
        timeout=20,
        env=own_environment(),
    )
    assert result.returncode == 2
    assert "--data-dir" in result.stderr


def test_sigterm_drains_and_a_start_goes_on(server: Server) -> None:
    server.api("POST", "projects", json={"name": "vision"}, expect=201)
    assert server.stop() == 0
    server.start()
    assert "vision" in [project["name"] for project in server.api("GET", "projects")["items"]]


def test_kill_9_loses_nothing_that_was_acknowledged(server: Server) -> None:
    for number in range(20):
        server.api("POST", "projects", json={"name": f"p{number}"}, expect=201)
    server.kill()
    server.start()
    names = {project["name"] for project in server.api("GET", "projects")["items"]}
    assert {f"p{number}" for number in range(20)} <= names


def test_a_slow_request_is_answered_before_the_server_stops(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        head = (
            f"POST /api/v1/projects HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
            "Content-Length: 15\r\n\r\n"
        )
        connection.sendall(head.encode() + b'{"name":')
        wait_until(lambda: "takt_http_connections" in server.request("GET", "/metrics").text)
        assert server.process
        server.process.send_signal(signal.SIGTERM)
        connection.sendall(b'"slow"}')
        assert connection.recv(64).split()[1] == b"201"
    assert server.process.wait(30) == 0


def test_the_description_of_the_api_is_served(shared_server: Server, contract: Contract) -> None:
    served = shared_server.request("GET", "/openapi.json", token=None).json()
    assert set(served["paths"]) == set(contract.document["paths"])


def test_users_have_their_own_tokens_and_rights(shared_server: Server) -> None:
    shared_server.takt("user", "add", "vera", "--role", "viewer")
    token = shared_server.json("token", "create", "--user", "vera")["token"]
    assert shared_server.api("GET", "whoami", token=token)["user"] == "vera"
    refused = shared_server.api("POST", "projects", json={"name": "x"}, expect=403, token=token)
    assert "vera" in refused["error"]["message"] or refused["error"]["hint"]

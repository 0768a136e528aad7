# SPDX-License-Identifier: Apache-2.0
"""The server's HTTP edge: probes, headers, draining, and the description of its API."""

import signal
import socket

import requests
from contract import ROOT, Contract
from takt_server import Server, wait_until


def test_the_probes_answer_without_a_token(shared_server: Server) -> None:
    for path in ("/healthz", "/readyz", "/health", "/version", "/api/v1/version"):
        answer = requests.get(shared_server.url + path, timeout=5)
        assert answer.status_code == 200, path
    version = shared_server.api("GET", "version", token=None)["version"]
    assert version in (ROOT / "CMakeLists.txt").read_text()


def test_the_admin_token_is_private_and_never_logged(shared_server: Server) -> None:
    file = shared_server.data / "admin-token"
    assert file.stat().st_mode & 0o777 == 0o600
    assert shared_server.token not in shared_server.log()
    assert shared_server.api("GET", "whoami")["user"] == "admin"


def test_every_answer_says_not_to_guess_its_type(shared_server: Server) -> None:
    answer = shared_server.request("GET", "/api/v1/whoami")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


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

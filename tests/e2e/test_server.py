# SPDX-License-Identifier: Apache-2.0
"""The server as an operator meets it: settings, start, stop, second start, backup, the filter."""

import subprocess

import pytest
import requests

from takt_server import TAKT, Server, own_environment, wait_until


def server_command(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TAKT), "server", *words],
        capture_output=True,
        text=True,
        timeout=20,
        env=own_environment(),
    )


def test_an_unknown_flag_names_the_nearest(tmp_path):
    result = server_command("--data-dirr", str(tmp_path))
    assert result.returncode == 2
    assert "unknown flag '--data-dirr'; did you mean 'data-dir'?" in result.stderr


def test_an_unknown_key_of_the_configuration_is_refused(tmp_path):
    config = tmp_path / "takt.yaml"
    config.write_text("listn: 127.0.0.1:0\n")
    result = server_command("--data-dir", str(tmp_path / "data"), "--config", str(config))
    assert result.returncode == 2
    assert "unknown key" in result.stderr
    assert "did you mean 'listen'?" in result.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--listen", "0.0.0.0:0"], "without TLS would send tokens in the clear"),
        (["--listen", "0.0.0.0:0", "--auth", "off"], "would let anyone in"),
        (["--drain", "soon"], "--drain"),
        (["--auth", "maybe"], "neither on nor off"),
    ],
)
def test_settings_that_would_harm_are_refused(tmp_path, words, message):
    result = server_command("--data-dir", str(tmp_path / "data"), *words)
    assert result.returncode == 2
    assert message in result.stderr


def test_flags_beat_the_environment_which_beats_the_file(make_server, tmp_path):
    config = tmp_path / "takt.yaml"
    config.write_text("log_level: error\nworkers: 3\n")
    server = make_server(config=str(config), log_level="debug")
    server.start(TAKT_LOG_LEVEL="warn")
    assert '"level":"info","message":"the server is ready"' in server.log()


def test_a_second_server_on_the_same_folder_is_refused(server: Server):
    result = server_command("--data-dir", str(server.data), "--listen", "127.0.0.1:0")
    assert result.returncode == 5
    assert "another takt server runs on" in result.stderr


def test_a_port_in_use_is_named(server: Server, tmp_path):
    result = server_command(
        "--data-dir", str(tmp_path / "other"), "--listen", f"127.0.0.1:{server.port}"
    )
    assert result.returncode != 0
    assert str(server.port) in result.stderr


def test_it_says_what_it_is(server: Server):
    assert server.request("GET", "/healthz", token=None).json() == {"live": True}
    assert server.request("GET", "/readyz", token=None).json() == {"ready": True}
    assert server.request("GET", "/health", token=None).text == "OK"
    assert server.request("GET", "/version", token=None).text.startswith("3.")
    assert server.api("GET", "version")["version"]
    assert "takt_http_requests_total" in server.request("GET", "/metrics").text


def test_kill_9_and_start_again_keeps_token_and_data(server: Server, tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,0\n2,1\n")
    server.takt("data", "add", "d", tmp_path / "a.csv")
    token = server.token
    server.kill()
    server.start()
    assert server.token == token
    assert server.api("GET", "datasets/d/versions/1")["rows"] == 2


def test_sigterm_stops_with_success(server: Server):
    assert server.stop() == 0


def stop_command(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TAKT), "stop", *map(str, words)],
        capture_output=True, text=True, timeout=90, env=own_environment(),
    )  # fmt: skip


def test_stop_ends_the_server_and_says_what_goes_on(server: Server, tmp_path):
    result = stop_command("--data-dir", server.data)
    assert result.returncode == 0, result.stderr
    assert f"the server of {server.data} has ended" in result.stdout
    assert "--all ends them too" in result.stdout
    assert server.wait_ended() == 0
    again = stop_command("--data-dir", server.data)
    assert (again.returncode, again.stdout) == (0, f"no server runs on {server.data}\n")
    nowhere = stop_command("--data-dir", tmp_path / "nowhere")
    assert nowhere.returncode == 4
    assert "name it with --data-dir" in nowhere.stderr


def test_a_backup_of_a_live_server_is_restored_elsewhere(server: Server, make_server, tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n")
    server.takt("data", "add", "d", tmp_path / "a.csv")
    backup = server.json("backup")["path"]
    server.takt("data", "add", "later", tmp_path / "a.csv")
    other = make_server()
    restored = subprocess.run(
        [str(TAKT), "restore", backup, "--data-dir", str(other.data)],
        capture_output=True, text=True, env=own_environment(),
    )  # fmt: skip
    assert restored.returncode == 0, restored.stderr
    other.start()
    assert [d["name"] for d in other.api("GET", "datasets")["items"]] == ["d"]
    other.takt("data", "get", "d@1", tmp_path / "back")
    assert (tmp_path / "back/a.csv").read_text() == "x\n1\n"
    again = subprocess.run(
        [str(TAKT), "restore", backup, "--data-dir", str(other.data)],
        capture_output=True, text=True, env=own_environment(),
    )  # fmt: skip
    assert again.returncode == 5
    assert "is not empty" in again.stderr


def test_every_described_route_wants_a_token(server: Server):
    """The list comes from the contract; routes that say `security: []` are the anonymous ones."""
    asked = 0
    for path, item in server.contract.document["paths"].items():
        for method, operation in item.items():
            if (
                method not in {"get", "post", "put", "patch", "delete"}
                or operation.get("security") == []
            ):
                continue
            url = server.url + path.replace("{", "").replace("}", "")
            response = requests.request(method, url, timeout=10)
            assert response.status_code == 401, f"{method} {path}: {response.status_code}"
            asked += 1
    assert asked > 50


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_foreign_hosts_and_origins_are_refused(server: Server, headers):
    response = server.request("POST", "/api/v1/projects", json={"name": "p"}, headers=headers)
    assert response.status_code == 403
    assert [p["name"] for p in server.api("GET", "projects")["items"]] == ["default"]


@pytest.mark.parametrize("token", ["takt_x_y", "nonsense", "taktjob_00_00"])
def test_wrong_tokens_are_refused_with_what_to_do(server: Server, token):
    response = server.request("GET", "/api/v1/datasets", token=token)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "unauthenticated"


def test_an_expired_token_says_so(server: Server):
    short = server.api("POST", "tokens", json={"expires_in": "100ms"})["token"]
    wait_until(
        lambda: server.request("GET", "/api/v1/datasets", token=short).status_code == 401,
        5,
        what="expiry",
    )
    assert (
        "expired at"
        in server.request("GET", "/api/v1/datasets", token=short).json()["error"]["message"]
    )


def test_a_viewer_may_look_but_not_touch(server: Server, tmp_path):
    server.takt("user", "add", "vera", "--role", "viewer")
    token = server.json("token", "create", "--user", "vera")["token"]
    (tmp_path / "a.csv").write_text("x\n1\n")
    assert server.run("data", "ls", token=token).returncode == 0
    denied = server.run("data", "add", "d", tmp_path / "a.csv", token=token)
    assert denied.returncode == 3
    assert "needs role developer, you are viewer" in denied.stderr
    assert "ask admin" in denied.stderr


def test_a_command_without_a_server_says_how_to_start_one():
    result = subprocess.run(
        [str(TAKT), "data", "ls"], capture_output=True, text=True,
        env=own_environment(TAKT_URL="http://127.0.0.1:9"),
    )  # fmt: skip
    assert result.returncode == 69
    assert "127.0.0.1:9" in result.stderr


def test_a_mistyped_command_names_the_nearest():
    result = subprocess.run(
        [str(TAKT), "pipline", "ls"], capture_output=True, text=True, env=own_environment()
    )
    assert result.returncode == 2
    assert "did you mean 'takt pipeline'?" in result.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_made_from_the_parser(shell):
    result = subprocess.run(
        [str(TAKT), "completion", shell], capture_output=True, text=True, env=own_environment()
    )
    assert result.returncode == 0
    assert "pipeline" in result.stdout
    if shell == "bash":
        checked = subprocess.run(
            ["bash", "-n"], input=result.stdout, text=True, capture_output=True
        )
        assert checked.returncode == 0, checked.stderr

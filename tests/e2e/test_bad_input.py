# SPDX-License-Identifier: Apache-2.0
"""Wrong input at every door: each answer names the value and the remedy, and nothing is lost."""

import os
import pathlib
import socket
import subprocess
import threading

import pytest

from contract import ROOT
from takt_server import TAKT, Server, own_environment, wait_until

HELLO = ROOT / "examples/hello"


def refused(server: Server, *words: str | pathlib.Path, code: int = 2, **arguments) -> str:
    """What a command that must fail with `code` says on standard error."""
    result = server.run(*words, **arguments)
    assert result.returncode == code, (words, result.returncode, result.stdout, result.stderr)
    assert result.stderr.startswith("error: "), result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def maya(live: Server) -> str:
    return live.json("token", "create", "--user", "maya")["token"]


def stored_pipelines(server: Server) -> list[str]:
    return [pipeline["name"] for pipeline in server.api("GET", "pipelines")["items"]]


# --- documents


def pipeline(nodes: str, more: str = "") -> str:
    return f"kind: Pipeline\nname: wrong\nspec:\n  {more}\n  nodes: {nodes}\n"


JOB = "job: {command: [x]}"


def reads(name: str, other: str) -> str:
    """A node whose input is another one's output."""
    source = f"${{nodes.{other}.outputs.y}}"
    return f'{{name: {name}, inputs: {{x: "{source}"}}, outputs: {{y: {{kind: json}}}}, {JOB}}}'


def short_id(value: object) -> str | None:
    """A case is called after what its answer must say; pytest's own name holds the whole input."""
    return (
        "-".join(value)[:40]
        if isinstance(value, list) and value and isinstance(value[0], str)
        else "x"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            pipeline(f"[{{name: a, needs: [b], {JOB}}}, {{name: b, needs: [a], {JOB}}}]"),
            ["cycle", "a -> b -> a", "needs"],
        ),
        (pipeline(f"[{{name: a, needs: [a], {JOB}}}]"), ["cycle", "a -> a"]),
        (pipeline(f"[{reads('a', 'b')}, {reads('b', 'a')}]"), ["cycle", "a -> b -> a"]),
        (
            "kind: Pipeline\nname: wrong\nspec: {node: []}\n",
            ["spec.node", "unknown field", "nodes"],
        ),
        (
            pipeline("[{name: a, jobs: {command: [x]}}]"),
            ["spec.nodes[0].jobs", "unknown field", "job"],
        ),
        (pipeline("7"), ["spec.nodes", "must be an array, got integer"]),
        (pipeline("[]"), ["spec.nodes", "at least one node"]),
        (pipeline(f"[{{name: a, colour: red, {JOB}}}]"), ["spec.nodes[0].colour", "unknown field"]),
        (
            pipeline(f"[{{name: a, need: [b], {JOB}}}]"),
            ["spec.nodes[0].need", "did you mean", "needs"],
        ),
        (pipeline(f"[{{name: a, {JOB}}}]", "param: {}"), ["spec.param", "did you mean", "params"]),
        (
            pipeline("[{name: 7, job: {command: [x]}}]"),
            ["spec.nodes[0].name", "must be text, got integer"],
        ),
        (pipeline("[{name: a, action: gaet}]"), ["spec.nodes[0].action", "did you mean 'gate'?"]),
        (pipeline("[{name: a}]"), ["spec.nodes[0].action", "`action` or `job`"]),
        (pipeline(f"[{{name: a, {JOB}}}, {{name: a, {JOB}}}]"), ["two nodes are called 'a'"]),
        (
            pipeline(f"[{{name: a, needs: [zz], {JOB}}}]"),
            ["spec.nodes[0].needs[0]", "there is no node 'zz'"],
        ),
        (
            pipeline(
                f'[{{name: a, inputs: {{x: "${{params.dat}}"}}, {JOB}}}]', "params: {data: d}"
            ),
            ["'dat'", "did you mean 'data'?"],
        ),
        (
            pipeline(f"[{{name: a, approve: {{by: nobody}}, {JOB}}}]"),
            ["approve.by", "anyone or not-submitter"],
        ),
        (
            pipeline("[{name: a, job: {command: [x], timeout: soon}}]"),
            ["spec.nodes[0].job.timeout", '"soon"', "write 90s"],
        ),
        ("kind: Pipeline\nname: a/b\nspec: {nodes: [{name: a, job: {}}]}\n", ["a/b", "letters"]),
        ("kind: Service\nname: x\nspec: {model: m@1}\n", ["no document of kind Pipeline"]),
        ("a: &a [*a]\n", ["line 1", "anchors"]),
        ("kind: [\n", ["line"]),
        ("", ["no document of kind Pipeline"]),
    ],
    ids=short_id,
)
def test_a_wrong_pipeline_is_refused_by_field_and_not_stored(live: Server, tmp_path, text, words):
    (tmp_path / "p.yaml").write_text(text)
    said = refused(live, "pipeline", "run", tmp_path / "p.yaml")
    assert not [word for word in words if word not in said], said
    assert stored_pipelines(live) == ["hello-line"]


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("hello-raw@77", ["hello-raw@77", "versions that exist: 1"]),
        ("hello-row", ["hello-row", "did you mean 'hello-raw'?"]),
    ],
)
def test_a_pipeline_on_data_that_is_not_there_starts_nothing(live: Server, reference, words):
    before = live.api("GET", "pipelines/hello-line")["last_run"]
    said = refused(live, "pipeline", "run", "hello-line", "-p", f"data={reference}", code=4)
    assert not [word for word in words if word not in said], said
    said = refused(live, "pipeline", "run", "hello-line", "-p", "epoch=3")
    assert "did you mean 'epochs'?" in said
    assert live.api("GET", "pipelines/hello-line")["last_run"] == before


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("{modle: hello@1}", ["spec.modle", "unknown field", "model"]),
        ("{model: hello@1, replica: 2}", ["spec.replica", "unknown field", "replicas"]),
        ("{model: hello@1, replicas: two}", ["spec.replicas", "must be an integer, got text"]),
        ("{model: hello@1, replicas: 0}", ["spec.replicas", "1..64", "got 0"]),
        ("{model: 7}", ["spec.model", "must be text, got integer"]),
        (
            "{model: hello@1, resources: {cpu: lots}}",
            ["spec.resources.cpu", '"lots"', "write 500m"],
        ),
        (
            "{model: hello@1, batching: {max_batch: 3}}",
            ["spec.batching.max_batch", "max_batch_size"],
        ),
        ("{model: hello@1, batching: {max_batch_size: -3}}", ["max_batch_size", "got -3"]),
        ("hello@1", ["spec", "must be an object, got text"]),
    ],
    ids=short_id,
)
def test_a_wrong_service_is_refused_by_field_and_not_made(live: Server, tmp_path, spec, words):
    (tmp_path / "s.yaml").write_text(f"kind: Service\nname: wrong\nspec: {spec}\n")
    said = refused(live, "deploy", tmp_path / "s.yaml")
    assert not [word for word in words if word not in said], said
    assert [service["name"] for service in live.api("GET", "services")["items"]] == ["hello"]


def test_an_unknown_kind_and_a_missing_file_are_named(live: Server, tmp_path):
    (tmp_path / "x.yaml").write_text("kind: Pipelin\nname: x\nspec: {}\n")
    assert "did you mean 'Pipeline'?" in refused(live, "apply", "-f", tmp_path / "x.yaml")
    assert "nothing.yaml" in refused(live, "apply", "-f", tmp_path / "nothing.yaml", code=4)
    assert "directory" in refused(live, "apply", "-f", tmp_path)


# --- data


def dataset_names(server: Server) -> set[str]:
    return {dataset["name"] for dataset in server.api("GET", "datasets")["items"]}


def test_what_is_not_a_readable_file_stops_an_add_and_is_named(live: Server, tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a.csv").write_text("x\n1\n")
    before = dataset_names(live)
    os.mkfifo(folder / "pipe")
    said = refused(live, "data", "add", "odd", folder)
    assert '"pipe" is a pipe' in said
    assert "remove it" in said and ".taktignore" not in said  # it holds for code, not for data
    assert "neither a file nor a folder" in refused(live, "data", "add", "odd", folder / "pipe")
    (folder / "pipe").unlink()
    (folder / "lost").symlink_to(tmp_path / "nowhere")
    assert '"lost" is a symbolic link that leads nowhere' in refused(
        live, "data", "add", "odd", folder
    )
    (folder / "lost").unlink()
    (folder / "far").symlink_to("/etc")
    assert "leaves the folder" in refused(live, "data", "add", "odd", folder)
    (folder / "far").unlink()
    assert "neither a file nor a folder" in refused(live, "data", "add", "odd", "/dev/zero")
    assert "holds no files" in refused(live, "data", "add", "odd", empty_folder(tmp_path))
    assert '"a.csv" is there twice' in refused(
        live, "data", "add", "odd", folder / "a.csv", folder / "a.csv"
    )
    assert dataset_names(live) == before
    assert live.json("data", "add", "odd", folder)["files"] == 1


def empty_folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "empty").mkdir()
    return tmp_path / "empty"


def test_a_file_that_grows_while_it_is_added_is_refused_until_it_rests(live: Server, tmp_path):
    path = tmp_path / "grows.bin"
    path.write_bytes(bytes(64 << 20))
    rests = threading.Event()

    def write() -> None:
        with path.open("ab", buffering=0) as file:
            while not rests.wait(0.002):
                file.write(os.urandom(1000))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        said = refused(live, "data", "add", "grows", path, code=5)
    finally:
        rests.set()
        writer.join()
    assert "grows.bin changed while it was read" in said
    assert "add it again" in said
    assert "grows" not in dataset_names(live)
    assert live.json("data", "add", "grows", path)["size_bytes"] == path.stat().st_size


def test_a_version_that_something_was_made_of_stays(live: Server):
    said = refused(live, "data", "rm", "hello-raw@1", code=5)
    assert "is used by" in said
    assert "--force" in said
    assert live.api("GET", "datasets/hello-raw/versions/1")["version"] == 1
    assert "versions that exist: 1" in refused(live, "data", "rm", "hello-raw@9", code=4)
    assert "NAME@N" in refused(live, "data", "rm", "hello-raw")


# --- the command line


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["data", "ls", "--nope"], 2, "--nope"),
        (["data", "add", "x"], 2, "paths is required"),
        (["data"], 2, "subcommand"),
        (["data", "sow", "hello-raw"], 2, "did you mean 'takt data show'?"),
        (["--url", "ftp://x", "line"], 2, "http://HOST:PORT"),
        (["jobs", "show", "abc"], 2, "abc"),
        (["jobs", "show", "999999"], 4, "no job 999999"),
        (["logs", "999999"], 4, "no job 999999"),
        (["runs", "show", "xyz"], 4, "xyz"),
        (["models", "show", "helo"], 4, "helo"),
        (["submit", "--cpu", "lots", "--", "true"], 2, "write 500m"),
        (["submit", "--priority", "12", "--", "true"], 2, "1..9, got 12"),
        (["submit", "--output", "x=foo", "--", "true"], 2, "dataset, model, artifact, json"),
        (["submit", "--input", "x", "--", "true"], 2, "NAME=VALUE"),
        (["jobs", "--state", "foo"], 2, "waiting, starting, running"),
        (["--project", "nope", "data", "ls"], 4, "takt project ls"),
        (["--project", "../x", "data", "ls"], 4, "takt project ls"),
        (["events", "--limit", "0"], 2, "1..1000"),
        (["line", "--since", "abc"], 2, "write 90s"),
        (["user", "add", "zed", "--role", "king"], 2, "viewer, developer, operator or admin"),
        (["user", "add", "maya"], 5, "exists already"),
        (["token", "create", "--user", "nobody"], 4, "takt user add nobody"),
        (["deploy", "x", "--model", "hello@9"], 4, "versions that exist: 1"),
        (["deploy", "x", "--model", "hello@nope"], 4, "hello@nope"),
        (["deploy", "x"], 2, "--model"),
        (["why", "nonsense"], 4, "KIND/NAME"),
        (["why", "job/999999"], 4, "no job 999999"),
        (["why", "kind/x"], 4, "KIND one of dataset, job"),
        (["why", "request/abc"], 2, "Takt-Request-Id"),
        (["why", "../../etc"], 4, "KIND/NAME"),
        (["why"], 2, "thing is required"),
        (["pipeline", "show", "hello-line", "99"], 4, "no run 99"),
        (["pipeline", "approve", "hello-line", "1", "promot"], 4, "no node 'promot'"),
        (["pipeline", "approve", "hello-line", "1", "train"], 5, "waits for no decision"),
        (["canary", "start", "hallo", "--model", "hello@1"], 4, "did you mean 'hello'?"),
    ],
)
def test_a_wrong_word_names_itself_and_ends_with_its_code(
    live: Server, tmp_path, words, code, text
):
    result = live.run(*words, cwd=tmp_path)
    assert result.returncode == code, (result.stdout, result.stderr)
    assert text.lower() in result.stderr.lower(), result.stderr
    assert result.stderr.startswith("error: "), result.stderr


def test_a_word_that_may_mean_several_things_lists_them(live: Server):
    said = refused(live, "why", "hello")
    assert "'hello' may mean:" in said
    assert "model/hello@1" in said
    assert "service/hello" in said


def test_this_machines_own_token_is_sent_to_this_machine_only(live: Server):
    def heard_by(host: str) -> bytes:
        with socket.create_server(("127.0.0.1", 0)) as door:
            door.settimeout(20)
            client = subprocess.Popen(
                [str(TAKT), "--url", f"http://{host}:{door.getsockname()[1]}", "whoami"],
                env=own_environment(TAKT_HOME=str(live.data), HOME=str(live.data.parent)),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            caller, _ = door.accept()
            with caller:
                heard = caller.recv(65536)
            client.kill()
            client.wait()
            return heard

    assert live.token.encode() in heard_by("127.0.0.1")
    assert live.token.encode() not in heard_by("0.0.0.0")  # a name of elsewhere, which leads here


def test_login_without_a_token_says_where_the_first_one_is(live: Server, tmp_path):
    said = refused(live, "login", environment={"HOME": str(tmp_path)})
    assert "no token was given" in said
    assert "admin-token" in said
    assert not any(tmp_path.iterdir())


def test_the_processes_name_their_wrong_flags():
    for words in (
        ["server", "--nope"],
        ["gateway", "--nope"],
        ["infer", "--nope"],
        ["restore", "--nope"],
    ):
        result = subprocess.run(
            [str(TAKT), *words], capture_output=True, text=True, timeout=20, env=own_environment()
        )
        assert result.returncode == 2, (words, result.stderr)
        assert "nope" in result.stdout + result.stderr or "required" in result.stderr, result


# --- services, models and approvals


@pytest.mark.parametrize("alias", ["latest", "LATEST", "v3", "3", "a b", "../x"])
def test_an_alias_that_reads_like_a_version_is_refused(live: Server, alias):
    result = live.run("models", "alias", "hello@1", alias)
    assert result.returncode == 2, (result.stdout, result.stderr)
    assert "alias" in result.stderr
    assert live.api("GET", "models/hello")["aliases"] in ([], {})
    assert "versions that exist: 1" in refused(live, "models", "alias", "hello@9", "prod", code=4)


def test_promote_abort_set_and_rollback_with_nothing_to_act_on_change_nothing(live: Server):
    before = live.api("GET", "services/hello")["revisions"]
    for words in (["canary", "promote"], ["canary", "abort"], ["canary", "set", "--share", "10%"]):
        said = refused(live, *words, "hello", code=5)
        assert "no open canary" in said
        assert "takt canary start" in said
    assert "no revision before" in refused(live, "rollback", "hello", code=5)
    assert "stable revision" in refused(
        live, "canary", "start", "hello", "--model", "hello@1", code=5
    )
    for share in ("101", "-5", "abc", "", "5%%", "nan", "1e9"):
        assert "such as 5%" in refused(
            live, "canary", "start", "hello", "--model", "hello@1", "--share", share
        )
    for share in (101, -0.1, "5", None, True, 1e300):
        body = {"model": "hello@1", "share": share}
        live.api("POST", "services/hello/canary", json=body, expect=400)
        live.api("PATCH", "services/hello/traffic", json={"share": share}, expect=400)
    after = live.api("GET", "services/hello")["revisions"]
    assert [(r["number"], r["share"]) for r in after] == [(r["number"], r["share"]) for r in before]


def test_a_second_approval_and_a_late_rejection_decide_nothing_again(live: Server, maya: str):
    server = live
    own = refused(server, "pipeline", "approve", "hello-line", "1", "promote", code=3)
    assert "someone other than admin" in own
    for _ in range(2):
        server.run("pipeline", "approve", "hello-line", "1", "promote", token=maya)
    wait_until(lambda: server.api("GET", "pipelines/hello-line/runs/1")["state"] == "succeeded", 30)
    late = server.run("pipeline", "reject", "hello-line", "1", "promote", token=maya)
    assert late.returncode == 5, (late.stdout, late.stderr)
    events = server.api("GET", "events?limit=1000")["items"]
    decided = [e["verb"] for e in events if e["subject"] == "node/hello-line/1/promote"]
    assert decided.count("node.approved") == 1
    assert "node.rejected" not in decided
    assert server.api("GET", "pipelines/hello-line/runs/1")["state"] == "succeeded"

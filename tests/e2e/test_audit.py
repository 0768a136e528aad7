# SPDX-License-Identifier: Apache-2.0
"""The event log as evidence: its chain of hashes, and who may look at all of it."""

import json
import sqlite3

import pytest

from takt_server import Server


def change(server: Server, *statements: str) -> None:
    """What an intruder with the file could do."""
    with sqlite3.connect(server.data / "takt.db") as db:
        for statement in statements:
            db.execute(statement)
    db.close()


def verify(server: Server, *words: str) -> tuple[int, dict]:
    result = server.run("--json", "audit", "verify", *words)
    return result.returncode, json.loads(result.stdout)


@pytest.fixture
def busy(server: Server) -> Server:
    for number in range(10):
        server.api("POST", "projects", json={"name": f"p{number}"}, expect=201)
    return server


def test_an_untouched_log_is_intact_and_stays_so_over_kill_and_restart(busy: Server) -> None:
    code, found = verify(busy)
    assert code == 0 and found["intact"] and found["events"] == found["head"]["sequence"] >= 10
    kept = found["head"]["hash"]
    busy.kill()
    busy.start()
    busy.api("POST", "projects", json={"name": "later"}, expect=201)
    code, later = verify(busy, "--expect", kept)
    assert code == 0 and later["intact"]
    assert later["expected_sequence"] == found["head"]["sequence"] < later["events"]
    printed = busy.takt("audit", "verify", "--expect", kept)
    assert "intact" in printed and later["head"]["hash"] in printed
    assert f"event {found['head']['sequence']}" in printed


def test_a_changed_event_is_named_while_the_server_runs(busy: Server) -> None:
    change(busy, "UPDATE events SET actor = 'nobody' WHERE sequence = 5")
    code, found = verify(busy)
    assert code == 1 and not found["intact"]
    assert found["broken"]["sequence"] == 5 and found["events"] == 4
    printed = busy.run("audit", "verify")
    assert printed.returncode == 1 and "event 5" in printed.stdout
    # Later events go on being chained, and the first wrong one is still named.
    busy.api("POST", "projects", json={"name": "after"}, expect=201)
    assert verify(busy)[1]["broken"]["sequence"] == 5


def test_a_cut_end_is_found_also_after_the_counter_was_turned_back(busy: Server) -> None:
    kept = verify(busy)[1]["head"]["hash"]
    busy.stop()
    change(busy, "DELETE FROM events WHERE sequence > 8")
    busy.start()
    assert verify(busy)[1]["broken"]["sequence"] == 9
    busy.stop()
    change(busy, "UPDATE counters SET value = 8 WHERE name = 'events'")
    busy.start()
    code, found = verify(busy, "--expect", kept)
    assert code == 1 and found["intact"] and found["expected_sequence"] == 0
    printed = busy.run("audit", "verify", "--expect", kept)
    assert "NO event has the expected hash" in printed.stdout


def test_a_log_of_an_older_version_is_chained_at_the_start(busy: Server) -> None:
    before = verify(busy)[1]["head"]
    busy.stop()
    change(
        busy,
        "UPDATE events SET hash = ''",
        "DELETE FROM cursors WHERE name = 'event-chain'",
    )
    busy.start()
    code, found = verify(busy, "--expect", before["hash"])
    assert code == 0 and found["expected_sequence"] == before["sequence"]


def test_the_audit_log_can_be_filtered_and_is_for_admins(busy: Server) -> None:
    busy.takt("user", "add", "vera", "--role", "viewer")
    token = busy.json("token", "create", "--user", "vera", "--note", "n")["token"]
    assert busy.run("user", "add", "eve", token=token).returncode == 3
    for words in (["audit", "ls"], ["audit", "verify"]):
        assert busy.run(*words, token=token).returncode == 3
    by_vera = busy.json("audit", "ls", "--actor", "vera")["items"]
    assert {event["verb"] for event in by_vera} == {"access.denied"}
    assert len(by_vera) == 3
    made = busy.json("audit", "ls", "--verb", "project.", "--of-project", "p3")["items"]
    assert [event["subject"] for event in made] == ["project/p3"]
    tokens = busy.json("audit", "ls", "--subject", "token/", "--since", "1h")["items"]
    assert tokens and all(event["subject"].startswith("token/") for event in tokens)
    assert busy.json("audit", "ls", "--since", "2199-01-01T00:00:00Z")["items"] == []
    page = busy.api("GET", "audit?limit=2")
    rest = busy.api("GET", f"audit?limit=2&before={page['next_page_token']}")
    sequences = [event["sequence"] for event in page["items"] + rest["items"]]
    assert sequences == sorted(sequences, reverse=True) and len(set(sequences)) == 4
    assert busy.run("audit", "verify", "--expect", "abc").returncode == 2

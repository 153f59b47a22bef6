"""What is told of an edition that failed to take a module's place, or to hold it."""
import contextlib
import hashlib
import json

import harness
import pytest
from signing import manifest, row
from test_store import CRASHES, HANGS, RESULTS, editions, end
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"


@pytest.fixture
def store(folder):
    return folder / "store"


@pytest.fixture
def start(own_daemon, store):
    return lambda *words: own_daemon("--store", store, *words)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def told(daemon):
    (row,) = json.loads(daemon.ok("--json", "ls").out)
    return row


def expect_setback(daemon, path, why):
    row = told(daemon)
    assert row["failed_sha256"] == sha256(path)
    assert row["error"].startswith(f"edition {sha256(path)[:12]} failed: ")
    assert why in row["error"], row
    assert why in daemon.ok("ls").out
    shown = json.loads(daemon.ok("--json", "show", row["name"]).out)
    assert (shown["error"], shown["failed_sha256"]) == (row["error"], row["failed_sha256"])


@contextlib.contextmanager
def hanging(daemon, store, name="m"):
    """A candidate that does not come up, and what takes the daemon down meanwhile."""
    with Wire(daemon.host) as loader:
        upload = loader.upload(HANGS.read_bytes())
        loader.start("module.load", name, upload, {"keep": True, "replace": True})
        harness.until(lambda: (name, "candidate") in editions(store), "it is written down")
        harness.until(lambda: told(daemon)["state"] == "LOADING" or told(daemon)["next_sha256"],
                      "it is being loaded")
        yield
    end(daemon)


def exhaust(start, store):
    """Its three attempts; the daemon that starts behind them."""
    with hanging(start(), store):
        pass
    for attempt in (2, 3):
        daemon = start()
        harness.until(lambda: f"attempts {attempt}\n" in (store / "modules/m").read_text(),
                      "the attempt is written down")
        end(daemon)
    return start()


def test_a_successor_that_fails_leaves_its_digest_and_cause(start, store):
    daemon = start()
    daemon.ok("load", "--keep", "m", RESULTS)
    assert told(daemon)["error"] is None
    assert daemon.modser("load", "--keep", "--replace", "m", CRASHES).status == 1
    expect_setback(daemon, CRASHES, "the worker died before it was ready")
    harness.until(lambda: "failed " in (store / "modules/m").read_text(), "it is written down")
    end(daemon)
    second = start()
    expect_setback(second, CRASHES, "the worker died before it was ready")
    second.ok("load", "--keep", "--replace", "m", FAULTS)
    assert told(second)["error"] is None and told(second)["failed_sha256"] is None


def test_one_that_nobody_keeps_leaves_them_as_long_as_the_daemon_runs(own_daemon):
    daemon = own_daemon()
    daemon.ok("load", "m", RESULTS)
    assert daemon.modser("load", "--replace", "m", CRASHES).status == 1
    expect_setback(daemon, CRASHES, "the worker died before it was ready")


def test_what_did_not_hold_leaves_them(start, store):
    daemon = start()
    daemon.ok("load", "--keep", "m", RESULTS)
    daemon.ok("load", "--keep", "--replace", "m", FAULTS)
    harness.until(lambda: told(daemon)["watch_ms"] is not None, "it is watched")
    with Wire(daemon.host) as wire:
        for _ in range(20):
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.call("m:error_long")
    harness.until(lambda: told(daemon)["failed_sha256"], "the old one is back")
    expect_setback(daemon, FAULTS, "it failed: 0 deaths, and 20 of 20 calls failed")
    end(daemon)
    expect_setback(start(), FAULTS, "it failed")


def test_what_has_failed_is_listed_in_the_store(start, store):
    daemon = start()
    daemon.ok("load", "--keep", "m", RESULTS)
    assert daemon.modser("load", "--keep", "--replace", "m", CRASHES).status == 1
    harness.until(lambda: ("m", "bad") in editions(store), "it is written down")
    (bad,) = [e for e in json.loads(daemon.ok("--json", "store", "ls").out) if e["ref"] == "bad"]
    assert (bad["sha256"], bad["version"], bad["files"]) == (sha256(CRASHES), 2, [])
    (line,) = [s for s in daemon.ok("store", "ls").out.splitlines() if "\tbad\t" in s]
    assert sha256(CRASHES) in line and bad["why"] in line, line
    assert "before it was ready" in bad["why"]


@pytest.mark.skipif(not (harness.BIN / "modserd-fetch").exists(),
                    reason="modserd-fetch is not built: libcurl was absent")
def test_an_edition_is_called_the_same_everywhere(start, store, folder):
    """By its manifest's digest, also by a daemon that has it from the store."""
    first = start()
    first.ok("load", "--keep", "m", RESULTS)
    text = manifest(row("m.so", FAULTS.read_bytes()), name="m", version=7)
    (folder / "m.so").write_bytes(FAULTS.read_bytes())
    (folder / "m.so.json").write_bytes(text)
    digest = hashlib.sha256(text).hexdigest()
    first.ok("pull", "m", f"file://{folder}/m.so")
    first.expect_logged(f"event=module_pull name=m bytes={len(FAULTS.read_bytes())} sha256={digest}")
    end(first)
    daemon = start()
    harness.until(lambda: told(daemon)["watch_ms"] is not None, "it is watched")
    with Wire(daemon.host) as wire:
        for _ in range(20):
            with pytest.raises(Failure, match="CALL_FAILED"):
                wire.call("m:error_long")
    daemon.expect_logged(f"event=edition_canary name=m sha256={digest}")
    harness.until(lambda: told(daemon)["failed_sha256"] == digest, "it has left")
    assert editions(store)["m", "bad"]["sha256"] == digest


def test_what_is_given_up_is_logged_and_listed(start, store):
    first = start()
    first.ok("load", "--keep", "m", RESULTS)
    first.stop()
    last = exhaust(start, store)
    with Wire(last.host) as wire:
        wire.ask("module.wait", "m")
    last.expect_logged(f"event=edition_rejected name=m version=2 sha256={sha256(HANGS)} why=")
    expect_setback(last, HANGS, "cut short by an end of the daemon or the machine")
    end(last)
    again = start()
    expect_setback(again, HANGS, "cut short by an end of the daemon or the machine")
    assert "edition_rejected" not in again.log()


def test_the_only_edition_that_is_given_up_is_listed(start, store):
    last = exhaust(start, store)
    harness.until(lambda: "event=edition_rejected name=m version=1" in last.log(), "it is given up")
    for daemon in (last, None):
        daemon = daemon or start()
        row = told(daemon)
        assert row["state"] == "FAILED" and "cut short" in row["error"], row
        end(daemon)


def test_a_candidate_shows_what_it_is_at(start, store):
    daemon = start()
    daemon.ok("load", "--keep", "m", RESULTS)
    with hanging(daemon, store):
        row = told(daemon)
        assert (row["state"], row["next"]) == ("READY", "LOADING")
        assert row["next_sha256"] == sha256(HANGS)
        assert "LOADING" in daemon.ok("ls").out

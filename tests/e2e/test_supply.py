"""Modules that a section gives a source: served from the store, asked for, and switched."""
import hashlib
import json
import os
import signal

import harness
import pytest
from bad_server import Server, same, status
from registry import digest_of, manifest
from test_pull import asked
from wire import Wire

FETCH = harness.BIN / "modserd-fetch"
RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
CRASHES = harness.ZOO / "constructor_crash.so"

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def source(folder):
    """A file that can be changed under its name."""
    path = folder / "model.so"

    def give(artifact):
        new = folder / "new"
        new.write_bytes(artifact.read_bytes())
        os.replace(new, path)
        return f"file://{path}"

    return give


@pytest.fixture
def supplied(own_daemon, folder):
    """supplied(uri, keys): a daemon with a section for `m`, and what it keeps."""

    def start(uri, keys=""):
        write(folder, uri, keys)
        return own_daemon("--config", folder / "m.conf", "--store", folder / "store",
                          "--fetch-retry", "5ms")

    return start


def write(folder, uri, keys=""):
    (folder / "m.conf").write_text(f"module m {{ source = '{uri}' {keys} }}\n")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def kept(folder):
    said = harness.run(harness.BIN / "modser", "--json", "store", "ls", "-C", folder / "store")
    assert said.status == 0, said
    return {e["ref"]: e["sha256"] for e in json.loads(said.out) if e["ref"] != "bad"}


def expect_kept(folder, current, previous=None):
    """The store says that it is good, and what was before it."""
    wanted = {"current": sha256(current)}
    if previous:
        wanted["previous"] = sha256(previous)
    harness.until(lambda: kept(folder) == wanted, f"{current.name} is current")


def told(daemon, key=None):
    with Wire(daemon.host) as wire:
        said = wire.ask("module.describe", "m")
    return said[key] if key else said


def serves(daemon, artifact):
    digest = sha256(artifact)
    harness.until(lambda: told(daemon, "sha256") == digest, f"{artifact.name} is served")
    daemon.ok("wait", "m")


def is_at_rest(daemon):
    return told(daemon, "source")["state"] == "resting"


def end(daemon):
    os.kill(daemon.pid, signal.SIGKILL)
    daemon.process.wait(harness.PATIENCE)
    harness.until(lambda: not daemon.processes(), "its workers end with it")
    daemon.kill()


def test_a_source_is_brought_kept_and_served_without_it(supplied, source, folder):
    first = supplied(source(RESULTS), "workers = 2")
    first.ok("wait", "m")
    assert first.ok("call", "m:int").out == "-42\n"
    assert told(first, "workers") == 2
    expect_kept(folder, RESULTS)
    end(first)
    (folder / "model.so").unlink()
    second = supplied(f"file://{folder}/model.so", "workers = 1")
    second.ok("wait", "m")
    assert second.ok("call", "m:int").out == "-42\n"
    assert told(second, "workers") == 1
    harness.until(lambda: told(second, "source")["failures"] > 0, "it asks, in vain")
    assert "model.so" in told(second, "source")["error"]
    assert second.ok("call", "m:int").out == "-42\n"


def test_what_is_new_there_is_served_after_a_start(supplied, source, folder):
    first = supplied(source(RESULTS))
    expect_kept(folder, RESULTS)
    end(first)
    second = supplied(source(FAULTS))
    serves(second, FAULTS)
    expect_kept(folder, FAULTS, RESULTS)


def test_until_it_is_brought_who_waits_waits(supplied, server):
    daemon = supplied(server.give("/m.so", b"", status(503)))
    harness.until(lambda: told(daemon, "source")["failures"] > 0, "it is asked in vain")
    assert told(daemon, "state") == "LOADING"
    server.give("/m.so", RESULTS.read_bytes(), same)
    daemon.ok("wait", "m")
    assert daemon.ok("call", "m:int").out == "-42\n"
    assert told(daemon, "error") is None and told(daemon, "source")["failures"] == 0


def test_why_it_is_not_there_is_told(supplied, folder):
    daemon = supplied(f"file://{folder}/nothing.so")
    harness.until(lambda: told(daemon, "error"), "it has been asked")
    assert "nothing.so" in told(daemon, "error")


def test_asked_again_it_sends_nothing_that_is_there(own_daemon, server, folder):
    data = RESULTS.read_bytes()
    uri = server.give("/m.so", data, same)
    (folder / "m.conf").write_text(f"module m {{ source = '{uri}' poll = 5s }}\n")
    daemon = own_daemon("--config", folder / "m.conf", "--store", folder / "store")
    daemon.ok("wait", "m")
    harness.until(lambda: len(asked(server, "/m.so")) > 1, "it asks again")
    harness.until(lambda: is_at_rest(daemon), "it has its answer")
    again = asked(server, "/m.so")[1]
    assert again["If-None-Match"] and "Range" not in again
    daemon.expect_logged("event=source_poll name=m bytes=")


def test_a_registry_is_asked_for_its_manifest_alone(supplied, server, folder):
    data = RESULTS.read_bytes()
    server.give("/v2/m/manifests/1", manifest(data))
    blob = f"/v2/m/blobs/{digest_of(data)}"
    server.give(blob, data)
    uri = f"oci://127.0.0.1:{server.http.server_port}/m:1"
    first = supplied(uri)
    expect_kept(folder, RESULTS)
    end(first)
    second = supplied(uri)
    harness.until(lambda: len(asked(server, "/v2/m/manifests/1")) == 2, "it asks again")
    harness.until(lambda: is_at_rest(second), "it has its answer")
    second.ok("wait", "m")
    assert len(asked(server, blob)) == 1


def test_a_new_one_that_fails_leaves_what_serves_and_is_not_tried_again(
        supplied, source, folder):
    first = supplied(source(RESULTS))
    expect_kept(folder, RESULTS)
    end(first)
    second = supplied(source(CRASHES))
    harness.until(lambda: "event=edition_load_failed name=m" in second.log(), "it is tried")
    second.ok("wait", "m")
    second.stop()
    third = supplied(source(CRASHES))
    harness.until(lambda: told(third, "source")["error"], "it has been asked")
    assert "failed here before" in told(third, "source")["error"]
    assert third.ok("call", "m:int").out == "-42\n"
    assert kept(folder) == {"current": sha256(RESULTS)}


def test_a_source_that_goes_back_is_followed_without_bringing_it(supplied, server, folder):
    path = "/v2/m/manifests/1"
    blobs = {}
    for artifact in (RESULTS, FAULTS):
        data = artifact.read_bytes()
        blobs[artifact] = f"/v2/m/blobs/{digest_of(data)}"
        server.give(blobs[artifact], data)
    uri = f"oci://127.0.0.1:{server.http.server_port}/m:1"
    for artifact in (RESULTS, FAULTS, RESULTS):
        server.give(path, manifest(artifact.read_bytes()))
        daemon = supplied(uri)
        serves(daemon, artifact)
        harness.until(lambda: kept(folder).get("current") == sha256(artifact), "it is kept")
        end(daemon)
    assert len(asked(server, blobs[RESULTS])) == 1


def test_a_rollback_by_hand_is_not_undone_by_the_source(supplied, source, folder):
    first = supplied(source(RESULTS))
    expect_kept(folder, RESULTS)
    end(first)
    second = supplied(source(FAULTS))
    serves(second, FAULTS)
    expect_kept(folder, FAULTS, RESULTS)
    second.ok("rollback", "m")
    assert told(second, "sha256") == sha256(RESULTS)
    second.stop()
    third = supplied(source(FAULTS))
    harness.until(lambda: told(third, "source")["error"], "it has been asked")
    assert told(third, "sha256") == sha256(RESULTS)


def test_a_section_that_changes_or_goes_is_followed(supplied, source, folder):
    uri = source(RESULTS)
    daemon = supplied(uri)
    expect_kept(folder, RESULTS)
    write(folder, uri, "workers = 2")
    with Wire(daemon.host) as wire:
        assert [c["name"] for c in wire.ask("server.reload")] == ["m"]
    harness.until(lambda: told(daemon, "workers") == 2, "its options count")
    (folder / "m.conf").write_text("# nothing\n")
    daemon.ok("reload")
    harness.until(lambda: daemon.ok("ls").out == "", "it is unloaded")
    harness.until(lambda: kept(folder) == {}, "it is forgotten")


def test_what_is_unloaded_by_hand_stays_away(supplied, source, folder):
    daemon = supplied(source(RESULTS))
    expect_kept(folder, RESULTS)
    daemon.ok("unload", "m")
    daemon.ok("reload")
    assert daemon.ok("ls").out == "" and kept(folder) == {}


def test_without_a_store_the_section_says_what_is_missing(own_daemon, folder):
    write(folder, "file:///a.so")
    daemon = own_daemon("--config", folder / "m.conf")
    assert told(daemon, "state") == "FAILED"
    assert "--store DIR" in told(daemon, "error")

"""`modser store` asked of a daemon that runs, and what its folder says of the same."""
import json

import harness
import pytest
from stalled import stalled
from wire import Failure, Wire

MODSER = harness.BIN / "modser"
RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"


@pytest.fixture
def store(folder):
    return folder / "store"


@pytest.fixture
def stocked(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "--workers", "2", "m", FAULTS)
    daemon.ok("load", "--keep", "--replace", "m", RESULTS)
    daemon.ok("load", "--keep", "n", FAULTS)
    return daemon


def damage(store, sha256):
    path = store / "sha256" / sha256[:2] / sha256
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(data)


def test_the_daemon_and_its_folder_tell_the_same(stocked, store):
    for form in ((), ("--json",)):
        for verb in ("ls", "verify"):
            told = stocked.ok(*form, "store", verb).out
            read = harness.run(MODSER, *form, "store", verb, "--dir", store)
            assert read.status == 0 and told == read.out, (form, verb)
    told = json.loads(stocked.ok("--json", "store", "ls").out)
    assert [(e["module"], e["ref"], e["options"]) for e in told] == [
        ("m", "current", {}), ("m", "previous", {"workers": "2"}), ("n", "current", {})]
    assert told[0]["bytes"] == RESULTS.stat().st_size


def test_a_damaged_file_is_found_by_the_daemon(stocked, store):
    sha256 = json.loads(stocked.ok("--json", "store", "ls").out)[0]["sha256"]
    assert stocked.ok("store", "verify").out == "3 files read, 0 faults\n"
    damage(store, sha256)
    said = stocked.modser("store", "verify")
    assert said.status == 8 and "m: current, results.so: " in said.out, said
    assert "3 files read, 1 fault\n" in said.out
    faults = json.loads(stocked.modser("--json", "store", "verify").out)["faults"]
    assert [f["module"] for f in faults] == ["m"]


def test_what_no_module_needs_is_collected_while_the_daemon_runs(stocked, store):
    before = json.loads(stocked.ok("--json", "store", "ls").out)
    stocked.ok("unload", "m")
    told = json.loads(stocked.ok("--json", "store", "prune").out)
    assert told == {"removed": 1, "removed_bytes": RESULTS.stat().st_size, "kept": 1,
                    "kept_bytes": FAULTS.stat().st_size}
    left = {p.name for p in (store / "sha256").glob("*/*")}
    assert left == {before[2]["sha256"]}
    stocked.expect_logged("method=store.collect")


def test_a_pin_stays_over_a_restart_and_a_replacement(own_daemon, stocked, store):
    stocked.ok("store", "pin", "n")
    stocked.ok("load", "--keep", "--replace", "n", RESULTS)
    stocked.stop()
    second = own_daemon("--store", store)
    told = json.loads(second.ok("--json", "store", "ls").out)
    assert {(e["module"], e["pinned"]) for e in told} == {("m", False), ("n", True)}
    second.ok("store", "unpin", "n")
    assert "pinned" not in second.ok("store", "ls").out
    said = second.modser("store", "pin", "none")
    assert said.status == 4 and "modser store ls" in said.err, said


def test_what_cannot_be_asked_says_what_to_do(own_daemon, stocked, store):
    said = stocked.modser("store", "rm", "m")
    assert said.status == 2 and "modser unload" in said.err, said
    said = own_daemon().modser("store", "ls")
    assert said.status == 1 and "no store" in said.err, said
    with Wire(stocked.host) as wire:
        for params in (["../x"], ["m", "yes"], ["m", 1]):
            method = "store.pin" if len(params) > 1 else "store.list"
            with pytest.raises(Failure, match="BAD_REQUEST"):
                wire.ask(method, *params)
        assert wire.call("m:int")[1] == -42


def test_a_store_that_is_asked_by_many_says_so(own_daemon, store):
    daemon = own_daemon("--store", store, "--max-concurrent-uploads", 2)
    daemon.ok("load", "--keep", "m", RESULTS)
    with Wire(daemon.host) as wire:
        with stalled(store / "modules" / "m"):
            waiting = [wire.start("store.list") for _ in range(2)]
            with pytest.raises(Failure, match="BUSY"):
                wire.ask("store.list")
        for number in waiting:
            assert len(wire.finish(number)["editions"]) == 1


def test_one_peer_leaves_room_for_the_next(own_daemon, store, folder):
    listen = [f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"]
    daemon = own_daemon("--store", store, "--max-concurrent-uploads", 3, "--allow-load-tcp", listen=listen)
    daemon.ok("load", "--keep", "m", RESULTS)
    one, other = (Wire.from_address(daemon.hosts[1], f"127.0.0.{i}") for i in (2, 3))
    with one, other, Wire(daemon.host) as own:
        with stalled(store / "modules" / "m"):
            waiting = [(one, one.start("store.list")) for _ in range(2)]
            with pytest.raises(Failure, match="BUSY: .*2 reads of the store run already for 127.0.0.2"):
                one.ask("store.list")
            waiting.append((other, other.start("store.list")))
            other.ask("ping")
            with pytest.raises(Failure, match="BUSY: .*3 reads of the store run already for other clients"):
                own.ask("store.list")
        for wire, number in waiting:
            assert len(wire.finish(number)["editions"]) == 1

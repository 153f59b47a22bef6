"""What a daemon with --store keeps over its own end, however that comes; and `modser store`."""
import json
import os
import signal

import harness
import pytest
from stalled import stalled
from wire import Failure, Wire

MODSER = harness.BIN / "modser"
RESULTS = harness.ZOO / "results.so"
FAULTS = harness.ZOO / "faults.so"
HANGS = harness.ZOO / "constructor_loop.so"
CRASHES = harness.ZOO / "constructor_crash.so"


@pytest.fixture
def store(folder):
    return folder / "store"


def end(daemon):
    """As power fails: nothing of it runs on, and nobody was told."""
    os.kill(daemon.pid, signal.SIGKILL)
    daemon.process.wait(harness.PATIENCE)
    harness.until(lambda: not daemon.processes(), "its workers end with it")
    daemon.kill()


def editions(store):
    """What the store says that it has, by module and ref."""
    said = harness.run(MODSER, "--json", "store", "ls", "-C", store)
    assert said.status == 0, said
    return {(e["module"], e["ref"]): e for e in json.loads(said.out)}


def blob_of(store, edition):
    digest = edition["files"][0]["sha256"]
    return store / "sha256" / digest[:2] / digest


def damage(path):
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_what_was_kept_is_served_after_a_kill_with_its_options(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("load", "--keep", "--workers", "2", "one", RESULTS)
    first.load("gone", RESULTS)
    end(first)
    second = own_daemon("--store", store)
    with Wire(second.host) as wire:
        wire.ask("module.wait", "one")
        assert wire.call("one:int")[1] == -42
        assert wire.ask("module.describe", "one")["workers"] == 2
        with pytest.raises(Failure) as failure:
            wire.ask("module.describe", "gone")
        assert failure.value.name == "NOT_FOUND"


def test_a_model_of_several_files_is_whole_again(own_daemon, store, fixtures):
    mlp = fixtures / "tvm-0.8" / "mlp_llvm"
    x, y = mlp / "x.npy", mlp / "y.npy"
    if not x.exists():
        x, y = next(mlp.glob("*in*.npy")), next(mlp.glob("*out*.npy"))
    parts = ("--graph", mlp / "graph.json", "--params", mlp / "model.params")
    first = own_daemon("--store", store)
    first.ok("load", "--keep", *parts, "mlp", mlp / "mlp_llvm_nofactory.so")
    assert [f["role"] for f in editions(store)["mlp", "current"]["files"]] == [
        "library", "graph", "params"]
    before = first.ok("--json", "call", "mlp:run", f"data=@{x}").out
    end(first)
    second = own_daemon("--store", store)
    second.ok("wait", "mlp")
    assert second.ok("--json", "call", "mlp:run", f"data=@{x}").out == before


def test_a_replacement_that_is_kept_leaves_the_old_one_as_previous(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "m", FAULTS)
    daemon.ok("load", "--keep", "--replace", "m", RESULTS)
    harness.until(lambda: ("m", "previous") in editions(store), "the switch is written down")
    kept = editions(store)
    assert set(kept) == {("m", "current"), ("m", "previous")}
    assert kept["m", "current"]["files"][0]["name"] == "results.so"
    assert kept["m", "previous"]["files"][0]["name"] == "faults.so"


def test_a_replacement_that_fails_is_not_kept(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("load", "--keep", "m", RESULTS)
    assert first.modser("load", "--keep", "--replace", "m", CRASHES).status == 1
    harness.until(lambda: set(editions(store)) == {("m", "current"), ("m", "bad")}, "it is written off")
    end(first)
    with Wire(own_daemon("--store", store).host) as wire:
        wire.ask("module.wait", "m")
        assert wire.call("m:int")[1] == -42


def test_what_was_unloaded_does_not_come_back(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("load", "--keep", "m", RESULTS)
    first.ok("unload", "m")
    assert editions(store) == {}
    end(first)
    assert own_daemon("--store", store).ok("ls").out == ""


def test_while_a_candidate_does_not_come_up_the_last_good_one_serves(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "m", RESULTS)
    with Wire(daemon.host) as loader:
        upload = loader.upload(HANGS.read_bytes())
        loader.start("module.load", "m", upload, {"keep": True, "replace": True})
        harness.until(lambda: ("m", "candidate") in editions(store), "it is written down")
        end(daemon)
    for start in (1, 2):
        daemon = own_daemon("--store", store)
        with Wire(daemon.host) as wire:
            harness.until(lambda: "event=module_load name=m" in daemon.log(), "it is loaded")
            assert wire.call("m:int", deadline_ms=harness.LONG_MS)[1] == -42, f"start {start}"
        assert ("m", "candidate") in editions(store)
        end(daemon)
    last = own_daemon("--store", store)
    with Wire(last.host) as wire:
        wire.ask("module.wait", "m")
        assert wire.call("m:int")[1] == -42
    assert set(editions(store)) == {("m", "current"), ("m", "bad")}
    last.expect_logged("event=module_load name=m")  # three attempts are all it gets


def test_a_start_that_cannot_be_written_down_tries_no_candidate(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "m", RESULTS)
    with Wire(daemon.host) as loader:
        upload = loader.upload(HANGS.read_bytes())
        loader.start("module.load", "m", upload, {"keep": True, "replace": True})
        harness.until(lambda: ("m", "candidate") in editions(store), "it is written down")
        end(daemon)
    (store / "modules" / ".m.new").mkdir()  # where a record is written before it is renamed
    second = own_daemon("--store", store)
    with Wire(second.host) as wire:
        wire.ask("module.wait", "m")
        assert wire.call("m:int")[1] == -42
    second.expect_logged("event=store_restore name=m edition=candidate")
    second.expect_logged("event=module_load name=m")  # the good one alone


def test_a_current_one_that_is_damaged_on_the_disk_gives_way_to_the_previous(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("load", "--keep", "m", RESULTS)
    first.ok("load", "--keep", "--replace", "m", FAULTS)
    harness.until(lambda: ("m", "previous") in editions(store), "the switch is written down")
    end(first)
    damage(blob_of(store, editions(store)["m", "current"]))
    second = own_daemon("--store", store)
    harness.until(lambda: "event=store_restore" in second.log(), "it says so")
    with Wire(second.host) as wire:
        wire.ask("module.wait", "m")
        assert wire.call("m:int")[1] == -42
    for words in ("edition=current", "hash to another"):
        harness.until(lambda: words in second.log(), f"{words!r} is logged")


def test_one_that_cannot_be_had_at_all_is_failed_and_said_to_be(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("load", "--keep", "m", RESULTS)
    end(first)
    said = harness.run(MODSER, "store", "verify", "-C", store)
    assert said.status == 0 and said.out == "1 file read, 0 faults\n", said
    damage(blob_of(store, editions(store)["m", "current"]))
    said = harness.run(MODSER, "store", "verify", "-C", store)
    assert said.status == 8 and "m: current, results.so: " in said.out, said
    second = own_daemon("--store", store)
    said = second.modser("wait", "m")
    assert said.status != 0 and "from the store" in said.err and "damaged" in said.err, said
    second.ok("load", "--keep", "--replace", "m", RESULTS)
    assert harness.run(MODSER, "store", "verify", "-C", store).status == 0


def test_keep_without_a_store_says_what_to_do(daemon):
    said = daemon.modser("load", "--keep", "m", RESULTS)
    assert said.status == 8 and "--store DIR" in said.err, said
    assert daemon.ok("ls").out == ""


def test_a_store_has_one_daemon(own_daemon, store):
    daemon = own_daemon("--store", store)
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{daemon.folder}/other.sock",
                       "--store", store, env=daemon.env)
    assert said.status != 0 and str(store) in said.err and "another process" in said.err, said
    said = harness.run(MODSER, "store", "prune", "-C", store)
    assert said.status == 1 and "omit -C" in said.err, said


def test_a_full_store_keeps_what_it_has(own_daemon, store):
    size = RESULTS.stat().st_size
    daemon = own_daemon("--store", store, "--max-store", size + 1000)
    daemon.ok("load", "--keep", "m", RESULTS)
    said = daemon.modser("load", "--keep", "other", FAULTS)
    assert said.status == 1 and "the store's limit" in said.err, said
    assert "other" not in daemon.ok("ls").out
    assert set(editions(store)) == {("m", "current")}


def test_an_update_takes_the_room_of_what_was_before(own_daemon, store):
    """There is room for two editions; without a watch the first one is needed no more."""
    size = RESULTS.stat().st_size + FAULTS.stat().st_size
    others = [harness.ZOO / name for name in ("results.so", "faults.so", "meet.so")]
    daemon = own_daemon("--store", store, "--max-store", size + 1000, "--watch", "0")
    for library in others:
        daemon.ok("load", "--keep", "--replace", "m", library)
    kept = editions(store)
    assert kept["m", "current"]["files"][0]["name"] == "meet.so"
    assert kept["m", "previous"]["files"][0]["name"] == "faults.so"
    daemon.ok("store", "pin", "m")
    said = daemon.modser("load", "--keep", "--replace", "m", RESULTS)
    assert said.status == 1 and "the store's limit" in said.err, said


def test_what_no_module_needs_any_more_is_collected(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "m", RESULTS)
    daemon.ok("load", "--keep", "n", FAULTS)
    daemon.ok("unload", "n")
    daemon.stop()
    said = harness.run(MODSER, "--json", "store", "prune", "-C", store)
    assert said.status == 0, said
    assert json.loads(said.out)["removed"] == 1 and json.loads(said.out)["kept"] == 1
    assert harness.run(MODSER, "store", "rm", "m", "-C", store).status == 0
    assert harness.run(MODSER, "store", "rm", "m", "-C", store).status == 4
    assert editions(store) == {}


def test_a_rollback_serves_the_previous_one_and_is_undone_by_another(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "one", RESULTS)
    daemon.ok("load", "--keep", "--replace", "--workers", "2", "one", FAULTS)
    before = editions(store)
    daemon.ok("rollback", "one")
    after = editions(store)
    assert after["one", "current"]["sha256"] == before["one", "previous"]["sha256"]
    assert after["one", "previous"]["sha256"] == before["one", "current"]["sha256"]
    with Wire(daemon.host) as wire:
        assert wire.call("one:int")[1] == -42
        assert wire.ask("module.describe", "one")["workers"] == 1
    end(daemon)
    second = own_daemon("--store", store)
    second.ok("wait", "one")
    assert second.ok("call", "one:int").out == "-42\n"
    second.ok("rollback", "one")
    with Wire(second.host) as wire:
        assert wire.ask("module.describe", "one")["workers"] == 2


def test_a_rollback_without_a_previous_one_exits_4(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "one", RESULTS)
    daemon.ok("load", "two", RESULTS)
    for name in ("one", "two", "none"):
        said = daemon.modser("rollback", name)
        assert said.status == 4 and "NOT_FOUND" in said.err, said
        assert "previous edition" in said.err.splitlines()[1]
    assert daemon.ok("call", "one:int").out == "-42\n"


def test_a_rollback_to_what_is_damaged_changes_nothing(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "one", FAULTS)
    daemon.ok("load", "--keep", "--replace", "one", RESULTS)
    before = editions(store)
    damage(blob_of(store, before["one", "previous"]))
    said = daemon.modser("rollback", "one")
    assert said.status == 8 and "BAD_ARTIFACT" in said.err, said
    assert "modser store verify" in said.err.splitlines()[-1] and "FILE" not in said.err, said
    assert editions(store) == before
    assert daemon.ok("call", "one:int").out == "-42\n"


def test_a_deadline_is_kept_while_the_disk_lets_wait(own_daemon, store):
    daemon = own_daemon("--store", store)
    daemon.ok("load", "--keep", "one", RESULTS)
    daemon.ok("load", "--keep", "two", RESULTS)
    with Wire(daemon.host) as wire:
        with stalled(store / "modules" / "one"):
            for method, name in (("module.rollback", "one"), ("module.unload", "two")):
                with pytest.raises(Failure, match="DEADLINE.*before the store"):
                    wire.ask(method, name, deadline_ms=50)
        harness.until(lambda: len(wire.ask("module.list")) == 1, "the other is unloaded")
        assert wire.call("one:int")[1] == -42

"""Modules that are unloaded when nobody calls them, and there again when somebody does."""
import contextlib
import os
import pathlib

import direct
import harness
import msgpack
import pytest
from stalled import stalled
from wire import DTYPE, Failure, Wire, shape_ext

RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
SOON = "10ms"
FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")


@pytest.fixture
def sleeper(own_daemon):
    """sleeper(keys): a daemon whose module `m` sleeps soon."""

    def start(artifact=RESULTS, keys=""):
        return own_daemon("--load", f"m={artifact},keep-alive={SOON}{keys}")

    return start


def told(daemon, name="m"):
    with Wire(daemon.host) as wire:
        return wire.ask("module.describe", name)


def falls_asleep(daemon, name="m"):
    harness.until(lambda: told(daemon, name)["state"] == "ASLEEP", "it sleeps")
    harness.until(lambda: not told(daemon, name)["pids"], "its workers have ended")


def test_what_nobody_calls_ends_and_a_call_brings_it_back(sleeper):
    daemon = sleeper(keys=",workers=2")
    for n in range(3):
        falls_asleep(daemon)
        assert daemon.ok("call", "m:int").out == "-42\n"
    said = told(daemon)
    assert said["keep_alive_ms"] == 10 and said["calls"] == 3
    assert said["restarts"] == 0 and "event=worker_lost" not in daemon.log()


def test_what_is_asleep_is_listed_and_waited_for_as_one_that_is_there(sleeper):
    daemon = sleeper()
    falls_asleep(daemon)
    daemon.ok("wait", "m")
    assert "ASLEEP" in daemon.ok("ls").out
    assert "int" in daemon.ok("funcs", "m").out


def test_what_a_client_holds_in_it_keeps_it(own_daemon):
    load = [w for name in "mn" for w in ("--load", f"{name}={RESULTS},keep-alive={SOON}")]
    daemon = own_daemon(*load)
    with Wire(daemon.host) as wire:
        tensor = wire.ask("tensor.alloc", "m", FLOAT32, shape_ext(3))
        pids = told(daemon)["pids"]
        daemon.ok("call", "n:int")  # from now on nobody wants that one
        falls_asleep(daemon, "n")
        assert told(daemon)["state"] == "READY" and told(daemon)["pids"] == pids
        wire.ask("tensor.free", tensor)
        falls_asleep(daemon)


def artifacts(daemon):
    """How many modules' bytes the daemon has in memory."""
    names = ("modserd-artifact", "modserd-fetched")  # read by itself, brought by modserd-fetch
    held = 0
    for fd in pathlib.Path(f"/proc/{daemon.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            held += any(name in os.readlink(fd) for name in names)
    return held


@pytest.fixture
def stocked(own_daemon, folder):
    """A daemon whose module `m` comes from its store, and sleeps soon."""
    conf = folder / "modserd.conf"
    conf.write_text(f'module m {{ source = "file://{RESULTS}" keep-alive = "{SOON}" }}\n')
    daemon = own_daemon("--config", conf, "--store", folder / "store")
    daemon.ok("wait", "m")
    return daemon


def lets_go(daemon):
    falls_asleep(daemon)
    harness.until(lambda: artifacts(daemon) == 0, "its bytes are the store's alone")


def test_what_the_store_has_takes_no_memory_and_comes_back_from_there(stocked):
    for _ in range(3):
        lets_go(stocked)
        assert stocked.ok("call", "m:int").out == "-42\n"
    assert told(stocked)["calls"] == 3 and "event=worker_lost" not in stocked.log()


def test_what_the_store_lacks_stays_in_memory(own_daemon, folder):
    daemon = own_daemon("--load", f"m={RESULTS},keep-alive={SOON}", "--store", folder / "store")
    falls_asleep(daemon)
    daemon.ok("--json", "store", "ls")  # behind what is looked for when it falls asleep
    assert artifacts(daemon) == 1
    assert daemon.ok("call", "m:int").out == "-42\n"


def test_what_was_damaged_meanwhile_says_so_until_it_is_mended(stocked, folder):
    lets_go(stocked)
    blob = next((folder / "store" / "sha256").glob("*/*"))
    whole = blob.read_bytes()
    blob.chmod(0o644)
    blob.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    said = stocked.modser("call", "m:int")
    assert said.status == 1 and "from the store" in said.err and "BAD_ARTIFACT" in said.err, said
    blob.write_bytes(whole)
    assert stocked.ok("call", "m:int").out == "-42\n"


def test_calls_wait_for_the_store_up_to_their_deadlines(stocked, folder):
    lets_go(stocked)
    with Wire(stocked.host) as wire:
        with stalled(folder / "store" / "modules" / "m"):
            with pytest.raises(Failure, match="NOT_READY.*ASLEEP"):
                wire.call("m:int", deadline_ms=50)
            waiting = wire.start("call", "m:int", deadline_ms=harness.LONG_MS)
        assert wire.finish(waiting)[1] == -42


def test_one_whose_bytes_are_the_stores_is_replaced_and_unloaded(stocked):
    lets_go(stocked)
    stocked.ok("load", "--replace", "m", FAULTS)
    stocked.ok("unload", "m")
    assert stocked.ok("ls").out == ""


def test_one_that_sleeps_is_replaced_and_unloaded(sleeper):
    daemon = sleeper()
    falls_asleep(daemon)
    daemon.ok("load", "--replace", "m", FAULTS)
    assert told(daemon)["keep_alive_ms"] is None
    daemon.ok("unload", "m")


def until_of(daemon):
    head, row = daemon.ok("ls", "--header").out.splitlines()[:2]
    columns = dict(zip(head.split("\t"), row.split("\t")))
    return columns.get("sleeps_ms")


def test_a_load_says_when_its_module_sleeps_and_ls_how_long_that_is_off(own_daemon):
    daemon = own_daemon()
    daemon.load("m", RESULTS, "--keep-alive", "1h")
    assert told(daemon)["keep_alive_ms"] == 3600000
    assert 0 < told(daemon)["sleeps_ms"] <= 3600000 and 0 < int(until_of(daemon)) <= 3600000
    daemon.load("m", RESULTS, "--replace", "--keep-alive", "off")
    assert told(daemon)["keep_alive_ms"] is None and told(daemon)["sleeps_ms"] is None
    daemon.load("m", RESULTS, "--replace", "--keep-alive", SOON)
    falls_asleep(daemon)
    said = daemon.modser("load", "n", RESULTS, "--keep-alive", "10")
    assert said.status == 2 and "keep-alive 10: add the unit" in said.err


def test_one_that_is_put_to_sleep_wakes_with_a_call(own_daemon):
    daemon = own_daemon("--load", f"m={RESULTS}")
    daemon.ok("wait", "m")
    daemon.ok("sleep", "m")
    falls_asleep(daemon)
    daemon.ok("sleep", "m")  # it does already
    assert daemon.ok("call", "m:int").out == "-42\n"
    harness.until(lambda: told(daemon)["state"] == "READY", "it is awake")
    assert told(daemon)["pids"], "nothing but the wish ends it again"
    assert daemon.modser("sleep", "none").status == 4


def test_one_that_is_in_use_is_not_put_to_sleep(own_daemon):
    daemon = own_daemon("--load", f"m={RESULTS}")
    daemon.ok("wait", "m")
    with Wire(daemon.host) as wire:
        tensor = wire.ask("tensor.alloc", "m", FLOAT32, shape_ext(3))
        said = daemon.modser("sleep", "m")
        assert said.status == 1 and "a client holds tensors" in said.err, said
        wire.ask("tensor.free", tensor)
        daemon.ok("sleep", "m")
    falls_asleep(daemon)


def test_a_direct_channel_does_not_keep_one_awake_that_is_put_to_sleep(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--load", f"m={RESULTS}")
    with Wire(daemon.host) as wire, contextlib.closing(direct.open_with(wire, "m")[0]):
        daemon.ok("sleep", "m")
        falls_asleep(daemon)
        assert told(daemon)["restarts"] == 0

"""Modules that are unloaded when nobody calls them, and there again when somebody does."""
import harness
import msgpack
import pytest
from wire import DTYPE, Wire, shape_ext

RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
SOON = "10ms"
FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")


@pytest.fixture
def sleeper(own_daemon):
    """sleeper(keys): a daemon whose module `m` sleeps soon."""

    def start(artifact=RESULTS, keys=""):
        return own_daemon("--load", f"m={artifact},keep_alive={SOON}{keys}")

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
    assert said["restarts"] == 0 and "event=worker-lost" not in daemon.log()


def test_what_is_asleep_is_listed_and_waited_for_as_one_that_is_there(sleeper):
    daemon = sleeper()
    falls_asleep(daemon)
    daemon.ok("wait", "m")
    assert "ASLEEP" in daemon.ok("ls").out
    assert "int" in daemon.ok("funcs", "m").out


def test_what_a_client_holds_in_it_keeps_it(own_daemon):
    load = [w for name in "mn" for w in ("--load", f"{name}={RESULTS},keep_alive={SOON}")]
    daemon = own_daemon(*load)
    with Wire(daemon.host) as wire:
        tensor = wire.ask("tensor.alloc", "m", FLOAT32, shape_ext(3))
        pids = told(daemon)["pids"]
        daemon.ok("call", "n:int")  # from now on nobody wants that one
        falls_asleep(daemon, "n")
        assert told(daemon)["state"] == "READY" and told(daemon)["pids"] == pids
        wire.ask("tensor.free", tensor)
        falls_asleep(daemon)


def test_one_that_sleeps_is_replaced_and_unloaded(sleeper):
    daemon = sleeper()
    falls_asleep(daemon)
    daemon.ok("load", "--replace", "m", FAULTS)
    assert told(daemon)["keep_alive_ms"] is None
    daemon.ok("unload", "m")

"""A daemon that goes says so first, to those who share the calls out, and serves on until then."""
import signal
import socket
import urllib.error
import urllib.request

import harness
import pytest
from harness import PATIENCE, until
from wire import Failure, Wire

ZOO = harness.ZOO / "calls.so"


def start(*words, modules=(), **more):
    """A daemon with addresses for agent checks beside its unix socket: its own, and @modules'."""
    asked = [word for name in modules for word in ("--agent-check", f"{name}=127.0.0.1:0")]
    daemon = harness.Daemon("--agent-check", "127.0.0.1:0", *asked, *words, **more)
    daemon.agents = {}
    for of in (None, *modules):
        word, _, address = daemon._line().partition(" ")
        assert word == "listening" and address.startswith("agent://")
        host, _, port = address.removeprefix("agent://").rpartition(":")
        daemon.agents[of] = host, int(port)
    return daemon


@pytest.fixture
def leaving():
    """A daemon that serves and has been told to end, in an hour."""
    with start("--load", f"zoo={ZOO}", "--drain-delay", "1h") as daemon:
        daemon.ok("wait", "zoo")
        assert check(daemon) == b"up ready 100%\n"
        daemon.process.send_signal(signal.SIGTERM)
        daemon.expect_logged("event=daemon_drain_delay delay_ms=3600000")
        yield daemon
        daemon.stop()


def check(daemon, module=None):
    """What an agent check is told, up to its end."""
    with socket.create_connection(daemon.agents[module], PATIENCE) as s:
        said = b""
        while more := s.recv(64):
            said += more
        return said


def test_an_agent_check_is_told_of_it(leaving):
    assert check(leaving) == b"drain\n"


def test_a_ping_is_told_of_it(leaving):
    with Wire(leaving.host) as wire:
        wire.start("ping", id=1)
        assert wire.receive() == [1, 1, None, None, {"leaving": True}]


def test_calls_are_served_until_it_drains(leaving):
    assert "takes 2 arguments" in leaving.modser("call", "zoo:addone").err
    with Wire(leaving.host) as wire:
        assert wire.ask("ping") is None


def test_a_daemon_whose_modules_are_not_ready_is_down(folder):
    with start("--load", f"lost={folder / 'nowhere.so'}") as daemon:
        until(lambda: "FAILED" in daemon.modser("ls").out, "the module has failed")
        assert check(daemon) == b"down\n"


def test_what_waits_at_a_busy_worker_takes_weight():
    with start("--load", f"faults={harness.ZOO / 'faults.so'}") as daemon, Wire(daemon.host) as held, \
            Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.ask("module.wait", "faults")
        id = held.start("call", "faults:gate", gate.path)
        gate.entered()
        assert check(daemon) == b"up ready 100%\n"
        ids = [wire.start("call", "faults:ok") for _ in range(3)]
        until(lambda: check(daemon) == b"up ready 25%\n", "three wait behind it")
        gate.open()
        for of, one in ((held, id), *((wire, one) for one in ids)):
            of.finish(one)
        assert check(daemon) == b"up ready 100%\n"


def test_a_check_of_a_module_is_told_of_that_one_alone(folder):
    """Of one that is busy, one that has failed, one that is asleep, one that comes later."""
    names = ("faults", "lost", "asleep", "later")
    with start("--load", f"faults={harness.ZOO / 'faults.so'}", "--load", f"lost={folder / 'nowhere.so'}",
               "--load", f"asleep={ZOO},keep-alive=10ms", "--drain-delay", "1h", modules=names) as daemon, \
            Wire(daemon.host) as held, Wire(daemon.host) as wire, harness.Gate() as gate:
        wire.ask("module.wait", "faults")
        id = held.start("call", "faults:gate", gate.path)
        gate.entered()
        ids = [wire.start("call", "faults:ok") for _ in range(3)]
        until(lambda: check(daemon, "faults") == b"up ready 25%\n", "three wait behind it")
        assert check(daemon, "lost") == check(daemon, "later") == b"down\n"
        until(lambda: "ASLEEP" in daemon.modser("ls").out, "nobody wants it")
        assert check(daemon, "asleep") == b"up ready 100%\n"
        daemon.load("later", ZOO)
        assert check(daemon, "later") == b"up ready 100%\n"
        assert check(daemon, "faults") == b"up ready 25%\n"
        gate.open()
        for of, one in ((held, id), *((wire, one) for one in ids)):
            of.finish(one)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.expect_logged("event=daemon_drain_delay delay_ms=3600000")
        assert check(daemon, "later") == check(daemon, "lost") == b"drain\n"
        daemon.stop()


def test_metrics_say_it(leaving):
    assert "\nmodserd_draining 1\n" in leaving.ok("metrics").out


def test_http_says_that_it_is_not_ready():
    with harness.Daemon("--http", "127.0.0.1:0", "--drain-delay", "1h") as daemon:
        url = daemon._line().partition(" ")[2]
        with urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE) as answer:
            assert answer.status == 200
        daemon.process.send_signal(signal.SIGTERM)
        daemon.expect_logged("event=daemon_drain_delay")
        with pytest.raises(urllib.error.HTTPError) as told:
            urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE)
        assert (told.value.code, told.value.read()) == (503, b"draining\n")
        with urllib.request.urlopen(f"{url}/livez", timeout=PATIENCE) as answer:
            assert answer.status == 200


def test_a_call_of_a_module_that_is_gone_already_is_told_that_the_daemon_drains():
    """NOT_FOUND would say that it need not be asked for elsewhere."""
    with harness.Daemon("--drain", "1h") as daemon, harness.Gate() as gate:
        daemon.load("zoo", ZOO)
        daemon.load("faults", harness.ZOO / "faults.so")
        with Wire(daemon.host) as wire:
            held = wire.start("call", "faults:gate", gate.path)
            gate.entered()
            daemon.process.send_signal(signal.SIGTERM)
            daemon.expect_logged("event=daemon_drain")
            until(lambda: len(daemon.workers()) == 1, "the idle module is gone")
            with pytest.raises(Failure) as failure:
                wire.call("zoo:addone")
            assert failure.value.name == "DRAINING"
            gate.open()
            wire.finish(held)

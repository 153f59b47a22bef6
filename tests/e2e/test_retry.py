"""A call that is sent again: what was not begun, and what may have run only where that is said."""
import subprocess

import harness
import pytest
from rights import User, connect, token_of
from wire import Wire

LONG = f"{harness.PATIENCE}s"
NO_CONNECTION = 3


def retrying(host, *words):
    """`modser call --retry` in a process of its own."""
    words = ["-H", host, "call", "--retry", LONG, *words]
    return harness.started(harness.BIN / "modser", *words, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)


def said_by(process):
    out, err = process.communicate(timeout=harness.PATIENCE)
    return process.returncode, out.decode(), err.decode()


def has_ended(process, gate):
    """Whether it has; whoever waits at the gate is let go, which may be a worker that is dying."""
    if gate.is_entered():
        gate.open()
    return process.poll() is not None


def calls(daemon, name):
    """How many calls of the module have ended there, by the daemon's own count."""
    with Wire(daemon.host) as wire:
        return wire.ask("module.describe", name)["calls"]


@pytest.fixture
def two(own_daemon):
    both = own_daemon(), own_daemon()
    for daemon in both:
        daemon.load("faults", harness.ZOO / "faults.so")
    return both


@pytest.fixture
def limited(folder, own_daemon):
    """A daemon whose only user may have one request in flight, and that user's token file."""
    acl, token = folder / "rights.acl", folder / "token"
    acl.write_text(User("web", ["lookup", "call"]).line().rstrip() + " requests=1\nend\n")
    token.write_text(token_of("web"))
    token.chmod(0o600)
    daemon = own_daemon("--acl", acl)
    daemon.load("results", harness.ZOO / "results.so")
    daemon.load("faults", harness.ZOO / "faults.so")
    return daemon, token


def test_one_that_is_busy_is_asked_until_it_is_free(limited):
    daemon, token = limited
    with harness.Gate() as gate, connect(daemon, "web") as wire:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        refused = daemon.modser("--token-file", token, "call", "results:int")
        assert "[BUSY]" in refused.err, refused
        with retrying(daemon.host, "--token-file", token, "results:int") as modser:
            harness.until(lambda: daemon.log().count("limit=requests") > 1, "it was refused, too")
            gate.open()
            wire.finish(held)
            status, out, err = said_by(modser)
    assert status == 0 and out and not err


def test_the_next_is_asked_when_the_first_is_busy(limited, own_daemon):
    daemon, token = limited
    free = own_daemon()
    free.load("results", harness.ZOO / "results.so")
    with harness.Gate() as gate, connect(daemon, "web") as wire:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        host = f"{daemon.host},{free.host}"
        said = free.modser("call", "--retry", LONG, "results:int", host=host,
                           env=harness.environment() | {"MODSER_TOKEN": token_of("web")})
        gate.open()
        wire.finish(held)
    assert said.status == 0 and not said.err, said
    assert calls(free, "results") == 1


def test_what_may_have_run_is_not_sent_again(two):
    first, second = two
    with harness.Gate() as gate:
        with retrying(f"{first.host},{second.host}", "faults:gate", f"str:{gate.path}") as modser:
            gate.entered()
            first.kill()
            status, _, err = said_by(modser)
    assert status == NO_CONNECTION and "[IO]" in err
    assert calls(second, "faults") == 0


def test_what_may_run_twice_is_sent_to_the_next(two):
    first, second = two
    with harness.Gate() as gate:
        with retrying(f"{first.host},{second.host}", "--idempotent", "faults:gate",
                      f"str:{gate.path}") as modser:
            gate.entered()
            first.kill()
            gate.open()
            harness.until(lambda: has_ended(modser, gate), "the second has answered")
            status, _, err = said_by(modser)
    assert status == 0 and not err
    assert calls(second, "faults") == 1


def test_one_that_is_not_there_yet_is_waited_for(folder, own_daemon):
    path = folder / "later"
    with retrying(f"unix:{path}", "results:int") as modser:
        daemon = own_daemon("--load", f"results={harness.ZOO / 'results.so'}",
                            listen=[f"unix:{path}"])
        status, out, err = said_by(modser)
    assert status == 0 and out and not err
    assert calls(daemon, "results") == 1


def test_what_is_answered_is_not_asked_again(two):
    first, second = two
    said = first.modser("call", "--retry", LONG, "--idempotent", "faults:nothing_of_that_name",
                        host=f"{first.host},{second.host}")
    assert said.status not in (0, NO_CONNECTION) and "[NOT_FOUND]" in said.err, said


def test_it_ends_with_its_time_and_says_why_once(folder):
    said = harness.run(harness.BIN / "modser", "-H", f"unix:{folder}/nobody", "call", "--retry",
                       "300ms", "m:f")
    assert said.status == NO_CONNECTION and said.err.count("\n") == 2, said


def test_a_deadline_is_of_all_that_is_tried(folder):
    said = harness.run(harness.BIN / "modser", "-H", f"unix:{folder}/nobody", "--deadline", "300ms",
                       "call", "--retry", LONG, "m:f", timeout=harness.PATIENCE / 2)
    assert said.status == NO_CONNECTION, said


def test_idempotent_without_retry_is_said_to_mean_nothing():
    said = harness.run(harness.BIN / "modser", "call", "--idempotent", "m:f")
    assert said.status == 2 and "--retry TIME" in said.err, said

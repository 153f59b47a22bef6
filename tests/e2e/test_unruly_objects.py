"""Functions and objects of a library that misbehave (plugins/unruly.cc): each is bounded and named,
and only their owner notices."""
import subprocess

import harness
import pytest
from wire import Failure, Wire

SOURCE = harness.ROOT / "tests" / "e2e" / "plugins" / "unruly.cc"


@pytest.fixture(scope="module")
def unruly(daemon, tmp_path_factory):
    path = tmp_path_factory.mktemp("unruly") / "unruly.so"
    subprocess.run(["c++", "-shared", "-fPIC", "-O0", "-fvisibility=hidden", SOURCE, "-o", path],
                   check=True)
    daemon.load("unruly", path)
    return daemon


@pytest.fixture
def wire(unruly):
    with Wire(unruly.host) as wire:
        wire.ask("session.hello", {"objects": True})
        yield wire


def call(wire, name, *args):
    return wire.call(f"unruly:{name}", *args)[1]


@pytest.mark.parametrize("name", ("throws", "recurses"))
def test_a_function_that_ends_its_worker_is_named(wire, name):
    with pytest.raises(Failure, match=f"(?s)WORKER_LOST: .*in call of {name}"):
        call(wire, name)
    wire.ask("module.wait", "unruly")
    assert call(wire, "many", 2) == [0, 0], "another worker answers"


def test_a_text_may_have_nul(wire):
    assert call(wire, "with_nul") == "before\0behind it"


def test_a_text_that_is_not_utf8_is_sent_as_bytes(wire):
    assert call(wire, "not_utf8") == b"\xff\xfe long enough"


def test_many_items_are_sent_and_too_many_are_refused(wire):
    assert call(wire, "many", 60_000) == [0] * 60_000
    with pytest.raises(Failure, match="TOO_LARGE: .*values in one reply"):
        call(wire, "many", 1_000_000)


def test_a_deleter_that_raises_and_calls_back_changes_no_later_call(wire):
    made = [call(wire, "busy_end") for _ in range(5)]
    wire.ask("object.free", *made)
    assert call(wire, "many", 1) == [0]
    with pytest.raises(Failure, match="NOT_FOUND"):
        call(wire, "none")

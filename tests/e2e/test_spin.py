"""A worker that looks for the next call on a client's own channel before it sleeps."""
import os
import pathlib

import direct
import harness
import numpy as np
import pytest
from wire import Wire, out

CALLS = ("--load", f"calls={harness.ZOO / 'calls.so'}")
MANY = 200
FOUR = np.zeros(4, "f4")
KEYS = ("spin_hits", "spin_misses", "spin_waste_ns")
has_two = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="there is one processor")


def spun(facts):
    return tuple(facts[key] for key in KEYS)


def sleeps(pid):
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return stat.rpartition(")")[2].split()[0] == "S"


def calls_often(channel, n=MANY):
    for _ in range(n):
        channel.call("calls:addone", FOUR, out("f4", 4))


def looks(wire, channel):
    """The worker of `calls` looks: it does so only when calls come fast, which is the machine's
    to say."""

    def has_looked():
        calls_often(channel)
        return sum(spun(direct.facts(wire, "calls"))[:2]) > 0

    harness.until(has_looked, "it has looked for a call")


@has_two
def test_what_comes_of_it_is_told(own_daemon):
    daemon = own_daemon(*direct.GIVEN, *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        assert spun(direct.facts(wire, "calls")) == (0, 0, 0)
        looks(wire, channel)
        channel.socket.close()
        info = wire.ask("server.info")
        now = spun(direct.facts(wire, "calls"))
        assert spun(info) <= now
        text = wire.ask("server.metrics")
        assert f"modserd_spin_hits_total {now[0]}\n" in text
        assert f"modserd_spin_misses_total {now[1]}\n" in text
        assert "modserd_spin_wasted_seconds_total " in text


@has_two
def test_an_idle_worker_sleeps(own_daemon):
    """It looks in vain once at most, and not again before there is another call."""
    daemon = own_daemon(*direct.GIVEN, *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        looks(wire, channel)
        (pid,) = direct.facts(wire, "calls")["pids"]
        harness.until(lambda: sleeps(pid), "it sleeps")
        before = direct.facts(wire, "calls")
        for _ in range(MANY):
            assert sleeps(pid)
        after = direct.facts(wire, "calls")
        assert after["spin_hits"] == before["spin_hits"]
        assert after["spin_misses"] - before["spin_misses"] <= 1


def test_calls_through_the_daemon_are_not_looked_for(own_daemon):
    daemon = own_daemon(*direct.GIVEN, *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        calls_often(channel, 1)
        for _ in range(MANY):
            wire.call("calls:addone", FOUR, out("f4", 4))
        assert spun(direct.facts(wire, "calls")) == (0, 0, 0)


def test_who_does_not_want_it_says_so(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--spin", "0", *CALLS)
    with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
        calls_often(channel, 10 * MANY)
        assert spun(direct.facts(wire, "calls")) == (0, 0, 0)
        assert wire.ask("server.info")["limits"]["spin"] == 0


def test_a_worker_with_one_processor_always_sleeps(own_daemon):
    may = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(may)})  # the daemon's, and its workers'
    try:
        daemon = own_daemon(*direct.GIVEN, *CALLS)
        with Wire(daemon.host) as wire, direct.open_direct(wire, "calls") as channel:
            calls_often(channel, 10 * MANY)
            assert spun(direct.facts(wire, "calls")) == (0, 0, 0)
    finally:
        os.sched_setaffinity(0, may)

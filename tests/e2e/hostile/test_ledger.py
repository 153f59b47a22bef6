"""A worker that lies in the page in which it tells of clients' channels harms nobody but its own
module's counts."""
import contextlib
import sys
import time

import direct
import harness
import pytest
from wire import Closed, Wire

SEEDS = range(4)
LOOKS = 50
MOST_PER_SECOND = 2e7  # calls that the daemon believes of a worker
MOST_WAITING = 16 * 512  # at the same time


@contextlib.contextmanager
def served(folder, seed):
    """A daemon with the modules `liar`, whose worker lies, and `honest`."""
    script = harness.ROOT / "tests/e2e/hostile/lying_ledger.py"
    liar = folder / "worker"
    words = (sys.executable, script, harness.BIN / "modserd-worker", seed)
    liar.write_text("#!/bin/sh\nexec " + " ".join(f"'{w}'" for w in words) + ' "$@"\n')
    liar.chmod(0o755)
    library = harness.ZOO / "results.so"
    with direct.Daemon("--slow-call", "1ms", "--load", f"liar={library}", "--load",
                        f"honest={library}", env={"MODSERD_WORKER": str(liar)}) as daemon, \
            Wire(daemon.host) as wire:
        yield daemon, wire


def facts(wire, name):
    return next(m for m in wire.ask("module.list") if m["name"] == name)


def test_who_says_that_a_call_overruns_ends_itself(folder):
    with served(folder, "late") as (_, wire), direct.open_direct(wire, "honest") as other:
        with direct.open_direct(wire, "liar") as channel, pytest.raises(Closed):
            channel.receive()
        harness.until(lambda: facts(wire, "liar")["restarts"] == 1, "it is started again")
        other.call("honest:int")
        assert facts(wire, "honest")["restarts"] == 0


def expect_plausible(wire, begun):
    """What the daemon tells of all modules is no more than can have happened since @begun."""

    def past():
        return time.monotonic() - begun

    slow = wire.ask("server.slowlog")
    assert all(1e6 <= s["all_ns"] <= past() * 1e9 and s["peer"].startswith("uid ") for s in slow)
    assert wire.ask("server.info")["calls"] <= past() * MOST_PER_SECOND
    looked = facts(wire, "liar")
    assert looked["spin_waste_ns"] <= past() * 1e9
    assert looked["spin_hits"] + looked["spin_misses"] <= past() * MOST_PER_SECOND
    text = wire.ask("server.metrics")
    sums = [float(line.split()[-1]) for line in text.splitlines()
            if line.startswith("modserd_call_stage_seconds_sum")]
    assert sums and max(sums) <= past() * MOST_WAITING


@pytest.mark.parametrize("seed", SEEDS)
def test_what_it_tells_of_itself_is_told_of_no_other(folder, seed):
    with served(folder, seed) as (_, wire):
        begun = time.monotonic()
        with direct.open_direct(wire, "liar") as channel, \
                direct.open_direct(wire, "honest") as other:
            for n in range(1, LOOKS + 1):
                channel.call("liar:int")
                other.call("honest:int")
                honest = facts(wire, "honest")
                assert (honest["calls"], honest["errors"]) == (n, 0)
                assert honest["spin_hits"] + honest["spin_misses"] < n
                text = wire.ask("server.metrics")
                assert f'module="honest",function="int",code="OK"}} {n}\n' in text
                expect_plausible(wire, begun)
        assert wire.call("liar:int")[1] is not None and wire.call("honest:int")[1] is not None
        assert facts(wire, "liar")["restarts"] == facts(wire, "honest")["restarts"] == 0

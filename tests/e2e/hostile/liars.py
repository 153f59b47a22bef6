"""Modules whose worker lies (lying_worker.py), and what is expected of a daemon that has them; the
fixtures `liars` and `start_liars` start one."""
import hashlib
import site
import sys

import harness
import numpy as np
import pytest
from wire import Failure, Wire

MIB = 1 << 20
MAX_MEMORY = 64 * MIB


def start(own_arena, folder, *words):
    """An arena in whose folder the workers are; `liar` lies and `other` is honest, as far as it
    goes."""
    worker, record = folder / "worker", folder / "record"
    packages = ":".join(site.getsitepackages())
    script = harness.ROOT / "tests/e2e/hostile/lying_worker.py"
    worker.write_text(
        f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' -S '{script}' '{record}' \"$@\"\n"
    )
    worker.chmod(0o755)
    artifact = folder / "artifact"
    artifact.write_text("1 good")
    arena = own_arena(
        "--max-memory", str(MAX_MEMORY), *words,
        modules={"liar": artifact, "other": artifact}, env={"MODSERD_WORKER": str(worker)})
    arena.record = record
    return arena


def describe(arena, name, what):
    """Load a module whose worker describes it as @what says."""
    with Wire(arena.host) as wire:
        wire.load(name, f"1 {what}".encode())


def expect_killed(arena, function, *args, says="the worker's answer was malformed", why):
    """@function of `liar` is answered with what @says matches, its worker is ended because of
    @why, and the next one serves."""
    victim = arena.victim()
    liar = arena.workers_of("liar")
    with pytest.raises(Failure, match=says):
        victim.call(f"liar:{function}", *args)
    harness.until(lambda: arena.workers_of("liar") not in ([], liar), "the liar is ended")
    victim.call("liar:none")
    harness.until(lambda: why in arena.daemon.log(), f"{why!r} is logged")


def expect_room_for_others(arena):
    """A call of another module gets its 8 MiB of arguments."""
    big = np.ones(8 * MIB, "u1")
    _, (back,) = arena.victim().call("other:digests", big)
    assert back == hashlib.sha256(big).digest()

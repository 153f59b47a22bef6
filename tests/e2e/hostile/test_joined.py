"""Rows of one client that are joined with another's call (`--batch`) do not cost that its deadline:
the first of the joined is the one that overruns, for which workers are killed and a client is barred.

The worker stands still until it has been sent both calls, the victim's first."""
import contextlib
import os
import signal

import harness
import numpy as np
import pytest
from onnx_writer import model, node, value

ROWS = 128  # that are joined
MANY = 100  # the attacker's: a second each, before any was seen, is more than half of LONG_MS


@pytest.fixture
def arena(own_arena, folder):
    path = folder / "relu.onnx"
    path.write_bytes(model([node("Relu", ["x"], ["y"])], [value("x", "float32", ["n", 2])],
                           [value("y", "float32", ["n", 2])]))
    arena = own_arena("--load", f"relu={path},batch={ROWS}")
    with arena.connect() as wire:
        wire.ask("module.wait", "relu")
    return arena


@contextlib.contextmanager
def standstill(pid):
    os.kill(pid, signal.SIGSTOP)
    try:
        harness.until(lambda: harness.is_stopped(pid), "the worker stands still")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def start(wire, rows, **options):
    id = wire.start("call", "relu:run", np.ones((rows, 2), "float32"), **options)
    for _ in range(2):  # it has been sent to the worker
        wire.ask("ping")
    return id


def joined(arena, **options):
    """How many calls ran as one with the victim's, which has a row and @options, and is followed
    by MANY rows of an attacker."""
    with arena.connect() as victim, arena.connect() as attacker:
        with standstill(*arena.workers_of("relu")):
            asked, other = start(victim, 1, **options), start(attacker, MANY)
        _, meta = victim.finish_meta(asked)
        attacker.finish(other)
    return meta.get("joined", 1)


def test_many_rows_are_joined_with_no_deadline_before_it_is_known_how_long_they_take(arena):
    assert joined(arena, deadline_ms=harness.LONG_MS) == 1
    # Now that is known: by the victim's row, and by the others'.
    assert joined(arena, deadline_ms=harness.LONG_MS) == 2


def test_who_has_no_deadline_takes_all(arena):
    assert joined(arena) == 2

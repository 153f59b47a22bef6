"""Tensor memory that is given back can be had again, whatever the sizes of the slots were."""
import harness
import numpy as np
import pytest
from wire import INLINE, frame, tensor_ext

MIB = 1 << 20
MAX_MEMORY = 64 * MIB
SMALL, LARGE = 15 * MIB, 40 * MIB  # four small ones fill it; no two of them have room for a large


@pytest.fixture
def arena(own_arena):
    modules = {"results": harness.ZOO / "results.so"}
    return own_arena("--max-memory", str(MAX_MEMORY), modules=modules)


def expect_room(arena):
    """A large tensor goes to the worker and comes back."""
    large = np.arange(LARGE // 8, dtype="i8")
    assert np.array_equal(arena.victim().call("results:echo", large)[1], large)


def test_dropped_claims_leave_room(arena):
    body = [0, 1, "call", ["results:echo", tensor_ext(INLINE, "u1", (SMALL,))]]
    liars = [arena.connect() for _ in range(4)]
    for liar in liars:
        liar.send(frame(body, b"\0", payload_bytes=SMALL))
    for _ in range(3):
        arena.victim().ask("ping")
    for liar in liars:
        liar.socket.close()
    expect_room(arena)


def test_results_that_lay_together_leave_room(arena):
    """Nobody reads the four until all are there."""
    client, victim = arena.connect(), arena.victim()
    small = np.ones(SMALL, "u1")
    ids = [client.start("call", "results:echo", small) for _ in range(4)]
    harness.until(
        lambda: all(m["calls"] == 4 and m["queued"] == 0 for m in victim.ask("module.list")),
        "all are answered",
    )
    for id in ids:
        assert client.finish(id)[1].nbytes == SMALL
    expect_room(arena)


def test_sizes_that_change_leave_room(arena):
    with arena.victim() as client:
        for size in (1, 9, 3, 25, 14, 33, 2, 60, 5, 40, 17, 62, 1, 63):
            x = np.full(size * MIB, size, "u1")
            assert np.array_equal(client.call("results:echo", x)[1], x)
    expect_room(arena)

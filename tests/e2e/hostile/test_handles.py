"""Handles are memory of the supervisor's, too: the table, and what each stands for. They are in the
budget of their connection, and what a connection leaves of them in that of its peer.
"""
import harness
import msgpack
import pytest
from wire import Failure, Wire, frame

MIB = 1 << 20
MEMORY = {
    "--max-connection-memory": 16 * MIB,
    "--max-peer-memory": 12 * MIB,
    "--max-total-memory": 16 * MIB,
}
WORDS = [str(w) for pair in MEMORY.items() for w in pair]
MODULES = {"results": harness.ZOO / "results.so"}
BUDGET = MEMORY["--max-peer-memory"] + 4 * MIB  # and buffers that are read into
HANDLES = 65_000  # some 5 MiB
FUNCTION = 2


def take_handles(wire, n=HANDLES):
    """As many handles of one function as there are up to @n; returns their number."""
    taken, asked = 0, frame([0, 1, "function.get", ["results", "int"]]) * 1000
    for _ in range(n // 1000):
        wire.send(asked)
        taken += sum(wire.receive()[2] is None for _ in range(1000))
    return taken


def test_handles_stay_in_the_budget(own_arena):
    arena = own_arena(*WORDS, modules=MODULES)
    before = arena.state()
    with arena.growth(BUDGET):
        wires, taken = [], []
        for _ in range(10):
            wires.append(arena.connect())
            taken.append(take_handles(wires[-1]))
        assert taken[0] == HANDLES > taken[-1]
        with pytest.raises(Failure, match="BUSY.*--max-peer-memory.*free some"):
            wires[0].ask("function.get", "results", "int")
        assert arena.victim().ask("ping") is None
    arena.connections.close()
    arena.expect_as_before(before)


def test_who_has_no_room_for_a_handle_may_free_some(own_arena):
    arena = own_arena("--max-connection-memory", MIB, modules=MODULES)
    wire = arena.connect()
    taken = take_handles(wire)
    assert 0 < taken < HANDLES
    for first in range(0, taken // 2, 500):  # what they were counted in stays
        handles = (slot.to_bytes(4, "little") + b"\1\0\0\0" for slot in range(first, first + 500))
        asked = [frame([0, 1, "function.free", [msgpack.ExtType(FUNCTION, h)]]) for h in handles]
        wire.send(b"".join(asked))
        assert all(wire.receive()[2] is None for _ in asked)
    assert wire.ask("function.get", "results", "int")


def test_what_is_left_of_handles_stays_in_the_budget(own_arena):
    """Who has many goes, and comes again faster than they are dropped."""
    arena = own_arena(*WORDS, modules=MODULES)
    with arena.growth(BUDGET):
        for _ in range(10):
            with Wire(arena.host) as wire:
                assert take_handles(wire) > 0

"""Tensors without elements in every place; models_relax.py has those that models return."""
import harness
import msgpack
import numpy as np
import pytest
from wire import INLINE, Wire, out, shape_ext, tensor_ext

FLOAT32 = msgpack.ExtType(6, bytes([2, 32, 1, 0]))
ANYWHERE = 1 << 40  # an offset; the protocol says that it is not looked at


@pytest.fixture(scope="module")
def served(daemon, models):
    daemon.load("shapes", models / "shapes.so")
    daemon.load("results", harness.ZOO / "results.so")
    return daemon


@pytest.fixture
def wire(served):
    with Wire(served.host) as w:
        yield w


def far(*shape):
    return tensor_ext(INLINE, "f4", shape, ANYWHERE)


def test_an_argument_may_say_that_it_is_anywhere(wire):
    x = np.float32([1, 2, 3])
    assert wire.call("results:count", far(0, 2))[1] == 1
    assert wire.call("results:count", far(0, 2), x, far(3, 0))[1] == 3
    assert wire.call("results:count", far(0), x)[1] == 2


def test_outputs_come_back_in_every_place(wire):
    for order in ((0, 3), (3, 0), (0, 0), (0, 3, 0)):
        outs, n = wire.call("results:count", *[out("f4", d, 2) for d in order])
        assert [o.shape for o in outs] == [(d, 2) for d in order] and n == len(order)


def test_the_command_line_takes_and_writes_them(served, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((0,), "f4"))
    said = served.ok("call", "shapes:addone", f"@{tmp_path / 'x.npy'}", "out:float32[0]")
    assert said.out == "[]\n"
    words = ["out:float32[2]", "out:float32[0,2]"]
    names = [w for i in range(3) for w in ("-o", tmp_path / f"{i}.npy")]
    served.ok("call", "results:count", *words, *names)
    assert [np.load(tmp_path / f"{i}.npy").shape for i in range(3)] == [(2,), (0, 2), ()]


def test_a_resident_of_no_elements_is_like_any_other(wire):
    kept = wire.ask("tensor.alloc", "shapes", FLOAT32, shape_ext(0))
    assert wire.ask("tensor.copy", far(0), kept) is None
    assert wire.ask("tensor.fill", kept, 2.5) is None
    wire.call("shapes:addone", kept, kept)
    assert wire.ask("tensor.copy", kept, out("f4", 0)).shape == (0,)
    assert wire.ask("tensor.free", kept) is None

"""What an honest client asks for, and what it must get: a story is a generator of one or more
requests, (method, params), which is sent each answer and raises Wrong when it is another than
numpy's, bit for bit. An error ends its story; whether that may be is the checker's to say.
"""
import msgpack
import numpy as np
from wire import DTYPE, out, shape_ext

FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))
SIZES = (0, 1, 17, 1000, 4096, 60_000)


class Wrong(Exception):
    """An answer that is not what it must be."""


def expect_bits(found, want):
    """@found is an array of exactly the bytes of @want."""
    if not isinstance(found, np.ndarray) or found.shape != want.shape:
        raise Wrong(f"not an array of {want.shape}: {found!r:.80}")
    assert found.dtype == want.dtype, found.dtype
    if found.tobytes() != want.tobytes():
        n = int(np.count_nonzero(found.view("u4") != want.view("u4")))
        raise Wrong(f"{n} of {want.size} elements differ, the first is {found.flat[0]}")


def some(rng, n):
    return np.frombuffer(rng.randbytes(4 * n), "u4").astype("f4")


def ping(rng, module):
    value = yield "ping", ()
    if value is not None:
        raise Wrong(f"ping answered {value!r:.80}")


def add(rng, module):
    n = rng.choice(SIZES) if rng.random() < 0.98 else 1 << 20
    x = some(rng, n)
    outs, value = yield "call", (f"{module}:addone", x, out("f4", n))
    expect_bits(outs[0], x + np.float32(1))
    if value is not None or len(outs) != 1:
        raise Wrong(f"addone returned {value!r:.80}")


def multiply(rng, module):
    """Whole numbers, of which every order of additions makes the same sum."""
    m, k, n = (rng.randrange(1, 40) for _ in range(3))
    x, y = (np.array([rng.randrange(-9, 9) for _ in range(a * b)], "f4").reshape(a, b)
            for a, b in ((m, k), (k, n)))
    outs, _ = yield "call", (f"{module}:matmul", x, y, out("f4", m, n))
    expect_bits(outs[0], x @ y)


def keep(rng, module):
    """A tensor that stays at the server, and is its own client's alone."""
    n, number = rng.choice(SIZES), rng.randrange(1 << 20)
    kept = yield "tensor.alloc", (module, FLOAT32, shape_ext(n))
    yield "tensor.fill", (kept, number)
    outs, _ = yield "call", (f"{module}:addone", kept, out("f4", n))
    expect_bits(outs[0], np.full(n, number + 1, "f4"))
    there = yield "tensor.copy", (kept, out("f4", n))
    expect_bits(there, np.full(n, number, "f4"))
    yield "tensor.free", (kept,)


def get(rng, module):
    function = yield "function.get", (module, "addone")
    x = some(rng, 5)
    outs, _ = yield "call", (function, x, out("f4", 5))
    expect_bits(outs[0], x + np.float32(1))
    yield "function.free", (function,)


def look(rng, module):
    functions = yield "function.list", (module,)
    names = sorted(f["name"] for f in functions)
    if names != ["addone", "matmul", "rank0", "turn"]:
        raise Wrong(f"functions are {names}")


# With how often each is told; all are of the library shapes.so of the tests' models.
ALL = [ping] * 2 + [add] * 8 + [multiply] * 3 + [keep] * 2 + [get, look]

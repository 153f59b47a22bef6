"""A client of TVM's RPC sends bad packets: it gets an exception, and the session goes on."""
import struct

import pytest

from rpc_wire import CALL, COPY_FROM, EXCEPTION, GET_GLOBAL, RETURN, ask, function, seq, tensor, text
from test_rpc_session import raw, start  # noqa: F401

INIT, COPY_TO, FREE_HANDLE, SET_DEVICE, GET_ATTR, ALLOC, FREE_DATA, SYNC, COPY_AMONG, SCOPED = (
    2, 7, 10, 11, 12, 13, 14, 15, 16, 17)
CPU = struct.pack("<iii", 6, 1, 0)
TIB_16 = 1 << 44


def integer(n):
    return struct.pack("<iq", 1, n)


def pointer(n):
    return struct.pack("<iQ", 4, n)


def tensor_value(*args):
    return struct.pack("<i", 7) + tensor(*args)


def module(n):
    return struct.pack("<iQ", 73, n)


@pytest.fixture
def session(start):  # noqa: F811
    """A socket, and what it has: a function, an array, and a module."""
    s = raw(start)
    echo = function(s, b"testing.echo")
    code, answer = ask(s, ALLOC, seq(CPU, integer(64), integer(64)))
    assert code == RETURN
    (array,) = struct.unpack("<Q", answer[-8:])
    code, answer = ask(s, CALL, struct.pack("<Q", function(s, b"ffi.SystemLib")) + seq())
    assert code == RETURN
    (library,) = struct.unpack("<Q", answer[-8:])
    yield s, {"echo": echo, "array": array, "module": library}
    code, answer = ask(s, CALL, struct.pack("<Q", echo) + seq(text(b"still here")))
    assert code == RETURN and b"still here" in answer
    data = struct.pack("<Q", 64)
    assert ask(s, COPY_FROM, tensor(array, [64]) + data)[0] == 8, "the array is still there"
    s.close()


def expect_refused(s, code, body, why=b""):
    got, answer = ask(s, code, body)
    assert got == EXCEPTION, (code, body, got, answer)
    assert why in answer


def test_codes_that_a_client_does_not_send(session):
    for code in (-1, 0, 4, 5, 8, 22, 2**31 - 1):
        for body in (seq(), b""):
            expect_refused(session[0], code, body)


WITH_VALUES = [GET_GLOBAL, FREE_HANDLE, SET_DEVICE, GET_ATTR, ALLOC, FREE_DATA, SYNC, COPY_AMONG,
               SCOPED, 18, 19, 20, 21]
BAD_VALUES = [
    b"", b"\0", struct.pack("<i", -1), struct.pack("<i", 4097), struct.pack("<i", 1),
    seq(), seq(struct.pack("<i", 0)), seq(integer(1)), seq(integer(1), text(b"y")),
    seq(struct.pack("<i", 99)), seq(struct.pack("<iQ", 8, 2**64 - 1) + b"x"),
    seq(tensor_value(1, [1] * 33), tensor_value(1, [1] * 33)),
    seq(tensor_value(1, [-1]), tensor_value(1, [-1])),
    seq(tensor_value(1, [2**40, 2**40]), tensor_value(1, [2**40, 2**40])),
]


def test_values_that_a_question_does_not_have(session):
    for code in WITH_VALUES:
        for body in BAD_VALUES:
            expect_refused(session[0], code, body)


def test_memory_that_is_not_there(session):
    s, _ = session
    for n in (TIB_16, 2**62, 2**63 - 1, -1, -2**63):
        expect_refused(s, ALLOC, seq(CPU, integer(n), integer(64)), b"out of memory")
        if n > 0:
            expect_refused(s, SCOPED, seq(tensor_value(0, [n]), struct.pack("<i", 0)),
                           b"out of memory")


def test_handles_of_another_kind(session):
    s, has = session
    get = function(s, b"tvm.rpc.server.ModuleGetFunction")
    for wrong in (0, 1, 2**64 - 1, has["echo"] + (1 << 20), has["array"], has["module"]):
        expect_refused(s, CALL, struct.pack("<Q", wrong) + seq(text(b"x")), b"no function")
    for wrong in (0, has["echo"], has["module"], 2**64 - 1):
        expect_refused(s, FREE_DATA, seq(CPU, pointer(wrong)))
        expect_refused(s, COPY_FROM, tensor(wrong, [64]) + struct.pack("<Q", 64))
        expect_refused(s, COPY_TO, tensor(wrong, [64]) + struct.pack("<Q", 64) + bytes(64))
        expect_refused(s, COPY_AMONG, seq(tensor_value(wrong, [64]),
                                          tensor_value(has["array"], [64])))
        expect_refused(s, COPY_AMONG, seq(tensor_value(has["array"], [64]),
                                          tensor_value(wrong, [64])))
    for wrong in (has["array"], 0, 12345):
        expect_refused(s, FREE_HANDLE, seq(pointer(wrong)))
    for wrong in (has["array"], has["echo"], 0):
        expect_refused(s, CALL, struct.pack("<Q", get) + seq(module(wrong), text(b"x")))
    expect_refused(s, CALL, struct.pack("<Q", has["echo"]) + seq(pointer(has["array"])))
    expect_refused(s, CALL, struct.pack("<Q", has["echo"]) + seq(module(has["array"])))


def test_handles_that_are_freed_twice(session):
    s, _ = session
    for name in (b"testing.echo", b"tvm.contrib.random.uniform"):
        handle = function(s, name)
        assert ask(s, FREE_HANDLE, seq(pointer(handle)))[0] == RETURN
        expect_refused(s, FREE_HANDLE, seq(pointer(handle)))
        expect_refused(s, CALL, struct.pack("<Q", handle) + seq())
    code, answer = ask(s, ALLOC, seq(CPU, integer(8), integer(64)))
    (array,) = struct.unpack("<Q", answer[-8:])
    assert ask(s, FREE_DATA, seq(CPU, pointer(array)))[0] == RETURN
    expect_refused(s, FREE_DATA, seq(CPU, pointer(array)))
    expect_refused(s, COPY_FROM, tensor(array, [8]) + struct.pack("<Q", 8))


def test_copies_beyond_an_array(session):
    s, has = session
    for shape, offset, n in (([65], 0, 65), ([64], 1, 64), ([1], 2**64 - 1, 1), ([64], 0, TIB_16),
                             ([64], 0, 2**64 - 1), ([TIB_16], 0, TIB_16)):
        body = tensor(has["array"], shape, offset) + struct.pack("<Q", n)
        expect_refused(s, COPY_FROM, body)
        expect_refused(s, COPY_TO, body + bytes(min(n, 65)))
    for a, b in (([64], [65]), ([65], [65]), ([64], [32])):
        expect_refused(s, COPY_AMONG, seq(tensor_value(has["array"], a),
                                          tensor_value(has["array"], b)))


def test_another_version_or_constructor(session):
    for version, values in ((b"0.7.0", b""), (b"", b""), (b"0.8.0" * 100, b""),
                            (b"0.8.0", seq(text(b"rpc.Connect"))), (b"0.8.0", seq(integer(1))),
                            (b"0.8.0", seq(struct.pack("<i", 99)))):
        body = struct.pack("<Q", len(version)) + version + (values or struct.pack("<i", 0))
        expect_refused(session[0], INIT, body)
    for length in (2**64 - 1, 2**40, 6):  # longer than its packet
        expect_refused(session[0], INIT, struct.pack("<Q", length) + b"0.8.0")


def classic(*values):
    return struct.pack("<i", len(values)) + b"".join(
        struct.pack("<i", t) for t, _ in values) + b"".join(v for _, v in values)


def test_values_of_a_classic_client(start):  # noqa: F811
    s = raw(start)
    name = b"testing.echo"
    code, answer = ask(s, GET_GLOBAL, classic((11, struct.pack("<Q", len(name)) + name)))
    assert code == RETURN
    call = answer[-8:]
    for body in (struct.pack("<i", -1), struct.pack("<i", 4097), struct.pack("<i", 2**31 - 1),
                 classic((99, b"")), classic((11, struct.pack("<Q", 2**63))),
                 classic((0, b"short")), classic((0, bytes(8))) + b"left over",
                 classic((7, tensor(1, [1] * 33))), classic((7, tensor(1, [-1]))),
                 classic((7, tensor(1, [2**40, 2**40]))), classic((7, tensor(12345, [8]))),
                 classic((10, struct.pack("<Q", 12345))), classic((9, call))):
        expect_refused(s, CALL, call + body)
    code, answer = ask(s, CALL, call + classic((0, struct.pack("<q", 7))))
    assert (code, answer) == (RETURN, struct.pack("<iiiqq", 2, 0, 0, 0, 7))
    s.close()

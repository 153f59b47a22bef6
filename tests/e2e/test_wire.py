"""The protocol as proto/PROTOCOL.md has it, spoken by an independent client: what is right works,
what is wrong costs its own connection at most.
"""
import os
import socket
import struct
import time

import harness
import msgpack
import numpy as np
import pytest
from wire import (ALIGN, MAGIC, TENSOR, UPLOAD, Closed, Failure, Wire, frame, out, shape_ext,
                  tensor_ext)


@pytest.fixture(scope="module")
def served(daemon, models):
    with Wire(daemon.host) as wire:
        wire.load("shapes", (models / "shapes.so").read_bytes())
        wire.load("scalars", (models / "scalars.so").read_bytes())
        wire.load("faults", (harness.ZOO / "faults.so").read_bytes())
        wire.load("results", (harness.ZOO / "results.so").read_bytes())
    yield daemon
    with Wire(daemon.host) as wire:
        assert wire.ask("ping") is None


@pytest.fixture
def wire(served):
    with Wire(served.host) as w:
        yield w


def expect_refused(wire, name, *request, **options):
    with pytest.raises(Failure) as failure:
        wire.ask(*request, **options)
    assert failure.value.name == name
    return failure.value.message


def connections(wire):
    return wire.ask("server.info")["connections"]


def count(wire, module, what):
    return next(m[what] for m in wire.ask("module.list") if m["name"] == module)


def expect_closed(served, data):
    """Sending @data ends the connection, and no other one."""
    with Wire(served.host) as other, Wire(served.host) as wire:
        try:
            wire.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        with pytest.raises(Closed):
            while True:
                wire.receive()
        assert other.ask("ping") is None


def call_body(*params, id=1):
    return [0, id, "call", list(params)]


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00" + bytes(32),
        frame([0, 1, "ping", []], magic=b"\xedmd\x02"),
        frame(b"", body_bytes=0),
        frame([0, 1, "ping", []], body_bytes=(1 << 20) + 1),
        frame([0, 1, "ping", []], body_bytes=0xFFFFFFFF),
        frame([0, 1, "ping", []], payload_bytes=(4 << 30) + 1),
        frame([0, 1, "ping", []], payload_bytes=(1 << 64) - 1),
        frame(b"\xdd\xff\xff\xff\xff"),
        frame(b"\x94\x00\x01\xa4ping\xdd\xff\xff\xff\xff"),
        frame(b"\x91" * 40),
        frame([0, 1, "ping", []])[:-1] + b"\xc1",
        frame(msgpack.packb([0, 1, "ping", []]) + b"\x00"),
        frame([3, 1, "ping", []]),
        frame([0, -1, "ping", []]),
        frame([0, 1, 5, []]),
        frame([0, 1, "ping", {}]),
        frame([0, 1, "ping"]),
        frame([1, 1, None, None]),
        frame([2, "what", []]),
        frame([0, 1, "ping", [], {"a": 1}]).replace(b"\x81\xa1a\x01", b"\x82\xa1a\x01\xa1a\x01"),
        frame([0, 1, b"\xff\xfe".decode("latin1"), []]).replace("\xff".encode(), b"\xff\x41"),
        frame([0, 1, "ping", [msgpack.ExtType(99, b"12345678")]]),
        frame([0, 1, "ping", [msgpack.ExtType(UPLOAD, b"123")]]),
        frame([0, 1, "ping", [msgpack.ExtType(TENSOR, bytes(31))]]),
    ],
)
def test_what_is_no_frame_ends_its_connection_only(served, data):
    expect_closed(served, data)


def test_who_speaks_http_is_told_so_in_http(served):
    with Wire(served.host) as other, Wire(served.host) as wire:
        wire.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with wire.socket.makefile("rb") as answer:
            said = answer.read()
        assert said.startswith(b"HTTP/1.1 400 ") and b"modserd's own protocol" in said, said
        assert other.ask("ping") is None


def test_half_a_frame_and_then_nothing_harms_nobody(served):
    data = frame(call_body("shapes:addone", tensor_ext(0, "f4", (4,))), bytes(16))
    with Wire(served.host) as other:
        for cut in range(len(data)):
            with Wire(served.host) as wire:
                wire.send(data[:cut])
        assert other.ask("ping") is None


def test_a_frame_may_come_byte_by_byte(wire):
    x = np.arange(4, dtype="f4")
    data = frame(
        call_body("shapes:addone", tensor_ext(0, "f4", (4,)), out("f4", 4)), x.tobytes()
    )
    wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) if (
        wire.socket.family != socket.AF_UNIX
    ) else None
    for i in range(len(data)):
        wire.send(data[i : i + 1])
    outs, _ = wire.finish(1)
    assert outs[0].tolist() == [1, 2, 3, 4]


def test_hello_announces_the_limits(wire):
    hello = wire.ask("session.hello", {"client": "test", "protocol": 1})
    assert hello["protocol"] == 1 and hello["server"] == "modserd"
    assert hello["limits"]["max-upload-size"] > 0


def test_an_id_in_flight_twice_ends_the_connection(served):
    data = frame(call_body("faults:slow", 200, id=7))
    expect_closed(served, data + data)  # one piece: both are read before anything is answered


def test_an_id_may_be_used_again_after_its_answer(wire):
    for _ in range(3):
        assert wire.finish(wire.start("ping", id=5)) is None


def test_unknown_methods_and_options_are_named(wire):
    assert "no.such" in expect_refused(wire, "UNKNOWN_METHOD", "no.such")
    assert "shiny" in expect_refused(wire, "UNKNOWN_OPTION", "ping", shiny=1)
    expect_refused(wire, "REFUSED", "worker.open", {})


def test_stale_handles_are_errors(wire, models):
    upload = wire.ask("module.upload", "begin", 10)
    wire.ask("module.upload", "abort", upload)
    expect_refused(wire, "STALE_HANDLE", "module.upload", "write", upload, 0, np.zeros(10, "u1"))
    handle = wire.ask("function.get", "scalars", "weigh")
    assert wire.ask("call", handle, 1, 2) == [[], 5]
    wire.ask("function.free", handle)
    expect_refused(wire, "STALE_HANDLE", "call", handle, 1, 2)
    again = wire.ask("function.get", "scalars", "weigh")
    assert again != handle
    never = msgpack.ExtType(handle.code, struct.pack("<II", 4000, 1))
    expect_refused(wire, "STALE_HANDLE", "call", never, 1, 2)


def test_handles_of_one_connection_are_nothing_to_another(served, wire):
    handle = wire.ask("function.get", "scalars", "weigh")
    with Wire(served.host) as other:
        expect_refused(other, "STALE_HANDLE", "call", handle, 1, 2)


def test_a_function_handle_survives_its_worker(wire):
    handle = wire.ask("function.get", "faults", "ok")
    expect_refused(wire, "WORKER_LOST", "call", "faults:crash")
    assert wire.ask("call", handle, deadline_ms=harness.LONG_MS) == [[], None]


def test_resident_tensors_stay_with_their_module(wire):
    x = np.arange(5, dtype="f4")
    kept = wire.ask("tensor.alloc", "shapes", msgpack.ExtType(6, bytes([2, 32, 1, 0])), shape_ext(5))
    assert wire.ask("tensor.copy", x, kept) is None
    outs, _ = wire.call("shapes:addone", kept, out("f4", 5))
    assert outs[0].tolist() == [1, 2, 3, 4, 5]
    wire.call("shapes:addone", kept, kept)
    assert wire.ask("tensor.copy", kept, out("f4", 5)).tolist() == [1, 2, 3, 4, 5]
    message = expect_refused(wire, "BAD_ARGUMENT", "call", "scalars:half", kept)
    assert "shapes" in message and "scalars" in message
    wire.ask("tensor.free", kept)
    expect_refused(wire, "STALE_HANDLE", "call", "shapes:addone", kept, out("f4", 5))


def test_the_memory_of_freed_tensors_is_used_again(own_daemon, models):
    daemon = own_daemon("--max-memory", "32M")
    daemon.load("shapes", models / "shapes.so")
    u8 = msgpack.ExtType(6, bytes([1, 8, 1, 0]))
    for _ in range(3):  # by the client, and by the end of its connection
        with Wire(daemon.host) as wire:
            for _ in range(3):
                kept = wire.ask("tensor.alloc", "shapes", u8, shape_ext(6 << 20))
                assert wire.ask("tensor.free", kept) is None
            wire.ask("tensor.alloc", "shapes", u8, shape_ext(6 << 20))


def test_tensors_of_a_dead_worker_are_stale(served, wire):
    kept = wire.ask("tensor.alloc", "faults", msgpack.ExtType(6, bytes([2, 32, 1, 0])), shape_ext(5))
    expect_refused(wire, "WORKER_LOST", "call", "faults:crash")
    assert wire.ask("call", "faults:ok", deadline_ms=harness.LONG_MS) == [[], None]
    expect_refused(wire, "STALE_HANDLE", "tensor.copy", kept, out("f4", 5))


def tensor(where=0, dtype="f4", dims=(4,), **more):
    return tensor_ext(where, dtype, dims, **more)


@pytest.mark.parametrize(
    "ext, payload",
    [
        (tensor(), 15),  # one byte outside
        (tensor(offset=ALIGN), 16),
        (tensor(offset=2**63), 16),
        (tensor(where=1), 16),  # a segment, which clients have not
        (tensor(where=2, offset=99), 16),  # resident, unknown
        (tensor(dims=(2**40, 2**40), size=16), 16),
        (tensor(size=15), 16),
        (tensor(dims=(-4,), size=16), 16),
        (tensor(offset=4), 32),  # misaligned
        (tensor(where=7), 16),
        (tensor(code=3), 16),  # handles are no data
    ],
)
def test_a_wrong_tensor_is_an_error_or_the_end_of_the_connection(served, ext, payload):
    with Wire(served.host) as other, Wire(served.host) as wire:
        wire.send(frame(call_body("shapes:addone", ext, out("f4", 4)), bytes(payload)))
        with pytest.raises((Failure, Closed)) as end:
            wire.finish(1)
        if end.type is Failure:
            assert end.value.name in ("BAD_REQUEST", "BAD_ARGUMENT", "STALE_HANDLE", "TOO_LARGE")
            assert wire.ask("ping", id=2) is None
        assert other.ask("ping") is None


def test_an_out_larger_than_all_memory_is_refused(wire):
    message = expect_refused(wire, "NO_SPACE", "call", "shapes:addone", out("f4", 2**50), out("f4", 2**50))
    assert "max-memory" in message


def test_a_thousand_pipelined_calls_are_answered_in_order(wire):
    ids = [wire.start("call", "scalars:weigh", i, 1) for i in range(1000)]
    order = []
    while len(order) < 1000:
        body = wire.receive()
        assert body[2] is None and body[3] == [[], body[1] - ids[0] + 2]
        order.append(body[1])
    assert order == ids


def test_more_than_the_limit_in_flight_waits_and_is_not_refused(wire):
    """The client writes 3000 requests before it reads one answer."""
    data = b"".join(frame(call_body("scalars:weigh", 1, 1, id=i)) for i in range(3000))
    wire.socket.setblocking(False)
    sent = 0
    answers = bytearray()
    end = time.monotonic() + harness.PATIENCE
    while answers.count(MAGIC) < 3000:
        assert time.monotonic() < end
        try:
            sent += wire.socket.send(data[sent : sent + 65536]) if sent < len(data) else 0
        except BlockingIOError:
            pass
        try:
            answers += wire.socket.recv(1 << 16)
        except BlockingIOError:
            pass
    wire.socket.setblocking(True)


def test_requests_to_different_modules_overtake_each_other(wire):
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        fast = wire.start("call", "scalars:weigh", 1, 1)
        assert wire.receive()[1] == fast
        gate.open()
        assert wire.receive()[1] == held


def test_cancel_drops_what_is_queued(wire):
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        queued = [wire.start("call", "faults:slow", harness.FOREVER_MS) for _ in range(200)]
        for id in queued:
            wire.start("cancel", id)
        wire.ask("ping")  # the cancels have been read
        gate.open()
        for id in queued:
            with pytest.raises(Failure) as failure:
                wire.finish(id)
            assert failure.value.name == "CANCELLED"
        wire.finish(held)


def test_a_deadline_passes_in_the_queue(wire):
    # Anew, so that nobody knows how long its calls take: what must be late is refused as busy.
    wire.load("faults", (harness.ZOO / "faults.so").read_bytes(), replace=True)
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        expect_refused(wire, "DEADLINE_EXCEEDED", "call", "faults:ok", deadline_ms=50)
        gate.open()
        wire.finish(held)
    expect_refused(wire, "DEADLINE_EXCEEDED", "call", "faults:ok", deadline_ms=0)


def test_a_disconnect_drops_what_is_queued(served, wire):
    with harness.Gate() as gate:
        held = wire.start("call", "faults:gate", gate.path)
        gate.entered()
        with Wire(served.host) as other:
            for _ in range(500):
                other.start("call", "faults:slow", harness.FOREVER_MS)
            harness.until(lambda: count(wire, "faults", "in_flight") == 501, "all have been read")
        harness.until(lambda: connections(wire) == 1, "the disconnect was noticed")
        gate.open()
        assert wire.finish(held) == [[], None]
        assert wire.call("faults:ok") == ([], None)  # none of the 500 runs before it


def test_a_slow_reader_loses_its_connection_and_delays_nobody(own_daemon, models):
    daemon = own_daemon("--max-reply-buffer", "4M")
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        other.load("shapes", (models / "shapes.so").read_bytes())
        x = np.zeros(1 << 18, "f4")

        def is_done(n):
            """The n-th call has been worked on, or its connection has ended."""
            return connections(other) == 1 or count(other, "shapes", "calls") >= n

        for n in range(1, 201):  # 200 MiB of answers, none of them read
            try:
                wire.start("call", "shapes:addone", x, out("f4", 1 << 18))
            except (BrokenPipeError, ConnectionResetError):
                break
            harness.until(lambda: is_done(n), "the others are served")
        assert n < 20, "so many fit the limit and a socket"
        harness.until(lambda: connections(other) == 1, "the slow reader is disconnected")
        assert other.call("shapes:addone", np.zeros(1, "f4"), out("f4", 1))[0][0].tolist() == [1]
        assert harness.SANITIZED or other.ask("server.info")["rss_bytes"] < 64 << 20


def test_large_tensors_come_back_whole(wire):
    x = np.random.RandomState(0).randn(1 << 22).astype("f4")  # 16 MiB
    outs, _ = wire.call("shapes:addone", x, out("f4", 1 << 22))
    assert outs[0].tobytes() == (x + np.float32(1)).tobytes()


def test_bytes_that_no_tensor_names_are_dropped(wire):
    wire.send(frame([0, 1, "ping", []], bytes(100000)))
    assert wire.finish(1) is None
    wire.send(frame([0, 2, "no.such", []], bytes(100000)))
    with pytest.raises(Failure):
        wire.finish(2)
    assert wire.ask("ping", id=3) is None


def test_every_kind_of_result_crosses_the_wire(wire):
    assert wire.call("results:none")[1] is None
    assert wire.call("results:int")[1] == -42
    assert wire.call("results:bool")[1] is True
    assert wire.call("results:float")[1] == 2.5
    assert wire.call("results:small_str")[1] == "abc"
    assert wire.call("results:str")[1] == "a string of some length \u00e9"
    assert wire.call("results:bytes")[1] == b"\0\1\2\xff"
    assert wire.call("results:shape")[1] == shape_ext(2, 3, 4)
    assert wire.call("results:tensor")[1].tolist() == [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5]]
    seven, tensor, quarter = wire.call("results:tuple")[1]
    assert (seven, quarter) == (7, 0.25) and tensor.shape == (2, 3)


def test_tensors_are_aligned_for_compiled_code(wire):
    for n in (1, 3, 1000):
        assert wire.call("results:aligned", np.zeros(n, "u1"))[1] == 0
        assert wire.call("results:aligned", out("u1", n))[1] == 0


def test_descriptors_from_clients_are_closed(served):
    with Wire(served.host) as wire, open("/dev/null") as null:
        wire.ask("ping")
        before = harness.descriptors(served.pid).count("/dev/null")
        socket.send_fds(wire.socket, [frame([0, 7, "ping", []])], [null.fileno()] * 8)
        wire.finish(7)
        # They are closed beside the loop, perhaps after the answer.
        harness.until(
            lambda: harness.descriptors(served.pid).count("/dev/null") == before,
            "all that were passed are closed",
        )

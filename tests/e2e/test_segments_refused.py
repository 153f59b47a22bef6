"""What is no memory to be lent, who may lend none, and how much: each is refused with its reason, and
closed."""
import os
import tempfile

import harness
import lender
import numpy as np
import pytest
from lender import (
    SIZE, Segment, expect_nothing_lent, figures, held, memfd, pass_with, rights, tensor_at, with_access)
from wire import OUT, SEGMENT, Failure, Wire, frame, out

MIB = 1 << 20


@pytest.fixture(scope="module")
def served(daemon, models):
    daemon.load("shapes", models / "shapes.so")
    daemon.load("results", harness.ZOO / "results.so")
    return daemon


@pytest.fixture
def wire(served):
    with Wire(served.host) as w:
        yield w


def sealed(*seals):
    total = 0
    for seal in seals:
        total |= seal
    return lambda: memfd(4096, total)


def a_file(flags):
    def make():
        fd = os.open("/tmp", os.O_TMPFILE | os.O_RDWR)
        os.ftruncate(fd, 4096)
        return fd
    return make


def a_pipe():
    """One that has a name for as long as it takes: a daemon has pipes of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/pipe")
        return os.open(f"{folder}/pipe", os.O_RDWR)


def write_only():
    fd = memfd(4096)
    try:
        return with_access(fd, os.O_WRONLY)
    finally:
        os.close(fd)


BAD = [
    ("not a memfd", a_file(0), 4096, "not a memfd"),
    ("a pipe", a_pipe, 4096, "not a memfd"),
    ("unsealed", sealed(), 4096, "lacks the seal F_SEAL_SHRINK"),
    ("may grow", sealed(lender.SHRINK, lender.SEAL), 4096, "F_SEAL_GROW"),
    ("may shrink", sealed(lender.GROW, lender.SEAL), 4096, "F_SEAL_SHRINK"),
    ("may be sealed", sealed(lender.SHRINK, lender.GROW), 4096, "F_SEAL_SEAL"),
    ("empty", lambda: memfd(0), 0, "a segment of 0 bytes"),
    ("another size", sealed(SIZE), 8192, "4096 bytes, not the 8192"),
    ("write only", write_only, 4096, "cannot be read"),
    ("no size", sealed(SIZE), -1, "bytes"),
    ("a size that is none", sealed(SIZE), "x", "bytes"),
]


@pytest.mark.parametrize("make, n_bytes, said", [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_what_is_no_segment_is_told_why_and_closed(served, wire, make, n_bytes, said):
    fd = make()
    name = os.readlink(f"/proc/self/fd/{fd}")
    before = held(served.pid, name)
    with pytest.raises(Failure, match=f"BAD_REQUEST: segment.add.*{said}" if said != "bytes"
                       else "BAD_REQUEST.*bytes"):
        lender.add(wire, fd, n_bytes)
    os.close(fd)
    harness.until(lambda: held(served.pid, name) == before, "it is closed")
    wire.socket.close()
    expect_nothing_lent(served)


def test_a_request_without_a_descriptor_or_with_one_too_many(served, wire):
    with pytest.raises(Failure, match="BAD_REQUEST.*no descriptor came"):
        wire.ask("segment.add", 4096)
    fds = [memfd(4096), memfd(4096), memfd(4096)]
    expect_nothing_lent(served)
    number = wire.finish(pass_with(wire, fds, "segment.add", 4096))
    assert number == 1 and figures(served) == (1, 4096)
    assert wire.finish(pass_with(wire, fds, "ping")) is None  # nobody takes these
    assert figures(served) == (1, 4096)
    harness.until(lambda: held(served.pid) == 1, "one was taken")
    for fd in fds:
        os.close(fd)


def test_a_frame_that_is_not_whole_holds_four_at_most(served, wire):
    body = frame([0, next(wire.ids), "ping", []])
    fds = [memfd(4096) for _ in range(3)]
    for i in range(8):  # a byte each, and three descriptors with it
        wire.socket.sendmsg([body[i : i + 1]], [rights(fds)])
    with Wire(served.host) as other:  # its turn came after those bytes
        other.ask("ping")
        harness.until(lambda: held(served.pid) == 4, "all others are closed")
    wire.send(body[8:])
    wire.receive()
    harness.until(lambda: held(served.pid) == 0, "nobody took one")
    for fd in fds:
        os.close(fd)


def test_the_same_memfd_twice_and_one_too_many(served, wire):
    fds = [memfd(4096) for _ in range(17)]
    assert [lender.add(wire, fd, 4096) for fd in fds[:16]] == list(range(1, 17))
    with pytest.raises(Failure, match="BAD_REQUEST.*16 segments, the maximum"):
        lender.add(wire, fds[16], 4096)
    wire.ask("segment.remove", 5)
    with pytest.raises(Failure, match="BAD_REQUEST.*segment 3 already"):
        lender.add(wire, fds[2], 4096)
    assert lender.add(wire, fds[16], 4096) == 5
    with Wire(served.host) as other:  # another's is another's
        assert lender.add(other, fds[2], 4096) == 1
    for fd in fds:
        os.close(fd)


def test_places_that_are_none_are_named(wire):
    with Segment(wire, MIB) as seg:
        n = seg.number
        for ext, said in (
            (tensor_at(SEGMENT, n, MIB, "f4", (1,), 4), "not inside segment"),
            (tensor_at(SEGMENT, n, MIB - 128, "f4", (64,), 256), "not inside segment"),
            (tensor_at(SEGMENT, n, 2**64 - 128, "f4", (64,), 256), "not inside segment"),
            (tensor_at(SEGMENT, n, 4, "f4", (1,), 4), "not a multiple of 128"),
            (tensor_at(OUT, n, 64, "f4", (1,), 4), "not a multiple of 128"),
            (tensor_at(SEGMENT, n + 1, 0, "f4", (1,), 4), "has no segment"),
            (tensor_at(SEGMENT, 0, 0, "f4", (1,), 4), "has no segment 0"),
            (tensor_at(OUT, 1024, 0, "f4", (1,), 4), "has no segment 1024"),
            (tensor_at(SEGMENT, 65535, 0, "f4", (1,), 4), "has no segment 65535"),
            (tensor_at(SEGMENT, n, 0, "f4", (2,), 4), "its shape and type make"),
        ):
            with pytest.raises(Failure, match=f"BAD_REQUEST.*{said}"):
                wire.call("results:count", ext)
        one, other = (tensor_at(OUT, n, at, "f4", (64,), 256) for at in (0, 128))
        with pytest.raises(Failure, match="BAD_REQUEST.*0 and 128 of segment 1 overlap"):
            wire.call("results:count", other, one)
        far = tensor_at(OUT, n, 256, "f4", (64,), 256)
        assert wire.call("results:count", far, one)[1] == 2
        end = tensor_at(OUT, n, MIB, "f4", (0,), 0)
        assert wire.call("results:count", end, end)[1] == 2, "no bytes are nowhere"


def test_another_connection_reaches_none(wire, served):
    with Segment(wire, MIB) as seg, Wire(served.host) as other:
        with pytest.raises(Failure, match="BAD_REQUEST.*has no segment"):
            other.call("shapes:addone", seg.keep(np.zeros(4, "f4")), out("f4", 4))


def test_over_tcp_none_can_be_lent(served):
    with harness.Daemon(listen=["tcp://127.0.0.1:0"]) as daemon, Wire(daemon.host) as wire:
        with pytest.raises(Failure, match="REFUSED.*unix socket"):
            wire.ask("segment.add", 4096)


def test_bytes_are_bounded_for_a_peer_and_for_all():
    for peers, total, said in (("1M", "8M", "BAD_REQUEST.*--max-peer-segment-memory"),
                               ("8M", "1M", "BUSY.*--max-segment-memory")):
        words = ("--max-peer-segment-memory", peers, "--max-segment-memory", total)
        with harness.Daemon(*words) as daemon, Wire(daemon.host) as wire:
            with Segment(wire, MIB // 2) as seg, Segment(wire, MIB // 2):
                with pytest.raises(Failure, match=said):
                    Segment(wire, 4096)
                wire.ask("segment.remove", seg.number)
                with Segment(wire, 4096):
                    assert figures(daemon) == (2, MIB // 2 + 4096)


def test_a_peer_has_half_of_all_numbers(served):
    expect_nothing_lent(served)
    wires = [Wire(served.host) for _ in range(33)]
    n = 0
    for w in wires[:32]:
        for _ in range(16):
            fd = memfd(4096)
            lender.add(w, fd, 4096)
            os.close(fd)
            n += 1
    with pytest.raises(Failure, match="BUSY.*512 segments"):
        lender.add(wires[32], (fd := memfd(4096)), 4096)
    os.close(fd)
    assert figures(served) == (n, n * 4096) == (512, 512 * 4096)
    for w in wires:
        w.socket.close()
    expect_nothing_lent(served)

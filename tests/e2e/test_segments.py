"""Memory that a client lends: its tensors are used and filled where they lie."""
import fcntl
import os

import harness
import lender
import msgpack
import numpy as np
import pytest
from lender import Segment, expect_nothing_lent, figures, held, maps, memfd, tensor_at
from wire import OUT, SEGMENT, Failure, Wire, out, shape_ext

MODELS = harness.MODELS
MIB = 1 << 20


@pytest.fixture(scope="module")
def served(daemon, cases, models):
    for name in sorted({c["library"] for c in cases}):
        daemon.load(name, models / f"{name}.so")
    daemon.load("results", harness.ZOO / "results.so")
    daemon.load("faults", harness.ZOO / "faults.so")
    return daemon


@pytest.fixture
def wire(served):
    with Wire(served.host) as w:
        yield w


def test_an_argument_is_used_and_an_output_filled_where_they_lie(wire):
    with Segment(wire, MIB) as seg:
        x = np.arange(1000, dtype="f4")
        place, y = seg.out("f4", 1000)
        outs, value = wire.call("shapes:addone", seg.keep(x), place)
        assert value is None
        assert lender.told_place(outs[0]) == (SEGMENT, seg.number, 0, np.dtype("f4"), (1000,))
        assert np.array_equal(y, x + 1)


def stored(models, name):
    return np.load(models / name)


def plain_cases(cases):
    """Those whose arrays numpy has itself, without a shape beside them."""
    def is_plain(case):
        kinds = [next(iter(a)) for a in case["args"]]
        arrays = [x for x in (*case["args"], *case["want"]) if "array" in x]
        return ({"array", "out"} >= set(kinds) and not any(a["foreign"] for a in arrays)
                and all("array" in w for w in case["want"]))
    return [c for c in cases if is_plain(c)]


def lend_all(seg, case, wanted, models):
    """(arguments in @seg, what is filled there, the same arguments as they are sent else); for
    a function that returns its outputs itself with places for them."""
    args, filled, plain = [], [], []
    outs = [(a["out"], a["dims"]) for a in case["args"] if "out" in a]
    for arg in case["args"]:
        if "array" in arg:
            plain.append(stored(models, arg["array"]))
            args.append(seg.keep(plain[-1]))
        else:
            plain.append(out(arg["out"], *arg["dims"]))
    for dtype, dims in outs or [(w.dtype, w.shape) for w in wanted]:
        place, array = seg.out(dtype, *dims)
        args.append(place)
        filled.append(array)
    return args, filled, plain


def is_given_back(case):
    return not any("out" in a for a in case["args"])


def test_real_models_give_the_same_bits_in_a_segment_and_without(wire, cases, models):
    chosen = plain_cases(cases)
    for case in chosen:
        target = f"{case['library']}:{case['function']}"
        wanted = [stored(models, w["array"]) for w in case["want"]]
        with Segment(wire, 16 * MIB) as seg:
            args, filled, plain = lend_all(seg, case, wanted, models)
            outs, value = wire.call(target, *args)
            assert [lender.told_place(t)[0] for t in outs or flat([value])] == (
                [SEGMENT] * len(wanted))
            without, returned = wire.call(target, *plain)
            for got, other, want in zip(filled, without or flat([returned]), wanted, strict=True):
                assert got.tobytes() == other.tobytes(), target
                assert got.shape == other.shape == want.shape, target
            wire.ask("segment.remove", seg.number)
    assert len(chosen) >= 30 and sum(map(is_given_back, chosen)) >= 5


def flat(values):
    return [x for v in values for x in (flat(v) if isinstance(v, list) else [v])]


def test_what_is_returned_goes_to_its_place_or_is_told_to_fit_none(wire, cases, models):
    case = next(c for c in cases if c["library"] == "mlp")
    x, want = (stored(models, v["array"]) for v in (case["args"][0], case["want"][0]))
    with Segment(wire, MIB) as seg:
        place, y = seg.out(want.dtype, *want.shape)
        _, value = wire.call("mlp:main", x, place)
        assert lender.told_place(value)[:2] == (SEGMENT, seg.number)
        assert np.array_equal(y, wire.call("mlp:main", x)[1])
        small, _ = seg.out("f4", 1)
        with pytest.raises(Failure, match="BAD_ARGUMENT.*but the out tensor has"):
            wire.call("mlp:main", x, small)
        with pytest.raises(Failure, match="BAD_ARGUMENT.*fewer tensors"):
            wire.call("mlp:main", x, place, small)
        with pytest.raises(Failure, match="BAD_ARGUMENT.*come last"):
            wire.call("mlp:main", place, x)


def test_nothing_is_copied_but_integers_that_may_be_indexes(served, wire):
    """What a client writes while the call runs is seen, or is not."""
    for dtype, is_seen in (("f4", True), ("u1", True), ("i4", False), ("i8", False)):
        with harness.Gate() as gate, Segment(wire, MIB) as seg:
            x, (place, y) = np.arange(64, dtype=dtype), seg.out(dtype, 64)
            kept = seg.keep(x)
            id = wire.start("call", "faults:late", gate.path, kept, place, x.nbytes)
            gate.entered()
            seg.array(seg.at - (x.nbytes + 127) // 128 * 128, dtype, 64)[...] = 7
            gate.open()
            wire.finish(id)
            assert np.array_equal(y, np.full(64, 7, dtype) if is_seen else x), dtype


def test_an_argument_in_a_segment_may_be_what_is_filled(wire):
    with Segment(wire, MIB) as seg:
        kept = seg.keep(np.zeros(16, "f4"))
        assert wire.call("faults:scribble", kept, 64) == ([], None)
        assert bytes(seg.map[:65]) == b"\x55" * 64 + b"\0"


def test_copies_go_to_residents_and_back(wire):
    with Segment(wire, MIB) as seg:
        x = np.arange(9, dtype="i8")
        kept = wire.ask("tensor.alloc", "shapes", dtype_ext(0, 64), shape_ext(9))
        assert wire.ask("tensor.copy", seg.keep(x), kept) is None
        place, y = seg.out("i8", 9)
        told = wire.ask("tensor.copy", kept, place)
        assert lender.told_place(told)[:3] == (SEGMENT, seg.number, 128)
        assert np.array_equal(y, x)
        wire.ask("tensor.free", kept)


def dtype_ext(code, bits):
    return msgpack.ExtType(6, bytes([code, bits, 1, 0]))


def test_one_that_cannot_be_written_is_read_and_harms_nobody(served, wire):
    fd = memfd(4096, 0)
    os.write(fd, np.arange(64, dtype="f4").tobytes())
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, lender.SIZE | lender.WRITE)
    number = lender.add(wire, fd, 4096)
    x = tensor_at(SEGMENT, number, 0, "f4", (64,), 256)
    workers = served.workers()
    outs, _ = wire.call("shapes:addone", x, out("f4", 64))
    assert np.array_equal(outs[0], np.arange(64, dtype="f4") + 1)
    wire.call("faults:scribble", x, 256)
    assert served.workers() == workers, "no worker died of it"
    assert os.pread(fd, 256, 0) == np.arange(64, dtype="f4").tobytes()
    with pytest.raises(Failure, match="BAD_REQUEST.*is read-only"):
        wire.call("shapes:addone", x, tensor_at(OUT, number, 0, "f4", (64,), 256))
    os.close(fd)


def test_a_removed_one_serves_what_named_it_before(served, wire):
    expect_nothing_lent(served)
    with harness.Gate() as gate, Segment(wire, MIB) as seg:
        x, (place, y) = np.arange(64, dtype="f4"), seg.out("f4", 64)
        id = wire.start("call", "faults:late", gate.path, seg.keep(x), place, 256)
        gate.entered()
        wire.ask("segment.remove", seg.number)
        with pytest.raises(Failure, match="has no segment 1"):
            wire.ask("segment.remove", seg.number)
        with pytest.raises(Failure, match="has no segment 1"):
            wire.call("shapes:addone", place, place)
        with Segment(wire, 4096) as again:
            assert again.number == seg.number and figures(served)[0] == 2
            gate.open()
            outs, _ = wire.finish(id)
            assert lender.told_place(outs[0])[:2] == (SEGMENT, 1) and np.array_equal(y, x)
            assert figures(served) == (1, 4096)


def test_a_worker_is_given_what_its_calls_name_once_and_no_more(served, wire):
    expect_nothing_lent(served)
    describe = {m: wire.ask("module.describe", m)["pids"][0] for m in ("shapes", "results")}
    with Segment(wire, MIB) as seg:
        x, (place, _) = seg.keep(np.zeros(64, "f4")), seg.out("f4", 64)
        for _ in range(3):
            wire.call("shapes:addone", x, place)
        assert maps(describe["shapes"]).count("memfd:lent") == 1
        assert "memfd:lent" not in maps(describe["results"])
        assert "memfd:lent" not in maps(served.pid), "the supervisor maps none"
        assert held(served.pid) == 1


@pytest.mark.parametrize("who", ["client", "worker"])
def test_a_death_leaves_nothing_lent(served, who):
    expect_nothing_lent(served)
    with harness.Gate() as gate, Wire(served.host) as wire, Segment(wire, MIB) as seg:
        x, (place, y) = np.arange(64, dtype="f4"), seg.out("f4", 64)
        args = seg.keep(x), place, 256
        id = wire.start("call", "faults:late", gate.path, *args)
        gate.entered()
        if who == "worker":
            os.kill(wire.ask("module.describe", "faults")["pids"][0], 9)
            with pytest.raises(Failure, match="WORKER_LOST"):
                wire.finish(id)
            gate.open()
            again = wire.start("call", "faults:late", gate.path, *args,
                               deadline_ms=harness.LONG_MS)
            gate.entered()
            gate.open()
            wire.finish(again)  # the next worker is given it, too
            assert np.array_equal(y, x)
        wire.socket.close()
        if who == "client":
            harness.until(lambda: figures(served)[0] == 1, "what runs keeps it")
            gate.open()
    expect_nothing_lent(served)


def test_at_the_end_nothing_is_left(served):
    expect_nothing_lent(served)


def test_libmodser_sends_none_of_what_lies_in_a_segment(served):
    said = harness.run(harness.BIN / "lend_client", served.host)
    assert said.status == 0, said
    assert int(said.out) < 8192, "four MiB of tensors have not travelled"


ROUNDS = 200


def begin_one(daemon, gate):
    """A call that runs, in a segment of its own; its connection."""
    wire = Wire(daemon.host)
    seg = Segment(wire, 64 * 1024)
    place, _ = seg.out("f4", 64)
    wire.start("call", "m:late", gate.path, seg.keep(np.zeros(64, "f4")), place, 256)
    seg.close()
    return wire


def end_worker(wire):
    for pid in wire.ask("module.describe", "m")["pids"]:
        os.kill(pid, 9)
    with pytest.raises(Failure, match="WORKER_LOST"):
        wire.finish(2)


def test_after_two_hundred_deaths_nothing_is_lent_mapped_or_open():
    """Each round a client or the worker is gone in the middle of a call."""
    with harness.Daemon() as daemon, Wire(daemon.host) as other:
        for n in range(ROUNDS):
            if n % 2 == 0:  # a new edition: the last one's worker has died, and would rest
                other.load("m", (harness.ZOO / "faults.so").read_bytes(), replace=True)
            with harness.Gate() as gate, begin_one(daemon, gate) as wire:
                gate.entered()
                if n % 2:
                    end_worker(wire)
        expect_nothing_lent(daemon)

"""Channels of clients' own to a module's worker: the same answers as through the daemon, and no
more than the daemon gave."""
import contextlib
import hashlib
import itertools
import pathlib
import re

import direct
import harness
import msgpack
import numpy as np
import pytest
import rights
from lender import tensor_at
from wire import INLINE, OUT, SEGMENT, DTYPE, Failure, Wire, frame, out, shape_ext

ROUNDS = 20
KEPT_BYTES, SLACK_BYTES = 4 << 20, 1 << 20  # MSD_GUEST_KEPT_BYTES, and what else is shared
PAYLOAD = 64 << 10
SENT, HELD = 300, 150  # calls with a payload, and such that last
MOST = 8  # channels of one worker that one user may have: half of them
FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))


@pytest.fixture(scope="module")
def daemon():
    words = [w for name in ("results", "faults", "calls") for w in
             ("--load", f"{name}={harness.ZOO / name}.so")]
    with direct.Daemon(*words) as daemon:
        yield daemon


@pytest.fixture
def wire(daemon):
    with Wire(daemon.host) as wire:
        for name in ("results", "faults", "calls"):
            wire.ask("module.wait", name)
        yield wire


def is_given_up(wire, name, pids):
    """Its name is of other workers by now, or those are to end."""
    now = direct.facts(wire, name)
    return now["state"] == "DRAINING" or now["pids"] != pids


def said(wire, function, *args, **options):
    """What a call is answered, whatever that is."""
    try:
        outs, value = wire.call(function, *args, **options)
    except Failure as e:
        return e.name, e.message
    return [(a.dtype, a.shape, a.tobytes()) for a in outs], repr(value)


def test_calls_are_answered_by_the_worker_itself(daemon, wire):
    with direct.direct(daemon, "calls") as channel:
        x = np.arange(1000, dtype="f4")
        (y,), value = channel.call("calls:addone", x, out("f4", 1000))
        assert value is None and np.array_equal(y, x + 1)
        (y,), _ = channel.call("calls:addone", x[:3], out("f4", 3))
        assert np.array_equal(y, x[:3] + 1)


def test_all_answers_are_those_of_the_daemon(daemon, wire):
    x = np.arange(6, dtype="f4").reshape(2, 3)
    with direct.direct(daemon, "results") as channel:
        names = {f["name"] for f in wire.ask("function.list", "results")}
        for name in sorted(names - {"aligned"}):  # which dies of what is no tensor
            target = f"results:{name}"
            for args in ((), (1,), ("text",), (x,), (x, out("f4", 2, 3)), ([1, [2.5, None]],)):
                for _ in range(3):  # from the third on it is known from before
                    one, other = said(channel, target, *args), said(wire, target, *args)
                    if name == "alien":  # an object: the channel says what to do
                        one, other = one[0], other[0]
                    assert one == other, target


def test_a_pipeline_is_answered_in_order(daemon):
    with direct.direct(daemon, "results") as channel:
        ids = [channel.start("call", "results:int") for _ in range(2000)]
        assert [channel.receive()[1] for _ in ids] == ids


def test_all_of_a_burst_is_answered_though_nothing_comes_behind_it(daemon):
    with direct.direct(daemon, "results") as channel:
        for n in (1, 65, 128, 255, 256, 257, 3000):
            ids = [next(channel.ids) for _ in range(n)]
            channel.send(b"".join(frame([0, id, "call", ["results:int"]]) for id in ids))
            assert [channel.receive()[1] for _ in ids] == ids


def test_what_clients_are_told_of_calls_is_true(daemon, wire):
    before = direct.facts(wire, "results")
    with direct.direct(daemon, "results") as channel:
        for _ in range(10):
            channel.call("results:int")
        with pytest.raises(Failure, match="NOT_FOUND"):
            channel.call("results:nothing")
        with pytest.raises(Failure, match="UNSUPPORTED"):
            channel.call("results:alien")
        after = direct.facts(wire, "results")
        text = wire.ask("server.metrics")
    assert after["calls"] - before["calls"] == 12 and after["errors"] - before["errors"] == 1
    assert after["p50_ns"] is not None
    assert 'modserd_calls_total{module="results",function="int",code="OK"}' in text


def test_nothing_but_calls_is_taken(daemon, wire):
    with direct.direct(daemon, "results") as channel:
        api = harness.run(harness.BIN / "modserd", "--api").out.splitlines()
        for method in (row.split("\t")[0] for row in api):
            if method == "call":
                continue
            with pytest.raises(Failure) as e:
                channel.ask(method)
            assert e.value.name == "REFUSED", method
        for option in ({"trace": True}, {"device": "cpu"}, {"instance": 1}, {"nothing": 1}):
            with pytest.raises(Failure) as e:
                channel.call("results:int", **option)
            assert e.value.name == "UNSUPPORTED"
        channel.call("results:int", deadline_ms=harness.LONG_MS)


def test_a_deadline_that_has_passed_is_told(daemon):
    with direct.direct(daemon, "results") as channel:
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED"):
            channel.call("results:int", deadline_ms=0)


def test_what_waits_can_be_cancelled(daemon):
    with harness.Gate() as gate, direct.direct(daemon, "faults") as channel:
        held = channel.start("call", "faults:gate", gate.path)
        gate.entered()
        behind = channel.start("call", "faults:ok")
        channel.send(frame([2, "cancel", [behind]]))
        gate.open()
        channel.finish(held)
        with pytest.raises(Failure, match="CANCELLED"):
            channel.finish(behind)


@pytest.mark.parametrize("body", ([2, "worker.release", [0, 0]], [2, "worker.peer", [1]],
                                  [2, "worker.segment", ["in", 0, 0]], [1, 7, None, None],
                                  [2, "chunk", []], [0]))
def test_who_breaks_the_rules_is_told_and_closed(daemon, wire, body):
    with direct.direct(daemon, "results") as channel, direct.direct(daemon, "results") as other:
        channel.send(frame(body))
        assert direct.farewell(channel)[1] == "PROTOCOL"
        other.call("results:int")
    assert direct.facts(wire, "results")["restarts"] == 0


def test_more_bytes_than_were_given_end_the_channel(daemon, wire):
    socket, terms = direct.open_with(wire, "calls")
    with Wire(socket) as channel:
        channel.send(frame([0, 1, "call", []], payload_bytes=terms["bytes"] + 1))
        assert direct.farewell(channel)[1] == "TOO_LARGE"


def test_an_overlong_body_ends_the_channel(daemon, wire):
    with direct.open_direct(wire, "calls") as channel:
        channel.send(frame(b"", body_bytes=(64 << 10) + 1))
        assert direct.farewell(channel)[1] == "TOO_LARGE"


def test_a_client_that_reads_nothing_holds_up_itself_alone(daemon):
    with direct.direct(daemon, "calls") as slow, direct.direct(daemon, "calls") as other:
        x = np.zeros(1 << 18, "f4")
        slow.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            for _ in itertools.count():
                slow.start("call", "calls:addone", x, out("f4", 1 << 18))
        for _ in range(ROUNDS):
            other.call("calls:addone", x[:4], out("f4", 4))


def shared_memory(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"^RssShmem:\s+(\d+) kB", text, re.M)[1]) << 10


def send_what_fits(wire, data):
    """The rest of @data, when the socket is full of it."""
    sent = 0
    wire.socket.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while sent < len(data):
            sent += wire.socket.send(data[sent:])
    wire.socket.settimeout(harness.PATIENCE)
    return data[sent:]


def test_a_worker_keeps_little_of_what_payloads_took(daemon, wire):
    """Between another's calls, each of which lasts until the socket is full again, more come than
    are run, up to what may wait."""
    (pid,) = direct.facts(wire, "faults")["pids"]
    rest = b"".join(frame([0, id, "call", ["faults:ok"]], bytes(PAYLOAD)) for id in range(SENT))
    with direct.direct(daemon, "faults") as channel, direct.direct(daemon, "faults") as other, \
            harness.Gate() as even, harness.Gate() as odd:
        before, most = shared_memory(pid), 0
        gates = [(even, odd)[i % 2] for i in range(HELD)]
        held = [next(other.ids) for _ in gates]
        other.send(b"".join(frame([0, id, "call", ["faults:gate", gate.path]])
                            for id, gate in zip(held, gates)))
        for gate in gates:
            gate.entered()
            most = max(most, shared_memory(pid) - before)
            rest = send_what_fits(channel, rest)
            gate.open()
        channel.send(rest)
        for _ in range(SENT):
            channel.receive()
        for id in held:
            other.finish(id)
        assert most > 2 * KEPT_BYTES, "many wait"
        assert shared_memory(pid) - before <= KEPT_BYTES + SLACK_BYTES


def test_peers_take_turns(daemon):
    with harness.Gate() as gate, direct.direct(daemon, "faults") as greedy, \
            direct.direct(daemon, "faults") as other, Wire(daemon.host) as wire:
        held = greedy.start("call", "faults:gate", gate.path)
        gate.entered()
        many = [next(greedy.ids) for _ in range(100)]
        greedy.send(b"".join(frame([0, id, "call", ["faults:slow", 5]]) for id in many))
        one = other.start("call", "faults:ok")
        through = wire.start("call", "faults:ok")
        gate.open()
        other.finish(one)
        wire.finish(through)
        greedy.socket.setblocking(False)
        came = []
        with pytest.raises(BlockingIOError):
            while True:
                came.append(greedy.receive()[1])
        assert held in came and many[-1] not in came, "many of its calls wait yet"


def test_nobody_reaches_what_another_has(daemon, wire):
    """Places in segments, resident tensors and instances of others are none of a channel's."""
    there = wire.ask("tensor.alloc", "calls", FLOAT32, shape_ext(4))
    with direct.open_direct(wire, "calls") as channel:
        with pytest.raises(Failure, match="STALE_HANDLE"):
            channel.call("calls:addone", there, out("f4", 4))
        for number in (0, 1, 1024):
            place = tensor_at(SEGMENT, number, 0, "f4", (4,), 16)
            with pytest.raises(Failure):
                channel.call("calls:addone", place, out("f4", 4))
            with pytest.raises(Failure):
                channel.call("calls:addone", np.zeros(4, "f4"),
                             tensor_at(OUT, 1024, 128, "f4", (4,), 16))
        outside = tensor_at(INLINE, 0, 1 << 20, "f4", (4,), 16)
        with pytest.raises(Failure, match="not inside the payload"):
            channel.call("calls:addone", outside, out("f4", 4))
    wire.ask("tensor.free", there)


def test_a_worker_has_so_many(daemon, wire):
    with contextlib.ExitStack() as all_of_them:
        channels = [all_of_them.enter_context(direct.open_direct(wire, "results"))
                    for _ in range(MOST)]
        with pytest.raises(Failure, match="BUSY"):
            direct.open_with(wire, "results")
        for channel in channels:
            channel.call("results:int")
        channels[3].socket.close()
        with direct.open_direct(wire, "results") as channel:
            channel.call("results:int")


def test_it_ends_with_the_connection_that_it_was_given_to(daemon):
    with Wire(daemon.host) as wire:
        channel = direct.open_direct(wire, "results")
        channel.call("results:int")
    assert direct.farewell(channel)[1] == "DRAINING"


def test_over_tcp_none_is_given():
    with direct.Daemon("--load", f"results={harness.ZOO / 'results.so'}",
                        listen=["tcp://127.0.0.1:0"]) as daemon:
        with Wire(daemon.host) as wire, pytest.raises(Failure, match="REFUSED"):
            wire.ask("channel.open", "results")


def test_while_somebody_watches_calls_none_is_given_and_all_are_taken_back():
    with direct.Daemon("--load", f"results={harness.ZOO / 'results.so'}") as daemon, \
            Wire(daemon.host) as wire:
        channel = direct.open_direct(wire, "results")
        ids = [channel.start("call", "results:int") for _ in range(100)]
        wire.ask("server.monitor")
        assert direct.farewell(channel)[1] == "DRAINING"
        assert list(channel.answers) == ids, "all had been sent before"
        assert direct.facts(wire, "results")["calls"] == len(ids)
        with pytest.raises(BrokenPipeError):
            channel.start("call", "results:int")
        with pytest.raises(Failure, match="BUSY.*monitors"):
            direct.open_direct(wire, "results")


def test_unload_and_replace_wait_for_its_calls():
    with direct.Daemon("--load", f"faults={harness.ZOO / 'faults.so'}") as daemon, \
            Wire(daemon.host) as wire, Wire(daemon.host) as other:
        for end in (lambda: other.start("module.load", "faults", other.upload(
                (harness.ZOO / "faults.so").read_bytes()), {"replace": True}),
                    lambda: other.start("module.unload", "faults")):
            with harness.Gate() as gate:
                channel = direct.open_direct(wire, "faults")
                pids = direct.facts(wire, "faults")["pids"]
                held = channel.start("call", "faults:gate", gate.path)
                gate.entered()
                id = end()
                harness.until(lambda: is_given_up(wire, "faults", pids), "it is to end")
                gate.open()
                assert direct.farewell(channel)[1] == "DRAINING"
                assert channel.finish(held) == [[], None]
                other.finish(id)


def test_slow_calls_are_in_the_slow_log(own_daemon):
    daemon = own_daemon(*direct.GIVEN, "--slow-call", "10ms", "--load", f"faults={harness.ZOO / 'faults.so'}")
    with Wire(daemon.host) as wire, direct.open_direct(wire, "faults") as channel:
        channel.call("faults:ok")
        channel.call("faults:slow", 30)
        (one,) = wire.ask("server.slowlog")
    assert one["function"] == "slow" and one["code"] == "OK" and one["run_ns"] >= 30e6
    assert one["peer"].startswith("uid ")


def test_libmodser_has_it_when_asked(own_daemon):
    words = [w for name in ("faults", "calls") for w in
             ("--load", f"{name}={harness.ZOO / name}.so")]
    daemon = own_daemon(*direct.GIVEN, *words)
    with Wire(daemon.host) as wire:
        for name in ("faults", "calls"):
            wire.ask("module.wait", name)
        said = harness.run(harness.BIN / "direct_client", daemon.host)
        assert said.status == 0, said
        assert direct.facts(wire, "calls")["calls"] == 4


def test_without_it_none_is_given():
    with direct.Daemon("--load", f"results={harness.ZOO / 'results.so'}",
                        env={"MODSERD_WITHOUT": "direct"}) as daemon, \
            Wire(daemon.host) as wire, pytest.raises(Failure, match="UNSUPPORTED"):
        direct.open_direct(wire, "results")


def test_kills_of_clients_leave_nothing(daemon, wire):
    (pid,) = direct.facts(wire, "results")["pids"]
    with direct.open_direct(wire, "results") as channel:
        channel.call("results:int")
    before = direct.sockets(daemon.pid, pid)
    for i in range(ROUNDS):
        with Wire(daemon.host) as mine:
            channel = direct.open_direct(mine, "results")
            for _ in range(i):
                channel.start("call", "results:int")
            channel.socket.close()
    harness.until(lambda: direct.sockets(daemon.pid, pid) <= before, "none is left")


def acl(folder, *lines):
    path = folder / "acl"
    path.write_text(rights.whole(*(f"user {name} token:sha256={token_digest(name)} {rest}\n"
                                   for name, rest in lines)))
    return path


def token_digest(user):
    return hashlib.sha256(rights.token_of(user).encode()).hexdigest()


def as_user(daemon, name):
    wire = Wire(daemon.host)
    wire.ask("session.hello", {"token": rights.token_of(name)})
    return wire


def test_it_carries_the_rights_of_who_asked_for_it(own_daemon, folder):
    path = acl(folder, ("ann", "+@lookup +@call results/int"), ("bob", "+@lookup +@call rate=9/s */*"))
    daemon = own_daemon(*direct.GIVEN, "--acl", path, "--load", f"results={harness.ZOO / 'results.so'}")
    with as_user(daemon, "ann") as wire, as_user(daemon, "bob") as limited:
        channel = direct.open_direct(wire, "results")
        for _ in range(3):
            channel.call("results:int")
            with pytest.raises(Failure, match="REFUSED.*not opened for function str"):
                channel.call("results:str")
        with pytest.raises(Failure, match="REFUSED.*limits"):
            direct.open_direct(limited, "results")
        acl(folder, ("ann", "+@lookup */*"))
        with Wire(daemon.host) as operator:
            operator.ask("server.reload")
        assert direct.farewell(channel)[1] == "DRAINING"
        with pytest.raises(Failure, match="REFUSED"):
            direct.open_direct(wire, "results")

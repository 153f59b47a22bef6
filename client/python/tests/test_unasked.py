"""Blocking calls that go past the daemon without being told to: when, and that nobody is told
another thing than through it. What becomes of those whose worker ends: test_unasked_worker.py."""
import contextlib
import gc
import os
import signal
import socket

import direct
import harness
import numpy as np
import pytest
import rights
from test_direct import acl
from test_habits import in_a_child, told
from test_values import argument, flat
from unasked import (  # noqa: F401
    FIRST, MANY, RESULTS, ZOO, begin, elsewhere, library, own_sockets, same, times, unhurried)

import modser
from modser import _auto_direct
from modser._message import Message, ResultOf, pack
from modser._reply_tensor import INSTANCE, Handle
from modser._sockets import ReceivedSocket

X = np.arange(24, dtype="f4").reshape(2, 3, 4)


@pytest.mark.parametrize("deadline", (None, harness.PATIENCE))
def test_who_calls_often_goes_past_the_daemon(begin, deadline):
    scene = begin(*ZOO, deadline=deadline)
    ok = scene.client["zoo"].ok
    assert scene.requests(times, MANY, ok) == FIRST + 1 + 1, "the next one, with the question"
    assert scene.requests(times, MANY, ok) == 0
    assert scene.calls("zoo") == 2 * MANY, "all are counted"


def test_a_function_that_may_return_objects_another_time_goes_through_the_daemon(begin):
    scene = begin(*library("objects", "objects"))
    same = scene.client["objects"]["same"]
    assert scene.requests(times, MANY, same, 1) >= MANY
    assert [same(x) for x in (1, {"a": 1}, 1)] == [1, {"a": 1}, 1]
    assert scene.client["objects"]["adder"](3)(4) == 7


def test_who_calls_less_often_does_not(begin):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    assert scene.requests(times, FIRST, ok) == FIRST
    assert scene.requests(ok) == 2, "one call, and the question"


def test_who_calls_slowly_does_not(begin, monkeypatch):
    monkeypatch.setattr(_auto_direct, "EACH", 0)
    scene = begin(*ZOO)
    assert scene.requests(times, MANY, scene.client["zoo"].ok) == MANY


def test_what_runs_for_long_does_not(begin, monkeypatch):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)
    monkeypatch.setattr(_auto_direct, "LONG_NS", -1)
    assert scene.requests(ok) == 0
    assert scene.requests(times, FIRST + 1, ok) == FIRST + 1, "nor is it asked for"


def test_who_does_not_want_it_says_so(begin, monkeypatch):
    monkeypatch.setenv("MODSER_DIRECT", "off")
    scene = begin(*ZOO)
    assert scene.requests(times, MANY, scene.client["zoo"].ok) == MANY


def test_only_a_unix_socket_has_it(begin):
    scene = begin(*ZOO, listen=["tcp://127.0.0.1:0"])
    assert scene.requests(times, MANY, scene.client["zoo"].ok) == MANY


def test_a_module_with_several_workers_is_the_daemons_to_share(begin):
    scene = begin("--load", f"zoo={harness.ZOO}/faults.so,workers=2")
    asked = 2  # after 32 calls, and after 64 more
    assert scene.requests(times, MANY, scene.client["zoo"].ok) == MANY + asked


def test_a_daemon_that_gives_none_is_asked_less_and_less(begin):
    scene = begin(*ZOO, "--max-directs", "0")
    n = 2 * FIRST + FIRST + 2  # after 32, after 64 more
    assert scene.requests(times, n, scene.client["zoo"].ok) == n + 2
    assert scene.requests(times, 4 * FIRST, scene.client["zoo"].ok) == 4 * FIRST


def test_four_modules_have_one_each(begin):
    names = [f"zoo{i}" for i in range(_auto_direct.MOST_CHANNELS + 1)]
    scene = begin(*(word for name in names for word in library(name, "faults")))
    for name in names[:-1]:
        scene.goes_past(scene.client[name].ok)
    assert [scene.requests(scene.client[name].ok) for name in names] == [0, 0, 0, 0, 1]
    assert scene.requests(times, MANY, scene.client[names[-1]].ok) == MANY


@pytest.mark.parametrize("how", [
    {"unordered": True}, {"background": True}, {"kill_abandoned": True}, {"trace": {}},
    {"device": "cpu"}], ids=str)
def test_options_that_only_the_daemon_serves_go_through_it(begin, how):
    scene = begin(*RESULTS)
    echo = scene.client["results"].echo
    scene.goes_past(echo, 1)
    assert scene.requests(lambda: echo(2, **how)) == 1
    assert scene.requests(echo, 3) == 0


@pytest.mark.parametrize("value, n", [
    (np.zeros(_auto_direct.MOST_BYTES, "u1"), 0), (np.zeros(_auto_direct.MOST_BYTES + 1, "u1"), 1),
    ("x" * (_auto_direct.MOST_BODY - 99), 0), ("x" * _auto_direct.MOST_BODY, 1)],
    ids=["tensor", "large tensor", "text", "long text"])
def test_what_is_over_large_goes_through_the_daemon(begin, value, n):
    scene = begin(*RESULTS)
    kind = scene.client["results"].kind
    scene.goes_past(kind, 1)
    assert scene.requests(kind, value) == n


def test_what_lies_with_the_daemon_goes_through_it(begin):
    scene = begin(*RESULTS)
    module = scene.client["results"]
    scene.goes_past(module.kind, X)
    tensor = module.put(X)
    assert scene.requests(module.kind, tensor) == 1
    with scene.client.segment(4096) as segment:
        assert scene.requests(module.kind, segment.array(8)) == 1
        assert scene.requests(module.kind, X) == 1, "it lends memory, as libmodser's may not"
    del tensor
    gc.collect()
    assert scene.requests(module.kind, X) == 2, "it is freed with the next request"
    assert scene.requests(module.kind, X) == 0


def message(*values, **more):
    m = Message(pack("call"))
    for value in values:
        m.add(value)
    for name, value in more.items():
        setattr(m, name, value)
    return m


@pytest.mark.parametrize("what, deadline", [
    (message(Handle(INSTANCE, bytes(8))), None),
    (message((1, (Handle(INSTANCE, bytes(8)),))), None),
    (message(ResultOf(message())), None), (message(instance=bytes(8)), None),
    (message(promised=True), None), (message(fd=0), None), (message(segments=[None]), None),
    (message(*[None] * 1025), None), (message(modser.out("u1", 1 << 20)), None), (message(), 0),
    (message(), "1"), (message(), float("nan")), (message(), float("inf")),
    (message(names=["x" * _auto_direct.MOST_BODY]), None)])
def test_what_a_channel_does_not_carry(what, deadline):
    assert not _auto_direct.is_supported(what, deadline, _auto_direct.MOST_BYTES)
    good = message(1, X, "text", (2.0, b""))
    assert _auto_direct.is_supported(good, 1.0, _auto_direct.MOST_BYTES)


def test_a_call_behind_one_that_is_in_flight_keeps_its_place(begin):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)
    future = ok.submit()
    assert scene.requests(ok) >= 1
    assert future.result() is None and scene.requests(ok) == 0


def test_values_are_the_same_to_the_bit(begin, cases, models, monkeypatch):
    scene = begin()
    monkeypatch.setenv("MODSER_DIRECT", "off")
    n_past = 0
    with modser.connect(scene.daemon.host) as plain:
        for name in ("mlp", "tuples", "dtypes", "scalars"):
            plain.load(name, models / f"{name}.so")
            for case in (c for c in cases if c["library"] == name):
                args = [argument(models, a) for a in case["args"]]
                function = scene.client[name][case["function"]]
                scene.goes_past(function, *args)
                want, got = flat(plain[name][case["function"]](*args)), []
                n_past += scene.requests(lambda: got.extend(flat(function(*args)))) == 0
                assert same(tuple(got), tuple(want))
    assert n_past > 4


def test_an_array_that_is_there_is_filled(begin, models):
    scene = begin("--load", f"shapes={models / 'shapes.so'}")
    addone, x = scene.client["shapes"].addone, np.arange(99, dtype="f4")
    scene.goes_past(addone, x, modser.out("float32", 99))
    y = np.zeros_like(x)
    assert scene.requests(lambda: addone(x, out=y)) <= 1, "what style it has is asked for once"
    assert same(y, x + 1)
    assert scene.requests(lambda: addone(x + 1, out=y)) == 0 and same(y, x + 2)


def test_errors_of_a_call_are_the_same(begin, monkeypatch):
    scene = begin(*ZOO)
    zoo = scene.client["zoo"]
    scene.goes_past(zoo.ok)
    monkeypatch.setenv("MODSER_DIRECT", "off")
    with modser.connect(scene.daemon.host) as plain:
        for name, args in (("slow", ("text",)), ("nothing", ()), ("error_long", ())):
            with pytest.raises(modser.Error) as want:
                plain["zoo"][name](*args)
            with pytest.raises(type(want.value)) as got:
                zoo[name](*args)
            assert str(got.value) == str(want.value)


def test_threads_share_a_client(begin):
    scene = begin(*RESULTS)
    echo, wrong, before = scene.client["results"].echo, [], scene.calls("results")

    def work(at):
        for i in range(MANY):
            if echo(MANY * at + i) != MANY * at + i:
                wrong.append((at, i))

    with contextlib.ExitStack() as stack:
        outcomes = [stack.enter_context(elsewhere(work, at)) for at in range(4)]
    assert outcomes == [[None]] * 4 and not wrong
    assert scene.calls("results") - before == 4 * MANY
    scene.goes_past(echo, 1)


def test_a_thread_does_not_wait_for_anothers_call(begin):
    scene = begin(*ZOO, *RESULTS)
    scene.goes_past(scene.client["zoo"].ok)
    with harness.Gate() as gate, elsewhere(scene.client["zoo"].gate, gate.path) as outcome:
        gate.entered()
        assert scene.client["results"].echo(5) == 5
        future = scene.client["zoo"].ok.submit()
        gate.open()
        assert future.result(harness.PATIENCE) is None
    assert outcome == [None]


def test_after_a_fork_the_channel_is_its_parents(begin):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)
    n = own_sockets() - 2  # the client's connection, and its channel

    def child():
        signal.alarm(int(harness.PATIENCE))
        text = told(ok)
        scene.client.close()
        return f"{own_sockets() - n}: {text}"

    with scene.client._auto_direct._lock:  # as another thread may have it
        said = in_a_child(child)
    assert said.startswith("0: ") and "forked" in said
    assert scene.requests(times, 9, ok) == 0


@pytest.mark.parametrize("is_closed", (True, False), ids=("closed", "forgotten"))
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_its_end_leaves_no_descriptor(begin, is_closed):
    scene = begin(*ZOO)
    pids = scene.daemon.pid, scene.pid("zoo")
    scene.client.close()
    harness.until(lambda: len(scene.wire.ask("client.list")) == 1, "the client is gone")
    before, own = direct.sockets(*pids), own_sockets()
    client = modser.connect(scene.daemon.host)
    scene.goes_past(client["zoo"].ok)
    assert own_sockets() == own + 2 and direct.sockets(*pids) > before
    if is_closed:
        client.close()
    del client
    gc.collect()
    assert own_sockets() == own
    harness.until(lambda: direct.sockets(*pids) == before, "daemon and worker have closed theirs")


def test_a_channel_whose_client_is_gone_meanwhile_is_closed(begin):
    scene = begin(*ZOO)
    pids = scene.daemon.pid, scene.pid("zoo")
    before, own, ok = direct.sockets(*pids), own_sockets(), scene.client["zoo"].ok
    times(FIRST, ok)
    with scene.daemon.standstill(), elsewhere(ok) as outcome:
        waiting = scene.client._channel._waiting
        harness.until(lambda: len(waiting) == 2, "call and question have been sent")
        scene.client.close()
    assert isinstance(outcome[0], modser.ConnectionLost)
    assert own_sockets() == own - 1
    harness.until(lambda: direct.sockets(*pids) == before - 1, "nobody has the channel")


def test_a_channel_that_nobody_has_taken_is_closed_with_the_client(begin, monkeypatch):
    scene = begin(*ZOO)
    own, ok = own_sockets(), scene.client["zoo"].ok
    monkeypatch.setattr(_auto_direct.AutoDirect, "_receive_channel", lambda _: None)
    times(FIRST + 1, ok)
    assert own_sockets() == own + 1
    scene.client.close()
    assert own_sockets() == own - 1


def test_of_what_is_passed_one_socket_is_kept():
    before, passed, into, came = own_sockets(), ReceivedSocket(), memoryview(bytearray(9)), []
    ours, theirs = socket.socketpair()
    with ours, theirs, open(os.devnull) as none:
        socket.send_fds(theirs, [b"x"], [none.fileno(), theirs.fileno(), theirs.fileno()])
        passed.receive(ours, into, 0, came)
        assert came == [1] and own_sockets() == before + 3
        with passed.take() as kept:
            assert not os.get_inheritable(kept.fileno())
            kept.send(b"y")
        assert ours.recv(1) == b"y" and passed.take() is None
    assert own_sockets() == before


def test_a_call_that_the_client_is_closed_under_is_told_so(begin):
    scene = begin(*ZOO)
    scene.goes_past(scene.client["zoo"].ok)
    channel = scene.client._auto_direct._modules["zoo"].direct
    with harness.Gate() as gate, elsewhere(scene.client["zoo"].gate, gate.path) as outcome:
        gate.entered()
        scene.client.close()
        harness.until(lambda: outcome, "its thread has gone on")
    assert channel._socket.fileno() < 0, "it has closed what it had in use"
    assert isinstance(outcome[0], modser.ConnectionLost) and "closed here" in str(outcome[0])


def test_rights_that_were_taken_away_are_missed_at_once(begin, folder):
    path = acl(folder, ("ann", "+@lookup +@call zoo/*"), ("root", "+@admin +@lookup */*"))
    scene = begin("--acl", path, *ZOO, token=rights.token_of("ann"))
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)
    acl(folder, ("ann", "+@lookup */*"))
    scene.wire.ask("server.reload")
    with pytest.raises(modser.Refused):
        ok()


def test_what_may_be_called_alone_goes_past_alone(begin, folder):
    path = acl(folder, ("ann", "+@lookup +@call zoo/ok"))
    scene = begin("--acl", path, *ZOO, token=rights.token_of("ann"))
    zoo = scene.client["zoo"]
    scene.goes_past(zoo.ok)
    with pytest.raises(modser.Refused, match="slow"):
        zoo.slow(1)
    assert scene.requests(zoo.ok) == 0


def test_calls_are_seen_while_somebody_watches(begin):
    scene = begin(*ZOO)
    ok = scene.client["zoo"].ok
    scene.goes_past(ok)
    next_one = scene.wire.ask("server.monitor")["next"]
    times(10, ok)
    told = scene.wire.ask("server.monitor", {"from": next_one})
    assert [r["function"] for r in told["requests"]] == 10 * ["ok"]

"""Requests that name results of earlier ones (PROTOCOL.md section 6)."""
import struct

import harness
import msgpack
import numpy as np
import pytest
from wire import DTYPE, RESULT_OF, Closed, Failure, Payload, Wire, frame, out, shape_ext

FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")
STEPS = 1 << 16  # what accounts are off by (daemon/loop/account.h)
X = np.arange(48, dtype="f4").reshape(3, 16) / 48


def result_of(id, *path):
    return msgpack.ExtType(RESULT_OF, struct.pack(f"<Q{len(path)}I", id, *path))


@pytest.fixture(scope="module")
def host(daemon, models):
    daemon.load("mlp", models / "mlp.so")
    daemon.load("shapes", models / "shapes.so")
    daemon.load("scalars", models / "scalars.so")
    daemon.load("zoo", harness.ZOO / "faults.so")
    daemon.load("echo", harness.ZOO / "results.so")
    return daemon.host


class Batch:
    """Requests that leave in one write."""

    def __init__(self, wire):
        self.wire, self.bytes, self.ids = wire, b"", []

    def add(self, method, *params, **options):
        id, payload = next(self.wire.ids), Payload()
        body = [0, id, method, payload.place(list(params))] + ([options] if options else [])
        self.bytes += frame(body, payload.bytes)
        self.ids.append(id)
        return id

    def send(self):
        self.wire.send(self.bytes)
        self.bytes = b""


@pytest.fixture
def wire(host):
    with Wire(host) as w:
        yield w
        assert w.ask("ping") is None


@pytest.fixture
def batch(wire):
    return Batch(wire)


def expect_failed(wire, id, name, *texts):
    with pytest.raises(Failure) as failure:
        wire.finish(id)
    assert failure.value.name == name, failure.value
    for text in texts:
        assert text in failure.value.message
    return failure.value.message


def test_an_instance_is_made_set_run_and_read_in_one_write(wire, batch):
    want = wire.call("mlp:main", X)[1]
    one = batch.add("module.instance", "mlp", promised=True)
    batch.add("call", "mlp:set_input", "main", X, instance=result_of(one))
    batch.add("call", "mlp:invoke_stateful", "main", instance=result_of(one))
    last = batch.add("call", "mlp:get_output", "main", instance=result_of(one))
    batch.send()
    assert np.array_equal(wire.finish(last)[1], want)
    for id in batch.ids[:-1]:
        wire.finish(id)


def test_a_module_is_loaded_called_and_unloaded_in_one_write(wire, batch, models):
    data = np.frombuffer((models / "shapes.so").read_bytes(), "u1")
    upload = batch.add("module.upload", "begin", len(data), promised=True)
    batch.add("module.upload", "write", result_of(upload), 0, data)
    batch.add("module.upload", "commit", result_of(upload))
    load = batch.add("module.load", "brief", result_of(upload), promised=True)
    function = batch.add("function.get", result_of(load), "addone", promised=True)
    x = np.ones(5, "f4")
    call = batch.add("call", result_of(function), x, out("f4", 5))
    batch.send()
    assert np.array_equal(wire.finish(call)[0][0], x + 1)
    assert wire.finish(load)["name"] == "brief"
    assert wire.ask("module.unload", "brief") is None


def test_a_resident_tensor_is_made_filled_and_read_in_one_write(wire, batch):
    there = batch.add("tensor.alloc", "shapes", FLOAT32, shape_ext(4), promised=True)
    x = np.arange(4, dtype="f4")
    batch.add("call", "shapes:addone", x, result_of(there))
    back = batch.add("tensor.copy", result_of(there), out("f4", 4))
    freed = batch.add("tensor.free", result_of(there))
    batch.send()
    assert np.array_equal(wire.finish(back), x + 1)
    assert wire.finish(freed) is None


def test_a_part_of_a_result_is_named_by_the_way_to_it(wire, batch):
    whole = batch.add("call", "echo:tuple", promised=True)  # (7, a tensor, 0.25)
    parts = [batch.add("call", "echo:echo", result_of(whole, 1, i)) for i in (0, 2)]
    astray = batch.add("call", "echo:echo", result_of(whole, 1, 3))
    deep = batch.add("call", "echo:echo", result_of(whole, 1, 0, 0))
    batch.send()
    assert [wire.finish(id)[1] for id in parts] == [7, 0.25]
    expect_failed(wire, astray, "BAD_REQUEST", f"request {whole}", "element 3 at step 2")
    expect_failed(wire, deep, "BAD_REQUEST", "element 0 at step 3")


def test_a_failure_is_that_of_all_that_follow_with_its_cause(wire, batch):
    one = batch.add("module.instance", "nowhere", promised=True)
    next_ = one
    for _ in range(20):
        next_ = batch.add("call", "mlp:get_num_inputs", instance=result_of(next_), promised=True)
    batch.send()
    texts = {expect_failed(wire, id, "NOT_FOUND", "nowhere") for id in batch.ids[1:]}
    assert len(texts) == 1, "the cause and not the way to it"
    assert f"the result of request {one} (module.instance) is needed" in texts.pop()


def test_a_chain_as_long_as_may_be_in_flight(wire, batch):
    last = batch.add("call", "echo:echo", 3, promised=True)
    for _ in range(1023):
        last = batch.add("call", "echo:echo", result_of(last, 1), promised=True)
    batch.send()
    assert wire.finish(last)[1] == 3


def test_a_chain_whose_first_fails_is_answered_whole(wire, batch):
    last = batch.add("call", "nowhere:echo", 3, promised=True)
    for _ in range(1500):
        last = batch.add("call", "echo:echo", result_of(last, 1), promised=True)
    batch.send()
    for id in batch.ids:
        expect_failed(wire, id, "NOT_FOUND", "nowhere")


def test_what_is_not_known_is_refused_and_named(wire, batch):
    plain = batch.add("ping")
    itself = batch.add("call", "echo:echo", result_of(plain + 1))
    unpromised = batch.add("call", "echo:echo", result_of(plain))
    unborn = batch.add("call", "echo:echo", result_of(plain + 1000))
    batch.send()
    assert wire.finish(plain) is None
    expect_failed(wire, itself, "BAD_REQUEST", "names its own result")
    for id, named in ((unpromised, plain), (unborn, plain + 1000)):
        expect_failed(wire, id, "BAD_REQUEST", f"the result of request {named} is unknown",
                      "`promised`")


def test_two_cannot_wait_for_each_other(wire, batch):
    first = batch.add("call", "echo:echo", result_of(2), promised=True)
    second = batch.add("call", "echo:echo", result_of(first), promised=True)
    assert (first, second) == (1, 2)
    batch.send()
    expect_failed(wire, first, "BAD_REQUEST", "the result of request 2 is unknown")
    expect_failed(wire, second, "BAD_REQUEST", "the result of request 1 (call) is needed")


def test_the_last_64_are_kept(wire, batch):
    kept = [batch.add("call", "echo:echo", i, promised=True) for i in range(65)]
    batch.send()
    for id in kept:
        wire.finish(id)
    assert wire.call("echo:echo", result_of(kept[1], 1))[1] == 1
    with pytest.raises(Failure, match="64 of them were answered since"):
        wire.call("echo:echo", result_of(kept[0], 1))


def test_one_that_is_waited_for_is_kept_however_many_come_after_it(wire, batch):
    with harness.Gate() as gate:
        held = batch.add("call", "zoo:gate", gate.path, promised=True)
        early = batch.add("call", "echo:echo", 5, promised=True)
        waits = batch.add("call", "echo:count", result_of(early, 1), result_of(held, 1))
        many = [batch.add("ping", promised=True) for _ in range(200)]
        batch.send()
        for id in many:
            wire.finish(id)
        gate.entered()
        gate.open()
        assert wire.finish(waits)[1] == 2


def test_large_results_and_tensors_that_have_left_are_refused(wire, batch):
    large = batch.add("module.list", promised=True)
    tensor = batch.add("call", "echo:tuple", promised=True)
    listed = batch.add("server.info", promised=True)
    after = [batch.add("call", "echo:echo", result_of(id)) for id in (large, tensor, listed)]
    batch.send()
    expect_failed(wire, after[0], "TOO_LARGE", "at most 1024")
    expect_failed(wire, after[1], "UNSUPPORTED", "tensor.alloc")
    expect_failed(wire, after[2], "UNSUPPORTED", "without a name")


def test_too_many_in_one_request_and_a_body_that_grows_too_large(wire, batch):
    text = batch.add("call", "echo:str", promised=True)
    many = batch.add("call", "echo:count", *[result_of(text, 1)] * 65)
    grows = batch.add("call", "echo:count", "y" * ((1 << 20) - 1000),
                      *[result_of(text, 1)] * 60)
    most = batch.add("call", "echo:count", *[result_of(text, 1)] * 64)
    batch.send()
    expect_failed(wire, many, "BAD_REQUEST", "65", "at most 64")
    expect_failed(wire, grows, "TOO_LARGE", "at most 1048576")
    assert wire.finish(most)[1] == 64


def test_a_deadline_passes_and_a_cancel_comes_while_it_waits(wire, batch):
    with harness.Gate() as gate:
        held = batch.add("call", "zoo:gate", gate.path, promised=True)
        late = batch.add("call", "echo:echo", result_of(held, 1), deadline_ms=1)
        unwanted = batch.add("call", "echo:echo", result_of(held, 1), promised=True)
        after = batch.add("call", "echo:echo", result_of(unwanted, 1))
        stays = batch.add("call", "echo:echo", result_of(held, 1))
        cancel = batch.add("cancel", unwanted)
        batch.send()
        expect_failed(wire, late, "DEADLINE_EXCEEDED", f"the result of request {held} (call)")
        assert wire.finish(cancel) is True
        expect_failed(wire, unwanted, "CANCELLED")
        expect_failed(wire, after, "CANCELLED", f"request {unwanted} (call) is needed")
        gate.entered()
        gate.open()
        assert wire.finish(stays)[1] is None


def test_others_go_on_while_one_waits_and_with_a_payload_none_of_its_connection(wire, host):
    batch = Batch(wire)
    with harness.Gate() as gate:
        held = batch.add("call", "zoo:gate", gate.path, promised=True)
        waits = batch.add("call", "echo:echo", result_of(held, 1))
        passes = batch.add("call", "echo:echo", 1)
        with_payload = batch.add("call", "echo:count", np.ones(3), result_of(held, 1))
        behind = batch.add("call", "echo:echo", 2)
        batch.send()
        assert wire.finish(passes)[1] == 1
        with Wire(host) as other:
            harness.until(lambda: "waits for a result" in
                          [c["state"] for c in other.ask("client.list")], "it waits")
        gate.entered()
        gate.open()
        wire.finish(waits)
        assert wire.finish(with_payload)[1] == 2
        assert wire.finish(behind)[1] == 2


def test_a_payload_is_passed_over_when_what_it_waits_for_fails_or_is_late(wire, batch):
    with harness.Gate() as gate:
        held = batch.add("call", "zoo:gate", gate.path, promised=True)
        late = batch.add("call", "echo:count", np.ones(3), result_of(held, 1), deadline_ms=1)
        behind = batch.add("call", "echo:echo", 2)
        batch.send()
        expect_failed(wire, late, "DEADLINE_EXCEEDED")
        assert wire.finish(behind)[1] == 2
        gate.entered()
        gate.open()
        wire.finish(held)
    failing = batch.add("module.wait", "nowhere", promised=True)
    fails = batch.add("call", "echo:count", np.ones(3), result_of(failing))
    behind = batch.add("call", "shapes:addone", np.ones(2, "f4"), out("f4", 2))
    batch.send()
    expect_failed(wire, failing, "NOT_FOUND")
    expect_failed(wire, fails, "NOT_FOUND", "module.wait")
    assert list(wire.finish(behind)[0][0]) == [2, 2]


def test_those_of_one_object_stay_in_order_though_one_waits_for_more(wire, batch):
    with harness.Gate() as gate:
        held = batch.add("call", "zoo:gate", gate.path, promised=True)
        there = batch.add("tensor.alloc", "shapes", FLOAT32, shape_ext(2), promised=True)
        first = batch.add("tensor.fill", result_of(there), 5)
        second = batch.add("call", "shapes:addone", result_of(there), result_of(there),
                           promised=True)
        third = batch.add("tensor.copy", result_of(there), out("f4", 2))
        both = batch.add("call", "echo:count", result_of(second, 1), result_of(held, 1))
        last = batch.add("tensor.fill", result_of(there), 1)
        batch.send()
        assert list(wire.finish(third)) == [6, 6]
        wire.finish(last)
        gate.entered()
        gate.open()
        for id in (first, second, both):
            wire.finish(id)


def test_an_id_that_comes_again_means_the_later_request(wire):
    for value in (1, 2):
        wire.start("call", "echo:echo", value, id=77, promised=True)
        wire.finish(77)
    assert wire.call("echo:echo", result_of(77, 1))[1] == 2


def test_the_id_of_one_that_waits_is_in_flight(host):
    with harness.Gate() as gate, Wire(host) as wire:
        held = wire.start("call", "zoo:gate", gate.path, promised=True)
        gate.entered()
        id = wire.start("call", "echo:echo", result_of(held))
        wire.start("ping", id=id)
        with pytest.raises(Closed):
            while True:
                body = wire.receive()
                assert body[:2] == [2, "session.close"], body


def test_a_connection_that_ends_takes_what_waits_with_it(daemon, host):
    with Wire(host) as other:
        before = other.ask("server.info")["held"]["bytes"]
        with harness.Gate() as gate:
            with Wire(host) as wire:
                batch = Batch(wire)
                held = batch.add("call", "zoo:gate", gate.path, promised=True)
                for _ in range(500):
                    held = batch.add("call", "echo:echo", result_of(held, 1), promised=True)
                ping = batch.add("ping")
                batch.send()
                wire.finish(ping)
            gate.entered()
            gate.open()
        harness.until(lambda: other.ask("server.info")["held"]["bytes"] <= before + STEPS,
                      "all is given back")


@pytest.mark.parametrize("size", [*range(8), 9, 10, 11, 28])
def test_a_name_of_another_length_ends_the_connection(host, size):
    with Wire(host) as wire:
        wire.start("call", "echo:echo", msgpack.ExtType(RESULT_OF, bytes(size)))
        with pytest.raises(Closed):
            while True:
                wire.receive()


def test_answers_are_the_same_with_values_and_with_names(wire):
    """Random requests, each twice: with values, and with names of requests that bring these."""
    rng = np.random.default_rng(2417)
    for _ in range(60):
        values = [float(v) for v in rng.standard_normal(5)]
        batch = Batch(wire)
        brings = [batch.add("call", "echo:echo", v, promised=True) for v in values]
        picks = [int(v) for v in rng.integers(0, 5, 12)]
        pairs = [(batch.add("call", "echo:echo", values[i]),
                  batch.add("call", "echo:echo", result_of(brings[i], 1))) for i in picks]
        batch.send()
        for a, b in pairs:
            assert wire.finish(a) == wire.finish(b)
        for id in brings:
            wire.finish(id)


def test_the_verb_instance_makes_one_and_calls_it(daemon, host, folder):
    np.save(folder / "x.npy", X)
    with Wire(host) as wire:
        want = wire.call("mlp:main", X)[1]
    words = ("session", "mlp", "set_input", "str:main", f"@{folder}/x.npy", "then",
             "invoke_stateful", "str:main", "then", "get_output", "str:main")
    daemon.ok(*words, "-o", folder / "y.npy")
    assert np.array_equal(np.load(folder / "y.npy"), want)
    said = daemon.modser("session", "nowhere", "run").err
    assert "no such module: nowhere" in said and "is needed" not in said
    assert "get_output" in daemon.modser(*words[:2], *words[-2:]).err


def test_what_is_called_with_values_of_others_stays_right_however_often(wire):
    """Calls that come again are known by their bytes; those with values put in are not."""
    for i in range(40):
        batch = Batch(wire)
        brings = batch.add("call", "echo:echo", i % 3, promised=True)
        named = batch.add("call", "echo:echo", result_of(brings, 1))
        plain = batch.add("call", "echo:echo", i % 3)
        batch.send()
        assert [wire.finish(id)[1] for id in (brings, named, plain)] == [i % 3] * 3


def test_the_daemon_says_that_it_has_them(wire):
    assert "promises" in wire.ask("session.hello")["features"]

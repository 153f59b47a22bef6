"""Inputs of `infer` that are bytes are read to where their module has them: as they come, and
whatever happens before they are there."""
import contextlib
import json
import os
import signal

import numpy
import pytest

import harness
from harness import until
from test_http import Visit, start
from wire import Wire

MIB = 1 << 20
PATH = "/v2/models/{}/infer"
N = 1 << 20  # elements of a large input, 4 MiB
SHAPES = ("--load", f"shapes={harness.MODELS}/shapes.so")


@pytest.fixture(scope="module")
def daemon():
    with start(*SHAPES, "--load", f"results={harness.ZOO}/results.so") as d:
        d.ok("wait", "shapes")
        d.ok("wait", "results")
        yield d


def as_bytes(name, array):
    return {"name": name, "datatype": "FP32", "shape": list(array.shape),
            "parameters": {"binary_data_size": array.nbytes}}


def request(model, inputs, behind, fields="", **more):
    """(its head and JSON, the bytes behind them)"""
    more = {"parameters": {"binary_data_output": True, **more.pop("parameters", {})}, **more}
    text = json.dumps({"inputs": inputs, **more}).encode()
    head = (f"POST {PATH.format(model)} HTTP/1.1\r\nHost: x\r\n{fields}"
            f"Inference-Header-Content-Length: {len(text)}\r\n"
            f"Content-Length: {len(text) + len(behind)}\r\n\r\n").encode()
    return head + text, behind


ARRAY = numpy.arange(N, dtype="float32")


def addone(array=ARRAY, model="shapes:addone", **more):
    return request(model, [as_bytes("A", array)], array.tobytes(), **more)


def expect_added(visit, array=ARRAY):
    answered, fields, body = visit.answer()
    assert answered == 200, body
    assert body[int(fields["inference-header-content-length"]):] == (array + 1).tobytes()




def came(daemon):
    """The bytes of each connection so far."""
    return {c["connection"]: c["in_bytes"] for c in clients(daemon)}


def is_placed(daemon, n_bytes, before):
    """A call has its room, and so many bytes have come to its connection since."""
    return lambda: any(c["in_flight"] > 0 and
                       c["in_bytes"] - before.get(c["connection"], 0) >= n_bytes
                       for c in clients(daemon))


def clients(daemon):
    with Wire(daemon.hosts[0]) as wire:
        return wire.ask("client.list")


def memory_in_use(daemon):
    with Wire(daemon.hosts[0]) as wire:
        return wire.ask("server.info")["held"]["tensor_bytes"]


def pid_of(daemon, name):
    with Wire(daemon.hosts[0]) as wire:
        return next(m["pid"] for m in wire.ask("module.list") if m["name"] == name)


def begin(daemon, visit, said, n_behind):
    """Say all but the last bytes of a request, whose call is then waited for."""
    before = came(daemon)
    visit.say(said[0] + said[1][:n_behind])
    until(is_placed(daemon, len(said[0]) + n_behind, before), "its call has room, and they came")


@pytest.mark.parametrize("step", (1, 7, 1000, 16384, 100_001))
def test_bytes_come_in_whatever_pieces(daemon, step):
    """Two inputs whose bytes stand in another order than the function has them."""
    x = (numpy.arange(2 * 301) % 7).astype("float32").reshape(2, 301)
    y = (numpy.arange(301 * 3) % 5).astype("float32").reshape(301, 3)
    outputs = [{"name": "Z", "parameters": {"shape": [2, 3], "binary_data": True}}]
    head, behind = request("shapes:matmul", [as_bytes("Y", y), as_bytes("X", x)],
                           y.tobytes() + x.tobytes(), outputs=outputs)
    all_ = head + behind
    with Visit(daemon) as visit:
        visit.socket.setsockopt(6, 1, 1)  # TCP_NODELAY
        for _ in range(1 if step == 1 else 2):
            for at in range(0, len(all_), step):
                visit.say(all_[at:at + step])
            answered, fields, body = visit.answer()
            assert answered == 200, body
            got = numpy.frombuffer(body[int(fields["inference-header-content-length"]):], "float32")
            assert (got == (x @ y).ravel()).all()


def test_some_of_them_may_be_json(daemon):
    x, y = numpy.ones((2, 2), "float32"), numpy.full((2, 2), 3, "float32")
    inputs = [{"name": "X", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]},
              as_bytes("Y", y)]
    outputs = [{"name": "Z", "parameters": {"shape": [2, 2], "binary_data": False}}]
    with Visit(daemon) as visit:
        visit.say(b"".join(request("shapes:matmul", inputs, y.tobytes(), outputs=outputs)))
        answered, _, body = visit.answer()
        assert (answered, json.loads(body)["outputs"][0]["data"]) == (200, [9, 9, 21, 21]), x


def test_the_daemon_does_not_hold_them(daemon):
    """They are in the memory of the module's tensors alone: with half of 4 MiB there the
    connection holds next to nothing."""
    said = addone()
    with Visit(daemon) as visit:
        for _ in range(2):
            begin(daemon, visit, said, 2 * MIB)
            assert max(c["held_bytes"] for c in clients(daemon)) < 128 << 10
            visit.say(said[1][2 * MIB:])
            expect_added(visit)


def test_what_follows_them_is_the_next_request(daemon):
    small = numpy.ones(3, "float32")
    with Visit(daemon) as visit:
        visit.say(b"".join(addone()) + b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n" +
                  b"".join(addone(small)))
        expect_added(visit)
        assert visit.answer()[0] == 200
        expect_added(visit, small)


def test_more_than_a_connection_may_hold_is_taken():
    """And what is more than --max-payload is refused on the head."""
    few = ("--max-connection-memory", "1M", "--max-payload", "8M")
    with start(*SHAPES, *few) as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        visit.say(b"".join(addone()))
        expect_added(visit)
        visit.say("POST /v2/models/shapes%3Aaddone/infer HTTP/1.1\r\nHost: x\r\n"
                  f"Inference-Header-Content-Length: 9\r\nContent-Length: {9 * MIB + 1}\r\n\r\n")
        answered, _, body = visit.answer()
        assert answered == 413 and f"the limit is {9 * MIB}".encode() in body


def test_what_is_wrong_is_told_before_they_come(daemon):
    """Then they are dropped, and the connection goes on."""
    wrong = [(addone(model="none"), 404), (addone(ARRAY.reshape(2, -1)), 400),
             (request("shapes:addone", [as_bytes("A", ARRAY)], ARRAY.tobytes()[4:]), 400)]
    with Visit(daemon) as visit:
        for (head, behind), status in wrong:
            visit.say(head)
            assert visit.answer()[0] == status
            visit.say(behind)
            visit.say(b"".join(addone()))
            expect_added(visit)


def test_who_is_refused_and_ends_may_send_them_all(daemon):
    """The answer is not lost in a reset: the rest is read before the end."""
    head, behind = addone(model="none", fields="Connection: close\r\n")
    with Visit(daemon) as visit:
        visit.say(head + behind)
        answered, fields, _ = visit.answer()
        assert (answered, fields["connection"]) == (404, "close")
        visit.expect_end()


def test_who_leaves_meanwhile_leaves_nothing(daemon):
    used = memory_in_use(daemon)
    with Visit(daemon) as visit:
        begin(daemon, visit, addone(), MIB)
        assert memory_in_use(daemon) >= used + 8 * MIB
    until(lambda: memory_in_use(daemon) == used, "its room is given back")
    with Visit(daemon) as visit:
        begin(daemon, visit, addone(), MIB)
        visit.socket.shutdown(1)  # its sending half
        visit.expect_end()
    until(lambda: memory_in_use(daemon) == used, "its room is given back")


def test_a_module_that_goes_meanwhile_is_told():
    """What is being read is waited for as long as calls are: --drain."""
    said = addone(model="gone:addone")
    gone = ("--load", f"gone={harness.MODELS}/shapes.so", "--drain", "1ms")
    with start(*SHAPES, *gone) as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        d.ok("wait", "gone")
        begin(d, visit, said, MIB)
        d.ok("unload", "gone")
        answered, _, body = visit.answer()
        assert answered == 503 and b"unloaded" in body
        visit.say(said[1][MIB:])
        visit.say(b"".join(addone()))
        expect_added(visit)


def test_a_module_that_is_replaced_meanwhile_has_them():
    patient = ("--drain", harness.FOREVER, "--read-stall", harness.FOREVER)
    said = addone()
    with start(*SHAPES, *patient) as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        begin(d, visit, said, MIB)
        d.ok("load", "--replace", "shapes", f"{harness.MODELS}/shapes.so")
        visit.say(said[1][MIB:])
        expect_added(visit)
        visit.say(b"".join(said))
        expect_added(visit)


def test_a_worker_that_dies_meanwhile_has_them_when_it_is_back(daemon):
    said = addone()
    with Visit(daemon) as visit:
        begin(daemon, visit, said, MIB)
        before = len(daemon.restarts("shapes"))
        os.kill(pid_of(daemon, "shapes"), signal.SIGKILL)
        until(lambda: len(daemon.restarts("shapes")) > before, "it has died")
        daemon.ok("wait", "shapes")
        visit.say(said[1][MIB:])
        expect_added(visit)


def test_a_deadline_that_passes_meanwhile_is_told(daemon):
    said = addone(parameters={"deadline_ms": 100})
    with Visit(daemon) as visit:
        visit.say(said[0] + said[1][:MIB])
        answered, _, body = visit.answer()
        assert answered == 504, body
        visit.say(said[1][MIB:])
        visit.say(b"".join(addone()))
        expect_added(visit)


def test_who_waits_for_room_is_read_when_there_is_some():
    """Each call takes 8 MiB of 12."""
    with start(*SHAPES, "--max-memory", "12M") as d, Visit(d) as first, Visit(d) as second:
        d.ok("wait", "shapes")
        said = addone()
        begin(d, first, said, MIB)
        before = came(d)
        second.say(said[0] + said[1][:MIB])
        until(lambda: "waits for tensor memory" in [c["state"] for c in clients(d)], "it waits")
        first.say(said[1][MIB:])
        expect_added(first)
        until(is_placed(d, MIB, before), "it is read")
        second.say(said[1][MIB:])
        expect_added(second)


def test_who_does_not_go_on_is_ended():
    with start(*SHAPES, "--read-stall", "200ms") as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        used = memory_in_use(d)
        head, behind = addone()
        visit.say(head + behind[:MIB])
        visit.expect_end()
        until(lambda: memory_in_use(d) == used, "its room is given back")


def test_long_json_in_front_is_read_on_a_thread(daemon):
    """And what follows it waits for that."""
    said = addone(id="x" * 200_000)
    with Visit(daemon) as visit:
        for _ in range(2):
            visit.say(b"".join(said))
            answered, fields, body = visit.answer()
            assert answered == 200, body
            assert body.endswith((ARRAY + 1).tobytes())


def test_who_says_that_they_are_none_is_told(daemon):
    with Visit(daemon) as visit:
        for n in ("", "x", "-1", "99999999999999999999"):
            visit.say(f"POST {PATH.format('shapes:addone')} HTTP/1.1\r\nHost: x\r\nInference-Header-"
                      f"Content-Length: {n}\r\nContent-Length: 4\r\n\r\nabcd")
            answered, _, body = visit.answer()
            assert answered == 400 and b"Inference-Header-Content-Length" in body, n


def test_chunks_bring_them_too(daemon):
    head, behind = addone()
    text = head.partition(b"\r\n\r\n")[2]
    all_ = text + behind
    with Visit(daemon) as visit:
        visit.say(f"POST {PATH.format('shapes:addone')} HTTP/1.1\r\nHost: x\r\nInference-Header-"
                  f"Content-Length: {len(text)}\r\nTransfer-Encoding: chunked\r\n\r\n")
        for at in range(0, len(all_), 300_000):
            piece = all_[at:at + 300_000]
            visit.say(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        visit.say("0\r\n\r\n")
        expect_added(visit)


def test_inputs_that_do_not_come_leave_others_room_and_go_on():
    """Its call has all 8 MiB; three others want some, so that a quarter is left to it."""
    words = (*SHAPES, "--load", f"results={harness.ZOO}/results.so", "--max-memory", "8M")
    with start(*words) as d, Visit(d) as slow, contextlib.ExitStack() as stack:
        d.ok("wait", "shapes")
        d.ok("wait", "results")
        said = addone()
        begin(d, slow, said, MIB)
        others = [stack.enter_context(Wire(d.host)) for _ in range(3)]
        little = numpy.arange(16, dtype="u1")
        asked = [wire.start("call", "results:echo", little) for wire in others]
        for wire, id in zip(others, asked):
            assert numpy.array_equal(wire.finish(id)[1], little)
        slow.say(said[1][MIB:])
        expect_added(slow)

"""Objects and maps on the wire (PROTOCOL.md, section 6): clients get them; wrong use is an error."""
import json
import struct
import urllib.error
import urllib.request

import harness
import msgpack
import numpy as np
import pytest
from direct import direct
from wire import DTYPE, MAP, OBJECT, RESIDENT, TENSOR, Failure, Wire, shape_ext

LIBRARY = harness.ZOO / "objects.so"
MARK = msgpack.ExtType(MAP, b"")


@pytest.fixture(scope="module")
def objects(daemon):
    daemon.load("objects", LIBRARY)
    daemon.load("others", LIBRARY)
    return daemon


def takes(wire):
    """The connection, after it has asked for objects."""
    wire.ask("session.hello", {"objects": True})
    return wire


@pytest.fixture
def wire(objects):
    with Wire(objects.host) as wire:
        yield takes(wire)


def call(wire, name, *args, **options):
    return wire.call(name if isinstance(name, msgpack.ExtType) else f"objects:{name}", *args, **options)[1]


def handle(slot, generation):
    return msgpack.ExtType(OBJECT, struct.pack("<IIB", slot, generation, 0))


def refused(name, match=""):
    return pytest.raises(Failure, match=f"{name}: .*{match}")


def test_an_object_is_named_and_has_a_type(wire):
    made = call(wire, "adder", 3)
    assert (made.code, made.data[8:]) == (OBJECT, b"\1ffi.Function")
    point = call(wire, "point", 7)
    assert point.data[8:] == b"\0test.Point"
    assert call(wire, "x_of", point) == 7


def test_a_function_object_is_called(wire):
    three = call(wire, "adder", 3)
    assert call(wire, three, 4) == 7
    with refused("CALL_FAILED", "an adder takes an int"):
        call(wire, three, "x")
    with refused("BAD_ARGUMENT", "test.Point is not a function"):
        call(wire, call(wire, "point", 1))
    assert call(wire, "caught", three, "x").startswith("TypeError|an adder takes an int")


def test_clients_call_what_a_library_registers(wire):
    with refused("NOT_FOUND"):
        call(wire, "test.registered", 4)
    call(wire, "put", "test.registered", call(wire, "adder", 3), 1)
    assert call(wire, "test.registered", 4) == 7
    with pytest.raises(Failure, match="NOT_FOUND"):
        wire.call("others:test.registered", 4)


def test_objects_are_inside_tuples_and_maps(wire):
    three = call(wire, "adder", 3)
    back = call(wire, "same", [1, [three, three]])
    assert back[0] == 1 and [x.code for x in back[1]] == [OBJECT, OBJECT]
    assert call(wire, back[1][1], 1) == 4
    back = call(wire, "same", [MARK, "f", three, 1, None, (2, 3), b"x"])
    assert back[0] == MARK and back[1] == "f" and back[3:] == [1, None, [2, 3], b"x"]
    assert call(wire, back[2], 1) == 4


def test_maps_keep_their_order_and_size(wire):
    flat = [part for i in range(1000) for part in (f"key {i}", i)]
    assert call(wire, "same", [MARK, *flat]) == [MARK, *flat]
    assert call(wire, "same", [MARK]) == [MARK]
    with refused("BAD_ARGUMENT", "key 2 of a map occurs twice"):
        call(wire, "same", [MARK, 1, 1, 2, 1, 1, 1])
    with refused("BAD_ARGUMENT", "key without a value"):
        call(wire, "same", [MARK, 1])
    with refused("BAD_ARGUMENT", "not the first of an array"):
        call(wire, "same", [1, MARK])


def test_a_connection_that_did_not_ask_gets_no_objects(objects, wire):
    before = call(wire, "adders")
    with Wire(objects.host) as other:
        with refused("UNSUPPORTED", "an object of type ffi.Function") as caught:
            call(other, "adder", 3)
        assert "session.hello" in caught.value.details["hint"]
        with refused("UNSUPPORTED", "a map"):
            call(other, "same", [MARK, 1, 2])
        assert call(other, "same", [[]]) == [[]]
    assert call(wire, "adders") == before, "the worker has freed it"


def test_objects_are_freed(objects, wire):
    before = call(wire, "adders")
    made = [call(wire, "adder", i) for i in range(5)]
    assert call(wire, "adders") == before + 5
    wire.ask("object.free", *made[:3])
    assert call(wire, "adders") == before + 2
    with refused("STALE_HANDLE"):
        wire.ask("object.free", made[0])
    with refused("STALE_HANDLE"):
        call(wire, made[0], 1)
    with refused("STALE_HANDLE"):
        call(wire, "same", [[made[0]]])
    with Wire(objects.host) as other:
        takes(other)
        call(other, "adder", 1)
    harness.until(lambda: call(wire, "adders") == before + 2, "those of a connection that ended")


def test_wrong_handles_are_refused(objects, wire):
    mine = call(wire, "adder", 3)
    slot, generation = struct.unpack("<II", mine.data[:8])
    with Wire(objects.host) as other:
        with refused("STALE_HANDLE"):
            call(takes(other), mine, 1)
    for wrong in (handle(slot, generation + 1), handle(slot + 1, generation), handle(0, 0),
                  handle(0xFFFFFFFF, 1)):
        with refused("STALE_HANDLE"):
            call(wire, wrong, 1)
        with refused("STALE_HANDLE"):
            wire.ask("object.free", wrong)
        with refused("STALE_HANDLE"):
            wire.ask("object.describe", wrong)
    with refused("BAD_ARGUMENT", "belongs to module objects"):
        wire.call("others:same", mine)
    instance = msgpack.ExtType(4, mine.data[:8])
    with refused("STALE_HANDLE"):
        call(wire, "adders", instance=instance)
    with refused("STALE_HANDLE"):
        wire.ask("instance.free", instance)
    with refused("BAD_REQUEST", "is no object"):
        wire.ask("object.free", 5)
    assert call(wire, mine, 1) == 4, "nothing of this has touched it"


def test_an_object_is_no_tensor_and_a_tensor_no_object(daemon, wire, models):
    daemon.load("prim", models / "mlp.so")
    made = call(wire, "point", 1)
    with refused("CALL_FAILED", "x_of\\(\\) takes a point"):
        call(wire, "x_of", np.zeros(3, "float32"))
    with refused("CALL_FAILED", "keep\\(\\) takes a tensor"):
        call(wire, "keep", made)
    tensor = wire.ask("tensor.alloc", "objects", msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0])), shape_ext(3))
    assert tensor.code == TENSOR and tensor.data[0] == RESIDENT
    with refused("STALE_HANDLE"):
        wire.ask("object.free", msgpack.ExtType(OBJECT, tensor.data[16:24] + b"\0"))
    with refused("BAD_REQUEST", "is no resident tensor"):
        wire.ask("tensor.free", made)


def test_compiled_code_takes_no_objects(daemon, wire):
    """It would take any object for a tensor."""
    daemon.load("results", harness.ZOO / "results.so")
    with Wire(daemon.host) as other, pytest.raises(Failure, match="BAD_ARGUMENT: .*a map, but the fun"):
        takes(other).call("results:echo", [MARK, 1, 2])


def test_describe_reads_the_fields(wire):
    told = wire.ask("object.describe", call(wire, "point", 41))
    assert told == {"type": "test.Point", "is_function": False, "ancestors": ["ffi.Object"],
                    "fields": [["x", 41]]}
    assert wire.ask("object.describe", call(wire, "adder", 1))["is_function"] is True
    with refused("CALL_FAILED", "field x: ValueError: x is negative"):
        wire.ask("object.describe", call(wire, "point", -1))
    with refused("BAD_REQUEST"):
        wire.ask("object.describe", 5)


def test_a_connection_has_a_limit(own_daemon):
    daemon = own_daemon("--max-objects", "10")
    daemon.load("objects", LIBRARY)
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        made = [call(takes(wire), "adder", i) for i in range(10)]
        with refused("BUSY", "--max-objects"):
            call(wire, "adder", 10)
        with refused("BUSY", "--max-objects"):
            call(wire, "same", [made[0], made[1]])
        assert call(wire, "adders") == 10, "what did not fit was freed"
        assert call(takes(other), "adder", 1).code == OBJECT
        wire.ask("object.free", *made)
        assert call(wire, "same", [call(wire, "adder", 1)] * 9)[8].code == OBJECT


def test_many_abandoned_objects_are_freed(objects, wire):
    before = call(wire, "adders")
    with Wire(objects.host) as other:
        takes(other)
        ids = [other.start("call", "objects:adder", i) for i in range(500)]
        for id in ids:
            other.finish(id)
        for _ in range(20):
            call(other, "same", [call(other, "adder", 1)] * 500)
    harness.until(lambda: call(wire, "adders") == before, "all are freed")


def test_an_object_is_lost_with_its_worker(objects, wire):
    bomb, mine = call(wire, "bomb"), call(wire, "adder", 1)
    wire.ask("object.free", bomb)
    harness.until(lambda: _is_stale(wire, mine), "the deleter has crashed")
    harness.until(lambda: _serves(wire), "the module is served again")
    with refused("STALE_HANDLE"):
        call(wire, mine, 1)
    with refused("STALE_HANDLE"):
        call(wire, "same", mine)
    wire.ask("object.free", mine)  # the handle stays until the client frees it


def _is_stale(wire, object):
    try:
        call(wire, object, 1)
    except Failure as failure:
        return failure.name in ("STALE_HANDLE", "WORKER_LOST")
    return False


def _serves(wire):
    try:
        return call(wire, "adders") == 0
    except Failure:
        return False


def test_promised_results_are_objects(wire):
    first = wire.start("call", "objects:adder", 10, promised=True)
    way = msgpack.ExtType(9, struct.pack("<QI", first, 1))
    second = wire.start("call", way, 5)
    third = wire.start("call", "objects:same", [way])
    assert wire.finish(first)[1].code == OBJECT
    assert wire.finish(second)[1] == 15
    assert wire.finish(third)[1][0].code == OBJECT


def test_unload_replacement_and_sleep_end_or_keep_objects(daemon):
    daemon.load("brief", LIBRARY)
    with Wire(daemon.host) as wire:
        mine = takes(wire).call("brief:adder", 1)[1]
        with refused("BUSY", "tensors, instances or objects"):
            wire.ask("module.sleep", "brief")
        assert wire.call(mine, 1)[1] == 2
        daemon.ok("load", "--replace", "brief", LIBRARY)
        with refused("STALE_HANDLE", "the object was lost with the worker of module brief"):
            wire.call(mine, 1)
        mine = wire.call("brief:adder", 1)[1]
        wire.ask("module.unload", "brief")
        with refused("NOT_FOUND"):
            wire.call(mine, 1)
        wire.ask("object.free", mine)


def test_an_object_pins_its_worker(daemon):
    daemon.load("several", "--workers", "3", LIBRARY)
    with Wire(daemon.host) as wire:
        mine = takes(wire).call("several:adder", 1)[1]
        for _ in range(20):
            assert wire.call("several:adders")[1] == 1
        assert wire.call(mine, 1)[1] == 2
        wire.ask("object.free", mine)
        assert wire.call("several:adders")[1] == 0


def test_http_has_no_objects(own_daemon):
    daemon = own_daemon("--http", "127.0.0.1:0")
    daemon.load("objects", LIBRARY)
    address = daemon._line().removeprefix("listening ")
    request = urllib.request.Request(
        f"{address}/v2/models/objects:adder/infer",
        b'{"inputs": [{"name": "0", "datatype": "INT64", "shape": [1], "data": [3]}]}')
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request, timeout=harness.PATIENCE)
    told = caught.value.read().decode()
    assert caught.value.code == 501 and "ffi.Function" in told, told


def test_direct_channels_have_no_objects(objects):
    with direct(objects, "objects") as channel:
        for function, args in (("adder", [3]), ("same", [[MARK, 1, 2]])):
            with refused("UNSUPPORTED", "a direct channel does not carry"):
                channel.call(f"objects:{function}", *args)
        with refused("STALE_HANDLE"):
            channel.call("objects:same", handle(0, 1))
        with refused("STALE_HANDLE"):
            channel.call(handle(0, 1), 1)
        assert channel.call("objects:adders")[1] == 0


def test_the_command_line_names_results_and_uses_them(objects):
    def said(*words):
        return objects.ok("call", *words).out

    assert said("objects:adder", "3", "as", "f", "then", "f", "4") == "7\n"
    assert said("objects:point", "4", "as", "p", "then", "objects:x_of", "p") == "4\n"
    assert said("objects:adder", "1") == "<ffi.Function>\n"
    assert said("objects:same", "2", "as", "n", "then", "objects:same", "n", "then", "objects:same", "5") == "2\n5\n"
    assert said("objects:same", "str:p", "as", "p", "then", "objects:same", "str:p") == "p\n"
    failed = objects.modser("call", "objects:same", "2", "as", "n", "then", "n", "1")
    assert failed.status == 2 and "n is not an object that stays in the daemon" in failed.err
    failed = objects.modser("call", "objects:adder", "3", "as", "f", "then", "f", "str:x")
    assert failed.status == 1 and "an adder takes an int" in failed.err
    assert said("objects:adders") == "0\n", "they ended with their connections"


def test_a_command_is_repeated_only_from_its_first_call(objects):
    """The second call is lost with its worker: the first has run."""
    words = ("call", "--retry", "5s", "objects:adder", "1", "as", "f", "then", "objects:fragile")
    failed = objects.modser(*words)
    assert failed.status == 1 and "WORKER_LOST" in failed.err

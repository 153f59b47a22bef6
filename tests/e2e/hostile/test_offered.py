"""What a client says of a model, puts beside it, or asks of it as JSON is so much and no more: what is
refused leaves nothing, and others are served.
"""
import json

import harness
import numpy as np
import pytest
from test_http import Visit, ask_json
from wire import Failure

MIB = 1 << 20
PAGE = 4096
RELU = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_open_extents.bin"
SHAPES = harness.MODELS / "shapes.so"
INPUT_BYTES, FORMAT_BYTES = 1024, 32
BESIDE, BESIDE_NAME = 1024, 512
TENSORS, EXTENTS, JSON_BYTES, READ_BYTES = 1024, 32, MIB, 32 * MIB


def refused(wire, name, upload, **options):
    with pytest.raises(Failure) as failure:
        wire.ask("module.load", name, upload, options)
    return failure.value


@pytest.mark.parametrize("key, text, why", [
    ("format", "f" * (FORMAT_BYTES + 1), "expected a name such as onnx"),
    ("input", ":".join(f"{'x' * 100}{i:03}=float32[1]" for i in range(9)),
     f"expected at most {INPUT_BYTES} in all"),
], ids=["format", "input"])
def test_so_much_is_said_of_a_model(arena, key, text, why):
    wire, raw = arena.connect(), RELU.read_bytes()
    failure = refused(wire, "wordy", wire.upload(raw), **{key: text})
    assert failure.name == "BAD_REQUEST" and why in failure.message, failure
    assert "wordy" not in [m["name"] for m in arena.victim().ask("module.list")]


def beside(wire, files):
    """The upload of a model with empty pages for as many files; what module.load is told of them."""
    raw = RELU.read_bytes()
    at = len(raw)
    for _, n in files:
        at = (at + PAGE - 1) // PAGE * PAGE + n
    upload = wire.upload(raw + bytes(at - len(raw)))
    return upload, {"model": len(raw), "files": [list(f) for f in files]}


def test_so_many_files_are_beside_a_model(arena):
    wire = arena.connect()
    many = [(f"w{i}", 1) for i in range(BESIDE + 1)]
    upload, told = beside(wire, many[:-1])
    wire.ask("module.load", "many", upload, told)  # so many are taken, though it names none
    wire.ask("module.unload", "many")
    upload, told = beside(wire, many)
    failure = refused(wire, "many", upload, **told)
    assert failure.name == "TOO_LARGE" and f"more than {BESIDE}" in failure.message
    upload, told = beside(wire, [("w" * (BESIDE_NAME + 1), 1)])
    failure = refused(wire, "many", upload, **told)
    assert failure.name == "BAD_REQUEST" and f"at most {BESIDE_NAME} bytes" in failure.message
    assert arena.victim().ask("ping") is None


@pytest.fixture(scope="module")
def over_http():
    import arena as arenas

    with arenas.Arena("--http", "127.0.0.1:0", "--max-json", str(JSON_BYTES),
                      modules={"shapes": SHAPES}) as a:
        a.daemon.hosts.append(a.daemon._line().partition(" ")[2])
        yield a


def tensor(name="A", shape=(3,), data=(0, 0, 0), **more):
    it = {"name": name, "datatype": "FP32", "shape": list(shape)} | more
    return it if data is None else it | {"data": list(data)}


WORDY = {
    "inputs": ({"inputs": [tensor(f"A{i}") for i in range(TENSORS + 1)]},
               f"inputs: expected an array of at most {TENSORS}"),
    "outputs": ({"inputs": [tensor()], "outputs": [{"name": f"B{i}"} for i in range(TENSORS + 1)]},
                f"outputs: expected an array of at most {TENSORS}"),
    "extents": ({"inputs": [tensor(shape=[1] * (EXTENTS + 1), data=[0])]},
                f"its shape has over {EXTENTS} extents"),
    "elements": ({"inputs": [tensor(shape=[MIB + 1], data=[0])]}, "fewer data than its shape says"),
    "bytes": ({"inputs": [tensor(shape=[1 << 40], data=None,
                                 parameters={"binary_data_size": 1 << 42})]},
              "its shape has more bytes than a request may have"),
    "answer": ({"inputs": [tensor(shape=[400_000], data=[9] * 400_000)]},
               f"more than the {JSON_BYTES} bytes of JSON of --max-json"),
}


@pytest.mark.parametrize("what", WORDY)
def test_so_much_is_asked_as_json(over_http, what):
    """The text names what there was too much of, and the visit goes on."""
    asked, why = WORDY[what]
    with Visit(over_http.daemon) as visit, over_http.growth(24 * MIB):
        text = json.dumps(asked, separators=(",", ":")).encode()
        status, said = ask_json(visit, "/v2/models/shapes:addone/infer", "POST", text)
        assert status == 400 and why in said["error"], said
        good = {"inputs": [tensor(data=[1, 2, 3])]}
        status, said = ask_json(
            visit, "/v2/models/shapes:addone/infer", "POST", json.dumps(good).encode())
        assert status == 200 and said["outputs"][0]["data"] == [2, 3, 4]


def test_a_text_of_json_is_so_long(over_http):
    """With its tensors behind it a body may be longer, but not its JSON."""
    before = over_http.state()
    text = json.dumps({"inputs": [], "id": "x" * JSON_BYTES}).encode()
    with Visit(over_http.daemon) as visit, over_http.growth(4 * MIB):
        status, _, said = visit.ask(
            "/v2/models/shapes:addone/infer",
            f"Content-Length: {len(text)}\r\nInference-Header-Content-Length: {len(text)}\r\n",
            "POST", text)
        assert status in (400, 413), said
    over_http.expect_as_before(before)


@pytest.mark.parametrize("text", [
    b'{"inputs":[%s]}' % b",".join([b"{}"] * 300_000),
    b'{"inputs":%s' % (b"[" * 500_000),
    b'{"parameters":{%s}}' % b",".join(b'"%d":0' % i for i in range(90_000)),
    b'{"inputs":[{"data":[%s]}]}' % b",".join([b"[]"] * 300_000),
], ids=["objects", "brackets", "keys", "lists"])
def test_json_that_is_no_request_takes_so_much(over_http, text):
    """Two are parsed at a time, however many have come; the bodies of all are there."""
    before = over_http.state()
    head = b"POST /v2/models/shapes:addone/infer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n"
    with over_http.growth(2 * READ_BYTES + 8 * len(text)):
        visits = [Visit(over_http.daemon) for _ in range(8)]
        for visit in visits:
            visit.say(head % len(text) + text)
        assert [visit.answer()[0] for visit in visits] == [400] * 8
        for visit in visits:
            visit.socket.close()
    over_http.expect_as_before(before)


def test_values_of_a_call_come_back_as_they_went(over_http):
    """What the others were refused for is no more than the bound."""
    x = np.arange(JSON_BYTES // 16, dtype="float32")
    with Visit(over_http.daemon) as visit:
        asked = {"inputs": [tensor(shape=[len(x)], data=x.astype(int).tolist())]}
        status, said = ask_json(
            visit, "/v2/models/shapes:addone/infer", "POST", json.dumps(asked).encode())
    assert status == 200 and np.array_equal(said["outputs"][0]["data"], x + 1)

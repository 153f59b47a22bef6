"""daemon/worker/CHANNEL.md names what supervisor and workers say to each other: all of it, and
nothing else. A stand-in for the worker records the bytes of a session that makes every message.
"""
import re
import struct
import sys

import direct
import harness
import msgpack
import numpy as np
import pytest
import toy
import test_external_data
from onnx_writer import floats, model, node, tensor, value
from test_static_graph_serving import relu
from wire import DTYPE, MAGIC, Wire, out, shape_ext

DOCUMENT = (harness.ROOT / "daemon/worker/CHANNEL.md").read_text()
FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))
PAGE = 4096  # at which a file beside a model begins
CANCELS = 1000  # of one request
KINDS = ("request", "response", "notification")
# They need a module of more functions than a frame holds, and one of a device that is not here.
NOT_RECORDED = {"left_out", "refusal"}


def rows(heading):
    """The table below @heading: [cell, ...] of each row."""
    section = DOCUMENT.partition(f"# {heading}\n")[2].partition("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    assert lines, f"CHANNEL.md has no table below {heading}"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def keys(heading):
    return {row[0].strip("`") for row in rows(heading)}


def bodies(data):
    """The bodies of the frames in @data; what was cut off by the end is left out."""
    while len(data) >= 16:
        assert data[:4] == MAGIC
        body_bytes, payload_bytes = struct.unpack("<IQ", data[4:16])
        assert payload_bytes == 0, "tensors are in segments"
        if len(data) < 16 + body_bytes:
            return
        yield msgpack.unpackb(data[16 : 16 + body_bytes], strict_map_key=False)
        data = data[16 + body_bytes :]


def load_with_a_file(wire, folder):
    """A model and the file that it names, which begins at a page."""
    raw = test_external_data.write(folder).read_bytes()
    data = test_external_data.write_data(folder / "w.bin").read_bytes()
    upload = raw + bytes(-len(raw) % PAGE) + data
    wire.load("beside", upload, model=len(raw), files=[["w.bin", len(data)]])


def product():
    """A model whose packed weights are large enough for its workers to share them."""
    ends = [value("x", "float32", [1, 64])], [value("y", "float32", [1, 128])]
    return model([node("MatMul", ["x", "w"], ["y"])], *ends, constants=[tensor("w", floats(64, 128))])


def use_everything(daemon, mlp, model):
    """One request or notification of each kind, with each option."""
    x = np.ones((3, 16), "f4")
    with Wire(daemon.host) as wire:
        wire.load("zoo", (harness.ZOO / "faults.so").read_bytes())
        wire.load("mlp", mlp.read_bytes(), device="cpu", era="ffi", tvm_inputs=True, batch=2,
                  within_ms=10000)
        wire.load("net", model.read_bytes(), fill="zero", format="tmfile",
                  input="x=float32[2,3]")
        load_with_a_file(wire, model.parent)
        wire.load("two", product(), workers=2)
        wire.load("toy", b"toy 2.5 4\n", outputs="y", signature="twice", engine="native", threads=2)
        wire.call("mlp:main", x, names=["x"], device="cpu", deadline_ms=harness.LONG_MS,
                  trace=True)
        ids = [wire.start("call", "mlp:main", x[:1]) for _ in range(2)]
        [wire.finish(id) for id in ids]
        wire.ask("module.plan", "net", {"from": 0})
        wire.ask("module.profile", "net:run", np.ones((2, 3), "f4"))
        one = wire.ask("module.instance", "mlp")
        wire.call("mlp:set_input", "main", x, instance=one)
        wire.ask("instance.free", one)
        use_objects(wire)
        there = wire.ask("tensor.alloc", "mlp", FLOAT32, shape_ext(3))
        wire.ask("tensor.fill", there, 1)
        wire.ask("tensor.copy", there, out("f4", 3))
        wire.ask("tensor.free", there)
        wire.call("mlp:main", x)  # behind it nothing of the above is still to be sent
        for _ in range(17):  # the last has the number of the first, whose end was told
            with direct.open_direct(wire, "zoo") as channel:
                channel.call("zoo:ok")
        with harness.Gate() as gate:
            held = wire.start("call", "zoo:gate", gate.path)
            gate.entered()
            behind = wire.start("call", "zoo:slow", harness.FOREVER_MS)
            for _ in range(CANCELS):
                wire.start("cancel", behind)
            wire.ask("ping")
            gate.open()
            wire.finish(held)


def use_objects(wire):
    wire.load("objects", (harness.ZOO / "objects.so").read_bytes())
    wire.ask("session.hello", {"objects": True})
    adder = wire.call("objects:adder", 3)[1]
    wire.call(adder, 4)
    wire.ask("object.describe", adder)
    wire.ask("object.free", adder)
    wire.call("objects:adders")  # behind it nothing is still to be sent


@pytest.fixture(scope="module")
def recorded(models, tmp_path_factory):
    """[(to the worker, body)] of all that was said, a worker's frames in order."""
    folder = tmp_path_factory.mktemp("channel")
    tap = folder / "worker"
    script = harness.ROOT / "tests/e2e/channel_tap.py"
    words = (sys.executable, script, harness.BIN / "modserd-worker", folder)
    tap.write_text("#!/bin/sh\nexec " + " ".join(f"'{w}'" for w in words) + ' "$@"\n')
    tap.chmod(0o755)
    words = ("--plugin", toy.build(folder), "--may-read", folder)
    with direct.Daemon(*words, env={"MODSERD_WORKER": str(tap)}) as daemon:
        use_everything(daemon, models / "mlp.so", relu(folder))
    files = [*folder.glob("*.down"), *folder.glob("*.up")]
    assert len(files) == 16, "six modules of one worker and one of two, both ways"
    return [(f.suffix == ".down", body) for f in files for body in bodies(f.read_bytes())]


def opened(recorded):
    """Params and results of all worker.open, the first request of each channel."""
    asked = [b for down, b in recorded if down and b[0] == 0 and b[2] == "worker.open"]
    first = {b[1] for b in asked}
    answered = [b[3] for down, b in recorded if not down and b[0] == 1 and b[1] in first]
    assert len(first) == 1 and len(asked) == len(answered) == 8
    return [b[3][0] for b in asked], answered


def test_the_messages_are_those_that_are_sent(recorded):
    said = {(b[2 if b[0] == 0 else 1], KINDS[b[0]], down) for down, b in recorded if b[0] != 1}
    written = set()
    for name, kind, *_ in rows("Messages"):
        for down in (True, False) if "both ways" in kind else (True,):
            written.add((name.strip("`"), re.match(r"\w+", kind)[0], down))
    resume = ("worker.resume", "request", True)  # tests/e2e/test_keep_workers.py has it sent
    assert said | {resume} == written


def test_a_request_is_cancelled_once_however_often_its_client_says_so(recorded):
    assert len([b for down, b in recorded if down and b[0] == 2 and b[1] == "cancel"]) == 1


def test_what_is_asked_is_answered_by_the_worker_alone(recorded):
    assert not [b for down, b in recorded if down == (b[0] == 1) and b[0] != 2]


def test_the_keys_of_worker_open_are_those_that_are_sent(recorded):
    params, results = opened(recorded)
    assert set().union(*params) == keys("worker.open params")
    assert set().union(*results) == keys("worker.open result") - NOT_RECORDED


def test_the_keys_of_functions_are_those_that_are_sent(recorded):
    functions = [f for r in opened(recorded)[1] for f in r["functions"]]
    assert set().union(*functions) == keys("Functions") - NOT_RECORDED
    params = [p for f in functions for p in f.get("params", ())]
    (written,) = (row[1] for row in rows("Functions") if row[0] == "`params`")
    assert set().union(*params) == set(re.findall(r'"(\w+)"', written))


def test_the_method_table_has_the_same_keys_of_worker_open():
    api = harness.run(harness.BIN / "modserd", "--api").out.splitlines()
    _, where, _, params, result = next(r for r in api if r.startswith("worker.open\t")).split("\t")
    assert where == "L"
    assert set(re.findall(r"\w+", params)) == keys("worker.open params")
    assert set(re.findall(r"\w+", result)) == keys("worker.open result")


def test_every_method_of_the_worker_is_a_message():
    api = harness.run(harness.BIN / "modserd", "--api").out.splitlines()
    for_workers = {m for m, where, *_ in (r.split("\t") for r in api)
                   if where in "WL" and not m.startswith("fetch.")}
    assert for_workers and for_workers <= keys("Messages")


def test_the_options_and_facts_are_those_that_are_sent(recorded):
    options = [set(b[4]) for down, b in recorded if down and b[0] == 0 and len(b) > 4]
    assert set().union(*options) == keys("Options of requests")
    meta = [set(b[4]) for down, b in recorded if not down and b[0] == 1 and len(b) > 4]
    assert set().union(*meta) == keys("Meta of responses")

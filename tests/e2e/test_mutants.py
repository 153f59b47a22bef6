"""Broken model files, each really loaded: sound ones with a few bytes changed, moved, left out or
doubled. A worker never dies of what its reader finds; what is refused has a code and a text that
names the file; what can be loaded is called; nothing is left behind. MSD_MUTANTS says how many of
each format (the whole runs under the label slow), MSD_SEED which."""
import os
import random
import struct
import sys

import harness
import numpy as np
import pytest
from wire import Failure, Wire

CORPUS = harness.ROOT / "tests" / "corpus"
MANY = int(os.environ.get("MSD_MUTANTS", "100"))
SEED = int(os.environ.get("MSD_SEED", random.SystemRandom().randrange(1 << 32)))
AT_ONCE = 4
LARGEST = 1 << 16
DTYPES = {"bool", "float16", "float32", "float64", *(  # numpy has not all of a model's
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))}
# NO_MEMORY: of a network whose run takes terabytes.
REFUSED = {"BAD_ARTIFACT", "UNSUPPORTED", "TOO_LARGE", "NOT_FOUND", "NO_SPACE", "NO_MEMORY"}
FAILED = REFUSED | {"BAD_ARGUMENT", "CALL_FAILED", "DEADLINE_EXCEEDED"}
WORDS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]


def sound(kind):
    files = sorted((CORPUS / kind).glob("accept_*.bin"))
    return [f.read_bytes() for f in files if f.stat().st_size < LARGEST]


def mutant(rng, files):
    raw = bytearray(rng.choice(files))
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(raw)) if raw else 0
        n = rng.choice([1, 2, 4, 8, 16, 64])
        kind = rng.randrange(7)
        if kind == 0:
            raw[at:at + 1] = bytes([raw[at] ^ 1 << rng.randrange(8)]) if raw else b"\0"
        elif kind == 1:
            raw[at:at + 1] = bytes([rng.randrange(256)])
        elif kind == 2:
            raw[at:at + 4] = struct.pack("<I", rng.choice(WORDS))
        elif kind == 3:
            del raw[at:at + n]
        elif kind == 4:
            raw[at:at] = raw[at:at + n]
        elif kind == 5:
            there = rng.randrange(len(raw)) if raw else 0
            raw[at:at + n] = raw[there:there + n]
        else:
            del raw[at:at + (n if rng.random() < 0.8 else len(raw))]
    return bytes(raw)


def zeros_for(function):
    """An argument for each input; None: numpy has none, or more than a test has time for."""
    arrays = []
    for p in function["params"]:
        shape = [n if isinstance(n, int) and n >= 0 else 1 for n in p.get("shape") or []]
        if p.get("dtype", "float32") not in DTYPES or np.prod(shape, dtype=float) > LARGEST:
            return None
        arrays.append(np.zeros(shape, p.get("dtype", "float32")))
    return arrays


def expect_clear(error, codes, raw):
    assert error.name in codes and len(error.message) > 10, (error, raw.hex())


def call(wire, name, raw):
    arrays = zeros_for(wire.ask("function.list", name)[0])
    if arrays is None:
        return
    try:
        wire.call(f"{name}:run", *arrays, deadline_ms=2000)
    except Failure as error:
        expect_clear(error, FAILED, raw)


def settle(wire, load, raw, counts):
    """What came of one load."""
    name, id = load
    try:
        wire.finish(id)
    except Failure as error:
        expect_clear(error, REFUSED, raw)
        assert "upload: " in error.message or "the upload" in error.message, (error, raw.hex())
        counts["refused"] += 1
        return
    counts["served"] += 1
    call(wire, name, raw)
    wire.ask("module.unload", name)


@pytest.mark.parametrize("kind", ["onnx", "tmfile"])
def test_a_broken_model_costs_nothing_but_its_load(own_daemon, kind):
    daemon = own_daemon("--max-memory", "256M")
    rng = random.Random(f"{SEED} {kind}")
    print(f"MSD_SEED={SEED} MSD_MUTANTS={MANY}", file=sys.stderr)
    files, counts, waiting = sound(kind), {"refused": 0, "served": 0}, []
    with Wire(daemon.host) as wire:
        for i in range(MANY):
            # Some are whole: of a hundred broken ones all may be refused, one time in sixty.
            raw = rng.choice(files) if i % 25 == 0 else mutant(rng, files) or b"\0"
            name = f"m{i}"
            how = {"format": kind, "fill": "zero"} if i % 2 else {"fill": "zero"}
            id = wire.start("module.load", name, wire.upload(raw), how)
            waiting.append(((name, id), raw))
            if len(waiting) == AT_ONCE:
                settle(wire, *waiting.pop(0), counts)
        for load, raw in waiting:
            settle(wire, load, raw, counts)
        assert wire.ask("module.list") == []
    harness.until(lambda: not daemon.workers(), "no worker is left")
    assert counts["refused"] > 0 and counts["served"] > 0, counts
    print(counts, file=sys.stderr)

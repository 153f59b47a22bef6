"""What a server sends that a pull asks, and what the store keeps of it, is so much and no more."""
import hashlib
import json
import pathlib
import random
import shlex
import sys

import harness
import pytest
from bad_server import Server, cut
from signing import MINISIGN, Key, manifest, row
from test_pull import FETCH
from wire import Failure, Wire

MIB = 1 << 20
RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
DATA = RESULTS.read_bytes() if RESULTS.exists() else b""
BAD, VERSIONS, SIGNATURES = 64, 4096, 16
LEAST_SAVED = MIB

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")
needs_minisign = pytest.mark.skipif(MINISIGN is None, reason="no minisign: nothing is signed")


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def puller(own_arena, folder):
    """puller(word...): a daemon with a store."""
    def start(*words):
        return own_arena("--store", folder / "store", "--fetch-retry", "1ms", *words)

    return start


def give(server, text, *signatures):
    server.give("/one.so.json", text)
    if signatures:
        server.give("/one.so.json.minisig", b"".join(signatures))
    return server.give("/one.so", DATA)


def fields(**more):
    return json.loads(manifest(row("one.so", DATA))) | more


def cases_of(n, elements=1):
    tensor = {"dtype": "uint8", "shape": [elements], "base64": "AAAA" * (elements // 3 + 1)}
    if elements % 3:
        tensor["base64"] = "AAAA" * (elements // 3) + {1: "AA==", 2: "AAA="}[elements % 3]
    return [{"function": "int", "inputs": [tensor], "outputs": []}] * n


def brackets(n):
    """A key that nobody knows, of so many brackets in each other."""
    return manifest(row("one.so", DATA), more=json.loads("[" * n + "]" * n))


LIAR = pathlib.Path(__file__).parent / "lying_fetch.py"


def test_an_answer_of_many_objects_ends_who_gave_it(own_arena, folder):
    """It is counted and not taken apart: what that would take is not there afterwards."""
    program = folder / "fetch"
    program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(LIAR))}\n")
    program.chmod(0o755)
    arena = own_arena("--store", folder / "store", env={"MODSERD_FETCH": str(program)})
    said = arena.daemon.modser("pull", "one", "http://127.0.0.1:1/one.so")
    assert said.status != 0 and "more than 128 objects" in said.err, said
    assert arena.victim().ask("ping") is None


LARGE = {
    "bytes": (manifest(row("one.so", DATA)) + b" " * MIB, "over the limit of 1048576"),
    "brackets": (brackets(9), "brackets"),
    "values": (json.dumps(fields(more=[0] * 300_000), separators=(",", ":")).encode(), "values"),
    "files": (manifest(*[row(f"f{i}.so", DATA) for i in range(17)]), "16"),
    "tests": (json.dumps(fields(tests=cases_of(65))).encode(), "64"),
    "tensors": (json.dumps(fields(tests=cases_of(2, 300 << 10))).encode(), "tests"),
}


@pytest.mark.parametrize("what", LARGE)
def test_a_manifest_is_so_large(puller, server, what):
    """What it is too large in is named, nothing is loaded, and the daemon has not grown by it."""
    text, why = LARGE[what]
    arena = puller()
    before = arena.state()
    with arena.growth(4 * MIB):
        said = arena.daemon.modser("pull", "one", give(server, text))
        assert said.status != 0 and why in said.err, said
    assert arena.victim().ask("module.list") == []
    arena.connections.close()
    arena.expect_as_before(before)


@needs_minisign
def test_so_many_signatures_are_of_a_manifest(puller, server, folder):
    key = Key(folder)
    text = manifest(row("one.so", DATA))
    signature = key.sign(text)
    arena = puller("--trust", key.public)
    said = arena.daemon.modser("pull", "one", give(server, text, *[signature] * (SIGNATURES + 1)))
    assert said.status == 7 and str(SIGNATURES) in said.err, said
    arena.daemon.ok("pull", "one", give(server, text, signature))


@needs_minisign
def test_so_many_signed_versions_are_remembered(puller, server, folder):
    """The store has been told of as many as it keeps: a module more is not taken, one of those is."""
    key = Key(folder)
    arena = puller("--trust", key.public)
    arena.daemon.ok("pull", "one", give(server, *signed(key, "one")))
    arena.daemon.stop()
    path = folder / "store" / "versions"
    lines = path.read_text().splitlines()
    assert lines[-1] == f"one {key.id} 1"
    lines += [f"m{i} {key.id} 1" for i in range(VERSIONS - 1)]
    path.write_text("\n".join(lines) + "\n")
    again = puller("--trust", key.public)
    said = again.daemon.modser("pull", "two", give(server, *signed(key, "two")))
    assert said.status != 0 and "NO_SPACE" in said.err and str(VERSIONS) in said.err, said
    again.daemon.ok("pull", "one", give(server, *signed(key, "one", 2)))
    assert again.victim().call("one:int")[1] == -42


def signed(key, name, version=1):
    text = manifest(row("one.so", DATA), name=name, version=version)
    return text, key.sign(text)


def test_what_came_of_pulls_that_broke_off_is_so_much(puller, server, folder):
    """Each leaves two megabytes; the store keeps five of all, the latest."""
    arena = puller("--max-upload-size", 5 * MIB)
    for i in range(5):
        data = DATA + random.Random(i).randbytes(3 * MIB)
        sha256 = hashlib.sha256(data).hexdigest()
        uri = server.give(f"/{i}.so", data, *[cut(2 * MIB)] * 2, cut(2 * MIB))
        said = arena.daemon.modser("pull", "one", uri, "--sha256", sha256)
        assert said.status != 0, said
        kept = {f.name: f.stat().st_size for f in (folder / "store" / "arriving").iterdir()}
        assert kept[sha256] >= LEAST_SAVED and sum(kept.values()) <= 5 * MIB, kept


def test_a_source_is_asked_so_often(folder):
    """More often than it may be the daemon does not even start."""
    (folder / "m.conf").write_text("module m { source = 'http://127.0.0.1:1/m.so'  poll = 4s }\n")
    with pytest.raises(AssertionError, match="poll 4s: expected 5s or more"):
        harness.Daemon("--config", folder / "m.conf", "--store", folder / "store")


def editions(folder):
    said = harness.run(harness.BIN / "modser", "--json", "store", "ls", "-C", folder / "store")
    return [e["ref"] for e in json.loads(said.out) if e["ref"] != "bad"]


def test_the_store_has_so_many_editions_and_digests_that_are_bad(puller, folder):
    """70 that fail their test, between good ones: of those the last two are kept."""
    arena = puller()
    wrong = [{"function": "int", "inputs": [], "outputs": [
        {"dtype": "float32", "shape": [1], "data": b"\1\1\1\1"}]}]
    with Wire(arena.host) as wire:
        wire.load("one", DATA, keep=True)
        for i in range(BAD + 6):
            with pytest.raises(Failure, match="self-test 0"):
                wire.load("one", DATA + b"%d" % i, keep=True, replace=True, tests=wrong)
        for i in range(3):
            wire.load("one", DATA + b"good %d" % i, keep=True, replace=True)
        record = (folder / "store" / "modules" / "one").read_text().splitlines()
        bad = [line.split()[1] for line in record if line.startswith("bad ")]
        first, last = (hashlib.sha256(DATA + b"%d" % i).hexdigest() for i in (0, BAD + 5))
        assert wire.call("one:int")[1] == -42
    assert len(bad) <= BAD and set(editions(folder)) <= {"current", "previous", "candidate"}
    assert first not in bad and last in bad

"""A fetch that was broken off is gone on with: by another fetch, by another daemon, and only where
what came of it is the beginning of what is wanted."""
import contextlib
import hashlib
import os
import random
import signal

import harness
import pytest
from bad_server import Server, cut, etag, head, range_of, whole
from registry import digest_of, manifest
from wire import Wire

FETCH = harness.BIN / "modserd-fetch"
RESULTS = harness.ZOO / "results.so"
# What follows a library's sections is nobody's.
BYTES = (RESULTS.read_bytes() if RESULTS.exists() else b"") + random.Random(5).randbytes(5 << 20)
SHA256 = hashlib.sha256(BYTES).hexdigest()
SOME = 3 << 20

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


def held_at(stop):
    """Sends what is asked for up to byte @stop, then nothing, until the client hangs up."""

    def answer(request, data):
        start = range_of(request)
        head(request, 206 if start else 200, len(data) - start, ("ETag", etag(data)),
             ("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}"))
        request.wfile.write(data[start:stop])
        request.wfile.flush()
        with contextlib.suppress(OSError):
            request.connection.recv(1)
        request.close_connection = True

    return answer


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def daemon(own_daemon, tmp_path):
    """daemon(): the next one of the same store."""
    return lambda *words: own_daemon("--store", tmp_path / "store", "--fetch-retry", "5ms", *words)


def pull_until(wire, bytes_, name, uri, **more):
    """Begin to pull; until so many bytes have come."""
    wire.start("module.pull", name, uri, {"progress": True} | more)
    while True:
        body = wire.receive()
        assert body[0] == 2, body
        if body[1] == "module.progress" and body[2][1] >= bytes_:
            return


def ranges(server, path):
    return [headers.get("Range") for at, headers in server.asked if at == path]


def arriving(tmp_path):
    return [f.stat().st_size for f in (tmp_path / "store/arriving").iterdir()]


def works(daemon, name):
    return daemon.ok("call", f"{name}:int").out == "-42\n"


def test_the_next_daemon_goes_on_where_the_last_one_ended(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, held_at(SOME), whole)
    first = daemon()
    with Wire(first.host) as wire:
        pull_until(wire, SOME, "a", uri, sha256=SHA256)
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(harness.PATIENCE) == 0
    harness.until(lambda: arriving(tmp_path) == [SOME], "what came is saved")
    second = daemon()
    second.ok("pull", "a", uri, "--sha256", SHA256)
    assert ranges(server, "/a.so") == [None, f"bytes={SOME - 1}-"]
    assert works(second, "a") and arriving(tmp_path) == []


def test_the_next_pull_goes_on_where_one_was_given_up(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, cut(SOME), *[cut(SOME + n) for n in range(1, 20)])
    puller = daemon()
    said = puller.modser("pull", "a", uri, "--sha256", SHA256)
    assert said.status != 0 and "IO" in said.err
    (size,) = arriving(tmp_path)
    assert size > SOME
    server.give("/a.so", BYTES)
    puller.ok("pull", "a", uri, "--sha256", SHA256)
    assert ranges(server, "/a.so")[-1] == f"bytes={size - 1}-"
    assert works(puller, "a") and arriving(tmp_path) == []


def test_an_unload_ends_a_pull(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, held_at(SOME), held_at(SOME), whole)
    puller = daemon()
    for others in (0, 1):  # the first pull, and one of a module that is there
        with Wire(puller.host) as wire:
            pull_until(wire, SOME, "a", uri, sha256=SHA256)
            puller.ok("unload", "a")
            while (body := wire.receive())[0] == 2:
                continue
            assert body[2][1] == "CANCELLED" and "unloaded" in str(body[2]), body
        harness.until(lambda: arriving(tmp_path) == [SOME], "what came is saved")
        assert puller.ok("ls").out == ""
        (tmp_path / "store/arriving" / SHA256).unlink()
        if others == 0:
            puller.ok("load", "a", RESULTS)
    puller.ok("pull", "a", uri, "--sha256", SHA256)
    assert works(puller, "a")


def test_one_that_nobody_waits_for_any_more_is_saved(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, held_at(SOME), whole)
    puller = daemon()
    with Wire(puller.host) as wire:
        pull_until(wire, SOME, "a", uri, sha256=SHA256)
    harness.until(lambda: arriving(tmp_path) == [SOME], "what came is saved")
    puller.ok("pull", "b", uri, "--sha256", SHA256)
    assert ranges(server, "/a.so")[1:] == [f"bytes={SOME - 1}-"]


def test_a_fetch_that_is_killed_costs_less_than_a_mebibyte(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, held_at(SOME), whole)
    puller = daemon()
    with Wire(puller.host) as wire:
        pull_until(wire, SOME, "a", uri, sha256=SHA256)
        (fetch,) = [p for p in harness.children(puller.pid) if not harness.is_worker(p)]
        os.kill(fetch, signal.SIGKILL)
        harness.until(lambda: "event=module_pull name=a why=" in puller.log(), "the pull has failed")
    puller.ok("pull", "a", uri, "--sha256", SHA256)
    (_, asked) = ranges(server, "/a.so")
    assert SOME - (1 << 20) < int(asked.removeprefix("bytes=").removesuffix("-")) < SOME
    assert works(puller, "a") and arriving(tmp_path) == []


@pytest.mark.parametrize("damage", ["a bit", "zeros", "longer"])
def test_what_was_damaged_on_the_disk_is_fetched_again(daemon, server, tmp_path, damage):
    uri = server.give("/a.so", BYTES)
    puller = daemon()
    there = bytearray(BYTES[:SOME])
    if damage == "a bit":
        there[SOME // 2] ^= 1
    elif damage == "zeros":
        there[SOME // 2:] = bytes(SOME - SOME // 2)
    else:
        there = BYTES + b"\0"
    (tmp_path / "store/arriving" / SHA256).write_bytes(there)
    puller.ok("pull", "a", uri, "--sha256", SHA256)
    assert ranges(server, "/a.so") == [f"bytes={len(there) - 1}-", None]
    assert works(puller, "a") and arriving(tmp_path) == []


def test_a_wrong_file_is_refused_and_not_kept(daemon, server, tmp_path):
    wrong = BYTES[:-1] + bytes([BYTES[-1] ^ 1])
    uri = server.give("/a.so", wrong)
    puller = daemon()
    for _ in range(2):
        said = puller.modser("pull", "a", uri, "--sha256", SHA256)
        assert said.status == 7 and "NOT_VERIFIED" in said.err
        assert arriving(tmp_path) == []
    assert ranges(server, "/a.so") == [None, None]


def test_of_a_file_whose_hash_nobody_knows_nothing_is_saved(daemon, server, tmp_path):
    uri = server.give("/a.so", BYTES, held_at(SOME), whole)
    puller = daemon()
    with Wire(puller.host) as wire:
        pull_until(wire, SOME, "a", uri)
    puller.ok("pull", "b", uri)
    assert ranges(server, "/a.so") == [None, None]


def test_a_blob_of_a_registry_is_gone_on_with(daemon, server, tmp_path):
    body = manifest(BYTES)
    uri = server.give("/v2/m/manifests/1", body)
    blob = f"/v2/m/blobs/{digest_of(BYTES)}"
    server.give(blob, BYTES, held_at(SOME), whole)
    uri = uri.replace("http://", "oci://").replace("/v2/m/manifests/1", "/m:1")
    first = daemon()
    with Wire(first.host) as wire:
        pull_until(wire, SOME, "a", uri)
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(harness.PATIENCE) == 0
    second = daemon()
    second.ok("pull", "a", uri)
    assert ranges(server, blob) == [None, f"bytes={SOME - 1}-"]
    assert works(second, "a") and arriving(tmp_path) == []


def test_the_store_counts_it_and_gives_it_up_first(daemon, tmp_path):
    puller = daemon()
    (tmp_path / "store/arriving" / SHA256).write_bytes(BYTES[:SOME])
    puller.ok("store", "prune")
    assert arriving(tmp_path) == []


def test_a_store_that_is_full_of_it_takes_another_module(daemon, server, tmp_path):
    puller = daemon("--max-store", str(len(BYTES) + SOME))
    (tmp_path / "store/arriving" / ("0" * 64)).write_bytes(bytes(SOME + 1))
    puller.ok("pull", "a", server.give("/a.so", BYTES))
    assert works(puller, "a") and arriving(tmp_path) == []

"""Modules that the daemon gets by itself, from servers of every kind."""
import hashlib
import os
import pty
import select
import shutil
import signal
import subprocess
import time

import harness
import pytest
from bad_server import (
    Server, cut, deaf, etag, flipped, hold, lying, redirect, slice_of, status, tagged, whole)
from wire import Failure, Wire

FETCH = harness.BIN / "modserd-fetch"
RESULTS = harness.ZOO / "results.so"
BYTES = RESULTS.read_bytes() if RESULTS.exists() else b""
SHA256 = hashlib.sha256(BYTES).hexdigest()

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    """Of one test: what is still to be answered of another would say `held` for it."""
    with Server() as s:
        yield s


@pytest.fixture
def store(folder):
    return folder / "store"


@pytest.fixture
def puller(own_daemon, store):
    """A daemon that pulls, and does not rest long between two attempts."""
    return own_daemon("--store", store, "--fetch-retry", "5ms")


def asked(server, path):
    """The headers of the requests for @path, in their order."""
    return [headers for at, headers in server.asked if at.partition("?")[0] == path]


def works(daemon, name):
    return daemon.ok("call", f"{name}:int").out == "-42\n"


def fetchers(daemon):
    found = []
    for pid in daemon.processes():
        try:
            if os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "modserd-fetch":
                found.append(pid)
        except OSError:
            pass  # it has ended meanwhile
    return found


def test_a_file_is_served_and_served_again_after_a_restart(own_daemon, store):
    first = own_daemon("--store", store)
    first.ok("pull", "one", f"file://{RESULTS}")
    assert works(first, "one")
    first.stop()
    second = own_daemon("--store", store)
    second.ok("wait", "one")
    assert works(second, "one")


def test_what_a_web_server_has_is_served_with_its_options(puller, server):
    uri = server.give("/a.so", BYTES)
    puller.ok("pull", "--sha256", SHA256, "--workers", "2", "one", uri)
    assert works(puller, "one")
    with Wire(puller.host) as wire:
        assert wire.ask("module.describe", "one")["workers"] == 2
        assert wire.ask("module.list")[0]["file"] == "a.so"


def test_the_process_that_fetches_is_there_only_while_it_fetches(puller, server):
    assert not fetchers(puller)
    puller.ok("pull", "one", server.give("/a.so", BYTES))
    harness.until(lambda: not fetchers(puller), "it ends when nothing is left")


@pytest.mark.parametrize("words, why", [(("two",), "max-modules"),
                                        (("--workers", "9999", "one"), "max-workers")])
def test_what_the_limits_refuse_is_not_even_asked_for(own_daemon, store, server, words, why):
    daemon = own_daemon("--store", store, "--max-modules", "1")
    daemon.ok("pull", "one", f"file://{RESULTS}")
    said = daemon.modser("pull", *words, server.give("/a.so", BYTES))
    assert said.status != 0 and why in said.err
    assert not server.asked and works(daemon, "one")


def test_a_flipped_byte_is_refused_and_what_served_goes_on(puller, server):
    puller.ok("pull", "one", f"file://{harness.ZOO / 'faults.so'}")
    uri = server.give("/flipped.so", BYTES, flipped)
    said = puller.modser("pull", "--sha256", SHA256, "one", uri)
    assert said.status == 7 and "NOT_VERIFIED" in said.err
    assert uri in said.err and SHA256 in said.err
    with Wire(puller.host) as wire:
        assert [m["state"] for m in wire.ask("module.list")] == ["READY"]
        assert wire.ask("module.describe", "one")["file"] == "faults.so"


def test_what_the_store_has_is_not_fetched_again(puller, server):
    puller.ok("pull", "one", server.give("/once.so", BYTES))
    gone = server.give("/gone.so", BYTES, status(404))
    puller.ok("pull", "--sha256", SHA256, "two", gone)
    assert works(puller, "two") and not asked(server, "/gone.so")
    with Wire(puller.host) as wire:
        assert [m["file"] for m in wire.ask("module.list")] == ["once.so", "gone.so"]


def test_what_is_damaged_in_the_store_is_fetched_again(puller, store, server):
    puller.ok("pull", "one", server.give("/mend.so", BYTES))
    blob = store / "sha256" / SHA256[:2] / SHA256
    blob.chmod(0o644)
    blob.write_bytes(BYTES[:-1] + bytes([BYTES[-1] ^ 1]))
    puller.ok("pull", "--sha256", SHA256, "one", server.uri("/mend.so"))
    assert len(asked(server, "/mend.so")) == 2
    assert blob.read_bytes() == BYTES


def test_a_cut_is_gone_on_with_where_it_was(puller, server):
    half = len(BYTES) // 2
    puller.ok("pull", "one", server.give("/cut.so", BYTES, cut(half), whole))
    first, second = asked(server, "/cut.so")
    assert "Range" not in first
    assert second["Range"] == f"bytes={half}-" and second["If-Range"] == etag(BYTES)
    assert works(puller, "one")


@pytest.mark.parametrize(
    "name, again",
    [("changed", tagged('"other"')), ("deaf", deaf), ("lying", lying), ("416", status(416))],
)
def test_the_rest_of_another_file_is_never_taken(puller, server, name, again):
    path = f"/{name}.so"
    steps = cut(1000), again, whole
    puller.ok("pull", "--sha256", SHA256, "one", server.give(path, BYTES, *steps))
    assert works(puller, "one")
    assert asked(server, path)[1]["Range"] == "bytes=1000-"


def test_a_part_that_nobody_asked_for_is_not_the_file(puller, server):
    uri = server.give("/part.so", BYTES, slice_of(100, asked=False))
    said = puller.modser("pull", "one", uri)
    assert said.status == 1 and "does not continue the same file" in said.err
    assert len(asked(server, "/part.so")) == 4


def test_a_rest_that_ends_before_the_file_does_is_gone_on_with(puller, server):
    steps = slice_of(1000), slice_of(500), whole
    puller.ok("pull", "one", server.give("/slices.so", BYTES, *steps))
    ranges = [headers.get("Range") for headers in asked(server, "/slices.so")]
    assert ranges == [None, "bytes=1000-", "bytes=1500-"]
    assert works(puller, "one")


def test_a_server_that_always_cuts_is_given_up(puller, server):
    uri = server.give("/always.so", BYTES, tagged('W/"weak"', 10))
    said = puller.modser("pull", "one", uri)
    assert said.status == 1 and uri in said.err
    assert len(asked(server, "/always.so")) == 4


def test_a_weak_tag_does_not_prove_that_it_is_the_same_file(puller, server):
    puller.ok("pull", "one", server.give("/weak.so", BYTES, tagged('W/"weak"', 10), whole))
    assert "Range" not in asked(server, "/weak.so")[1]


def test_a_redirect_loop_ends(puller, server):
    uri = server.give("/loop.so", BYTES, redirect("/loop.so"))
    said = puller.modser("pull", "one", uri)
    assert said.status == 1 and "redirected more than 5 times" in said.err
    assert len(asked(server, "/loop.so")) == 6


def test_a_redirect_is_followed_to_its_file_alone(puller, server):
    server.give("/there.so", BYTES)
    puller.ok("pull", "one", server.give("/here.so", BYTES, redirect("/there.so")))
    assert works(puller, "one")
    uri = server.give("/file.so", BYTES, redirect(f"file://{RESULTS}"))
    said = puller.modser("pull", "two", uri)
    assert said.status == 6 and "REFUSED" in said.err


def test_it_comes_again_when_the_server_says_not_now(puller, server):
    steps = status(503, ("Retry-After", "1")), whole
    began = time.monotonic()
    puller.ok("pull", "one", server.give("/later.so", BYTES, *steps))
    assert time.monotonic() - began >= 1
    assert len(asked(server, "/later.so")) == 2


@pytest.mark.parametrize("code, status_of", [(404, 4), (403, 6), (400, 1)])
def test_what_will_not_be_better_is_not_asked_for_again(puller, server, code, status_of):
    said = puller.modser("pull", "one", server.give(f"/{code}", BYTES, status(code)))
    assert said.status == status_of and str(code) in said.err
    assert len(asked(server, f"/{code}")) == 1


def test_a_server_that_stalls_is_given_up(own_daemon, store, server):
    daemon = own_daemon("--store", store, "--fetch-retry", "5ms", "--fetch-stall", "200ms")
    said = daemon.modser("pull", "one", server.give("/slow.so", BYTES, hold))
    assert said.status == 1 and "stalled" in said.err
    harness.until(lambda: len(asked(server, "/slow.so")) == 4, "it has asked as often as it may")


def test_what_is_announced_too_large_is_not_read(own_daemon, store, server):
    daemon = own_daemon("--store", store, "--max-upload-size", "1K")
    said = daemon.modser("pull", "one", server.give("/large.so", BYTES))
    assert said.status == 1 and "TOO_LARGE" in said.err and "max-upload-size" in said.err


def test_what_has_come_has_a_bound_of_memory(own_daemon, store, server):
    daemon = own_daemon("--store", store, "--max-upload-memory", "1K", "--fetch-retry", "5ms")
    for uri in (server.give("/large.so", BYTES), f"file://{RESULTS}"):
        said = daemon.modser("pull", "one", uri)
        assert said.status == 1 and "NO_SPACE" in said.err and "max-upload-memory" in said.err, said


def test_its_death_is_a_failed_pull_and_no_more(puller, server):
    uri = server.give("/held.so", BYTES, hold, whole)
    with Wire(puller.host) as wire:
        asking = wire.start("module.pull", "one", uri)
        assert server.http.held.wait(harness.PATIENCE)
        os.kill(fetchers(puller)[0], signal.SIGTERM)
        with pytest.raises(Failure, match="modserd-fetch died: signal TERM"):
            wire.finish(asking)
        wire.ask("module.pull", "one", uri)
    assert works(puller, "one")


def test_pulls_are_so_many_at_a_time(own_daemon, store, server):
    daemon = own_daemon("--store", store, "--max-pulls", "1")
    with Wire(daemon.host) as other:
        with Wire(daemon.host) as wire:
            wire.start("module.pull", "one", server.give("/held.so", BYTES, hold))
            assert server.http.held.wait(harness.PATIENCE)
            with pytest.raises(Failure, match="BUSY: .*1 pulls are the limit .max-pulls"):
                other.ask("module.pull", "two", f"file://{RESULTS}")

        def there_is_room():
            """As soon as the daemon has seen the first one's end."""
            try:
                return other.ask("module.pull", "two", f"file://{RESULTS}")["state"] == "READY"
            except Failure as failure:
                assert failure.name == "BUSY"
                return False

        harness.until(there_is_room, "it may pull")


def test_one_peer_leaves_pulls_for_the_next(own_daemon, store, server, folder):
    listen = [f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"]
    daemon = own_daemon("--store", store, "--max-pulls", "2", "--allow-load-tcp", "--pull-from",
                        server.uri("/"), listen=listen)
    one, other = (Wire.from_address(daemon.hosts[1], f"127.0.0.{i}") for i in (2, 3))
    with one, other:
        one.start("module.pull", "one", server.give("/held.so", BYTES, hold))
        assert server.http.held.wait(harness.PATIENCE)
        uri = server.give("/a.so", BYTES)
        with pytest.raises(Failure, match="BUSY: .*127.0.0.2: 1 pulls run already"):
            one.ask("module.pull", "two", uri)
        assert other.ask("module.pull", "two", uri)["state"] == "READY"


def test_nobody_waits_and_the_pull_ends(puller, server):
    with Wire(puller.host) as wire:
        wire.start("module.pull", "one", server.give("/left.so", BYTES, hold))
        assert server.http.held.wait(harness.PATIENCE)
    assert server.http.left.wait(harness.PATIENCE)
    harness.until(lambda: not fetchers(puller), "nobody fetches for nobody")


def test_a_deadline_ends_it(puller, server):
    with Wire(puller.host) as wire:
        asking = wire.start("module.pull", "one", server.give("/d", BYTES, hold), deadline_ms=200)
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED.*before all files were fetched"):
            wire.finish(asking)


def test_one_name_is_pulled_once_at_a_time(puller, server):
    uri = server.give("/twice.so", BYTES, hold)
    with Wire(puller.host) as wire:
        wire.start("module.pull", "one", uri)
        assert server.http.held.wait(harness.PATIENCE)
        with pytest.raises(Failure, match="EXISTS.*another pull"):
            wire.ask("module.pull", "one", uri)


@pytest.mark.parametrize(
    "uri, status_of, name",
    [
        ("http://example.org/a.so", 6, "REFUSED"),
        ("ftp://127.0.0.1/a.so", 1, "BAD_REQUEST"),
        ("https://user:secret@127.0.0.1/a.so", 1, "BAD_REQUEST"),
        ("file:///nonexistent.so", 4, "NOT_FOUND"),
        ("file:///dev/zero", 8, "BAD_ARTIFACT"),
        ("no uri", 2, "USAGE"),
    ],
)
def test_where_nothing_is_fetched_from(puller, uri, status_of, name):
    said = puller.modser("pull", "one", uri)
    assert said.status == status_of and name in said.err
    assert name == "USAGE" or "modser ls" not in said.err, "no module is looked for"
    assert "secret" not in said.err + puller.log()


def test_without_a_store_nothing_is_pulled(own_daemon):
    said = own_daemon().modser("pull", "one", f"file://{RESULTS}")
    assert said.status == 8 and "UNSUPPORTED" in said.err and "--store" in said.err


def test_a_terminal_sees_how_far_it_is(puller, server):
    uri = server.give("/shown.so", BYTES, hold, whole)
    ours, theirs = pty.openpty()
    command = [harness.BIN / "modser", "-H", puller.host, "pull", "one", uri]
    with harness.started(*command, stderr=theirs, stdout=subprocess.DEVNULL):
        os.close(theirs)
        said = b""
        while b"KiB" not in said:
            assert select.select([ours], [], [], harness.PATIENCE)[0]
            said += os.read(ours, 4096)
    os.close(ours)
    kib = len(BYTES) / 1024
    assert f"pull one: 0% of {kib:.{int(kib < 100)}f} KiB" in said.decode()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A server's certificate for 127.0.0.1, which is its own authority."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command: TLS not tested")
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "cert.pem", folder / "key.pem"
    made = harness.run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key)
    assert made.status == 0, made
    return certificate, key


def test_tls_is_checked_against_the_authorities(own_daemon, store, certificate):
    with Server(certificate) as server:
        uri = server.give("/a.so", BYTES)
        stranger = own_daemon("--store", store)
        said = stranger.modser("pull", "one", uri)
        assert said.status == 1 and "certificate" in said.err
        friend = own_daemon("--store", f"{store}2", env={"SSL_CERT_FILE": str(certificate[0])})
        friend.ok("pull", "one", uri)
        assert works(friend, "one")


def test_https_is_not_left_for_http(own_daemon, store, server, certificate):
    plain = server.give("/plain.so", BYTES)
    with Server(certificate) as secure:
        daemon = own_daemon("--store", store, env={"SSL_CERT_FILE": str(certificate[0])})
        uri = secure.give("/secure.so", BYTES, redirect(plain))
        said = daemon.modser("pull", "one", uri)
    assert said.status == 6 and "followed only to https" in said.err
    assert not asked(server, "/plain.so")

"""TLS listeners, with Python's ssl and openssl s_client at the other end."""
import contextlib
import pathlib
import socket
import ssl
import subprocess

import numpy as np
import pytest

import certs
import harness
from wire import Failure, Wire, frame, out

TLS = "tls://127.0.0.1:0"
FAR = ("20980101000000Z", "20990101000000Z")


@pytest.fixture(scope="module")
def tls(pki):
    """A daemon that asks for certificates; plain TCP and a unix socket beside it."""
    unix = f"unix:{pki.folder}/m.sock"
    with harness.Daemon(*pki.words(), listen=[TLS, "tcp://127.0.0.1:0", unix]) as d:
        with Wire(unix) as wire:
            wire.load("zoo", (harness.ZOO / "results.so").read_bytes())
        yield d


@pytest.fixture
def alice(tls, pki):
    with Wire(certs.connect(tls.host, certs.context(pki, pki.alice))) as wire:
        yield wire


def expect_logged(daemon, text, attempt=lambda: None):
    """@attempt is made again and again: of failed ones the log tells ten a second."""
    harness.until(lambda: attempt() or text in daemon.log(), f"{text!r} is in the log")


def expect_refused(daemon, ctx, alert, why):
    """The client is told @alert, the log says @why; TLS 1.3 tells when it reads at the latest."""

    def attempt():
        with pytest.raises(ssl.SSLError, match=alert):
            with Wire(certs.connect(daemon.host, ctx)) as wire:
                wire.ask("ping")

    expect_logged(daemon, why, attempt)


def test_who_shows_a_certificate_looks_up_and_calls(alice):
    assert alice.ask("ping") is None
    assert [m["name"] for m in alice.ask("module.list")] == ["zoo"]


def test_a_certificate_is_no_right_to_load(alice):
    with pytest.raises(Failure, match="REFUSED"):
        alice.load("more", b"no library")


def test_only_tls_1_3_is_spoken(alice):
    assert alice.socket.version() == "TLSv1.3"


def test_openssl_s_client_verifies_the_server(tls, pki):
    said = subprocess.run(
        ["openssl", "s_client", "-connect", tls.host.removeprefix("tls://"), "-CAfile", pki.cert,
         "-cert", pki.alice[0], "-key", pki.alice[1], "-verify_hostname", "localhost", "-brief"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=harness.PATIENCE,
    )
    assert "Verification: OK" in said.stderr and "TLSv1.3" in said.stderr, said.stderr


def test_many_frames_in_flight_are_all_answered(alice):
    ids = [alice.start("ping") for _ in range(500)]
    assert [alice.finish(id) for id in ids] == [None] * 500


def test_a_frame_may_come_in_records_of_one_byte(alice):
    for byte in frame([0, 1, "ping", []]):
        alice.send(bytes([byte]))
    assert alice.finish(1) is None


def test_tensors_come_whole_both_ways(own_daemon, pki, models):
    unix = f"unix:{pki.folder}/tensors.sock"
    daemon = own_daemon(*pki.words(ca=False), listen=[TLS, unix])
    daemon.load("shapes", models / "shapes.so", host=unix)
    x = np.arange(3_000_001, dtype="float32")
    with Wire(certs.connect(daemon.host, certs.context(pki))) as wire:
        (y,), _ = wire.call("shapes:addone", x, out("f4", x.size))
    assert (y == x + 1).all()


def test_a_stranger_without_a_certificate_is_refused(tls, pki):
    expect_refused(tls, certs.context(pki), "CERTIFICATE_REQUIRED", "sent no certificate")


def test_another_authority_is_refused(tls, pki):
    ctx = certs.context(pki, pki.other.issue("mallory"))
    expect_refused(tls, ctx, "UNKNOWN_CA", "unable to get local issuer certificate")


def test_an_expired_certificate_is_refused(tls, pki):
    ctx = certs.context(pki, pki.issue("late", days=-1))
    expect_refused(tls, ctx, "CERTIFICATE_EXPIRED", "certificate has expired")


def test_a_certificate_that_is_not_good_yet_is_refused(tls, pki):
    ctx = certs.context(pki, pki.issue_for("early", *FAR))
    expect_refused(tls, ctx, "BAD_CERTIFICATE", "certificate is not yet valid")


def test_thousands_of_names_are_refused(tls, pki):
    many = pki.issue("many", [f"DNS:n{i}.example" for i in range(2000)])
    expect_refused(tls, certs.context(pki, many), "ALERT", "more than 32 names")


def test_a_name_with_a_line_end_is_refused(tls, pki):
    odd = pki.issue("odd", subject="/CN=alice\nroot")
    expect_refused(tls, certs.context(pki, odd), "ALERT", "control character")


def test_tls_1_2_is_refused(tls, pki):
    ctx = certs.context(pki, pki.alice)
    ctx.maximum_version = ssl.TLSVersion.TLSv1_2
    expect_refused(tls, ctx, "PROTOCOL_VERSION", "does not support TLS 1.3")


def test_a_client_that_does_not_believe_the_server_is_named(tls, pki):
    ctx = certs.context(pki.other, pki.alice)

    def attempt():
        with pytest.raises(ssl.SSLCertVerificationError):
            certs.connect(tls.host, ctx)

    expect_logged(tls, "does not trust the authority of this server's certificate", attempt)


def test_a_wrong_name_is_the_clients_to_refuse(tls, pki):
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        certs.connect(tls.host, certs.context(pki, pki.alice), name="elsewhere.example")


@pytest.mark.parametrize(
    "data, answer, why",
    [
        (b"GET / HTTP/1.0\r\n\r\n", b"400 Bad Request", "speaks HTTP"),
        (frame([0, 1, "ping", []]), b"this port speaks TLS", "without TLS"),
        (b"\x00\x01\x02\x03", b"", "begins with the byte 00"),
        (b"\x16\x03\x01\x02\x00" + bytes(512), b"", "why="),
    ],
    ids=["http", "modserd", "garbage", "garbage in a record"],
)
def test_what_is_not_tls_is_told_so(tls, data, answer, why):
    def attempt():
        with certs.plain(tls.host) as s:
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            said = b""
            while more := s.recv(4096):
                said += more
        assert answer in said

    expect_logged(tls, why, attempt)


def test_tls_on_a_plain_port_is_named(tls, pki):
    def attempt():
        with pytest.raises(ssl.SSLError):
            certs.connect(tls.hosts[1], certs.context(pki))

    expect_logged(tls, "begins a TLS handshake, but this listener does not use TLS", attempt)


def send_changed_record(address, ctx):
    """Shake hands, then change a bit on the way; until the other side ends it."""
    inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ctx.wrap_bio(inside, outside, server_hostname="localhost")
    with certs.plain(address) as s:
        is_done = False
        while not is_done:
            try:
                client.do_handshake()
                is_done = True
            except ssl.SSLWantReadError:
                s.sendall(outside.read())
                inside.write(s.recv(65536))
        s.sendall(outside.read())
        client.write(frame([0, 1, "ping", []]))
        record = bytearray(outside.read())
        record[-1] ^= 1
        s.sendall(record)
        while s.recv(65536):
            pass


def test_a_record_that_was_changed_ends_the_connection(tls, pki):
    ctx = certs.context(pki, pki.alice)
    expect_logged(
        tls, "a record was modified on the way",
        lambda: send_changed_record(tls.host, ctx),
    )


def test_an_end_inside_a_frame_is_an_end(tls, pki):
    def attempt():
        s = certs.connect(tls.host, certs.context(pki, pki.alice))
        s.sendall(frame([0, 1, "ping", []])[:7])
        s.shutdown(socket.SHUT_RDWR)
        s.close()

    expect_logged(tls, "ended inside a frame", attempt)


def test_half_a_handshake_ends_with_the_first_frames_deadline(own_daemon, pki):
    daemon = own_daemon("--first-frame", "100ms", *pki.words(), listen=[TLS])
    with contextlib.ExitStack() as stack:
        with daemon.standstill():  # else the half may come when its time is over
            silent, half = (stack.enter_context(certs.plain(daemon.host)) for _ in range(2))
            half.sendall(b"\x16\x03\x01\x02")
        assert silent.recv(1) == half.recv(1) == b""
    expect_logged(daemon, "did not finish its handshake in time (--first-frame)")


def test_a_hello_may_come_byte_by_byte(tls, pki):
    incoming, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    made = certs.context(pki, pki.alice).wrap_bio(incoming, sent, server_hostname="localhost")
    with pytest.raises(ssl.SSLWantReadError):
        made.do_handshake()
    with certs.plain(tls.host) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in sent.read():
            s.sendall(bytes([byte]))
        assert s.recv(1) == b"\x16", "a ServerHello"


def rss_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def test_half_hellos_cost_no_memory(own_daemon, pki):
    """libssl would take 44 KiB for each."""
    n = 300
    with own_daemon("--max-peer-connections", 3 * n, "--first-frame", harness.FOREVER, *pki.words(),
                    listen=[TLS]) as daemon, contextlib.ExitStack() as stack:
        before = rss_kib(daemon.pid)
        for begun in (b"\x16\x03", b"\x16\x03\x01\x02\x00\x01"):
            for _ in range(n):
                stack.enter_context(certs.plain(daemon.host)).sendall(begun)
        with certs.connect(daemon.host, certs.context(pki, pki.alice)):
            pass  # who comes last has been seen, and so has everybody before
        assert harness.SANITIZED or rss_kib(daemon.pid) - before < 2 * n * 22


def test_handshakes_are_counted_by_what_became_of_them(own_daemon, pki):
    unix = f"unix:{pki.folder}/counted.sock"
    daemon = own_daemon("--first-frame", harness.FOREVER, *pki.words(), listen=[TLS, unix])
    old = certs.context(pki, pki.alice)
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with Wire(unix) as wire:

        def told():
            return wire.ask("server.info")["handshakes"]

        def expect(done, in_progress, **failed):
            causes = {"certificate": 0, "tls": 0, "stranger": 0, "late": 0, "gone": 0} | failed
            said = {"done": done, "in_progress": in_progress, "failed": causes}
            harness.until(lambda: told() == said, f"{said} is told")

        expect(0, 0)
        with certs.connect(daemon.host, certs.context(pki, pki.alice)):
            expect(1, 0)
        with certs.plain(daemon.host):
            expect(1, 1)
        expect(1, 0, gone=1)
        with certs.plain(daemon.host) as s:
            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
            expect(1, 1, gone=1, stranger=1)
        with pytest.raises(ssl.SSLError):
            certs.connect(daemon.host, old)
        with pytest.raises(ssl.SSLError):
            with Wire(certs.connect(daemon.host, certs.context(pki))) as stranger:
                stranger.ask("ping")
        expect(1, 0, gone=1, stranger=1, tls=1, certificate=1)


def test_half_handshakes_count_as_connections(own_daemon, pki):
    unix = f"unix:{pki.folder}/few.sock"
    daemon = own_daemon(
        "--max-peer-connections", "2", *pki.words(), "--first-frame", harness.FOREVER,
        listen=[TLS, unix],
    )
    with certs.plain(daemon.host), certs.plain(daemon.host), certs.plain(daemon.host) as third:
        assert third.recv(1) == b""
        with Wire(unix) as wire:
            assert wire.ask("ping") is None

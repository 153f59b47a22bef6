"""TLS listeners, with Python's ssl and openssl s_client at the other end."""
import contextlib
import hashlib
import json
import pathlib
import socket
import ssl
import subprocess

import numpy as np
import pytest

import certs
import harness
from wire import Closed, Failure, Wire, frame, out

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


def expect_no_start(*more):
    said = harness.run(harness.BIN / "modserd", *more)
    assert said.status not in (0, None), said
    return said.err


def test_it_does_not_start_without_a_certificate():
    assert "--tls-cert" in expect_no_start("--listen", TLS)


def test_a_key_that_others_can_read_is_refused(pki):
    cert, key = pki.issue("open")
    key.chmod(0o644)
    err = expect_no_start("--listen", TLS, "--tls-cert", cert, "--tls-key", key)
    assert str(key) in err and "chmod 600" in err


def test_a_key_of_another_certificate_is_refused(pki):
    err = expect_no_start("--listen", TLS, "--tls-cert", pki.server[0], "--tls-key", pki.alice[1])
    assert str(pki.alice[1]) in err


def test_a_file_that_is_no_certificate_is_named(pki):
    wrong = pki.folder / "wrong.pem"
    wrong.write_text("hello\n")
    err = expect_no_start("--listen", TLS, "--tls-cert", wrong, "--tls-key", pki.server[1])
    assert str(wrong) in err and "expected a certificate" in err


def test_beyond_loopback_it_asks_for_certificates(pki):
    err = expect_no_start("--listen", "tls://0.0.0.0:0", *pki.words(ca=False))
    assert "--tls-ca" in err


@pytest.fixture
def by_rights(own_daemon, pki):
    """A daemon with a file of rights that knows alice, and a token."""
    acl = pki.folder / "acl"
    digest = hashlib.sha256(b"secret").hexdigest()
    acl.write_text(
        f"user alice cert:cn=alice +@lookup +@call */*\n"
        f"user fleet token:sha256={digest} +@lookup */*\nend\n"
    )
    acl.chmod(0o600)
    return own_daemon(*pki.words(), "--acl", acl, listen=[TLS])


def expect_user(daemon, ctx, name, token=None):
    with Wire(certs.connect(daemon.host, ctx)) as wire:
        if token is not None:
            wire.ask("session.hello", {"token": token})
        assert wire.ask("ping") is None
        assert wire.ask("acl.whoami")["user"] == name


def test_a_certificate_says_who_it_is(by_rights, pki):
    expect_user(by_rights, certs.context(pki, pki.alice), "alice")


def test_who_shows_none_is_anonymous_where_rights_are_asked(by_rights, pki):
    expect_user(by_rights, certs.context(pki), "anonymous")


def test_a_token_may_be_shown_by_tls(by_rights, pki):
    expect_user(by_rights, certs.context(pki), "fleet", token="secret")


def test_a_certificate_of_nobody_known_is_anonymous(by_rights, pki):
    expect_user(by_rights, certs.context(pki, pki.issue("bob")), "anonymous")


def test_a_reload_takes_the_new_certificate_and_drops_nobody(own_daemon, pki):
    cert, key = pki.issue("renewed", ("DNS:localhost",), subject="/CN=before")
    daemon = own_daemon(
        "--tls-cert", cert, "--tls-key", key, "--tls-ca", pki.cert, listen=[TLS]
    )
    ctx = certs.context(pki, pki.alice)
    with Wire(certs.connect(daemon.host, ctx)) as old:
        pki.issue("renewed", ("DNS:localhost",), subject="/CN=after")
        daemon.process.send_signal(harness.signal.SIGHUP)
        expect_logged(daemon, "event=config_reload changes=0")
        with Wire(certs.connect(daemon.host, ctx)) as new:
            subject = dict(x[0] for x in new.socket.getpeercert()["subject"])
            assert subject["commonName"] == "after"
            assert new.ask("ping") is None
        assert old.ask("ping") is None


def test_a_broken_certificate_leaves_the_old_one(own_daemon, pki):
    cert, key = pki.issue("spoiled", ("DNS:localhost",))
    daemon = own_daemon("--tls-cert", cert, "--tls-key", key, listen=[TLS])
    cert.write_text("spoiled\n")
    daemon.process.send_signal(harness.signal.SIGHUP)
    expect_logged(daemon, "configuration unchanged")
    with Wire(certs.connect(daemon.host, certs.context(pki))) as wire:
        assert wire.ask("ping") is None


def reload_rows(daemon):
    """{key: (name, was, is)} of what a reload tells; who asks is on the unix socket."""
    rows = json.loads(daemon.ok("--json", "reload").out)
    return {row["key"]: (row["name"], row["was"], row["is"]) for row in rows}


def expect_ended(wire):
    """The daemon ends the connection, and says that it is for the certificate."""
    said = wire.receive()
    assert said[1] == "session.close" and said[2][1] == "REFUSED", said
    assert "its certificate is no longer valid" in said[2][2], said
    with pytest.raises(Closed):
        wire.receive()


@pytest.fixture
def trusting(own_daemon, pki, folder):
    """A daemon whose file of authorities is @folder's own, of both, and its TLS and HTTPS
    addresses; a unix socket is its host."""
    (folder / "ca.pem").write_text(pki.cert.read_text() + pki.other.cert.read_text())
    cert, key = pki.server

    def start(*more):
        return own_daemon("--tls-cert", cert, "--tls-key", key, "--tls-ca", folder / "ca.pem",
                          *more, listen=[f"unix:{folder}/m.sock", TLS], n_listening=2)

    return start


def test_a_connection_of_an_authority_that_went_ends_with_the_reload(trusting, pki, folder):
    daemon = trusting()
    bob = pki.other.issue("bob")
    with Wire(certs.connect(daemon.hosts[1], certs.context(pki, bob))) as gone, \
            Wire(certs.connect(daemon.hosts[1], certs.context(pki, pki.alice))) as stays:
        assert gone.ask("ping") is None and stays.ask("ping") is None
        assert reload_rows(daemon) == {}
        assert gone.ask("ping") is None
        (folder / "ca.pem").write_text(pki.cert.read_text())
        assert reload_rows(daemon) == {
            "authorities": (str(folder / "ca.pem"), "/CN=ca, /CN=other", "/CN=ca")}
        expect_ended(gone)
        assert stays.ask("ping") is None
    assert "ended=1" in daemon.log()
    expect_refused_by(daemon, certs.context(pki, bob))


def expect_refused_by(daemon, ctx):
    with pytest.raises(ssl.SSLError):
        with Wire(certs.connect(daemon.hosts[1], ctx)) as wire:
            wire.ask("ping")


def test_a_handshake_that_a_reload_overtakes_is_judged_by_the_new_files(trusting, pki, folder):
    daemon = trusting()
    ctx = certs.context(pki, pki.other.issue("carol"))
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = ctx.wrap_bio(incoming, outgoing, server_hostname="localhost")
    with certs.plain(daemon.hosts[1]) as raw:

        def turn():
            with contextlib.suppress(ssl.SSLWantReadError):
                tls.do_handshake()
            return outgoing.read()

        raw.sendall(turn())
        last = b""
        while not last:  # the server's part has come whole, and ours is not sent yet
            incoming.write(raw.recv(65536))
            last = turn()
        (folder / "ca.pem").write_text(pki.cert.read_text())
        assert "authorities" in reload_rows(daemon)
        raw.sendall(last)
        expect_logged(daemon, "its certificate is no longer valid")
        assert daemon.ok("clients").out.count("tls") == 0


def test_a_revoked_certificate_is_refused_and_its_connections_end(trusting, pki, folder):
    dave, erin = pki.issue("dave"), pki.issue("erin")
    lists = folder / "lists.pem"

    def write(*revoked):
        lists.write_bytes(pki.revoke(*revoked).read_bytes() + pki.other.revoke().read_bytes())

    write()
    daemon = trusting("--tls-crl", lists)
    with Wire(certs.connect(daemon.hosts[1], certs.context(pki, dave))) as gone, \
            Wire(certs.connect(daemon.hosts[1], certs.context(pki, erin))) as stays:
        assert gone.ask("ping") is None and stays.ask("ping") is None
        write(dave[0])
        assert list(reload_rows(daemon)) == ["revoked"]
        expect_ended(gone)
        assert stays.ask("ping") is None
    expect_refused_by(daemon, certs.context(pki, dave))
    expect_logged(daemon, "its certificate is not valid: certificate revoked")


def wrong_lists(pki, folder):
    """What is wrong with it, and the file, of each list that is not taken."""
    path = folder / "wrong.pem"
    both = lambda one: one.read_bytes() + pki.other.revoke().read_bytes()
    path.write_text("no list\n")
    yield "expected lists of revoked certificates, PEM", path
    path.write_bytes(pki.revoke().read_bytes())
    yield "no list of /CN=other is in it", path
    path.write_bytes(both(pki.revoke(until="20010101000000Z")))
    yield "the list of /CN=ca: it has expired", path
    stranger = certs.Authority(folder, "stranger")
    path.write_bytes(both(pki.revoke()) + stranger.revoke().read_bytes())
    yield "the list of /CN=stranger: it is not signed by an authority of --tls-ca", path
    (folder / "forged").mkdir()
    forged = certs.Authority(folder / "forged", "ca")
    path.write_bytes(both(forged.revoke()))
    yield "the list of /CN=ca: it is not signed by an authority of --tls-ca", path


def test_a_list_that_is_not_in_force_is_refused_at_the_start_and_by_a_reload(trusting, pki, folder):
    lists = folder / "lists.pem"
    lists.write_bytes(pki.revoke().read_bytes() + pki.other.revoke().read_bytes())
    good = lists.read_bytes()
    daemon = trusting("--tls-crl", lists)
    for why, path in wrong_lists(pki, folder):
        words = ("--tls-cert", pki.server[0], "--tls-key", pki.server[1],
                 "--tls-ca", folder / "ca.pem", "--tls-crl", path, "--listen", TLS)
        said = harness.run(harness.BIN / "modserd", *words)
        assert said.status == 1 and f"--tls-crl {path}" in said.err and why in said.err, said
        lists.write_bytes(path.read_bytes())
        again = daemon.modser("reload")
        assert again.status != 0 and why in again.err, again
        lists.write_bytes(good)
    assert reload_rows(daemon) == {}


def test_a_list_without_an_authority_is_told(pki, folder):
    err = expect_no_start("--tls-cert", pki.server[0], "--tls-key", pki.server[1],
                          "--tls-crl", pki.revoke(), "--listen", TLS)
    assert "--tls-ca" in err

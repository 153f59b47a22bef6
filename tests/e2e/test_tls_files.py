"""Files of certificates: at the start, who they say a client is, and what a reload changes."""
import contextlib
import hashlib
import json
import ssl

import pytest

import certs
import harness
from test_tls import TLS, expect_logged
from wire import Closed, Wire


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

"""What others' tools find at a TLS address: openssl s_client, s_server and s_time, sslscan; and
certificates that nobody should be known by, made by the openssl command."""
import contextlib
import re
import shutil
import subprocess
import xml.etree.ElementTree

import certs
import harness
import pytest
from test_tls import expect_refused
from wire import MAGIC, Wire, frame

TLS = "tls://127.0.0.1:0"
EKU = "extendedKeyUsage={}".format


@pytest.fixture(scope="module")
def tls(pki):
    """A daemon that asks for certificates."""
    with harness.Daemon(*pki.words(), listen=[TLS, f"unix:{pki.folder}/m.sock"]) as d:
        yield d


@pytest.fixture(scope="module")
def named(pki):
    """One that knows users by the names of their certificates."""
    acl = pki.folder / "acl"
    acl.write_text("user alice cert:san=alice.example +@lookup */*\n"
                   "user star cert:san=*.example +@lookup */*\n"
                   "user plain cert:cn=alice +@lookup */*\nend\n")
    acl.chmod(0o600)
    with harness.Daemon(*pki.words(), "--acl", acl, listen=[TLS]) as d:
        yield d


def s_client(daemon, *words):
    """What openssl says of a handshake and of what comes after it, until the end."""
    with subprocess.Popen(
        ["openssl", "s_client", "-connect", daemon.host.removeprefix("tls://"), "-brief",
         *map(str, words)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    ) as process:
        said = b""
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(b"\xedmd\x01" + bytes(11) + b"\xff")  # no frame: it is ended
            process.stdin.flush()
        while more := process.stdout.read(4096):  # until the daemon has ended it
            said += more
        process.stdin = None
    return said.decode(errors="replace")


def shown(pair):
    return ["-cert", pair[0], "-key", pair[1]]


def test_sslscan_finds_tls_1_3_and_nothing_else(own_daemon, pki, folder):
    if shutil.which("sslscan") is None:
        pytest.skip("no sslscan: nothing is scanned")
    daemon = own_daemon(*pki.words(ca=False), listen=[TLS])
    done = harness.run("sslscan", "--show-sigs", f"--xml={folder}/found",
                       daemon.host.removeprefix("tls://"))
    assert done.status == 0, done
    found = xml.etree.ElementTree.parse(folder / "found").getroot().find("ssltest")
    spoken = {f"{p.get('type')} {p.get('version')}" for p in found.findall("protocol")
              if p.get("enabled") == "1"}
    assert spoken == {"tls 1.3"}
    ciphers = found.findall("cipher")
    assert ciphers and {c.get("sslversion") for c in ciphers} == {"TLSv1.3"}
    assert {c.get("strength") for c in ciphers} <= {"strong", "acceptable"}
    for fault in ("compression", "renegotiation", "heartbleed"):
        told = found.findall(fault)
        assert all(f.get("supported", f.get("vulnerable")) == "0" for f in told), fault
    with Wire(certs.connect(daemon.host, certs.context(pki))) as wire:
        assert wire.ask("ping") is None, "it serves on"


def test_s_time_shakes_hands_as_often_as_it_counts(own_daemon, pki):
    """Each with a certificate, one after the other for a second; nothing of them stays."""
    daemon = own_daemon(*pki.words(), listen=[TLS])
    done = harness.run(
        "openssl", "s_time", "-connect", daemon.host.removeprefix("tls://"), "-new", "-time", "1",
        *shown(pki.alice), "-CAfile", pki.cert, "-verify", "4")
    assert done.status == 0, done
    times = re.findall(r"^(\d+) connections in", done.out, re.M)  # by its processor and by the clock
    with Wire(certs.connect(daemon.host, certs.context(pki, pki.alice))) as wire:
        harness.until(lambda: wire.ask("server.info")["connections"] == 1, "they are gone")
        assert wire.ask("server.info")["handshakes"]["done"] > int(times[0]) > 0


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_1"])
def test_s_client_is_told_that_its_version_is_too_old(tls, pki, version):
    said = s_client(tls, version, "-cipher", "ALL:@SECLEVEL=0", *shown(pki.alice))
    assert "alert protocol version" in said, said


def test_s_client_is_told_what_is_wrong_with_its_certificate(tls, pki):
    assert "certificate required" in s_client(tls)
    assert "unknown ca" in s_client(tls, *shown(pki.other.issue("mallory")))
    assert "certificate expired" in s_client(tls, *shown(pki.issue("late", days=-1)))


def test_s_client_may_have_new_keys_and_no_renegotiation(tls, pki):
    with subprocess.Popen(
        ["openssl", "s_client", "-connect", tls.host.removeprefix("tls://"), *shown(pki.alice)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0,
    ) as process:
        said = b""
        for word, answer in ((b"K\n", b"KEYUPDATE"), (frame([0, 1, "ping", []]), MAGIC),
                             (b"R\n", b"wrong ssl version")):
            process.stdin.write(word)
            while answer not in said:
                more = process.stdout.read(4096)
                assert more, said
                said += more


def test_a_key_for_servers_is_no_client(tls, pki):
    pair = pki.issue("serves", lines=[EKU("serverAuth")])
    expect_refused(tls, certs.context(pki, pair), "ALERT", "its certificate is not valid")


def test_who_is_no_authority_signs_nothing(tls, pki):
    """A client's own key signs for another name, with the whole chain shown."""
    leaf = pki.issue("leaf", lines=["basicConstraints=critical,CA:FALSE"])
    forger = certs.Authority.__new__(certs.Authority)
    forger.folder, (forger.cert, forger.key) = pki.folder, leaf
    cert, key = forger.issue("forged")
    chain = pki.folder / "chain.pem"
    chain.write_text(cert.read_text() + leaf[0].read_text())
    expect_refused(tls, certs.context(pki, (chain, key)), "ALERT", "its certificate is not valid")


def test_a_name_with_a_nul_is_refused(tls, pki):
    name = b"alice.example\0.evil.example"
    der = bytes([0x82, len(name)]) + name
    pair = pki.issue("nul", [f"DER:{(bytes([0x30, len(der)]) + der).hex(':')}"])
    expect_refused(tls, certs.context(pki, pair), "ALERT", "holds a NUL")


def test_a_name_that_is_too_long_is_refused(tls, pki):
    pair = pki.issue("long", [f"URI:urn:{'x' * 300}"])
    expect_refused(tls, certs.context(pki, pair), "ALERT", "more than 255 bytes")


def test_as_many_names_as_may_be_are_taken(tls, pki):
    pair = pki.issue("several", [f"DNS:n{i}.example" for i in range(32)])
    with Wire(certs.connect(tls.host, certs.context(pki, pair))) as wire:
        assert wire.ask("ping") is None
    pair = pki.issue("too-many", [f"DNS:n{i}.example" for i in range(33)])
    expect_refused(tls, certs.context(pki, pair), "ALERT", "more than 32 names")


@pytest.mark.parametrize("made, user", [
    (dict(name="one", names=["DNS:alice.example"]), "alice"),
    (dict(name="asterisk", names=["DNS:*.example"]), "star"),  # a name as any, of nobody else
    (dict(name="upper", names=["DNS:ALICE.example"]), "anonymous"),
    (dict(name="longer", names=["DNS:alice.example.evil"]), "anonymous"),
    (dict(name="shorter", names=["DNS:alice.exampl"]), "anonymous"),
    (dict(name="in-the-subject", subject="/CN=alice.example"), "anonymous"),
    (dict(name="common", subject="/CN=alice"), "plain"),
    (dict(name="spaced", subject="/CN=alice "), "anonymous"),
    (dict(name="two", subject="/CN=alice/CN=bob"), "anonymous"),
    (dict(name="unit", subject="/OU=alice/CN=bob"), "anonymous"),
    (dict(name="empty", subject="/"), "anonymous"),
], ids=lambda v: v["name"] if isinstance(v, dict) else None)
def test_names_are_compared_as_they_stand(named, pki, made, user):
    with Wire(certs.connect(named.host, certs.context(pki, pki.issue(**made)))) as wire:
        assert wire.ask("acl.whoami")["user"] == user


def test_modser_refuses_an_s_server_that_speaks_tls_1_2_alone(pki):
    with subprocess.Popen(
        ["openssl", "s_server", "-accept", "127.0.0.1:0", "-tls1_2", "-rev", "-cert", pki.server[0],
         "-key", pki.server[1]],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as process:
        try:
            line = next(x for x in process.stdout if x.startswith("ACCEPT"))
            port = re.search(r":(\d+)", line).group(1)
            said = harness.run(harness.BIN / "modser", "-H", f"tls://localhost:{port}",
                               "--tls-ca", pki.cert, "ls")
        finally:
            process.kill()
    assert said.status not in (0, None) and "protocol version" in said.err, said

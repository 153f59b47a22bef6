"""Certificates and keys as other tools write them: what daemon and client take, and what they say
of those that they do not. Made by the openssl command."""
import re
import subprocess

import certs
import harness
import pytest
from test_tls import expect_logged
from test_tls_files import expect_no_start
from wire import Wire

TLS = "tls://127.0.0.1:0"
BOTH = "subjectAltName=DNS:localhost,IP:127.0.0.1"
KINDS = {
    "p384": ("EC", "ec_paramgen_curve:P-384"),
    "rsa": ("RSA", "rsa_keygen_bits:2048"),
    "rsa_pss": ("RSA-PSS", "rsa_keygen_bits:2048"),
    "ed25519": ("ED25519", None),
}


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, stderr=subprocess.PIPE)


def signed(by, key, name):
    """(certificate, @key), of the authority @by."""
    cert = key.with_suffix(".pem")
    openssl("req", "-x509", "-CA", by.cert, "-CAkey", by.key, "-key", key, "-out", cert, "-days",
            "2", "-subj", f"/CN={name}", "-addext", BOTH)
    return cert, key


def pair_of(by, kind, option):
    key = by.folder / f"{kind}.key"
    options = ["-pkeyopt", option] if option else []
    openssl("genpkey", "-algorithm", kind, *options, "-out", key)
    key.chmod(0o600)
    return signed(by, key, "alice")


def modser(pki, host, pair, *words):
    cert, key = pair
    return harness.run(harness.BIN / "modser", "-H", host, "--tls-ca", pki.cert, "--tls-cert", cert,
                       "--tls-key", key, *words)


def expect_served(pki, own_daemon, pair):
    """By a daemon that shows @pair, to a client that shows it."""
    cert, key = pair
    daemon = own_daemon("--tls-cert", cert, "--tls-key", key, "--tls-ca", pki.cert, listen=[TLS])
    said = modser(pki, daemon.host, pair, "ping")
    assert said.status == 0, said


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_of_each_kind_is_taken_on_both_sides(pki, own_daemon, kind):
    expect_served(pki, own_daemon, pair_of(pki, *KINDS[kind]))


@pytest.mark.parametrize("change", [
    lambda text: text.replace("\n", "\r\n"),
    lambda text: "\ufeff" + text,
    lambda text: "Certificate or key:\n    of ours\n" + text,
])
def test_pem_is_taken_as_other_tools_and_editors_write_it(pki, own_daemon, folder, change):
    pair = []
    for file in pki.issue("edited", ("IP:127.0.0.1",)):
        made = folder / file.name
        made.touch(mode=0o600)
        made.write_bytes(change(file.read_text()).encode())
        pair.append(made)
    expect_served(pki, own_daemon, pair)


def test_a_chain_over_an_intermediate_is_taken_on_both_sides(pki, own_daemon, folder):
    middle = certs.Authority(folder, "middle")
    middle.cert, middle.key = pki.issue("middle", lines=("basicConstraints=critical,CA:TRUE",))
    cert, key = middle.issue("leaf", ("IP:127.0.0.1",))
    chain = folder / "chain.pem"
    chain.write_text(cert.read_text() + middle.cert.read_text())
    expect_served(pki, own_daemon, (chain, key))


def test_a_key_that_tls_1_3_does_not_know_is_refused_at_the_start(pki):
    cert, key = pair_of(pki, "EC", "ec_paramgen_curve:secp256k1")
    err = expect_no_start("--listen", TLS, "--tls-cert", cert, "--tls-key", key)
    assert str(cert) in err and "secp256k1" in err and "P-256" in err


def test_a_key_with_a_password_is_refused_by_both(pki, own_daemon, folder):
    cert, key = pki.server
    locked = folder / "locked.key"
    openssl("pkey", "-in", key, "-aes256", "-passout", "pass:word", "-out", locked)
    locked.chmod(0o600)
    err = expect_no_start("--listen", TLS, "--tls-cert", cert, "--tls-key", locked)
    assert f"--tls-key {locked}" in err and "without a password" in err
    daemon = own_daemon(*pki.words(), listen=[TLS])
    said = modser(pki, daemon.host, (cert, locked), "ping")
    assert said.status == 2 and "--tls-key" in said.err and "without a password" in said.err, said


def test_the_key_of_another_certificate_is_refused_by_the_client(pki, own_daemon):
    daemon = own_daemon(*pki.words(), listen=[TLS])
    said = modser(pki, daemon.host, (pki.alice[0], pki.server[1]), "ping")
    assert said.status == 2 and str(pki.server[1]) in said.err and "mismatch" in said.err, said


def test_users_by_certificates_without_an_authority_are_told(pki, own_daemon, folder):
    acl = folder / "acl"
    acl.write_text("user alice cert:cn=alice +@lookup */*\nend\n")
    own_daemon(*pki.words(), "--acl", acl, listen=[TLS])
    daemon = own_daemon(*pki.words(ca=False), "--acl", acl, listen=[TLS])
    expect_logged(daemon, "event=tls_client_certificates_off")
    with Wire(certs.connect(daemon.host, certs.context(pki, pki.alice))) as wire:
        assert wire.ask("acl.whoami")["user"] == "anonymous"


def test_an_expired_certificate_of_the_servers_is_told_to_its_operator(pki, own_daemon):
    cert, key = pki.issue("late", ("DNS:localhost",), days=-1)
    daemon = own_daemon("--tls-cert", cert, "--tls-key", key, listen=[TLS])
    expect_logged(daemon, "warn event=tls_certificate")
    expect_logged(daemon, "it has expired")


def test_a_renewed_certificate_is_told_with_its_end(pki, own_daemon, folder):
    cert, key = pki.issue("year", ("DNS:localhost",), days=2)
    unix = f"unix:{folder}/m.sock"
    daemon = own_daemon("--tls-cert", cert, "--tls-key", key, listen=[TLS, unix])
    with Wire(unix) as wire:
        assert wire.ask("server.reload") == []
        pki.issue("year", ("DNS:localhost",), days=9)
        (row,) = wire.ask("server.reload")
        assert wire.ask("server.reload") == []
    ends = subprocess.run(["openssl", "x509", "-in", cert, "-noout", "-enddate", "-dateopt",
                           "iso_8601"], check=True, capture_output=True, text=True).stdout
    until = re.sub(r"notAfter=(\S+) (\S+)\n", r"\1T\2", ends)
    assert (row["key"], row["name"], row["is"]) == ("certificate", str(cert), until)
    assert row["was"] < row["is"] and row["state"] == "changed"
    expect_logged(daemon, f"until={until}")

"""modser, and so libmodser, over TLS."""
import shutil
import subprocess

import certs
import harness
import numpy as np
import pytest


@pytest.fixture(scope="module")
def tls(pki, models):
    """A daemon that asks for certificates, with a module."""
    unix = f"unix:{pki.folder}/m.sock"
    with harness.Daemon(*pki.words(), listen=["tls://127.0.0.1:0", unix, "tcp://127.0.0.1:0"]) as d:
        d.load("shapes", models / "shapes.so", host=unix)
        d.named = d.host.replace("127.0.0.1", "localhost")
        yield d


@pytest.fixture
def ask(tls, pki):
    """modser on the TLS address: ask(word..., host=, ca=, pair=)."""

    def run(*words, host=None, ca=pki.cert, pair=pki.alice):
        env = harness.environment()
        if ca is not None:
            env["MODSER_TLS_CA"] = str(ca)
        if pair is not None:
            env["MODSER_TLS_CERT"], env["MODSER_TLS_KEY"] = map(str, pair)
        return harness.run(harness.BIN / "modser", "-H", host or tls.named, *words, env=env)

    return run


def expect_refused(said, *texts):
    assert said.status not in (0, None), said
    for text in texts:
        assert text in said.err, said


def test_modules_are_listed(ask):
    said = ask("ls")
    assert said.status == 0 and "shapes" in said.out, said


def test_tensors_come_whole_both_ways(ask, folder):
    x = np.arange(3_000_001, dtype="float32")
    np.save(folder / "x.npy", x)
    said = ask(
        "call", "shapes:addone", f"@{folder}/x.npy", f"out:float32[{x.size}]",
        "-o", folder / "y.npy",
    )
    assert said.status == 0, said
    assert (np.load(folder / "y.npy") == x + 1).all()


def test_calls_in_flight_are_all_answered(ask, folder):
    np.save(folder / "x.npy", np.zeros(100, "f4"))
    said = ask(
        "bench", "shapes:addone", f"@{folder}/x.npy", "out:float32[100]", "-c", 2, "--depth", 16,
        "--time", "200ms",
    )
    assert said.status == 0, said


def test_without_a_certificate_the_alert_is_told(ask):
    expect_refused(ask("ls", pair=None), "requests a certificate", "--tls-cert", "to do: follow the text")


def test_what_is_wrong_with_a_certificate_is_told(ask, pki):
    expect_refused(ask("ls", pair=pki.other.issue("mallory")), "does not trust the authority")
    expect_refused(ask("ls", pair=pki.issue("late", days=-1)), "has expired: renew it")
    early = pki.issue_for("early", "20980101000000Z", "20990101000000Z")
    expect_refused(ask("ls", pair=early), "rejects this certificate: its log has the reason")


def test_a_certificate_that_tls_1_3_cannot_use_is_told_from_none(ask, pki):
    odd = pki.issue("odd", key=certs.key_on("secp256k1"))
    expect_refused(ask("ls", pair=odd), "cannot sign with this one", "P-256")


def test_a_server_that_is_not_good_yet_is_named(ask, pki):
    cert, key = pki.issue_for("young", "20980101000000Z", "20990101000000Z", ("DNS:localhost",))
    with harness.Daemon("--tls-cert", cert, "--tls-key", key, listen=["tls://127.0.0.1:0"]) as d:
        said = ask("ls", host=d.host.replace("127.0.0.1", "localhost"))
    expect_refused(said, "not yet valid: renew it, or check this machine's clock")


def test_an_authority_that_is_not_believed_is_named(ask):
    expect_refused(ask("ls", ca=None), "the server's certificate: ", "(--tls-ca, MODSER_TLS_CA)")


def test_another_name_is_refused(ask, tls):
    expect_refused(ask("ls", host=tls.host), "the server's certificate: IP address mismatch: connect")


def test_a_server_without_tls_is_named(ask, tls):
    plain = tls.hosts[2].replace("tcp://", "tls://")
    said = ask("ls", host=plain)
    expect_refused(said, f"connect to {plain}: the server does not speak TLS",
                   f"use {tls.hosts[2]}, or")
    assert said.status == 3, said


def test_a_port_of_tls_says_so_to_a_plain_client(ask, tls):
    plain = tls.host.replace("tls://", "tcp://")
    said = ask("ls", host=plain)
    expect_refused(said, f"{plain}: ", "this port speaks TLS")
    assert said.status == 3, said


def test_options_say_what_the_environment_does_not(ask, pki):
    words = ("--tls-ca", pki.cert, "--tls-cert", pki.alice[0], "--tls-key", pki.alice[1])
    said = ask(*words, "ls", ca=None, pair=None)
    assert said.status == 0 and "shapes" in said.out, said


def test_options_come_before_the_environment(ask, pki):
    server = pki.issue("both")
    both = pki.folder / "both-in-one.pem"
    both.write_bytes(server[0].read_bytes() + server[1].read_bytes())
    said = ask("--tls-cert", both, "ls")
    assert said.status == 0, said
    expect_refused(ask("--tls-ca", pki.other.cert, "ls"), "the server's certificate: ")


def test_certificates_are_not_named_for_a_plain_address(ask, tls, pki):
    said = ask("--tls-ca", pki.cert, "ls", host=tls.hosts[2])
    assert said.status == 2 and "--tls-ca" in said.err and "tcp://" in said.err, said


def test_a_file_that_is_not_there_is_named(ask, folder):
    expect_refused(ask("ls", ca=folder / "none.pem"), "MODSER_TLS_CA", "none.pem")


def test_the_documented_commands_make_what_is_needed(own_daemon, folder):
    """Those of docs/reference/tls.md, as they stand there."""
    text = (harness.ROOT / "docs/reference/tls.md").read_text()
    commands = next(part for part in text.split("```") if "openssl req" in part)
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command: TLS not tested")
    subprocess.run(["sh", "-ec", commands], cwd=folder, check=True, capture_output=True)
    daemon = own_daemon(
        "--tls-cert", folder / "server.pem", "--tls-key", folder / "server.key",
        "--tls-ca", folder / "ca.pem", listen=["tls://127.0.0.1:0"],
    )
    names = {"CA": "ca.pem", "CERT": "alice.pem", "KEY": "alice.key"}
    env = {f"MODSER_TLS_{k}": str(folder / v) for k, v in names.items()}
    said = harness.run(
        harness.BIN / "modser", "-H", daemon.host, "ls", env=harness.environment() | env
    )
    assert said.status == 0, said

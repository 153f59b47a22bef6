"""The PROXY protocol, version 2: whose a connection is that a trusted proxy has made."""
import contextlib
import hashlib
import shutil
import socket
import struct
import subprocess

import certs
import harness
import pytest
from wire import Closed, Wire

TCP, TLS = "tcp://127.0.0.1:0", "tls://127.0.0.1:0"
HERE = ("--proxy-from", "127.0.0.0/8")
ALICE = "203.0.113.7"


def header(client=ALICE, command=0x21, rest=b""):
    """What a proxy on this machine sends for @client."""
    body = socket.inet_aton(client) + socket.inet_aton("127.0.0.1") + struct.pack(">HH", 12345, 80)
    return (b"\r\n\r\n\0\r\nQUIT\n" + bytes([command, 0x11]) +
            struct.pack(">H", len(body + rest)) + body + rest)


def connected(address, said=b""):
    made = certs.plain(address)
    made.sendall(said)
    return made


def peer(wire):
    """As whom it is counted."""
    [me] = {row["peer"] for row in wire.ask("client.list")}
    return me


def failed(daemon):
    """How often what was the cause that somebody was refused, of those that have happened."""
    lines = [line.partition('modserd_proxy_headers_refused_total{cause="')[2].split('"} ')
             for line in daemon.ok("metrics").out.splitlines()
             if line.startswith("modserd_proxy_headers_refused_total{")]
    return {cause: int(n) for cause, n in lines if n != "0"}


def expect_failed(daemon, **wanted):
    harness.until(lambda: failed(daemon) == wanted, f"{wanted} were refused")


@pytest.fixture
def behind(own_daemon, folder):
    """behind(word...): a daemon that listens by TCP for proxies, and on a unix socket tells how
    that went. @more: so many addresses are in the words."""
    def start(*words, more=0):
        return own_daemon("--listen", f"unix:{folder}/m.sock", "--listen", TCP, "--first-frame",
                          harness.FOREVER, *words, listen=[], n_listening=2 + more)

    return start


def test_a_connection_is_its_clients(behind):
    daemon = behind(*HERE)
    with Wire(connected(daemon.hosts[1], header())) as wire:
        assert peer(wire) == ALICE


def test_a_header_may_come_in_pieces_and_with_what_follows(behind):
    daemon = behind(*HERE)
    with Wire(connected(daemon.hosts[1])) as wire:
        for byte in header(rest=b"\x04\0\x01\0"):
            wire.send(bytes([byte]))
        assert peer(wire) == ALICE


def test_the_proxys_own_connection_is_the_proxys(behind):
    daemon = behind(*HERE)
    with Wire(connected(daemon.hosts[1], header(command=0x20))) as wire:
        assert peer(wire) == "127.0.0.1"


def test_over_tls_the_header_comes_before_the_handshake(behind, pki):
    daemon = behind(*HERE, *pki.words(), "--listen", TLS, more=1)
    tcp = connected(daemon.hosts[2], header())
    with Wire(certs.context(pki, pki.alice).wrap_socket(tcp, server_hostname="localhost")) as wire:
        assert peer(wire) == ALICE


def test_a_proxy_without_a_header_is_refused(behind):
    daemon = behind(*HERE)
    with pytest.raises(Closed), Wire(connected(daemon.hosts[1])) as wire:
        wire.ask("ping")
    expect_failed(daemon, missing=1)
    daemon.expect_logged('event=connection_proxy_header peer="127.0.0.1" cause=missing')


def test_a_wrong_header_is_refused(behind):
    daemon = behind(*HERE)
    with pytest.raises(Closed), Wire(connected(daemon.hosts[1], header(command=0x31))) as wire:
        wire.take(1)
    expect_failed(daemon, wrong=1)


def test_a_header_of_somebody_else_is_refused(behind):
    daemon = behind("--proxy-from", "192.0.2.1")
    with pytest.raises(Closed), Wire(connected(daemon.hosts[1], header())) as wire:
        wire.take(1)
    expect_failed(daemon, forged=1)
    with Wire(daemon.hosts[1]) as wire:
        assert peer(wire) == "127.0.0.1"


def test_who_says_nothing_is_sent_away_in_time(behind):
    daemon = behind(*HERE, "--first-frame", "100ms")
    with pytest.raises(Closed), Wire(connected(daemon.hosts[1], header()[:20])) as wire:
        wire.take(1)
    daemon.expect_logged("cause=late")


def test_each_client_has_its_own_connections(behind):
    daemon = behind(*HERE, "--max-peer-connections", "2")
    with contextlib.ExitStack() as stack:
        def come(client):
            return stack.enter_context(Wire(connected(daemon.hosts[1], header(client))))

        for client in (ALICE, ALICE, "203.0.113.8", "203.0.113.8"):
            assert come(client).ask("ping") is None
        assert f"{ALICE} has the maximum of connections" in str(come(ALICE).receive())


def test_a_daemon_ends_while_somebody_is_on_the_way_in(behind):
    daemon = behind(*HERE)
    with Wire(connected(daemon.hosts[1], header()[:20])) as wire:
        with Wire(daemon.host) as other:
            harness.until(lambda: other.ask("server.info")["connections"] == 2, "it is there")
        daemon.stop()
        with pytest.raises(Closed):
            wire.take(1)


def get(address, said, token):
    """The status of the answer about a model, to who shows @token."""
    with connected(address, said) as visit:
        visit.settimeout(harness.PATIENCE)
        visit.sendall(b"GET /v2/models/zoo HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                      b"Authorization: Bearer " + token + b"\r\n\r\n")
        return int(visit.makefile("rb").readline().split()[1])


def test_a_token_is_taken_when_nobody_reads_on_the_whole_way(behind, folder):
    acl = folder / "acl"
    digest = hashlib.sha256(b"secret").hexdigest()
    acl.write_text(f"user alice token:sha256={digest} +@lookup */*\nend\n")
    acl.chmod(0o600)
    daemon = behind(*HERE, "--acl", acl, "--http", "127.0.0.1:0", more=1)
    http = daemon.hosts[2]
    came_by_tls = b"\x20\0\x05\x01\0\0\0\0"
    assert get(http, header(), b"secret") == 403
    assert get(http, header(rest=came_by_tls), b"secret") == 404
    assert get(http, header(client="127.0.0.5"), b"secret") == 404


CONFIGURATION = """
defaults
  mode tcp
  timeout connect 60s
  timeout client 120s
  timeout server 120s
listen front
  bind fd@{front}
  server one {back} send-proxy-v2
"""


@pytest.mark.skipif(not shutil.which("haproxy"), reason="no haproxy: no daemon is behind it")
def test_haproxy_says_whose_a_connection_is(behind, folder):
    daemon = behind(*HERE)
    with socket.create_server(("127.0.0.1", 0)) as front:
        file = folder / "haproxy.cfg"
        file.write_text(CONFIGURATION.format(front=front.fileno(),
                                             back=daemon.hosts[1].removeprefix("tcp://")))
        proxy = subprocess.Popen(["haproxy", "-db", "-f", file], pass_fds=[front.fileno()],
                                 stderr=subprocess.DEVNULL)
        try:
            client = socket.create_connection(front.getsockname(), harness.PATIENCE,
                                              source_address=("127.0.0.5", 0))
            with Wire(client) as wire:
                assert peer(wire) == "127.0.0.5"
        finally:
            proxy.kill()
            proxy.wait(harness.PATIENCE)

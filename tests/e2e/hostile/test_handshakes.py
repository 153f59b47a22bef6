"""First messages of TLS by the hundred, of one address that needs no rights, hold up nobody else's
handshake: peers take turns."""
import select
import socket
import ssl

import certs
import harness
import pytest

MANY = 60
AHEAD = 8  # what the threads had already, and one; far below MANY


@pytest.fixture
def arena(own_arena, folder):
    cert, key = certs.Authority(folder).issue("server", ("DNS:localhost",))
    unix = f"unix:{harness.short_folder()}/m.sock"
    return own_arena("--tls-cert", cert, "--tls-key", key, listen=[unix, "tls://127.0.0.1:0"])


def first_message():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    came, said = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(came, said).do_handshake()
    return said.read()


def test_the_first_of_another_peer_is_answered_before_what_one_has_sent(arena):
    host, port = arena.daemon.hosts[1].removeprefix("tls://").split(":")

    def connect(address):
        return arena.connections.enter_context(
            socket.create_connection((host, int(port)), harness.PATIENCE, (address, 0)))

    attackers = [connect("127.0.0.1") for _ in range(MANY)]
    victim = connect("127.0.0.2")
    with arena.connect() as watcher:
        harness.until(lambda: watcher.ask("server.info")["handshakes"]["in_progress"] == MANY + 1,
                      "all are accepted")
    asked = [*attackers, victim]
    with select.epoll() as answered:
        for s in asked:
            answered.register(s, select.EPOLLIN)
        with arena.standstill():  # all are there when it goes on
            for s in asked:
                s.sendall(first_message())
        for s in asked:
            assert s.recv(1, socket.MSG_PEEK)
        # As they came, for nobody has asked before.
        order = [fd for fd, _ in answered.poll(maxevents=2 * MANY)]
    assert len(order) == MANY + 1
    assert order.index(victim.fileno()) < AHEAD, order.index(victim.fileno())

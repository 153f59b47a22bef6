"""Clients that say of TLS what is no frame: new keys, over and over. libssl itself is the client, for
Python's ssl has no word for it."""
import contextlib
import ctypes
import ctypes.util

import certs
import harness
import pytest
from wire import frame

UPDATE_REQUESTED = 1
MOST = 32
PAID_FOR_BY = 64 << 10


class Client:
    """A connection of libssl's to @address that shows @pair."""

    def __init__(self, address, pair):
        name = ctypes.util.find_library("ssl")
        if name is None:
            pytest.skip("no libssl to be loaded: key updates not tested")
        self.ssl = ctypes.CDLL(name)
        for function in ("TLS_client_method", "SSL_CTX_new", "SSL_new"):
            getattr(self.ssl, function).restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(
            self.ssl.SSL_CTX_new(ctypes.c_void_p(self.ssl.TLS_client_method())))
        cert, key = (str(path).encode() for path in pair)
        self.expect(self.ssl.SSL_CTX_use_certificate_file(self.context, cert, 1))
        self.expect(self.ssl.SSL_CTX_use_PrivateKey_file(self.context, key, 1))
        self.stream = ctypes.c_void_p(self.ssl.SSL_new(self.context))
        self.socket = certs.plain(address)
        self.socket.settimeout(None)
        self.expect(self.ssl.SSL_set_fd(self.stream, self.socket.fileno()))
        self.expect(self.ssl.SSL_connect(self.stream))

    @staticmethod
    def expect(rc):
        assert rc == 1, "libssl failed"

    def update_keys(self):
        """Whether the socket had room for it."""
        self.expect(self.ssl.SSL_key_update(self.stream, UPDATE_REQUESTED))
        return self.ssl.SSL_do_handshake(self.stream) == 1

    def write(self, data):
        assert self.ssl.SSL_write(self.stream, data, len(data)) == len(data)

    def read(self):
        """What comes next; None when nothing will."""
        room = ctypes.create_string_buffer(4096)
        n = self.ssl.SSL_read(self.stream, room, len(room))
        return room.raw[:n] if n > 0 else None

    def close(self):
        self.socket.close()
        self.ssl.SSL_free(self.stream)
        self.ssl.SSL_CTX_free(self.context)


@pytest.fixture
def arena(own_arena, pki):
    return own_arena(*pki.words(), listen=[f"unix:{pki.folder}/m.sock", "tls://127.0.0.1:0"])


@pytest.fixture
def attacker(arena, pki):
    with contextlib.closing(Client(arena.daemon.hosts[1], pki.alice)) as client:
        yield client


def test_a_flood_of_key_updates_ends_its_connection(arena, attacker):
    """libssl read 600 of them at once, in 6 ms of all others' time."""
    victim = arena.victim()
    with arena.growth(1 << 20):
        with arena.standstill():
            attacker.socket.setblocking(False)
            n = 0
            while n < 20_000 and attacker.update_keys():
                n += 1
            victim.ask_later()
        cost = victim.cost()
    assert n > 10 * MOST, "it had something to say"
    victim.expect_within(cost, turns=3, frames=1, cpu_us=3000)
    said = f"it changed its keys {MOST} times within 64 KiB"
    harness.until(lambda: said in arena.daemon.log(), "it is said")


def test_who_changes_keys_now_and_then_is_served(attacker):
    ping = frame([0, 1, "ping", []])
    with_bytes = frame([0, 1, "ping", ["x" * (PAID_FOR_BY // 2)]])
    for _ in range(MOST):
        attacker.update_keys()
    attacker.write(ping)
    assert attacker.read() is not None
    for _ in range(2 * MOST):
        attacker.write(with_bytes)
        assert attacker.read() is not None
        attacker.write(with_bytes)
        assert attacker.read() is not None
        attacker.update_keys()
    attacker.update_keys()
    attacker.write(ping)
    assert attacker.read() is None, "that was one too many"

"""Channels of a client's own to a module's worker: a second reading of what proto/PROTOCOL.md says
of channel.open, over Python's sockets."""
import contextlib
import socket
import struct

import harness
import msgpack
import pytest
from wire import MAGIC, Failure, Wire


GIVEN = ("--max-directs", "16")
SO_PASSRIGHTS = 83  # of Linux 6.16


def is_tight():
    """The kernel can refuse descriptors where they are sent."""
    a, b = socket.socketpair()
    with a, b:
        try:
            return b.getsockopt(socket.SOL_SOCKET, SO_PASSRIGHTS) == 1
        except OSError:
            return False


tight = pytest.mark.skipif(not is_tight(), reason="this kernel has no SO_PASSRIGHTS")


def Daemon(*words, **more):  # noqa: N802
    """One that gives them."""
    return harness.Daemon(*GIVEN, *words, **more)


def open_with(wire, name):
    """(the socket, the answer) of channel.open; nothing else is in flight."""
    wire.ask("module.wait", name)
    id = wire.start("channel.open", name)
    head, fds, _, _ = socket.recv_fds(wire.socket, 16, 4)
    assert len(head) == 16 and head[:4] == MAGIC
    body_bytes, _ = struct.unpack("<IQ", head[4:])
    body = msgpack.unpackb(wire.take(body_bytes))
    assert body[:2] == [1, id]
    if body[2] is not None:
        assert not fds, "an error has no descriptor"
        raise Failure(body[2])
    (fd,) = fds
    return socket.socket(fileno=fd), body[3]


def open_direct(wire, name):
    """A channel to a worker of @name, given to the connection @wire: a Wire of its own. Numbers of
    others that have ended are free a moment later."""
    while True:
        try:
            return Wire(open_with(wire, name)[0])
        except Failure as e:
            if "the maximum" not in e.message:
                raise


@contextlib.contextmanager
def direct(daemon, name):
    with Wire(daemon.host) as wire, open_direct(wire, name) as channel:
        yield channel


def farewell(channel):
    """What the worker says when it ends @channel: [code, name, message]; answers are kept."""
    while True:
        body = channel.receive()
        if body[0] == 2:
            assert body[1] == "session.close"
            with contextlib.suppress(ConnectionResetError):  # it had not read all
                assert not channel.socket.recv(1), "nothing comes behind it"
            return body[2]
        channel.answers[body[1]] = body


def sockets(*pids):
    """How many sockets the processes have."""
    return sum(d == "socket" for pid in pids for d in harness.descriptors(pid))


def pass_on(channel, data, fds):
    """Send @data, and with its first byte descriptors, which no client should: the channel may
    have ended before the rest is sent."""
    sent = socket.send_fds(channel.socket, [data], fds)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        channel.send(data[sent:])


def facts(wire, name):
    return next(m for m in wire.ask("module.list") if m["name"] == name)


def wait_for_restart(wire, n):
    """The worker of the module of faults is there for the @n-th time again."""

    def again():
        now = facts(wire, "faults")
        return now["state"] == "READY" and now["restarts"] == n

    harness.until(again, f"restart {n}")

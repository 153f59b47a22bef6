"""A daemon whose queue of connections is full."""
import asyncio
import contextlib
import socket
import threading

import pytest
from harness import PATIENCE

import modser
import modser.aio

SOON = 0.05


async def connect_on_a_loop(address, deadline):
    (await modser.aio.connect(address, deadline=deadline)).close()


def connect_on_a_thread(address, deadline):
    modser.connect(address, deadline=deadline).close()


def connect_by_loop(address, deadline):
    asyncio.run(connect_on_a_loop(address, deadline))


@pytest.fixture
def full(folder):
    """(its address, the listener)"""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(f"{folder}/full")
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                s = stack.enter_context(socket.socket(socket.AF_UNIX))
                s.setblocking(False)
                s.connect(f"{folder}/full")
        yield f"unix:{folder}/full", listener


both = pytest.mark.parametrize("connect", [connect_on_a_thread, connect_by_loop])


@both
def test_a_daemon_that_takes_no_connection_is_late(full, connect):
    with pytest.raises(modser.DeadlineExceeded, match=f"no connection within {SOON} s"):
        connect(full[0], SOON)


@both
def test_one_that_takes_it_later_has_it(full, connect, monkeypatch):
    address, listener = full
    refused, wait = threading.Event(), socket.socket.connect

    def connected(s, place):
        try:
            wait(s, place)
        except BlockingIOError:
            refused.set()
            raise

    monkeypatch.setattr(socket.socket, "connect", connected)

    def take_all():
        assert refused.wait(PATIENCE)
        listener.settimeout(PATIENCE)
        while listener.accept()[0].recv(1):
            break

    thread = threading.Thread(target=take_all, daemon=True)
    thread.start()
    connect(address, PATIENCE)
    assert refused.is_set()

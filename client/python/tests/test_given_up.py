"""A call that nobody waits for any more: its answer, which may come yet, does not come to memory that
was its caller's, who uses that for something else by now."""
import asyncio
import contextlib
import socket

import numpy as np
import pytest
from harness import PATIENCE
from wire import INLINE, frame, tensor_ext

import modser
import modser.aio
from modser import _client

BYTES = 100_000  # more than are read at once, less than a socket holds
SOON = 0.05
NEXT = frame([1, 2, None, [[tensor_ext(INLINE, "u1", (4,))], None]], bytes([7] * 4))
LATE = frame([1, 1, None, [[tensor_ext(INLINE, "u1", (BYTES,))], None]], bytes([5] * BYTES))
FOUR = frame([1, 1, None, [[tensor_ext(INLINE, "u1", (4,))], None]], bytes(4))
parts = pytest.mark.parametrize("part", [0, 70_000])  # of it, that has come when it is given up


@contextlib.contextmanager
def listening(folder):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/by-hand")
        listener.listen(1)
        listener.settimeout(PATIENCE)
        yield f"unix:{folder}/by-hand", listener


@parts
def test_by_its_deadline(folder, part, monkeypatch):
    monkeypatch.setattr(_client, "GRACE", SOON)
    y = np.zeros(BYTES, "u1")
    with listening(folder) as (address, listener), modser.connect(address) as client:
        with listener.accept()[0] as peer:
            peer.sendall(LATE[:part])
            with pytest.raises(modser.DeadlineExceeded):
                client["m"].f(modser.out(y), deadline=SOON)
            before = y.copy()
            peer.sendall(LATE[part:] + NEXT)
            assert client["m"].f(modser.out("uint8", (4,)), deadline=PATIENCE).tolist() == [7] * 4
    assert before.any() == (part > 0) and (y == before).all()


async def cancel_one(address, listener, part, y):
    async with modser.aio.connect(address) as client:
        peer, _ = listener.accept()
        peer.sendall(LATE[:part])
        call = asyncio.ensure_future(client["m"].f(modser.out(y)))
        while part and not y.any() and not call.done():
            await asyncio.sleep(0)
        await asyncio.sleep(0)  # it is sent
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        before = y.copy()
        peer.sendall(LATE[part:] + NEXT)
        y2 = await client["m"].f(modser.out("uint8", (4,)), deadline=PATIENCE)
        assert y2.tolist() == [7] * 4
        peer.close()
        return before


@parts
def test_by_the_end_of_its_task(folder, part):
    y = np.zeros(BYTES, "u1")
    with listening(folder) as (address, listener):
        before = asyncio.run(asyncio.wait_for(cancel_one(address, listener, part, y), PATIENCE))
    assert before.any() == (part > 0) and (y == before).all()


async def fill_what_is_read_only(address, listener):
    y = np.zeros(4, "u1")
    async with modser.aio.connect(address) as client:
        call = asyncio.ensure_future(client["m"].f(modser.out(y)))
        await asyncio.sleep(0)
        y.flags.writeable = False
        with listener.accept()[0] as peer:
            peer.sendall(FOUR)
            await call


def test_an_answer_that_cannot_be_taken_is_not_waited_for(folder):
    """On a loop it is nobody's exception: all that wait are told."""
    with listening(folder) as (address, listener):
        with pytest.raises(modser.ConnectionLost, match="could not be processed .*read-only"):
            asyncio.run(asyncio.wait_for(fill_what_is_read_only(address, listener), PATIENCE))

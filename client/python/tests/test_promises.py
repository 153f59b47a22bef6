"""Requests that leave together though one names the other's result (PROTOCOL.md section 6)."""
import asyncio

import numpy as np
import pytest

import modser
from modser import aio


def recorded(client):
    """What is sent and waited for from here on, in order."""
    channel, order = client._channel, []
    start, wait = channel.start, channel.wait

    def note(word, do):
        def noted(*args):
            order.append(word)
            return do(*args)

        return noted

    channel.start, channel.wait = note("sent", start), note("awaited", wait)
    return order


def test_put_sends_both_requests_before_it_waits(client):
    order = recorded(client)
    with client["results"].put(np.float32([1, 2])) as x:
        assert order == ["sent", "sent", "awaited", "awaited"]
        assert x.numpy().tolist() == [1, 2]


def test_put_of_much_waits_for_room_first(client):
    order = recorded(client)
    with client["results"].put(np.zeros((1 << 18) + 1, "f4")) as x:
        assert order[:3] == ["sent", "awaited", "sent"]
        assert not x.numpy().any()


def test_put_to_a_daemon_that_lacks_promises(client):
    class Older(modser.Client):
        def _outcome(self, pending):
            super()._outcome(pending)
            return modser.UnknownOption("no such option")

    client.__class__ = Older
    with client["results"].put(np.float32([1, 2])) as x:
        assert x.numpy().tolist() == [1, 2]


def test_put_fails_as_its_first_request_does(client):
    with pytest.raises(modser.NotFound, match="no such module: nowhere"):
        client["nowhere"].put(np.zeros(3))


def test_put_with_asyncio(served):
    async def work():
        async with await aio.connect(served.host) as client:
            async with await client["results"].put(np.float32([1, 2])) as x:
                assert (await x.numpy()).tolist() == [1, 2]
            with pytest.raises(modser.NotFound, match="no such module: nowhere"):
                await client["nowhere"].put(np.zeros(3))

    asyncio.run(work())

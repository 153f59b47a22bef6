"""Looking after the store of the daemon."""
import asyncio

import harness
import pytest

import modser
import modser.aio


@pytest.fixture
def stocked(own_daemon, folder):
    daemon = own_daemon("--store", folder / "store")
    with modser.connect(daemon.host, deadline=harness.PATIENCE) as client:
        client.load("m", harness.ZOO / "faults.so", keep=True)
        client.load("n", harness.ZOO / "results.so", keep=True)
    return daemon


def test_a_store_is_listed_pinned_verified_and_collected(stocked, folder):
    with modser.connect(stocked.host, deadline=harness.PATIENCE) as client:
        assert [(e["module"], e["ref"]) for e in client.store_list()] == [
            ("m", "current"), ("n", "current")]
        client.store_pin("n")
        assert [e["pinned"] for e in client.store_list()] == [False, True]
        client.store_pin("n", False)
        assert not any(e["pinned"] for e in client.store_list())
        client.unload("m")
        assert client.store_collect()["removed"] == 1
        assert client.store_verify() == []
        sha256 = client.store_list()[0]["sha256"]
        (folder / "store" / "sha256" / sha256[:2] / sha256).unlink()
        assert [f["module"] for f in client.store_verify()] == ["n"]


def test_asyncio_does_the_same(stocked):
    async def look():
        async with modser.aio.connect(stocked.host, deadline=harness.PATIENCE) as client:
            await client.store_pin("m")
            with pytest.raises(modser.NotFound):
                await client.store_pin("none")
            await client.unload("n")
            collected = await client.store_collect()
            return await client.store_list(), collected, await client.store_verify()

    editions, collected, faults = asyncio.run(look())
    assert [(e["module"], e["pinned"]) for e in editions] == [("m", True)]
    assert collected["removed"] == 1 and faults == []

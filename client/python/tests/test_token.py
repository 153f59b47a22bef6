"""Whose a connection is, to a daemon with a file of rights."""
import asyncio
import hashlib

import harness
import pytest

import modser
import modser.aio


@pytest.fixture
def host(folder, own_daemon):
    acl = folder / "rights.acl"
    digest = hashlib.sha256(b"secret").hexdigest()
    acl.write_text(f"user app token:sha256={digest} +@lookup */*\nend\n")
    acl.chmod(0o644)
    daemon = own_daemon("--acl", acl, listen=[f"unix:{folder}/s", "tcp://127.0.0.1:0"])
    return daemon.hosts


@pytest.fixture(autouse=True)
def no_token(monkeypatch):
    monkeypatch.delenv("MODSER_TOKEN", raising=False)


def test_a_token_says_whose_a_connection_is(host):
    with modser.connect(host[0], token="secret", deadline=harness.PATIENCE) as client:
        assert client.list() == []
        with pytest.raises(modser.Refused, match="app has no right"):
            client["nothing"].unload()


def test_asyncio_shows_it_too(host):
    async def run():
        async with modser.aio.connect(host[0], token="secret") as client:
            assert await client.list() == []
            with pytest.raises(modser.Refused, match="app has no right"):
                await client["nothing"].unload()
        with pytest.raises(modser.Refused, match="no user has this token"):
            await modser.aio.connect(host[0], token="guessed")

    asyncio.run(asyncio.wait_for(run(), harness.PATIENCE))


def test_the_environment_says_it_where_nothing_else_does(host, monkeypatch):
    monkeypatch.setenv("MODSER_TOKEN", "guessed")
    with pytest.raises(modser.Refused, match="no user has this token"):
        modser.connect(host[0], deadline=harness.PATIENCE)
    with modser.connect(host[0], token="secret", deadline=harness.PATIENCE) as client:
        assert client.list() == []


def test_it_is_not_sent_over_plain_tcp(host, monkeypatch):
    with pytest.raises(modser.BadRequest, match="others can read"):
        modser.connect(host[1], token="secret", deadline=harness.PATIENCE)
    monkeypatch.setenv("MODSER_TOKEN", "secret")
    with modser.connect(host[1], deadline=harness.PATIENCE) as client:
        client.ping()
        with pytest.raises(modser.Refused, match="anonymous has no right"):
            client.list()


def test_what_is_no_token_is_told(host):
    with pytest.raises(TypeError, match="a token is a str"):
        modser.connect(host[0], token=b"secret")

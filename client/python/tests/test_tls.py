"""The clients over TLS: what they believe, what they show, and bytes both ways."""
import asyncio
import threading

import certs
import harness
import numpy as np
import pytest

import modser
import modser.aio


@pytest.fixture(scope="module")
def tls(pki, models):
    """The address of a daemon that asks for certificates, with a module."""
    unix = f"unix:{pki.folder}/m.sock"
    with harness.Daemon(*pki.words(), listen=["tls://127.0.0.1:0", unix]) as d:
        with modser.connect(unix) as client:
            client.load("shapes", models / "shapes.so")
        yield d.host.replace("127.0.0.1", "localhost")


@pytest.fixture
def client(tls, pki):
    with modser.connect(tls, tls=certs.context(pki, pki.alice)) as c:
        yield c


def test_a_call_goes_both_ways(client):
    x = np.arange(2_000_001, dtype="float32")
    y = client["shapes"].addone(x, modser.out("f4", x.size))
    assert (y == x + 1).all()


def test_many_calls_are_in_flight(client):
    addone = client["shapes"].addone
    futures = [addone.submit(np.full(300, i, "f4"), modser.out("f4", 300)) for i in range(200)]
    for i, future in enumerate(futures):
        assert (future.result() == i + 1).all()


def test_threads_share_a_connection(client):
    wrong = []

    def work(i):
        for n in range(20):
            x = np.full(10_000, 100 * i + n, "f4")
            y = client["shapes"].addone(x, modser.out("f4", 10_000))
            if not (y == x + 1).all():
                wrong.append((i, n))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(harness.PATIENCE)
    assert not wrong and not any(t.is_alive() for t in threads)


def test_asyncio_speaks_it_too(tls, pki):
    async def work():
        async with modser.aio.connect(tls, tls=certs.context(pki, pki.alice)) as client:
            x = np.arange(1_000_003, dtype="float32")
            several = [client["shapes"].addone(x, modser.out("f4", x.size)) for _ in range(5)]
            return [(y == x + 1).all() for y in await asyncio.gather(*several)]

    assert asyncio.run(work()) == [True] * 5


def test_the_environment_names_the_files(tls, pki, monkeypatch):
    monkeypatch.setenv("MODSER_TLS_CA", str(pki.cert))
    monkeypatch.setenv("MODSER_TLS_CERT", str(pki.alice[0]))
    monkeypatch.setenv("MODSER_TLS_KEY", str(pki.alice[1]))
    with modser.connect(tls) as client:
        assert "shapes" in client


def test_a_server_of_an_unknown_authority_is_refused(tls):
    with pytest.raises(modser.ConnectionLost, match="certificate verify failed"):
        modser.connect(tls)


def test_a_server_of_another_name_is_refused(tls, pki):
    other = tls.replace("localhost", "127.0.0.1")
    with pytest.raises(modser.ConnectionLost, match="IP address mismatch"):
        modser.connect(other, tls=certs.context(pki, pki.alice))


def test_a_server_without_tls_is_told_with_the_address_to_say(own_daemon):
    plain = own_daemon(listen=["tcp://127.0.0.1:0"]).host
    with pytest.raises(modser.ConnectionLost, match="does not speak TLS") as caught:
        modser.connect(plain.replace("tcp://", "tls://"))
    address = plain.replace("tcp://", "tls://")
    assert caught.value.hint == f"use {plain}, or start modserd with --listen {address}"


def test_without_a_certificate_the_alert_is_told(tls, pki):
    with pytest.raises(modser.ConnectionLost, match="certificate required"):
        with modser.connect(tls, tls=certs.context(pki)) as client:
            client.ping()


def test_a_closed_connection_says_so(client):
    client.close()
    with pytest.raises(modser.ConnectionLost, match="closed here"):
        client.ping()

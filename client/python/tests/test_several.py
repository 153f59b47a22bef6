"""One of several daemons: the first that answers and stays."""
import asyncio
import signal
import socket
import threading

import harness
import pytest
from harness import PATIENCE

import modser
import modser.aio

CLIENTS = 4
AFTER = 25  # calls of each client once one of the daemons has been killed


@pytest.fixture
def nobody(folder):
    return f"unix:{folder}/nobody"


@pytest.fixture
def leaving(own_daemon):
    daemon = own_daemon("--drain-delay", "1h")
    daemon.process.send_signal(signal.SIGTERM)
    daemon.expect_logged("event=daemon_drain_delay delay_ms=3600000")
    yield daemon
    daemon.stop()


async def connected(address, deadline):
    async with modser.aio.connect(address, deadline=deadline) as client:
        return client.address


def places(address, deadline=PATIENCE):
    """Where both clients are connected to."""
    with modser.connect(address, deadline=deadline) as client:
        return client.address, asyncio.run(connected(address, deadline))


def test_the_first_of_a_list_that_answers_is_it(served, nobody):
    assert places(f"{nobody},{served.host},{nobody}") == (served.host,) * 2


def test_one_that_is_about_to_end_is_the_last_choice(served, leaving, nobody):
    assert places(f"{leaving.host},{served.host}") == (served.host,) * 2
    assert places(f"{leaving.host},{nobody}") == (leaving.host,) * 2


def test_one_that_is_silent_does_not_keep_the_next_from_being_asked(served, folder):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(f"{folder}/silent")
        silent.listen()
        assert places(f"unix:{folder}/silent,{served.host}", None) == (served.host,) * 2


def test_what_is_wrong_with_each_is_said_when_none_answers(nobody):
    with pytest.raises(modser.ConnectionLost, match="nobody: .*; unix:.*other: "):
        modser.connect(f"{nobody},{nobody[:-6]}other", deadline=PATIENCE)
    with pytest.raises(modser.ConnectionLost, match="nobody: .*; unix:.*other: "):
        asyncio.run(connected(f"{nobody},{nobody[:-6]}other", PATIENCE))


def test_a_wrong_address_in_a_list_is_said_before_any_is_asked(served):
    with pytest.raises(modser.BadRequest, match="the port is missing|the host or the port"):
        modser.connect(f"{served.host},tcp://h")


def test_a_token_is_not_shown_where_one_of_several_could_be_overheard(served):
    with pytest.raises(modser.BadRequest, match="a token is not sent to"):
        modser.connect(f"{served.host},tcp://127.0.0.1:1", token="secret")


class Caller(threading.Thread):
    """Calls one of several, connects again when it is lost, and sends no call twice."""

    def __init__(self, address, killed):
        super().__init__()
        self.address, self.killed = address, killed
        self.answers = {}
        self.lost = 0
        self.start()

    def run(self):
        left = AFTER
        while left:
            try:
                with modser.connect(self.address, deadline=PATIENCE) as client:
                    while left:
                        left -= self.killed.is_set()
                        client["results"]["int"]()
                        self.answers[client.address] = self.answers.get(client.address, 0) + 1
            except modser.ConnectionLost:
                self.lost += 1


def test_one_killed_under_load_costs_the_calls_in_flight_and_doubles_none(own_daemon):
    first, second = (own_daemon("--load", f"results={harness.ZOO / 'results.so'}")
                     for _ in range(2))
    for daemon in first, second:
        daemon.ok("wait", "results")
    killed = threading.Event()
    callers = [Caller(f"{first.host},{second.host}", killed) for _ in range(CLIENTS)]
    harness.until(lambda: all(c.answers for c in callers), "everybody has been answered")
    first.kill()
    killed.set()
    for caller in callers:
        caller.join(PATIENCE)
        assert not caller.is_alive()
    assert all(caller.lost == 1 for caller in callers)
    answers = sum(caller.answers.get(second.host, 0) for caller in callers)
    with modser.connect(second.host, deadline=PATIENCE) as client:
        assert client.describe("results")["calls"] == answers > 0

"""A daemon that does not read, for it is stopped: whoever has a deadline waits no longer than it says."""
import contextlib
import socket

import harness
import numpy as np
import pytest
from unasked import elsewhere

import modser
from modser import _client, _sockets
from modser._message import pack

LARGE = np.zeros(1 << 23, "u1")  # no socket holds that
SOON = 0.05


@pytest.fixture
def client(folder, monkeypatch):
    monkeypatch.setattr(_client, "GRACE", SOON)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{folder}/silent")
        listener.listen(1)
        with modser.connect(f"unix:{folder}/silent") as client:
            yield client


def outcome_of(call, *args):
    """On a thread, which is waited for: it might go on for ever."""
    with elsewhere(lambda: call(*args, deadline=SOON)) as outcome:
        pass
    return outcome[0]


def expect_not_read(outcome, kind):
    assert isinstance(outcome, kind), outcome
    assert "the daemon does not read: a request was not sent by its deadline" in outcome.message


def test_half_a_request_is_given_up_with_its_connection(client):
    expect_not_read(outcome_of(client["m"].f, LARGE), modser.ConnectionLost)
    assert client.is_lost()


def fill(client):
    """All that its socket takes."""
    with contextlib.suppress(BlockingIOError):
        while True:
            client._channel._socket.send(bytes(1 << 16), _sockets.SEND_FLAGS)


def test_a_request_of_which_nothing_was_sent_is_given_up_alone(client):
    fill(client)
    expect_not_read(outcome_of(client["m"].f), modser.DeadlineExceeded)
    assert not client.is_lost() and client._channel.is_idle()


def test_one_without_a_deadline_does_not_keep_those_of_other_threads(client):
    with elsewhere(client["m"].f.submit, LARGE) as outcome:
        harness.until(client._channel._sending.locked, "it is being sent")
        expect_not_read(outcome_of(client["m"].f), modser.DeadlineExceeded)
        assert not client.is_lost()
        client.close()
    assert isinstance(outcome[0], modser.ConnectionLost)


def test_what_is_to_be_freed_is_not_waited_for_and_not_forgotten(client):
    forgotten = [(pack("tensor.free"), pack(None)), (pack("instance.free"), pack(None))]
    client._channel.forgotten.extend(forgotten)
    fill(client)
    expect_not_read(outcome_of(client["m"].f), modser.DeadlineExceeded)
    assert sorted(client._channel.forgotten) == sorted(forgotten)
    assert not client.is_lost()

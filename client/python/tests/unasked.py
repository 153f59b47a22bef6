"""What the tests of blocking calls that go past the daemon share: a client, its daemon, and how
many of its requests the daemon has had."""
import contextlib
import os
import threading

import direct
import harness
import numpy as np
import pytest
from wire import Wire

import modser
from modser import _auto_direct

FIRST = _auto_direct.FIRST_CALLS
MANY = 200


def library(name, file):
    return ("--load", f"{name}={harness.ZOO / file}.so")


ZOO = library("zoo", "faults")
RESULTS = library("results", "results")


def times(n, call, *args):
    for _ in range(n):
        call(*args)


class Scene:
    def __init__(self, daemon, wire, client):
        self.daemon, self.wire, self.client = daemon, wire, client

    def requests(self, do, *args):
        """How many requests the daemon has had of others while @do did what it does."""
        before = self.wire.ask("server.info")["requests"]
        do(*args)
        return self.wire.ask("server.info")["requests"] - before - 1

    def goes_past(self, call, *args):
        """Until calls pass the daemon by, all of them: it may give a channel a moment later."""

        def goes():
            times(FIRST + 2, call, *args)
            return self.requests(times, 5, call, *args) == 0

        harness.until(goes, "it has a channel")

    def calls(self, name):
        return direct.facts(self.wire, name)["calls"]

    def pid(self, name):
        (pid,) = direct.facts(self.wire, name)["pids"]
        return pid


@pytest.fixture
def unhurried(monkeypatch):
    """A busy machine is no reason not to ask."""
    monkeypatch.delenv("MODSER_DIRECT", raising=False)
    monkeypatch.setattr(_auto_direct, "EACH", harness.PATIENCE)
    monkeypatch.setattr(_auto_direct, "LONG_NS", int(harness.PATIENCE * 1e9))


@pytest.fixture
def begin(own_daemon, unhurried):
    """begin(words...): a client of a daemon that is started with them."""
    with contextlib.ExitStack() as stack:

        def begin(*words, token=None, deadline=harness.PATIENCE, **more):
            daemon = own_daemon(*direct.GIVEN, *words, **more)
            wire = stack.enter_context(Wire(daemon.host))
            client = modser.connect(daemon.host, token=token, deadline=deadline)
            stack.callback(client.close)
            for word in words[1::2]:
                if "=" in str(word) and words[0] == "--load":
                    wire.ask("module.wait", str(word).partition("=")[0])
            return Scene(daemon, wire, client)

        yield begin


@contextlib.contextmanager
def elsewhere(do, *args):
    """@do on a thread; yields a list that its outcome is put into at the end."""
    outcome = []

    def run():
        try:
            outcome.append(do(*args))
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield outcome
    finally:
        thread.join(harness.PATIENCE)
        assert not thread.is_alive(), "the thread has ended"


def same(a, b):
    """To the bit."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, modser.Tensor):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    return type(a) is type(b) and a == b


def own_sockets():
    return direct.sockets(os.getpid())

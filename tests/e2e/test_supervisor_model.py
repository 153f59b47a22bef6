"""The real supervisor against a model of it: random sequences of what clients ask for, answered by
workers that are fake_worker.py, and each answer compared with those that the model allows.

MSD_SEED=n runs the one sequence n. Times are of the machine's one monotonic clock, which the
workers write down, too: who was asked or answered before whom is known, whoever's turn it was.
"""
import itertools
import json
import os
import random
import select
import site
import sys

import harness
import numpy as np
import pytest
from supervisor_model import CALLS, KILLERS, Asked, Model
from wire import Wire

SEEDS = [int(os.environ["MSD_SEED"])] if "MSD_SEED" in os.environ else range(30)
STEPS, MOST_KILLERS = 40, 3


class Session:
    """What one sequence asks for, over connections that come and go."""

    def __init__(self, daemon, rng):
        self.daemon, self.rng = daemon, rng
        self.numbers, self.versions = itertools.count(1), itertools.count(1)
        self.wires, self.all, self.open, self.n_killers = [], [], {}, 0
        self.connect()

    def connect(self):
        self.wires.append(Wire(self.daemon.host))

    def put(self, kind, method, *params, wire=None, options=None, **more):
        wire = wire or self.rng.choice(self.wires)
        asked = Asked(kind, next(self.numbers), wire, **more)
        self.all.append(asked)
        self.open[asked.number] = asked
        options = options or {}
        if asked.deadline_ms is not None:
            options["deadline_ms"] = asked.deadline_ms
        if kind in CALLS:
            params += (asked.number,) if asked.data is None else (asked.number, asked.data)
        wire.start(method, *params, id=asked.number, **options)
        return asked

    def call(self, kind):
        deadline = self.rng.choice((None,) * 6 + (0, 15, harness.LONG_MS))
        if kind in KILLERS:
            if self.n_killers == MOST_KILLERS:
                return
            self.n_killers += 1
        if kind == "hang":
            deadline = self.rng.choice((15, 40))
        size = self.rng.choice((None, None, 0, 7, 5000))
        data = None if size is None else np.frombuffer(self.rng.randbytes(size), "u1")
        self.put(kind, "call", f"m:{kind}", deadline_ms=deadline, data=data)

    def load(self, replace=True, fate=None, wire=None):
        wire = wire or self.rng.choice(self.wires)
        fate = fate or self.rng.choice(("good", "good", "good", "bad", "dies"))
        upload = self.ask(wire, "module.upload", "begin", 16)
        version = next(self.versions)
        text = f"{version:010} {fate:5}".encode()
        self.ask(wire, "module.upload", "write", upload, 0, np.frombuffer(text, "u1"))
        self.ask(wire, "module.upload", "commit", upload)
        return self.put(
            "load",
            "module.load",
            "m",
            upload,
            {"replace": replace},
            wire=wire,
            fate=fate,
            version=version,
            replace=replace,
        )

    def ask(self, wire, method, *params):
        asked = self.put("ask", method, *params, wire=wire)
        self.await_one(asked)
        return asked.value

    def cancel(self):
        ours = [a for a in self.open.values() if a.kind in CALLS]
        if ours:
            target = self.rng.choice(ours)
            target.cancelled = True
            self.put("cancel", "cancel", target.number, wire=target.wire, target=target.number)

    def disconnect(self):
        if len(self.wires) == 1:
            self.connect()
            return
        wire = self.wires.pop(self.rng.randrange(len(self.wires)))
        wire.socket.close()
        self.open = {n: a for n, a in self.open.items() if a.wire is not wire}

    def step(self):
        kind = self.rng.choices(
            (*CALLS, "cancel", "load", "unload", "wait", "disconnect", "await", "ping"),
            (24, 6, 3, 2, 8, 3, 1, 4, 2, 8, 2),
        )[0]
        if kind in CALLS:
            self.call(kind)
        elif kind == "load":
            self.load(replace=self.rng.random() < 0.8)
        elif kind == "unload":
            self.put(kind, "module.unload", "m")
            if self.rng.random() < 0.7:  # the name shall not stay unused for long
                self.await_one(self.all[-1])
                self.load(fate="good")
        elif kind == "wait":
            self.put(kind, "module.wait", "m", deadline_ms=self.rng.choice((None, 15)))
        elif kind == "ping":
            self.put(kind, "ping")
        elif kind == "await" and self.open:
            self.await_one(self.rng.choice(list(self.open.values())))
        elif kind in ("cancel", "disconnect"):
            getattr(self, kind)()

    def hear(self):
        """Take the answers of all connections that have one, waiting for the first."""
        ready, _, _ = select.select([w.socket for w in self.wires], [], [], harness.PATIENCE)
        assert ready, f"no answer to {list(self.open.values())}"
        for wire in self.wires:
            if wire.socket in ready:
                self.hear_one(wire)

    def hear_one(self, wire):
        body = wire.receive()
        assert body[0] == 1, body
        asked = self.open.pop(body[1], None)
        assert asked is not None and asked.wire is wire, f"answered twice, or unasked: {body}"
        asked.hear(body)

    def await_one(self, asked):
        while asked.number in self.open:
            self.hear()

    def finish(self):
        while self.open:
            self.hear()
        with Wire(self.daemon.host) as wire:
            harness.until(
                lambda: all(m["in_flight"] == 0 for m in wire.ask("module.list")), "all has ended"
            )
        for wire in self.wires:
            wire.socket.close()


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """(the program for MODSERD_WORKER, what it records)"""
    folder = tmp_path_factory.mktemp("fake")
    program, record = folder / "worker", folder / "record"
    script = harness.ROOT / "tests/e2e/fake_worker.py"
    # Without `site` an interpreter starts in half the time.
    path = ":".join(site.getsitepackages())
    command = f"exec '{sys.executable}' -S '{script}' '{record}'"
    program.write_text(f"#!/bin/sh\nPYTHONPATH='{path}' {command}\n")
    program.chmod(0o755)
    return program, record


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_that_the_model_allows(own_daemon, fake, seed):
    program, record = fake
    record.write_text("")
    rng = random.Random(seed)
    max_deaths = rng.choice((2, 8))
    limits = ("--max-deaths", max_deaths, "--kill-grace", "20ms")
    waits = ("--ready-wait", harness.LONG, "--drain", harness.LONG)
    daemon = own_daemon(*limits, *waits, env={"MODSERD_WORKER": str(program)})
    session = Session(daemon, rng)
    session.load(fate="good")
    for _ in range(STEPS):
        session.step()
    session.finish()
    daemon.stop()
    runs = [json.loads(line) for line in record.read_text().splitlines()]
    model = Model(session.all, runs, max_deaths)
    found = "\n".join(model.complaints())
    assert not found, f"MSD_SEED={seed} has the same sequence:\n{found}"

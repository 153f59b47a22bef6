"""Where one client, worker or file attacks and another is the victim: what each attack costs others
is counted (turns of the supervisor's loop, frames, bytes, its processor time, memory, descriptors,
processes), never timed, so that a verdict is the same on a busy machine.

An attack is a test in a file test_<what>.py here, and a line in CMakeLists.txt for a new file:

    def test_pipelined_pings_are_served_in_turns(arena):
        attacker, victim = arena.connect(), arena.victim()
        with arena.standstill():            # the supervisor is stopped: bytes gather in sockets
            attacker.offer(frame([0, 1, "ping", []]) * 10000)
            victim.ask_later()              # is there when it goes on, behind all of them
        victim.expect_within(victim.cost(), frames=70, turns=3)

What goes on all the time instead is a process of its own, with `arena.attack(function)`; then
`arena.expect_turns(victim, others)` says that it gets its turn among them. A budget of memory is
`with arena.growth(budget)`; that nothing is left is `arena.expect_as_before(before)`, with
`before = arena.state()`. A test for a daemon with options of its own starts it by
`own_arena(word...)`. Modules that attack are in tests/modules.
"""
import contextlib
import multiprocessing
import os
import pathlib
import re
from typing import NamedTuple

import harness
from wire import Wire, frame

# What the daemon needs for its own bookkeeping, whatever it was asked for.
SLACK_BYTES = 4 << 20
# What the allocator keeps of what was freed.
KEPT_BYTES = 16 << 20
# What a victim says at once: more than one turn's frames. A ping and its answer, both ways.
PINGS = 256
PING_BYTES = 64


class Cost(NamedTuple):
    """What the supervisor did for all connections together between two moments."""

    turns: int
    frames: int
    bytes_in: int
    bytes_out: int
    cpu_us: int

    def __sub__(self, other):
        return Cost(*(a - b for a, b in zip(self, other)))


class Memory(NamedTuple):
    """Bytes: resident, those of it that are shared (memfds), those that are its own."""

    rss: int
    shmem: int
    private: int


class State(NamedTuple):
    """What the daemon holds."""

    connections: int
    modules: int
    descriptors: tuple
    processes: int
    memory: Memory

    def is_like(self, before):
        """Tensor memory may stay warm; what a sanitizer keeps is not the daemon's doing."""
        grown = 0 if harness.SANITIZED else self.memory.private - before.memory.private
        return self[:-1] == before[:-1] and grown <= KEPT_BYTES


class Attacker(Wire):
    """A client that sends whatever it likes."""

    def offer(self, data):
        """Send as much of @data as the socket takes now; returns how many bytes that was."""
        sent = 0
        patience = self.socket.gettimeout()
        self.socket.setblocking(False)  # a socket with a timeout waits in spite of MSG_DONTWAIT
        with contextlib.suppress(BlockingIOError):
            while sent < len(data):
                sent += self.socket.send(data[sent:])
        self.socket.settimeout(patience)
        return sent


class Victim(Wire):
    """A client that wants nothing but its answers, and knows how much lay before each."""

    def __init__(self, address):
        super().__init__(address)
        self.asked = None
        self.begin()

    def begin(self):
        """Count from here."""
        self.ask_later()
        self.last = self.done()

    def answer(self, asked):
        """The answer to a ping is None."""
        info = self.finish(asked)
        return info and Cost(*(info[field] for field in Cost._fields))

    def done(self):
        """What was done since the daemon started, as the answer to ask_later() has it."""
        return self.answer(self.asked)

    def ask_later(self):
        """Ask now, for cost() to take the answer."""
        self.asked = self.start("server.info")

    def cost(self):
        """What was done since begin() when ask_later() was answered, the answer's own frame
        included."""
        return self.done() - self.last

    def cost_of(self, method, *params, **options):
        """What was done while this was asked and answered."""
        self.begin()
        self.ask(method, *params, **options)
        self.ask_later()
        return self.cost()

    def expect_within(self, cost, turns=None, frames=None, bytes=None, cpu_us=None):
        """@bytes are those of both ways together."""
        found = cost._asdict() | {"bytes": cost.bytes_in + cost.bytes_out}
        bounds = {"turns": turns, "frames": frames, "bytes": bytes, "cpu_us": cpu_us}
        if harness.SANITIZED:
            bounds.pop("cpu_us")
        for what, most in bounds.items():
            assert most is None or found[what] <= most, f"{what}: over {most} in {cost}"


class Arena:
    """A daemon that is attacked, with modules {name: path} that are loaded beforehand."""

    def __init__(self, *words, modules=None, **more):
        self.daemon = harness.Daemon(*words, **more)
        self.pid, self.host = self.daemon.pid, self.daemon.host
        self.connections = contextlib.ExitStack()
        try:
            with Wire(self.host) as wire:
                for name, path in (modules or {}).items():
                    wire.load(name, pathlib.Path(path).read_bytes())
                wire.ask("server.info")  # opens what libuv keeps for the loop's life
        except BaseException:
            self.daemon.kill()
            raise

    def connect(self, host=None):
        """A connection of an attacker, closed at the end at the latest."""
        return self.connections.enter_context(Attacker(host or self.host))

    def victim(self, host=None):
        return self.connections.enter_context(Victim(host or self.host))

    def standstill(self):
        """As the daemon's; offer() says how much the sockets held."""
        return self.daemon.standstill()

    @contextlib.contextmanager
    def attack(self, function, *args, times=1, frames=0):
        """@times processes run function(host, *args) over and over; the body begins when the
        supervisor has got @frames frames more."""
        context = multiprocessing.get_context("fork")
        with Victim(self.host) as watcher:
            attackers = [context.Process(target=_again_and_again, args=(function, self.host, *args))
                         for _ in range(times)]
            for a in attackers:
                a.start()
            try:
                harness.until(lambda: self._came(watcher) >= frames, "the attack is on")
                yield attackers
            finally:
                for a in attackers:
                    a.kill()
                    a.join()

    def expect_turns(self, victim, others, bytes=None, rounds=4):
        """@victim is served in each turn in which it has something to say; all others together
        have @others frames in a turn at most, and @bytes both ways. What it says is there when
        the supervisor goes on: how long this process had to wait counts nothing."""
        for _ in range(rounds):
            methods = ["server.info"] + ["ping"] * PINGS + ["server.info"]
            asked = [(next(victim.ids), method) for method in methods]
            with self.standstill():
                victim.send(b"".join(frame([0, id, method, []]) for id, method in asked))
            first, *_, last = [victim.answer(id) for id, _ in asked]
            cost = last - first
            victim.expect_within(
                cost, turns=PINGS + 1, frames=PINGS + 1 + (cost.turns + 1) * others,
                bytes=bytes and (PINGS + 1) * PING_BYTES + (cost.turns + 1) * bytes)

    @staticmethod
    def _came(watcher):
        watcher.ask_later()
        return watcher.cost().frames

    def _status(self):
        return pathlib.Path(f"/proc/{self.pid}/status").read_text()

    def memory(self):
        status = self._status()
        rollup = pathlib.Path(f"/proc/{self.pid}/smaps_rollup").read_text()

        def kib(field, text):
            return int(re.search(rf"^{field}:\s+(\d+) kB", text, re.M)[1]) << 10

        # Pages of a program that another daemon ran until now are its own, too: clean ones.
        return Memory(kib("VmRSS", status), kib("RssShmem", status), kib("Private_Dirty", rollup))

    @contextlib.contextmanager
    def growth(self, budget):
        """The supervisor's resident memory grows by @budget bytes at most, at its highest."""
        # Writing 5 makes the mark of the highest what it is now.
        pathlib.Path(f"/proc/{self.pid}/clear_refs").write_text("5")
        before = self.memory()
        yield
        highest = int(re.search(r"^VmHWM:\s+(\d+) kB", self._status(), re.M)[1]) << 10
        grown, most = highest - before.rss, budget + SLACK_BYTES
        # A sanitizer keeps what was freed.
        assert harness.SANITIZED or grown <= most, f"grew by {grown} of {most}: {self.memory()}"

    def state(self):
        with Wire(self.host) as wire:
            info = wire.ask("server.info")
            descriptors = tuple(harness.descriptors(self.pid))
        return State(
            info["connections"], info["modules"], descriptors, len(self.daemon.processes()),
            self.memory())

    def expect_as_before(self, before):
        """What the attack took is given back, soon."""
        seen = []

        def is_as_before():
            seen[:] = [self.state()]
            return seen[0].is_like(before)

        try:
            harness.until(is_as_before, "all is as before")
        except AssertionError:
            raise AssertionError(f"before {before}\nafter {seen}") from None
        assert self.daemon.process.poll() is None

    def workers_of(self, name):
        with Wire(self.host) as wire:
            return next(m["pids"] for m in wire.ask("module.list") if m["name"] == name)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.connections.close()
        self.daemon.__exit__(kind)


def _again_and_again(function, host, *args):
    # It is a copy of the test's process: its end is not to be reported by pytest, too.
    try:
        while True:
            function(host, *args)
    except BaseException:
        os._exit(1)

"""An honest client in a process of its own: it has many requests under way over some connections,
and checks every answer: that it is the right one, the only one, and there in time.
"""
import collections
import random
import select
import struct
import time

import msgpack
import stories
from wire import MAGIC, Payload, Wire, frame, unpack_ext

# Of a module that is attacked: what may become of a call when its worker is killed, stopped,
# replaced or unloaded.
EXCUSED = {"WORKER_LOST", "QUARANTINED", "NOT_READY", "NOT_FOUND", "DRAINING", "STALE_HANDLE",
           "DEADLINE_EXCEEDED", "MODULE_FAILED", "BUSY"}
AMPLE_MS = 60_000


class Stream(Wire):
    """A connection that waits neither for its peer to send nor to read."""

    def __init__(self, address):
        super().__init__(address)
        self.socket.setblocking(False)
        self.coming, self.going = bytearray(), bytearray()
        self.n_queued, self.n_gone = 0, 0

    def send(self, data):
        self.going += data
        self.n_queued += len(data)
        self.push()

    def push(self):
        """False when the peer has closed."""
        try:
            while self.going:
                n = self.socket.send(self.going)
                del self.going[:n]
                self.n_gone += n
        except BlockingIOError:
            pass
        except OSError:
            return False
        return True

    def pull(self):
        """What can be read now; False when the peer has closed."""
        try:
            while True:
                more = self.socket.recv(1 << 20)
                if not more:
                    return False
                self.coming += more
        except BlockingIOError:
            return True
        except OSError:
            return False

    def bodies(self):
        while len(self.coming) >= 16:
            assert self.coming[:4] == MAGIC, bytes(self.coming[:16])
            body_bytes, payload_bytes = struct.unpack_from("<IQ", self.coming, 4)
            whole = 16 + body_bytes + payload_bytes
            if len(self.coming) < whole:
                return
            payload = bytes(self.coming[16 + body_bytes : whole])
            body = bytes(self.coming[16 : 16 + body_bytes])
            del self.coming[:whole]
            yield msgpack.unpackb(body, ext_hook=unpack_ext(payload), strict_map_key=False)


class Asked:
    def __init__(self, story, module, name, deadline_ms, end):
        self.story, self.module, self.name = story, module, name
        self.deadline_ms, self.end = deadline_ms, end  # of its frame in all that was queued
        self.at, self.cancelled = None, False


class Checker:
    def __init__(self, host, seed, steady, prey, progress, grace_ms):
        self.host, self.rng = host, random.Random(seed)
        self.steady, self.prey = steady, prey
        self.progress, self.grace_ms = progress, grace_ms
        self.open = {}  # Stream: {id: Asked}
        self.unsent = collections.defaultdict(collections.deque)
        self.said = collections.Counter()
        self.findings = collections.defaultdict(list)
        self.slowest_ms = 0.0

    def find(self, kind, text):
        self.findings[kind].append(text)

    def connect(self):
        self.open[Stream(self.host)] = {}

    def begin(self, stream):
        """Start a story, of the module that nobody attacks or of one that is attacked."""
        module = self.steady if self.rng.random() < 0.5 else self.rng.choice(self.prey)
        tell = self.rng.choice(stories.ALL)
        story = tell(self.rng, module)
        self.ask(stream, story, module, tell.__name__, next(story))

    def ask(self, stream, story, module, name, request):
        method, params = request
        deadline = AMPLE_MS
        if module != self.steady and self.rng.random() < 0.2:
            deadline = self.rng.choice((0, 1, 20, 200))
        payload, id = Payload(), next(stream.ids)
        body = [0, id, method, payload.place(list(params)), {"deadline_ms": deadline}]
        data = frame(body, payload.bytes)
        asked = Asked(story, module, name, deadline, stream.n_queued + len(data))
        self.open[stream][id] = asked
        self.unsent[stream].append(asked)
        stream.send(data)
        if module != self.steady and self.rng.random() < 0.02:
            asked.cancelled = True
            stream.send(frame([2, "cancel", [id]]))

    def note_sent(self, stream):
        """A deadline counts from when the last byte was the system's."""
        while self.unsent[stream] and self.unsent[stream][0].end <= stream.n_gone:
            self.unsent[stream].popleft().at = time.monotonic()

    def hear(self, stream, body):
        asked = self.open[stream].pop(body[1], None)
        if body[0] != 1 or asked is None:
            self.find("double", f"nothing is open that {body!r:.200} could answer")
            return
        self.progress.value += 1
        # Some are answered before their payload has gone.
        took_ms = 1000 * (time.monotonic() - asked.at) if asked.at else 0.0
        what = f"{asked.name} of {asked.module}, deadline {asked.deadline_ms} ms, {took_ms:.0f} ms"
        if asked.module == self.steady:
            self.slowest_ms = max(self.slowest_ms, took_ms)
        if took_ms > asked.deadline_ms + self.grace_ms:
            self.find("late", f"{what}: {body[2]}")
        if body[2] is not None:
            self.fail(asked, what, body[2])
        else:
            self.said["OK"] += 1
            self.go_on(stream, asked, what, body[3])

    def fail(self, asked, what, error):
        name = error[1]
        self.said[name] += 1
        excused = asked.module != self.steady and name in EXCUSED
        excused = excused or asked.cancelled and name == "CANCELLED"
        if not excused:
            self.find("wrong", f"{what}: {error}")
        asked.story.close()

    def go_on(self, stream, asked, what, value):
        try:
            request = asked.story.send(value)
            self.ask(stream, asked.story, asked.module, asked.name, request)
        except StopIteration:
            pass
        except Exception as error:  # whatever the value is that the story did not expect
            self.find("wrong", f"{what}: {type(error).__name__} {error}")

    def lose(self, stream):
        n = len(self.open.pop(stream))
        self.unsent.pop(stream, None)
        stream.socket.close()
        self.find("lost", f"a connection of an honest client was ended, with {n} requests open")

    def leave(self, stream):
        """Vanish with whatever is open, as clients do."""
        for asked in self.open.pop(stream).values():
            asked.story.close()
        self.unsent.pop(stream, None)
        stream.socket.close()

    def turn(self, timeout=0.5):
        streams = list(self.open)
        poll = select.poll()
        by_fd = {s.socket.fileno(): s for s in streams}
        for fd, s in by_fd.items():
            poll.register(fd, select.POLLIN | (select.POLLOUT if s.going else 0))
        for fd, _ in poll.poll(1000 * timeout):
            stream = by_fd[fd]
            is_there = stream.push()
            self.note_sent(stream)
            is_there = stream.pull() and is_there
            for body in stream.bodies():
                self.hear(stream, body)
            self.note_sent(stream)
            if not is_there:
                self.lose(stream)

    def run(self, stop, n_connections, depth, patience):
        while not stop.is_set():
            while len(self.open) < n_connections:
                self.connect()
            for stream, requests in list(self.open.items()):
                while len(requests) < depth:
                    self.begin(stream)
                self.note_sent(stream)
            self.turn()
            if self.rng.random() < 0.0005:
                self.leave(self.rng.choice(list(self.open)))
        self.finish(patience)

    def finish(self, patience):
        """What is still open must be answered; stories are told to their ends."""
        end = time.monotonic() + patience
        while any(self.open.values()) and time.monotonic() < end:
            self.turn()
        for requests in self.open.values():
            for id, a in requests.items():
                self.find("missing", f"{id}: {a.name} of {a.module}, deadline {a.deadline_ms} ms")

    def report(self):
        return {
            "said": dict(self.said),
            "findings": self.findings,
            "slowest_ms": self.slowest_ms,
        }


def work(pipe, stop, args, n_connections, depth, patience):
    """The process: its report goes to @pipe."""
    checker = Checker(*args)
    try:
        checker.run(stop, n_connections, depth, patience)
    except Exception as error:
        checker.find("wrong", f"the checker itself failed: {error!r}")
    pipe.send(checker.report())
    pipe.close()

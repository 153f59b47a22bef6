"""What happens in a round: each function is one trouble for the daemon. It gets the stage (see
campaign.py), and gives nothing, or a function that ends what lasts for some rounds.
"""
import contextlib
import multiprocessing
import os
import signal
import socket
import struct

import harness
import msgpack
import numpy as np
from wire import DTYPE, RESULT_OF, Closed, Failure, Wire, frame, out, shape_ext, tensor_ext

FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")

CRASHES = ("crash", "abort", "exit0", "exit3", "overflow_stack", "junk_everywhere", "junk_frame",
           "close_everything", "fork_and_die", "fork_hold")
NUISANCES = ("error_long", "error_not_utf8", "error_without_text", "flood_stderr", "say", "ok")
# What a name that is loaded over and over by others may answer to its loader.
EXPECTED = {"NOT_FOUND", "BUSY", "DRAINING", "MODULE_FAILED", "NOT_READY", "QUARANTINED", "EXISTS",
            "WORKER_LOST", "BAD_ARTIFACT", "UNSUPPORTED", "STALE_HANDLE", "DEADLINE_EXCEEDED",
            "CANCELLED", "NO_SPACE", "BAD_REQUEST", "BAD_ARGUMENT", "CALL_FAILED", "TOO_LARGE",
            "IO", "REFUSED"}


def strange(stage):
    """A connection of somebody else than the honest clients: from an address of its own."""
    wire = Wire.__new__(Wire)
    host, port = stage.tcp
    source = (f"127.0.0.{stage.rng.randrange(2, 250)}", 0)
    wire.socket = socket.create_connection((host, port), harness.PATIENCE, source)
    wire.ids, wire.answers = iter(range(1, 1 << 62)), {}
    return wire


def ask(stage, *request, **options):
    """Of the operator: an answer, or an error that may be."""
    with Wire(stage.host) as wire:
        try:
            return wire.ask(*request, **options)
        except Failure as failure:
            if failure.name not in EXPECTED:
                stage.find("wrong", f"{request[:2]}: {failure}")
            return None


def load(stage, name, data, also=(), **options):
    with Wire(stage.host) as wire:
        try:
            return wire.load(name, data, **options)
        except Failure as failure:
            if failure.name not in EXPECTED.union(also):
                stage.find("wrong", f"load of {name}: {failure}")
            return None


def one_worker(stage):
    """A descriptor of it, or None; its number may be that of a stranger's process by now."""
    pids = stage.pids(stage.rng.choice(stage.prey))
    if not pids:
        return None
    pid = stage.rng.choice(pids)
    with contextlib.suppress(ProcessLookupError):
        watched = harness.Watched(pid)
        if pid in stage.arena.daemon.processes():
            return watched
        os.close(watched.fd)
    return None


def kill_worker(stage):
    worker = one_worker(stage)
    if worker is None:
        return
    with worker, contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(worker.fd, signal.SIGKILL)


def stop_worker(stage):
    worker = one_worker(stage)
    if worker is None:
        return None
    with contextlib.suppress(ProcessLookupError):
        signal.pidfd_send_signal(worker.fd, signal.SIGSTOP)

    def go_on():
        with worker, contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(worker.fd, signal.SIGCONT)

    return go_on


def replace(stage):
    load(stage, stage.rng.choice(stage.prey), stage.shapes, replace=True,
         workers=stage.rng.choice((1, 1, 2, 3)))


def unload(stage):
    name = stage.rng.choice(stage.prey)
    ask(stage, "module.unload", name)
    load(stage, name, stage.shapes)


def replace_by_what_is_bad(stage):
    cut = stage.shapes[: stage.rng.randrange(len(stage.shapes))]
    if load(stage, stage.rng.choice(stage.prey), cut, replace=True) is not None:
        stage.find("wrong", f"{len(cut)} bytes of a library were loaded")


def load_what_is_bad(stage):
    data = bytearray(stage.shapes)
    for _ in range(stage.rng.randrange(1, 20)):
        data[stage.rng.randrange(len(data))] = stage.rng.randrange(256)
    load(stage, "bad", bytes(data))
    ask(stage, "module.unload", "bad")


def vanish_while_loading(stage):
    with Wire(stage.host) as wire:
        upload = wire.ask("module.upload", "begin", len(stage.shapes))
        part = np.frombuffer(stage.shapes[: 1 << 12], "u1")
        wire.start("module.upload", "write", upload, 0, part)
        if stage.rng.random() < 0.5:
            wire.start("module.upload", "commit", upload)
            wire.start("module.load", "bad", upload, {})
    ask(stage, "module.unload", "bad")


def crash(stage):
    with strange(stage) as wire:
        for _ in range(stage.rng.randrange(1, 4)):
            wire.start("call", f"faults:{stage.rng.choice(CRASHES)}", deadline_ms=5000)
            wire.start("call", f"faults:{stage.rng.choice(NUISANCES)}", deadline_ms=5000)
        if stage.rng.random() < 0.5:
            listen(wire)


def hang(stage):
    with strange(stage) as wire:
        wire.start("call", f"faults:{stage.rng.choice(('loop', 'stop_self'))}", deadline_ms=50)
        listen(wire)


def listen(wire):
    """To what comes next, if anything does."""
    with contextlib.suppress(Closed, OSError, AssertionError):
        wire.receive()


def requests(stage, n, module):
    x = np.ones(stage.rng.choice((1, 1000, 100_000)), "f4")
    return [("call", f"{module}:addone", x, out("f4", x.size)) for _ in range(n)]


def vanish(stage):
    """With a reset, in the middle of whatever was asked for."""
    wire = strange(stage)
    with contextlib.suppress(OSError):
        for request in requests(stage, stage.rng.randrange(1, 20), stage.rng.choice(stage.prey)):
            wire.start(*request)
    wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    wire.socket.close()


def promise(stage):
    """Requests that name results of others, some of which never come; then nobody listens."""
    rng, last, module = stage.rng, 0, stage.rng.choice(stage.prey)

    def named():
        id = rng.randrange(max(0, last - 3), last + 3)
        return msgpack.ExtType(RESULT_OF, struct.pack("<Q", id))

    with strange(stage) as wire, contextlib.suppress(OSError):
        for _ in range(rng.randrange(1, 60)):
            request = rng.choice((
                ("tensor.alloc", module, FLOAT32, shape_ext(1000)),
                ("call", f"{module}:addone", named(), named()),
                ("call", f"{module}:addone", np.ones(1000, "f4"), named()),
                ("tensor.copy", named(), out("f4", 1000)),
            ))
            options = {"deadline_ms": rng.choice((1, 50, 5000))} if rng.random() < 0.3 else {}
            last = wire.start(*request, promised=rng.random() < 0.9, **options)
        if rng.random() < 0.5:
            listen(wire)


def read_nothing(stage):
    wire = strange(stage)
    wire.socket.settimeout(0.05)  # what does not fit waits for ever
    with contextlib.suppress(OSError):
        for request in requests(stage, 20, stage.rng.choice(stage.prey)):
            wire.start(*request)
    return wire.socket.close


def write_slowly(stage):
    wire = strange(stage)
    x = tensor_ext(0, "f4", (1000,))
    data = frame([0, 1, "call", [f"{stage.prey[0]}:addone", x, out("f4", 1000)]], bytes(4000))
    wire.send(data[: stage.rng.randrange(1, len(data))])
    return wire.socket.close


def call_for_ever(host, name):
    with Wire(host) as wire:
        x = np.ones(1000, "f4")
        while True:
            with contextlib.suppress(Failure):
                wire.call(f"{name}:addone", x, out("f4", 1000))


def stop_client(stage):
    """A client that is stopped in mid-call, and killed later."""
    context = multiprocessing.get_context("fork")
    client = context.Process(target=call_for_ever, args=(stage.host, stage.rng.choice(stage.prey)))
    client.start()
    stage.progress(20)
    os.kill(client.pid, signal.SIGSTOP)

    def end():
        client.kill()
        client.join()

    return end


def send_garbage(stage):
    data = bytearray(frame([0, 1, "call", [f"{stage.prey[0]}:addone", out("f4", 10)]], bytes(512)))
    for _ in range(stage.rng.randrange(1, 8)):
        data[stage.rng.randrange(len(data))] = stage.rng.randrange(256)
    with strange(stage) as wire, contextlib.suppress(OSError):
        for _ in range(stage.rng.randrange(1, 5)):
            wire.send(bytes(data))
        wire.socket.shutdown(socket.SHUT_WR)
        listen(wire)


def flood(stage):
    one = stage.rng.choice(([0, 1, "ping", []], [2, "cancel", [7]], [0, 1, "module.list", []]))
    wire = strange(stage)
    wire.socket.settimeout(0.05)
    with contextlib.suppress(OSError):
        wire.send(frame(one) * stage.rng.randrange(1000, 20_000))
    return wire.socket.close


def pass_descriptors(stage):
    ends = os.pipe()
    with Wire(stage.host) as wire, contextlib.suppress(OSError):
        for _ in range(stage.rng.randrange(1, 30)):
            socket.send_fds(wire.socket, [frame([0, 1, "ping", []])], list(ends) * 4)
    for fd in ends:
        os.close(fd)


def connect_silently(stage):
    silent = [strange(stage) for _ in range(stage.rng.randrange(1, 40))]

    def end():
        for wire in silent:
            wire.socket.close()

    return end


def load_evil(stage):
    """A worker that does not keep to the channel's rules; see evil_worker.py."""
    # What it answers to worker.open is its fault, and may be called so.
    load(stage, "evil", str(stage.rng.randrange(1 << 30)).encode(), also={"INTERNAL"})
    with strange(stage) as wire, contextlib.suppress(OSError):
        for request in requests(stage, stage.rng.randrange(1, 30), "evil"):
            wire.start(*request, deadline_ms=500)
        listen(wire)
    ask(stage, "module.unload", "evil")


# With how often each is met.
ALL = ([kill_worker] * 4 + [stop_worker] * 2 + [replace] * 3 + [unload, replace_by_what_is_bad]
       + [load_what_is_bad, vanish_while_loading, crash, crash, hang] + [vanish] * 3 + [promise] * 3
       + [read_nothing, write_slowly, stop_client] + [send_garbage] * 2
       + [flood, pass_descriptors, connect_silently] + [load_evil] * 3)

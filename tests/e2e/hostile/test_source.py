"""What a module is loaded from takes its time beside the loop: a file system that does not answer,
memory to reserve, bytes to hash. Clients do not wait for that.
"""
import contextlib
import fcntl
import hashlib
import json
import os
import select
import shutil
import signal

import certs
import harness
import numpy as np
import onnx_writer as onnx
import pytest
import test_http
from wire import Failure, Wire

BIG = 256 << 20  # to reserve or to hash takes far longer than to answer a ping
MODULE = harness.ZOO / "results.so"


@contextlib.contextmanager
def stall(folder, own_arena, name, option):
    """(start(word...): a daemon with @option, whose end is a file @name that cannot be read, its
    gate)"""
    with harness.Gate() as gate:
        file = folder / name
        file.write_bytes(MODULE.read_bytes())
        options = harness.environment()["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
        env = {
            "LD_PRELOAD": str(harness.ZOO / "stall.so"),
            "STALL_FILE": str(file),
            "STALL_GATE": gate.path,
            "ASAN_OPTIONS": options,
        }
        yield lambda *words: own_arena("--load", f"{option}{file}", *words, env=env), gate


@pytest.fixture
def stalled(folder, own_arena):
    """The same, of the module `held`."""
    with stall(folder, own_arena, "held.so", "held=") as found:
        yield found


def listed(wire):
    return {m["name"]: m for m in wire.ask("module.list")}


def test_a_file_that_hangs_holds_up_its_module_alone(stalled):
    start, gate = stalled
    arena = start("--load", f"other={MODULE}")
    gate.entered()
    victim = arena.victim()
    assert victim.ask("ping") is None
    assert victim.ask("module.wait", "other")["state"] == "READY"
    victim.load("uploaded", MODULE.read_bytes())
    assert listed(victim)["held"]["state"] == "LOADING"
    assert victim.ask("module.describe", "held")["sha256"] is None
    waiting = victim.start("module.wait", "held")
    gate.open()
    assert victim.finish(waiting)["state"] == "READY"


def test_a_call_waits_so_long_for_its_module(stalled):
    start, gate = stalled
    arena = start("--ready-wait", "1ms")
    gate.entered()
    with pytest.raises(Failure, match="NOT_READY"):
        arena.victim().call("held:int")
    gate.open()


def test_a_file_that_hangs_has_the_time_of_a_load(stalled):
    start, gate = stalled
    arena = start("--load-timeout", "50ms")
    gate.entered()
    victim = arena.victim()
    with pytest.raises(Failure, match="held.so: was not read within 50 ms"):
        victim.ask("module.wait", "held")
    assert listed(victim)["held"]["state"] == "FAILED"
    victim.ask("module.unload", "held")


@pytest.fixture
def stalled_params(folder, own_arena):
    """The same, but that what cannot be read are its parameters."""
    with stall(folder, own_arena, "held.params", f"held={MODULE},params=") as found:
        yield found


def test_parameters_that_hang_hold_up_their_module_alone(stalled_params):
    start, gate = stalled_params
    arena = start("--load", f"other={MODULE}")
    gate.entered()
    victim = arena.victim()
    assert victim.ask("ping") is None
    assert victim.ask("module.wait", "other")["state"] == "READY"
    assert listed(victim)["held"]["state"] == "LOADING"
    gate.open()
    assert victim.ask("ping") is None


def test_parameters_that_hang_have_the_time_of_a_load(stalled_params):
    start, gate = stalled_params
    arena = start("--load-timeout", "50ms")
    gate.entered()
    victim = arena.victim()
    with pytest.raises(Failure, match="results.so, .*held.params: were not all read within 50 ms"):
        victim.ask("module.wait", "held")
    assert listed(victim)["held"]["state"] == "FAILED"


@pytest.mark.parametrize("option", ["", f"{MODULE},params="])
def test_a_pipe_is_no_file(folder, own_arena, option):
    """Nobody writes to it: its open() would wait for that."""
    os.mkfifo(folder / "pipe")
    victim = own_arena("--load", f"held={option}{folder}/pipe").victim()
    with pytest.raises(Failure, match="pipe: not a regular file"):
        victim.ask("module.wait", "held")
    assert victim.ask("ping") is None


def test_the_end_does_not_wait_for_a_file_that_hangs(stalled):
    start, gate = stalled
    arena = start()
    gate.entered()
    arena.connections.close()
    arena.daemon.stop()
    assert arena.daemon.process.returncode == 0


@pytest.mark.parametrize("mib", (1, 4, 16, 64))
def test_the_end_does_not_wait_for_uploads_that_are_hashed(own_arena, mib):
    """Their thread finds nobody to tell, sooner or later."""
    arena = own_arena()
    loader = arena.connect()
    piece = np.ones(mib << 20, "u1")
    for _ in range(4):
        upload = loader.ask("module.upload", "begin", len(piece))
        loader.ask("module.upload", "write", upload, 0, piece)
        loader.start("module.upload", "commit", upload)
    loader.ask("ping")
    arena.daemon.stop()
    assert arena.daemon.process.returncode == 0


def test_a_module_whose_file_hangs_can_be_unloaded(stalled):
    start, gate = stalled
    arena = start()
    gate.entered()
    victim = arena.victim()
    assert victim.ask("module.unload", "held") is None
    assert not listed(victim)
    gate.open()
    assert victim.ask("ping") is None


@contextlib.contextmanager
def kept_from_all(path):
    """Whoever opens @path waits: it is kept with a lease."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)  # which asks for it back
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        yield
    except OSError as error:
        pytest.skip(f"no lease of a file can be had here: {error}")
    finally:
        os.close(file)


def test_a_program_that_hangs_holds_up_its_starts_alone(own_arena, folder):
    worker = shutil.copy(harness.BIN / "modserd-worker", folder / "worker")
    arena = own_arena(env={"MODSERD_WORKER": str(worker)})
    victim, loader = arena.victim(), arena.victim()
    with kept_from_all(worker):
        names = [f"m{i}" for i in range(4)]
        uploads = [loader.upload(MODULE.read_bytes()) for _ in names]
        loads = [loader.start("module.load", *each) for each in zip(names, uploads, strict=True)]
        harness.until(lambda: set(names) <= set(listed(victim)), "all are there")
        assert victim.ask("ping") is None
        assert {listed(victim)[name]["state"] for name in names} == {"LOADING"}
        assert victim.ask("module.describe", names[-1])["pids"] == []  # it is not begun
    for load in loads:
        assert loader.finish(load)["state"] == "READY"


def first_to_answer(*wires):
    ready, _, _ = select.select([w.socket for w in wires], [], [], harness.PATIENCE)
    return next(w for w in wires if w.socket in ready)


def test_a_ping_overtakes_the_beginning_of_a_large_upload(arena):
    loader, victim = arena.connect(), arena.connect()
    with arena.standstill():
        begun = loader.start("module.upload", "begin", BIG)
        victim.start("ping")
    assert first_to_answer(victim, loader) is victim
    loader.finish(begun)


def test_a_ping_overtakes_the_load_of_a_large_upload(arena):
    loader, victim = arena.connect(), arena.connect()
    upload = loader.ask("module.upload", "begin", BIG)
    piece = np.zeros(32 << 20, "u1")
    for at in range(0, BIG, len(piece)):
        loader.ask("module.upload", "write", upload, at, piece)
    assert loader.ask("module.upload", "commit", upload) == {"bytes": BIG}
    with arena.standstill():
        loaded = loader.start("module.load", "large", upload)
        victim.start("ping")
    assert first_to_answer(victim, loader) is victim
    with pytest.raises(Failure, match="BAD_ARTIFACT"):
        loader.finish(loaded)


def test_uploads_that_are_left_are_given_back(arena):
    with Wire(arena.host) as leaver:
        begun = [leaver.start("module.upload", "begin", BIG) for _ in range(4)]
        for upload in begun:  # what is still to be made would be seen by the next test
            leaver.finish(upload)
    assert arena.victim().ask("ping") is None


def test_a_module_says_of_which_bytes_it_is(arena):
    data = MODULE.read_bytes()
    with Wire(arena.host) as wire:
        wire.load("hashed", data)
        described = wire.ask("module.describe", "hashed")
        wire.ask("module.unload", "hashed")
    assert described["sha256"] == hashlib.sha256(data).hexdigest()
    assert described["bytes"] == len(data)


def test_a_commit_and_a_load_may_be_sent_together(arena):
    data = MODULE.read_bytes()
    with Wire(arena.host) as wire:
        upload = wire.ask("module.upload", "begin", len(data))
        wire.ask("module.upload", "write", upload, 0, np.frombuffer(data, "u1"))
        committed = wire.start("module.upload", "commit", upload)
        loaded = wire.start("module.load", "together", upload)
        waited = wire.start("module.wait", "together")
        assert wire.finish(committed) == {"bytes": len(data)}
        assert wire.finish(loaded)["state"] == "READY"
        assert wire.finish(waited)["state"] == "READY"
        wire.ask("module.unload", "together")


MANY = 8  # files that hang: more than there are threads for uploads and files
WIDE = 400_000  # elements: a text of 0.8 MiB, and a segment that a thread reserves


def wide_text():
    data = ",".join(str(i % 10) for i in range(WIDE))
    tensor = f'{{"name":"x","datatype":"FP32","shape":[{WIDE}],"data":[{data}]}}'
    return f'{{"inputs":[{tensor}],"parameters":{{"binary_data_output":true}}}}'.encode()


class Visit(test_http.Visit):
    """One over TLS."""

    def __init__(self, address, context):
        self.socket, self.had = certs.connect(address, context), b""


@pytest.fixture
def relu(folder):
    """A model that gives back what is not negative."""
    path = folder / "relu.onnx"
    sides = [[onnx.value(name, "float32", [WIDE])] for name in "xy"]
    path.write_bytes(onnx.model([onnx.node("Relu", ["x"], ["y"])], *sides))
    return path


def test_files_that_hang_hold_up_no_handshake_and_no_call(folder, own_arena, relu):
    """With all threads in use that read files and uploads, clients of others are answered."""
    authority, text = certs.Authority(folder), wide_text()
    cert, key = authority.issue("server", ("DNS:localhost",))
    words = ("--http", "https://127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
    conf, served = folder / "m.conf", f'module relu {{ file = "{relu}" }}\n'
    conf.write_text(served)
    with stall(folder, own_arena, "held.so", "held=") as (start, gate):
        arena = start("--config", conf, *words)
        address = arena.daemon._line().partition(" ")[2]
        gate.entered()
        victim = arena.victim()
        assert victim.ask("module.wait", "relu")["state"] == "READY"
        more = (f'module held{i} {{ file = "{folder}/held.so" }}\n' for i in range(MANY))
        conf.write_text(served + "".join(more))
        victim.ask("server.reload")
        upload = victim.start("module.upload", "begin", 4096)
        with Visit(address, certs.context(authority)) as visit:
            status, fields, body = visit.ask(
                "/v2/models/relu/infer", f"Content-Length: {len(text)}\r\n", "POST", text)
        head = int(fields["inference-header-content-length"])
        assert status == 200 and json.loads(body[:head])["outputs"][0]["shape"] == [WIDE]
        assert np.frombuffer(body[head:], "<f4").sum() == sum(i % 10 for i in range(WIDE))
        assert victim.ask("ping") is None
        assert upload not in victim.answers, "its memory is a job for a thread that hangs"
        gate.open()
        victim.finish(upload)

"""What the daemon's store has is not sent to it again."""
import hashlib
import socket
import threading

import harness
import numpy as np
import pytest
from wire import Failure, Wire

RESULTS, FAULTS = harness.ZOO / "results.so", harness.ZOO / "faults.so"
SHA256 = hashlib.sha256(RESULTS.read_bytes() if RESULTS.exists() else b"").digest()


class Counter:
    """Stands between one client and the daemon, and counts what the client sends."""

    def __init__(self, daemon):
        self.path, self.target = daemon.folder / "counted.sock", str(daemon.socket)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.sent = 0
        self.thread = threading.Thread(target=self.serve)

    def serve(self):
        client, _ = self.listener.accept()
        with client, socket.socket(socket.AF_UNIX) as daemon:
            daemon.connect(self.target)
            back = threading.Thread(target=self.copy, args=(daemon, client))
            back.start()
            self.sent = self.copy(client, daemon)
            back.join()

    @staticmethod
    def copy(source, sink):
        n = 0
        while data := source.recv(65536):
            n += len(data)
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
        return n

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.thread.join(harness.PATIENCE)
        self.listener.close()


def sent_by(daemon, *words):
    """How many bytes `modser load WORDS` sends."""
    with Counter(daemon) as counter:
        said = harness.run(harness.BIN / "modser", "-H", f"unix:{counter.path}", "load", *words)
    counter.path.unlink()
    assert said.status == 0, said
    return counter.sent


@pytest.fixture
def keeper(own_daemon, folder):
    return own_daemon("--store", folder / "store")


def test_what_is_kept_is_sent_once(keeper):
    size = RESULTS.stat().st_size
    assert sent_by(keeper, "--keep", "one", RESULTS) > size
    assert sent_by(keeper, "--keep", "two", RESULTS) < min(size, 4096)
    assert keeper.ok("call", "two:int").out == "-42\n"
    keeper.ok("unload", "one")
    assert sent_by(keeper, "--keep", "--replace", "two", FAULTS) > FAULTS.stat().st_size


def test_what_is_damaged_in_the_store_is_sent_again(keeper, folder):
    keeper.ok("load", "--keep", "one", RESULTS)
    blob = folder / "store/sha256" / SHA256.hex()[:2] / SHA256.hex()
    blob.chmod(0o644)
    blob.write_bytes(bytes(RESULTS.stat().st_size))
    assert sent_by(keeper, "--keep", "two", RESULTS) > RESULTS.stat().st_size
    assert keeper.ok("call", "two:int").out == "-42\n"


def test_what_is_found_is_a_whole_upload_that_is_used_up(keeper):
    keeper.ok("load", "--keep", "one", RESULTS)
    with Wire(keeper.host) as wire:
        upload = wire.ask("module.upload", "find", SHA256)
        with pytest.raises(Failure, match="committed already"):
            wire.ask("module.upload", "write", upload, 0, np.zeros(1, "u1"))
        with pytest.raises(Failure, match="one file"):
            wire.ask("module.load", "two", upload, {"graph": 5})
        wire.ask("module.load", "two", upload)
        with pytest.raises(Failure, match="STALE_HANDLE"):
            wire.ask("module.load", "three", upload)
    assert keeper.ok("call", "two:int").out == "-42\n"


def test_what_is_not_there_is_said_at_once(keeper, daemon):
    for host, name in ((keeper.host, "NOT_FOUND"), (daemon.host, "UNSUPPORTED")):
        with Wire(host) as wire, pytest.raises(Failure, match=name):
            wire.ask("module.upload", "find", SHA256)
    with Wire(keeper.host) as wire, pytest.raises(Failure, match="32 bytes"):
        wire.ask("module.upload", "find", SHA256[:31])


def test_who_leaves_meanwhile_leaves_nothing(keeper):
    keeper.ok("load", "--keep", "one", RESULTS)
    for _ in range(4):
        with Wire(keeper.host) as wire:
            wire.start("module.upload", "find", SHA256)
    with Wire(keeper.host) as wire:
        held = lambda: wire.ask("server.info")["held"]["upload_bytes"]  # noqa: E731
        harness.until(lambda: held() == 0, "nothing of them is held")
    assert keeper.ok("call", "one:int").out == "-42\n"


def test_so_many_are_looked_for_at_a_time(own_daemon, folder):
    daemon = own_daemon("--store", folder / "store", "--max-concurrent-uploads", "2")
    daemon.ok("load", "--keep", "one", RESULTS)
    with Wire(daemon.host) as wire:
        asked = [wire.start("module.upload", "find", SHA256) for _ in range(50)]
        said = []
        for request in asked:
            try:
                wire.finish(request)
            except Failure as failure:
                said.append(failure.name)
        assert said.count("BUSY") == 48 and len(said) == 48

"""What the cards of a machine are doing, told by metrics, on a stand-in for NVIDIA's library."""
import os
import re
import signal
import struct

import harness
import msgpack
import pytest
from harness import until
from test_http import Visit, start

STUB = harness.BUILD / "tests/runtime/nvml/libnvml_stub.so"
SAMPLE = re.compile(r'(modserd_device_\w+)\{gpu="(\d)",uuid="GPU-stub-(\d)",'
                    r'name="Stand-in \\"80GB\\""\} (\S+)')
GIB = 1 << 30
ROW = [0, "GPU-stub-0", "card", 2, 1, None, None]


class Scraped:
    """A daemon that finds the library @library, and what it tells of cards."""

    def __init__(self, daemon):
        self.daemon = daemon

    def cards(self):
        """{(family, card): value}"""
        with Visit(self.daemon) as visit:
            status, _, text = visit.ask("/metrics")
        assert status == 200
        lines = [line for line in text.decode().splitlines() if line.startswith("modserd_device_")]
        found = [SAMPLE.fullmatch(line) for line in lines]
        assert all(f and f[2] == f[3] for f in found), lines
        return {(f[1].removeprefix("modserd_device_"), int(f[2])): float(f[4]) for f in found}

    def looking(self):
        """The processes that look."""
        found = []
        for pid in harness.children(self.daemon.pid):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if b"--device-gauges" in f.read():
                        found.append(pid)
            except OSError:
                pass
        return found


@pytest.fixture
def scraped(tmp_path):
    os.mkfifo(tmp_path / "events")
    if not STUB.exists():
        pytest.skip(f"no {STUB}")
    env = {"MODSERD_LIBNVML": str(STUB), "STUB_NVML_EVENTS": str(tmp_path / "events")}
    with start(env=env) as daemon:
        yield Scraped(daemon)


def test_each_card_tells_its_memory_and_what_it_knows_of_its_use(scraped):
    until(scraped.cards, "the cards are known")
    assert scraped.cards() == {
        ("memory_bytes", 0): 80 * GIB, ("memory_bytes", 1): 80 * GIB,
        ("memory_used_bytes", 0): GIB, ("memory_used_bytes", 1): 2 * GIB,
        ("utilization_ratio", 0): 0.37,
        ("faults_total", 0): 0, ("faults_total", 1): 0,
    }


def test_a_fault_is_counted_for_its_card(scraped, tmp_path):
    until(scraped.cards, "the cards are known")
    (tmp_path / "events").write_text("11")
    until(lambda: scraped.cards()[("faults_total", 1)] == 2, "both are counted")
    assert scraped.cards()[("faults_total", 0)] == 0


def test_one_process_looks_and_another_when_it_has_died(scraped):
    assert scraped.looking() == []  # nobody has asked
    until(scraped.cards, "the cards are known")
    (first,) = scraped.looking()
    os.kill(first, signal.SIGKILL)
    until(lambda: scraped.cards() and scraped.looking() not in ([], [first]), "another one looks")


def write_worker(folder, *lines):
    """A worker that leaves a line in @folder/begun each time when it begins, and then does @lines."""
    worker = folder / "worker"
    worker.write_text("\n".join(["#!/bin/sh", f"echo >> {folder}/begun", *lines, ""]))
    worker.chmod(0o755)
    return worker


def test_without_the_library_nothing_is_told_and_nothing_runs(tmp_path):
    worker = write_worker(tmp_path, f'exec {harness.BIN}/modserd-worker "$@"')
    with start(env={"MODSERD_LIBNVML": "/nowhere/libnvidia-ml.so.1", "MODSERD_WORKER": str(worker)}) as daemon:
        scraped = Scraped(daemon)
        assert scraped.cards() == {}
        until((tmp_path / "begun").exists, "it has begun")
        until(lambda: not harness.children(daemon.pid), "it has ended")
        assert scraped.cards() == {}
        until(lambda: not harness.children(daemon.pid), "nothing runs")
    assert (tmp_path / "begun").read_text() == "\n", "it was started once"


def frame(result, body=None):
    body = body or msgpack.packb([1, 0, None, result])
    return b"\xedmd\x01" + struct.pack("<IQ", len(body), 0) + body


@pytest.mark.parametrize("bytes_", [
    b"GET / HTTP/1.1\r\n\r\n",
    frame(None, b"\xc1"),
    frame(7),
    frame([ROW] * 65),
    frame([ROW[:6]]),
    frame([ROW + [0]]),
    frame([[-1] + ROW[1:]]),
    frame([[64] + ROW[1:]]),
    frame([ROW[:1] + ["u" * 96] + ROW[2:]]),
    frame([ROW[:2] + [None] + ROW[3:]]),
    frame([ROW[:3] + [None] + ROW[4:]]),
    frame([ROW[:6] + [-5]]),
    b"\xedmd\x01" + struct.pack("<IQ", 1 << 31, 0),
    b"\xedmd\x01" + struct.pack("<IQ", 8, 8),
    frame([ROW]) + frame(7),
], ids=range(15))
def test_one_that_writes_nonsense_is_ended_and_not_started_again(tmp_path, bytes_):
    (tmp_path / "said").write_bytes(bytes_)
    worker = write_worker(tmp_path, f"cat {tmp_path}/said", "exec sleep 1000")
    with start(env={"MODSERD_WORKER": str(worker)}) as daemon:
        with Visit(daemon) as visit:
            def told():
                return b"modserd_device_" in visit.ask("/metrics")[2]
            told()
            until((tmp_path / "begun").exists, "it has begun")
            until(lambda: not harness.children(daemon.pid), "it is ended")
            assert not told() and not told()
        until(lambda: not harness.children(daemon.pid), "nothing runs")
    assert (tmp_path / "begun").read_text() == "\n", "it was started once"

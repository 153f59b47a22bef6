"""What a worker answers reaches nobody but whom it answers, and is nothing but text and numbers there:
no client's memory, no command for a terminal, no line of a log or of the metrics."""
import re
import subprocess

import harness
import pytest
from lender import Segment
from liars import MIB, describe, expect_killed, expect_room_for_others
from lying_worker import NAMED
from test_http import Visit
from wire import Wire

FIRST_LENT = 1024


def test_memory_that_another_client_lends_is_in_no_answer(liars):
    """Its number is a small one, and easily guessed."""
    with Wire(liars.host) as owner, Segment(owner, MIB) as seg:
        seg.array(0, "u1", 64)[:] = 7
        owner.call("other:none", seg.keep(seg.array(0, "u1", 64)))
        for number in range(FIRST_LENT, FIRST_LENT + 3):
            expect_killed(liars, "lent", number, why="a location that the request did not name")
        assert owner.ask("ping") is None
    expect_room_for_others(liars)


def test_pages_that_go_after_they_were_announced_are_zeros(liars):
    liars.victim().call("liar:punched", 8 * MIB)
    with liars.growth(9 * MIB):
        (there,), _ = liars.victim().call("liar:punched", 8 * MIB)
    assert not there.any()
    harness.until(lambda: liars.memory().shmem <= MIB, "the pages are gone")
    expect_room_for_others(liars)


def acquaint(liars, size):
    """Answers of its worker with a tensor of so many bytes are known by now."""
    with Wire(liars.host) as client:
        for offset in (0, MIB, 128, 256):
            (there,), _ = client.call("liar:as_ever", 0, offset, size)
            assert there.tobytes() == bytes(size)


@pytest.mark.parametrize("segment, offset, why", (
    (0, 8 * MIB, "outside segment 0"),
    (0, 8 * MIB - 128, "outside segment 0"),
    (0, (1 << 64) - 128, "outside segment 0"),
    (0, 8, "not a multiple of 128"),
    (1, 0, "outside segment 1"),
    (0xffff, 0, "a location that the request did not name"),
    (FIRST_LENT, 0, "a location that the request did not name"),
))
def test_a_known_answer_is_looked_at_where_it_is_another(liars, segment, offset, why):
    acquaint(liars, 256)
    expect_killed(liars, "as_ever", segment, offset, 256, why=why)


def test_two_known_answers_share_no_slot(liars):
    acquaint(liars, 4 * MIB)
    slow = liars.connect()
    slow.start("call", "liar:as_ever", 0, 0, 4 * MIB)
    expect_killed(liars, "as_ever", 0, 2 * MIB, 4 * MIB, why="shares a slot")


def run(liars, *words):
    return subprocess.run(
        [harness.BIN / "modser", "-H", liars.host, *words], capture_output=True, timeout=60,
        check=False)


def expect_harmless(text, but=b"\n\t"):
    commands = re.findall(rb"[\x00-\x1f\x7f]", text)
    assert set(commands) <= {bytes([c]) for c in but}, text


@pytest.mark.parametrize("code", (1, 14, 15, 99, 1 << 40, -1))
def test_what_an_error_says_is_text(liars, code):
    """Its code may be none, its name another's."""
    before = len(liars.daemon.log().splitlines())
    said = run(liars, "call", "liar:error", str(code), f"str:{NAMED}", f"str:{NAMED}" * 1000)
    assert said.returncode != 0, said
    expect_harmless(said.stderr)
    expect_harmless(said.stdout)
    assert liars.victim().call("liar:none") == ([], [])
    for words in (["ls"], ["show", "liar"], ["slowlog"], ["stats", "liar"], ["info"]):
        expect_harmless(run(liars, *words).stdout)
    for line in liars.daemon.log().splitlines()[before:]:
        expect_harmless(line.encode(), but=b"")
        assert not line.startswith(("X: 1", "a 1", "# TYPE")), line


def test_names_of_functions_are_text(liars):
    describe(liars, "odd", "named")
    for words in (["funcs", "odd"], ["show", "odd"], ["call", f"odd:{NAMED}"], ["ls", "-l"],
                  ["stats", "odd"], ["monitor", "--for", "1ms"], ["slowlog"]):
        said = run(liars, *words)
        expect_harmless(said.stdout)
        expect_harmless(said.stderr)
    for line in liars.daemon.log().splitlines():
        expect_harmless(line.encode(), but=b"")


@pytest.mark.parametrize("key", ("exec_ns", "joined", "to_worker_ns"))
def test_times_that_cannot_be_are_nobody_elses(liars, key):
    victim = liars.victim()
    with liars.growth(2 * MIB):
        for value in (0, -1, (1 << 63) - 1, (1 << 64) - 1, "x" * 100_000, [[]] * 5000):
            for _ in range(3):
                victim.call("liar:meta", key, value)
    victim.call("other:none")
    assert victim.ask("ping") is None
    for module in victim.ask("module.list"):
        assert module["restarts"] == 0
        assert module["name"] == "liar" or (module["p99_ns"] or 0) < 60e9, "they were the liar's"


def test_the_page_shows_no_description_without_an_end(start_liars):
    """A MB of it would be as many of JSON, made in one turn."""
    arena = start_liars("--http", "127.0.0.1:0")
    arena.daemon.hosts.append(arena.daemon._line().partition(" ")[2])
    describe(arena, "huge", "many=7000,90")
    with Visit(arena.daemon) as visit, arena.growth(2 * MIB):
        assert visit.ask("/status/liar")[0] == 200
        status, _, said = visit.ask("/status/huge")
        assert status == 200 and len(said) < 64 << 10, len(said)
        assert b'"module":null' in said and b"use modser show" in said
    expect_room_for_others(arena)


def test_a_look_for_devices_brings_so_much(own_arena, folder):
    """It says 64 MiB; what modules run in is the real thing."""
    worker = folder / "worker"
    worker.write_text(
        '#!/bin/sh\n[ "$1" = --devices ] && exec head -c 67108864 /dev/zero\n'
        f"exec '{harness.BIN}/modserd-worker' \"$@\"\n")
    worker.chmod(0o755)
    arena = own_arena(env={"MODSERD_WORKER": str(worker)})
    with arena.growth(MIB):
        info = arena.victim().ask("server.info")
    assert info["devices"] == [] and "died or wrote invalid data" in info["absent"][0]
    arena.victim().load("served", (harness.ZOO / "results.so").read_bytes())
    assert arena.victim().call("served:int")[1] == -42

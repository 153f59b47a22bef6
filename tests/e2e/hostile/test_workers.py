"""What a worker says is checked: a lie costs the module its worker, and others nothing."""
import json
import site
import sys

import harness
import numpy as np
import pytest
from lying_worker import FUNCTION, INSTANCE, MODULE, UPLOAD
from wire import Failure, Wire

MIB = 1 << 20
MAX_MEMORY = 64 * MIB
HANDLES = (FUNCTION, MODULE, INSTANCE, UPLOAD)


@pytest.fixture
def liars(own_arena, folder):
    """An arena whose modules have lying workers, `other` an honest one, as far as it goes."""
    worker, record = folder / "worker", folder / "record"
    packages = ":".join(site.getsitepackages())
    script = harness.ROOT / "tests/e2e/hostile/lying_worker.py"
    worker.write_text(
        f"#!/bin/sh\nPYTHONPATH='{packages}' exec '{sys.executable}' -S '{script}' '{record}' \"$@\"\n"
    )
    worker.chmod(0o755)
    artifact = folder / "artifact"
    artifact.write_text("1 good")
    arena = own_arena(
        "--max-memory", str(MAX_MEMORY), modules={"liar": artifact, "other": artifact},
        env={"MODSERD_WORKER": str(worker)})
    arena.record = record
    return arena


def expect_killed(arena, function, *args, says="the worker's answer was malformed", why):
    """@function of `liar` is answered with what @says matches, its worker is ended because of
    @why, and the next one serves."""
    victim = arena.victim()
    liar = arena.workers_of("liar")
    with pytest.raises(Failure, match=says):
        victim.call(f"liar:{function}", *args)
    harness.until(lambda: arena.workers_of("liar") not in ([], liar), "the liar is ended")
    victim.call("liar:none")
    assert why in arena.daemon.log()


def expect_room_for_others(arena):
    """A call of another module gets its 8 MiB of arguments."""
    big = np.ones(8 * MIB, "u1")
    _, (back,) = arena.victim().call("other:none", big)
    assert back == big.tobytes()


def test_sparse_segments_take_no_addresses(liars):
    expect_killed(liars, "segments", 6, MAX_MEMORY // 8, says="WORKER_LOST", why="has holes")
    expect_room_for_others(liars)


def test_a_segment_is_bounded_by_what_was_told(liars):
    expect_killed(liars, "segments", 1, 1 << 42, says="WORKER_LOST", why="over the limit")
    expect_room_for_others(liars)


def test_segments_are_bounded_in_sum(liars):
    expect_killed(
        liars, "full_segments", 3, 24 * MIB, says="WORKER_LOST", why="over the limit")
    expect_room_for_others(liars)


def test_a_reply_of_more_than_was_told_is_not_begun(liars):
    with liars.growth(MIB):
        expect_killed(liars, "overlapping", 1000, 8 * MIB, why="results of more than")
    expect_room_for_others(liars)


@pytest.mark.parametrize("kind", HANDLES)
@pytest.mark.parametrize(
    "lie", ("handle", "handle_beside_tensor", "handle_in_meta", "handle_in_error"))
def test_a_forged_handle_does_not_reach_the_client(liars, lie, kind):
    expect_killed(liars, lie, kind, why="a response holds a handle")


@pytest.mark.parametrize("lie", ("tensor_in_meta", "tensor_in_error"))
def test_a_tensor_that_is_no_result_does_not_reach_the_client(liars, lie):
    expect_killed(liars, lie, why="it sent a malformed answer")


def test_a_tensor_outside_its_segment_does_not_reach_the_client(liars):
    expect_killed(liars, "outside", why="outside segment")


def test_releases_of_any_number_stay_within_a_frame(liars):
    """100 replies of 1000 outputs each lie with a client that does not read; when it goes, all
    of their slots are released at once."""
    client = Wire(liars.host)
    for _ in range(100):
        client.start("call", "liar:many", 1000)
    victim = liars.victim()
    harness.until(lambda: victim.call("liar:asked")[1] == 100, "all are answered")
    client.socket.close()

    def released():
        return [json.loads(line) for line in liars.record.read_text().splitlines()]

    harness.until(lambda: sum(released()) == 100_000, "all is released")
    assert 1000 < max(released()) < 32_000

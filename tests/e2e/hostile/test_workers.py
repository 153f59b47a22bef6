"""What a worker says is checked: a lie costs the module its worker, and others nothing."""
import contextlib
import json
import os
import signal

import harness
import pytest
from liars import MAX_MEMORY, MIB, describe, expect_killed, expect_room_for_others
from lying_worker import FUNCTION, INSTANCE, MODULE, UPLOAD
from wire import INLINE, Failure, Wire, frame, tensor_ext

HANDLES = (FUNCTION, MODULE, INSTANCE, UPLOAD)
MAX_OBJECTS = 65536  # MSD_MAX_OBJECTS
SENT_AHEAD = 64  # MSD_SEND_AHEAD


def restarts(arena):
    with Wire(arena.host) as wire:
        return next(m["restarts"] for m in wire.ask("module.list") if m["name"] == "liar")


def test_sparse_segments_take_no_addresses(liars):
    expect_killed(liars, "segments", 6, MAX_MEMORY // 8, says="WORKER_LOST", why="has holes")
    expect_room_for_others(liars)


def test_a_segment_is_bounded_by_what_was_told(liars):
    expect_killed(liars, "segments", 1, 1 << 42, says="WORKER_LOST", why="over the limit")
    expect_room_for_others(liars)


def test_segments_are_bounded_in_sum(liars):
    expect_killed(
        liars, "full_segments", 6, 24 * MIB, says="WORKER_LOST", why="over the limit")
    expect_room_for_others(liars)


def test_a_reply_of_more_than_was_told_is_not_begun(liars):
    with liars.growth(MIB):
        expect_killed(liars, "much", 9, 8 * MIB, why="results of more than")
    expect_room_for_others(liars)


def test_a_slot_is_not_sent_over_and_over(liars):
    with liars.growth(MIB):
        expect_killed(liars, "overlapping", 1000, 8 * MIB, why="shares a slot")


def test_huge_pages_are_no_segment(liars):
    try:
        os.close(os.memfd_create("huge", os.MFD_HUGETLB))
    except OSError as error:
        pytest.skip(f"the system has no huge pages: {error}")
    expect_killed(liars, "huge_pages", 2 * MIB, says="WORKER_LOST", why="not of ordinary pages")


@pytest.mark.parametrize("second", (0, 128))
def test_a_slot_is_named_once_in_a_reply(liars, second):
    expect_killed(liars, "twice", second, why="shares a slot")


def test_slots_side_by_side_are_two(liars):
    outs, _ = liars.victim().call("liar:twice", 256)
    assert [out.nbytes for out in outs] == [256, 256]


@pytest.mark.parametrize("offset", (0, 4096, 8 * MIB - 128))
def test_a_slot_that_is_being_sent_is_in_no_other_reply(liars, offset):
    """It would be released with the first of them, and have another's bytes in the second."""
    slow = liars.connect()
    slow.start("call", "liar:again", 0, 8 * MIB)
    expect_killed(liars, "again", offset, 1, why="shares a slot")


def test_a_slot_that_was_sent_may_come_again(liars):
    client = liars.victim()
    for _ in range(3):
        (there,), _ = client.call("liar:again", 128, 4096)
        assert there.nbytes == 4096


def test_a_segment_may_take_the_index_of_one_that_goes(liars):
    (there,), _ = liars.victim().call("liar:renewed")
    assert there.nbytes == 4096
    assert restarts(liars) == 0


def test_a_segment_that_is_being_sent_from_is_not_taken_back(liars):
    slow = liars.connect()
    slow.start("call", "liar:taken_back")
    harness.until(lambda: "while it is in use" in liars.daemon.log(), "the liar is ended")
    (whole,), _ = slow.finish(1)  # of which nothing was lost
    assert whole.nbytes == 8 * MIB


def test_what_was_sent_leaves_the_supervisor(liars):
    """Pages of a worker's segment that a reply was written from are the worker's again."""
    before = liars.memory().shmem
    (large,), _ = liars.victim().call("liar:large", 32 * MIB)
    assert large.nbytes == 32 * MIB
    harness.until(lambda: liars.memory().shmem <= before + MIB, "the pages are gone")


def test_the_body_of_a_reply_is_so_long(liars):
    with liars.growth(MIB):
        expect_killed(liars, "long_body", 2 * MIB, says="WORKER_LOST", why="at most 1052672")


def test_a_reply_has_so_many_parts(liars):
    """As many as a request: 4 Mi took the loop 51 to 139 ms."""
    expect_killed(
        liars, "many_parts", MAX_OBJECTS, says="WORKER_LOST", why=f"more than {MAX_OBJECTS} objects")
    expect_room_for_others(liars)


def test_a_reply_of_as_many_parts_is_one(liars):
    """A list of them, and around it: body, kind, id, error, result, tensors, value."""
    _, parts = liars.victim().call("liar:many_parts", MAX_OBJECTS - 7)
    assert len(parts) == MAX_OBJECTS - 7


@pytest.mark.parametrize("kind", HANDLES)
@pytest.mark.parametrize(
    "lie", ("handle", "handle_beside_tensor", "handle_in_meta", "handle_in_error"))
def test_a_forged_handle_does_not_reach_the_client(liars, lie, kind):
    expect_killed(liars, lie, kind, why="a response contains a handle")


@pytest.mark.parametrize("lie", ("tensor_in_meta", "tensor_in_error"))
def test_a_tensor_that_is_no_result_does_not_reach_the_client(liars, lie):
    expect_killed(liars, lie, why="it sent a malformed answer")


def test_a_tensor_outside_its_segment_does_not_reach_the_client(liars):
    expect_killed(liars, "outside", why="outside segment")


def test_a_worker_is_sent_so_many_requests_ahead(liars):
    """The others stay with the supervisor, and are answered in the end."""
    client, victim = liars.connect(), liars.victim()
    with harness.Gate() as gate:
        heard = client.start("call", "liar:heard", gate.path)
        behind = [client.start("call", "liar:none", i) for i in range(4 * SENT_AHEAD)]
        gate.entered()
        harness.until(
            lambda: sum(m["in_flight"] for m in victim.ask("module.list")) == len(behind) + 1,
            "all have come")
        assert victim.call("other:none") == ([], []), "another module's are not behind them"
        gate.open()
        assert client.finish(heard)[1] == SENT_AHEAD
    assert [client.finish(id)[1] for id in behind] == [[i] for i in range(4 * SENT_AHEAD)]


def test_releases_of_any_number_stay_within_a_frame(start_liars):
    """100 replies of 1000 outputs each lie with a client that does not read; when it goes, all
    of their slots are released at once."""
    liars = start_liars("--max-total-memory", "512M")
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


def test_a_function_of_a_huge_description_is_found_without_reading_it(liars):
    """64 questions about a MB, in any order: about a millisecond of the supervisor's, not a second."""
    describe(liars, "huge", "many=7000,90")
    attacker, victim = liars.connect(), liars.victim()
    with liars.standstill():
        for i in range(64):
            attacker.start("function.get", "huge", f"f{109 * i}")
        victim.ask_later()
    victim.expect_within(victim.cost(), frames=65, turns=8, cpu_us=100_000)
    assert len({attacker.finish(i + 1) for i in range(64)}) == 64
    with pytest.raises(Failure, match="NOT_FOUND"):
        attacker.ask("function.get", "huge", "f7000")


@pytest.mark.parametrize("method", ("module.describe", "function.list"))
def test_descriptions_that_nobody_reads_are_one(liars, method):
    """200 times 1 MB that wait for a client that does not read."""
    describe(liars, "big", "many=7000,90")
    attacker, victim = liars.connect(), liars.victim()
    with liars.growth(2 * MIB):
        for _ in range(200):
            attacker.start(method, "big")
        victim.ask("ping")
        liars.victim().call("liar:none")
    whole = attacker.finish(200)
    functions = whole["functions"] if method == "module.describe" else whole
    assert len(functions) == 7000 and functions[-1]["name"] == "f6999"


def test_a_reply_outlives_the_module_that_it_describes(liars):
    describe(liars, "big", "many=7000,90")
    client = liars.connect()
    with liars.standstill():
        for _ in range(20):
            client.start("function.list", "big")
        client.start("module.unload", "big")
    client.finish(21)
    assert len(client.finish(20)) == 7000


@pytest.mark.parametrize(
    "what, code, text",
    (
        ("many=2,600000", "MODULE_FAILED", "at most 1052672"),
        ("many=7500,8", "MODULE_FAILED", f"more than {MAX_OBJECTS} objects"),
        ("handle", "INTERNAL", "the worker's description: it holds a handle or a tensor"),
    ),
)
def test_a_description_that_may_not_be_is_a_failed_load(liars, what, code, text):
    with pytest.raises(Failure, match=f"{code}: load bad: .*{text}"):
        describe(liars, "bad", what)
    expect_room_for_others(liars)


def test_workers_that_refuse_and_stay_quarantine_their_module(start_liars):
    """Each restart would cost the whole load timeout, and come again for ever."""
    arena = start_liars("--load-timeout", harness.FOREVER, "--max-deaths", "3")
    describe(arena, "once", "once")
    os.kill(arena.workers_of("once")[0], signal.SIGKILL)
    with Wire(arena.host) as wire:

        def state():
            return next(m["state"] for m in wire.ask("module.list") if m["name"] == "once")

        harness.until(lambda: state() == "QUARANTINED", "it is given up")
    arena.daemon.expect_logged("it rejected its artifact and did not exit", times=2)
    expect_room_for_others(arena)


def test_a_refused_load_does_not_wait_for_the_worker(start_liars):
    arena = start_liars("--load-timeout", harness.FOREVER)
    describe(arena, "once", "once")
    arena.victim().ask("module.unload", "once")
    with pytest.raises(Failure, match="BAD_ARTIFACT: load once: it was asked to refuse"):
        describe(arena, "once", "once")


def flood(host, function):
    with Wire(host) as wire, contextlib.suppress(Failure):
        wire.call(f"liar:{function}", 20_000)


def test_a_worker_that_floods_its_channel_costs_others_few_frames(liars):
    """It says what it may, as fast as it can; nothing of it stays with the supervisor."""
    victim = liars.victim()
    before = liars.state().descriptors
    with liars.growth(2 * MIB), liars.attack(flood, "flood_segments", frames=1000):
        liars.expect_turns(victim, others=64)
    harness.until(lambda: liars.state().descriptors == before, "its descriptors are closed")
    expect_room_for_others(liars)


@pytest.mark.parametrize("function, why", (
    ("flood_answers", "it answered an unknown request"),
    ("flood_cancels", "it sent an unknown message")))
def test_the_first_wrong_word_of_a_flood_is_the_last_that_is_read(liars, function, why):
    victim = liars.victim()
    liar = liars.workers_of("liar")
    attacker = liars.connect()
    with liars.growth(MIB):
        attacker.start("call", f"liar:{function}", 1_000_000)
        harness.until(lambda: liars.workers_of("liar") not in ([], liar), "the liar is ended")
    liars.daemon.expect_logged(why)
    victim.call("liar:none")
    expect_room_for_others(liars)


def begun_step(gate, id, n):
    """The frame of a call of `step` with @n bytes, without the bytes."""
    body = [0, id, "call", ["liar:step", gate.path, tensor_ext(INLINE, "u1", (n,))]]
    return frame(body, payload_bytes=n)


def test_one_connection_does_not_take_the_room_that_others_wait_for(start_liars):
    """It has all of it in sixteenths, and asks for the next one in front of who waits for a half:
    after eight answers that has its half."""
    arena = start_liars("--max-memory", str(4 * MIB))
    attacker, victim, watcher = arena.connect(), arena.victim(), arena.victim()
    part, half = MIB // 4, 2 * MIB

    def n_waiting():
        states = [c["state"] for c in watcher.ask("client.list")]
        return states.count("waits for tensor memory")

    with harness.Gate() as gate:
        for id in range(2, 18):
            attacker.send(begun_step(gate, id, part) + bytes(part))
        attacker.send(begun_step(gate, 18, part))
        harness.until(lambda: n_waiting() == 1, "it has all, and asks for more")
        victim.send(begun_step(gate, 1000, half))
        harness.until(lambda: n_waiting() == 2, "another waits, too")
        gate.entered()
        os.write(gate.fd, b"x" * 8)
        harness.until(lambda: n_waiting() == 1, "one of them has its room")
        victim.send(bytes(half))
        harness.until(lambda: watcher.ask("module.list")[0]["in_flight"] == 9, "it was the other")
        gate.open()
        assert victim.finish(1000) == [[], None]

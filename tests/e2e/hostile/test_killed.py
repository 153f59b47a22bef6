"""What a connection that is closed for others had sent, and nobody has read, goes nowhere."""
import harness
from wire import Closed, frame

IN_FLIGHT = 1024  # MSD_MAX_IN_FLIGHT: more is not read
FORGED = frame([0, 0x7777, "server.info", []])


def mine(arena, ops):
    return [c for c in ops.ask("client.list") if c["in_flight"] >= IN_FLIGHT]


def test_it_is_not_taken_for_what_its_killer_says_next(arena):
    victim, ops = arena.connect(), arena.connect()
    victim.offer(b"".join(frame([0, id, "call", ["faults:slow", 60]])
                          for id in range(1, IN_FLIGHT + 1)))
    [seen] = harness.until(lambda: mine(arena, ops), "as many requests as it may have")
    victim.offer(FORGED * 1000)
    pings = range(1001, 1021)
    ops.send(frame([0, 1000, "client.kill", [seen["connection"]]])
             + b"".join(frame([0, id, "ping", []]) for id in pings))
    answers = [ops.receive() for _ in range(len(pings) + 1)]
    assert [a[1] for a in answers] == [1000, *pings], answers
    assert all(a[2] is None for a in answers), answers
    try:
        while victim.receive()[1] != 0x7777:
            pass
    except Closed:
        return
    raise AssertionError("what it had sent was served")

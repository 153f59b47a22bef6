"""The metrics of many modules are a text of megabytes: it is made in turns, one at a time, and who
asks for several waits behind all others for the next."""
import arena as arenas
import harness
import pytest
from wire import Failure, Wire, frame

MODULES, PIECE = 30, 128 << 10  # MSD_METRICS_PIECE; of a module some 11 KiB
TEXTS = 8  # that an attacker asks for at once
ASK = b"".join(frame([0, id, "server.metrics", []]) for id in range(1, TEXTS + 1))


@pytest.fixture(scope="module")
def scraped():
    folder = harness.short_folder()
    modules = {f"m{i}": harness.ZOO / "faults.so" for i in range(MODULES)}
    listen = [f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"]
    with arenas.Arena(modules=modules, listen=listen) as a, Wire(a.host) as wire:
        for name in modules:
            wire.call(f"{name}:ok", deadline_ms=harness.LONG_MS)
        a.text_bytes = len(wire.ask("server.metrics"))
        assert a.text_bytes > 2 * PIECE
        yield a
    folder.rmdir()


def expect_texts(wire):
    for id in range(1, TEXTS + 1):
        _, answered, error, text = wire.receive()[:4]
        assert (answered, error) == (id, None) and text.count("modserd_module_ready{") == MODULES


def test_others_are_served_while_texts_are_made(scraped):
    attackers, victim = [scraped.connect() for _ in range(8)], scraped.victim()
    with scraped.standstill():
        for attacker in attackers:
            attacker.offer(ASK)
        victim.ask_later()
    frames = len(attackers) * TEXTS + 2
    victim.expect_within(victim.cost(), frames=frames, bytes=PIECE)
    for attacker in attackers:
        expect_texts(attacker)


def test_who_asks_for_one_waits_for_one_of_who_asks_for_many(scraped):
    attackers = [scraped.connect() for _ in range(4)]
    victim = scraped.victim(scraped.daemon.hosts[1])
    victim.begin()
    with scraped.standstill():
        for attacker in attackers:
            attacker.offer(ASK)
        asked = victim.start("server.metrics")
    victim.finish(asked)
    victim.ask_later()  # texts for the attackers are sent until this is answered, too
    victim.expect_within(victim.cost(), bytes=TEXTS * scraped.text_bytes)
    for attacker in attackers:
        expect_texts(attacker)


def test_who_leaves_or_is_late_holds_nobody_up(scraped):
    leaver, late, victim = scraped.connect(), scraped.connect(), scraped.victim()
    with scraped.standstill():
        leaver.offer(ASK)
        late_ids = [late.start("server.metrics", deadline_ms=1) for _ in range(2)]
    leaver.socket.close()
    for id in late_ids:
        with pytest.raises(Failure, match="DEADLINE"):
            late.finish(id)
    assert victim.ask("server.metrics").count("modserd_module_ready{") == MODULES

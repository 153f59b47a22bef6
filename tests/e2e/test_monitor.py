"""Single calls: what `modser monitor`, `modser slowlog` and the log tell of them."""
import json
import signal
import subprocess

import harness
import pytest
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"
STAGES = ("read_ns", "queue_ns", "worker_ns", "run_ns")


@pytest.fixture
def wire(daemon):
    with Wire(daemon.host) as wire:
        yield wire


def kept(wire, module, **more):
    return wire.ask("server.monitor", {"from": 0, "module": module, **more})


def test_calls_are_told_as_their_client_was_answered(daemon, wire):
    daemon.load("seen", FAULTS)
    wire.call("seen:ok")
    with pytest.raises(Failure, match="CALL_FAILED"):
        wire.call("seen:error_long")
    answer = kept(wire, "seen")
    told = [(c["module"], c["function"], c["code"]) for c in answer["requests"]]
    assert told == [("seen", "ok", "OK"), ("seen", "error_long", "CALL_FAILED")]
    first = answer["requests"][0]
    assert first["all_ns"] == sum(first[stage] for stage in STAGES) > first["run_ns"] > 0
    assert answer["next"] > first["number"] and first["peer"].startswith("uid ")


def test_who_follows_is_answered_when_there_is_more(daemon, wire):
    daemon.load("followed", FAULTS)
    end = wire.ask("server.monitor")["next"]
    wish = {"from": end, "module": "followed", "wait_ms": harness.LONG_MS}
    waits = wire.start("server.monitor", wish)
    with Wire(daemon.host) as other:
        other.call("followed:ok")
    answer = wire.finish(waits)
    assert [c["function"] for c in answer["requests"]] == ["ok"]
    last = {**wish, "from": answer["next"]}
    assert wire.ask("server.monitor", {**last, "wait_ms": 1})["requests"] == []
    with Wire(daemon.host) as other:  # who leaves while it waits is forgotten
        other.start("server.monitor", last)
        other.ask("ping")
    waits = wire.start("server.monitor", last)
    assert wire.ask("cancel", waits) is True
    with pytest.raises(Failure, match="CANCELLED"):
        wire.finish(waits)
    wire.call("followed:ok")


def test_one_of_so_many_is_told(daemon, wire):
    daemon.load("sampled", FAULTS)
    for _ in range(12):
        wire.call("sampled:ok")
    numbers = [c["number"] for c in kept(wire, "sampled", every=4)["requests"]]
    assert len(numbers) == 3 and all(n % 4 == 0 for n in numbers)
    with pytest.raises(Failure, match="BAD_REQUEST"):
        kept(wire, "sampled", every=0)


def test_the_command_shows_them(daemon, wire):
    daemon.load("shown", FAULTS)
    for _ in range(3):
        wire.call("shown:ok")
    lines = daemon.ok("monitor", "--json", "shown").out.splitlines()
    assert [json.loads(line)["function"] for line in lines] == ["ok"] * 3
    assert "\tshown\tok\tOK\t" in daemon.ok("monitor", "--tail", 1).out


def test_the_tail_is_of_what_is_wanted(daemon, wire):
    daemon.load("one", FAULTS)
    daemon.load("other", FAULTS)
    for _ in range(2):
        wire.call("one:ok")
        for _ in range(3):
            wire.call("other:ok")
    lines = daemon.ok("monitor", "--json", "--tail", 2, "one").out.splitlines()
    assert [json.loads(line)["module"] for line in lines] == ["one"] * 2


def test_who_follows_from_the_tail_gets_each_call_once(daemon, wire):
    daemon.load("tailed", FAULTS)
    for _ in range(3):
        wire.call("tailed:ok")
    numbers = [c["number"] for c in kept(wire, "tailed")["requests"]]
    command = [harness.BIN / "modser", "-H", daemon.host, "monitor", "--json", "-f", "--tail", "2", "tailed"]
    with harness.started(*command, stdout=subprocess.PIPE) as follower:
        told = [json.loads(follower.stdout.readline())["number"] for _ in range(2)]
        wire.call("tailed:ok")
        told.append(json.loads(follower.stdout.readline())["number"])
    assert told[:2] == numbers[-2:] and told[2] > numbers[-1]


def test_top_shows_what_modules_have_done(daemon, wire):
    daemon.load("busy", FAULTS)
    for _ in range(3):
        wire.call("busy:ok")
    with pytest.raises(Failure, match="CALL_FAILED"):
        wire.call("busy:error_long")
    (busy,) = [line for line in json.loads(daemon.ok("top", "--once", "--json").out)
               if line["module"] == "busy"]
    assert (busy["calls"], busy["errors"], busy["ready"], busy["open"]) == (3, 1, 1, 1)
    assert busy["run_ns"] > 0 and busy["rss_bytes"] > 0


def test_the_doctor_measures_what_the_daemon_adds(daemon, wire):
    daemon.load("weighed", FAULTS)
    wire.call("weighed:ok")
    found = json.loads(daemon.ok("doctor", "--json").out)
    assert 0 < found["floor_ns"] <= found["ping_ns"] and float(found["ratio"]) >= 1
    (weighed,) = [m for m in found["modules"] if m["module"] == "weighed"]
    assert weighed["calls"] == 1 and weighed["run_ns"] > 0 and weighed["added_ns"] > 0
    assert float(weighed["ratio"]) == pytest.approx(weighed["added_ns"] / found["floor_ns"], abs=0.01)
    assert found["unusual"]


def test_what_was_slow_is_kept_with_its_shapes(own_daemon):
    daemon = own_daemon("--slow-call", "10ms")
    daemon.load("slow", FAULTS)
    with Wire(daemon.host) as wire, harness.Gate() as gate:
        waits = wire.start("call", "slow:gate", gate.path)
        gate.entered()
        begin = wire.ask("server.info")["uptime_ms"]
        harness.until(lambda: wire.ask("server.info")["uptime_ms"] > begin + 20, "time passes")
        gate.open()
        wire.finish(waits)
        slow = wire.ask("server.slowlog")[-1]
        assert (slow["module"], slow["function"], slow["code"]) == ("slow", "gate", "OK")
        assert slow["arguments"] == f"str({len(gate.path)})" and slow["all_ns"] >= 10_000_000
    assert f"str({len(gate.path)})" in daemon.ok("slowlog").out


def test_the_log_tells_of_calls_when_it_is_asked_to_and_when_a_worker_dies(own_daemon):
    daemon = own_daemon()
    daemon.load("dead", FAULTS)
    with Wire(daemon.host) as wire:
        wire.call("dead:ok")
        with pytest.raises(Failure, match="WORKER_LOST"):
            wire.call("dead:crash")
        daemon.expect_logged('name=dead function="crash" code=WORKER_LOST')
        daemon.process.send_signal(signal.SIGUSR1)
        daemon.expect_logged("event=call_log_dump end=2")
        assert daemon.log().count('event=call_log_dump number=0 ') == 2

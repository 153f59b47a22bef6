"""Metrics that are scraped: each moves by what its client did, and by no more."""
import collections
import json
import re

import pytest

import harness
from harness import until
from test_http import RIGHTS, TOKEN, Visit, ask_json, start, status
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"
SAMPLE = re.compile(r"(\w+)(?:\{.*code=\"(\w+)\"\}|(?:\{.*\})?) (\S+)")


def scrape(visit):
    """{family, or (family, code): the sum of its samples}"""
    answered, _, text = visit.ask("/metrics")
    assert answered == 200
    found = collections.Counter()
    for line in text.decode().splitlines():
        if not line.startswith("#"):
            name, code, number = SAMPLE.fullmatch(line).groups()
            found[(name, code) if code else name] += float(number)
    return found


class Moved:
    """What has moved on the daemon of @visit since then."""

    def __init__(self, visit):
        self.visit, self.before = visit, scrape(visit)

    def by(self, *names):
        now = scrape(self.visit)
        return [now[name] - self.before[name] for name in names]


@pytest.fixture
def visit():
    with start("--max-connections", "4", "--reserved-connections", "0", "--load", f"m={FAULTS}") as d:
        d.ok("wait", "m")
        with Visit(d) as v:
            v.daemon = d
            yield v


def test_connections_and_those_too_many(visit):
    moved = Moved(visit)
    with Wire(visit.daemon.host) as wire, Visit(visit.daemon) as other:
        wire.ask("ping")
        assert other.ask("/livez")[0] == 200
        assert moved.by("modserd_connections", "modserd_connections_accepted_total",
                        "modserd_connections_refused_total") == [2, 2, 0]
        with Visit(visit.daemon), Visit(visit.daemon) as refused:
            refused.say("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            assert refused.answer()[0] == 503
            assert moved.by("modserd_connections_refused_total") == [1]
            text = visit.ask("/metrics")[2].decode()
            assert 'modserd_connections_refused_total{cause="connections"} 1\n' in text


def test_a_peer_with_too_many_connections_is_a_cause_of_its_own():
    with start("--max-peer-connections", "2", "--load", f"m={FAULTS}") as d:
        with Visit(d), Visit(d) as visit, Visit(d) as refused:
            refused.say("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
            assert refused.answer()[0] == 503
            text = visit.ask("/metrics")[2].decode()
            assert 'modserd_connections_refused_total{cause="peer"} 1\n' in text
            assert 'modserd_connections_refused_total{cause="connections"} 0\n' in text


def test_what_comes_by_http_is_a_section_of_its_own(visit):
    told = lambda: json.loads(visit.daemon.ok("info", "http", "--json").out)["http"]
    before = told()
    with Visit(visit.daemon) as other:
        other.ask("/livez")
        other.ask("/livez")
        other.say("GET / HTTP/9\r\n\r\n")
        assert other.answer()[0] == 505
        now = told()
        moved = {key: now[key] - before[key] for key in now}
        assert moved == {"connections": 1, "connections_total": 1, "requests": 2,
                         "unreadable": 1}
        assert f"\nmodserd_http_requests_total {now['requests'] + 1}\n" in (
            visit.ask("/metrics")[2].decode())


def test_without_http_there_is_no_section_of_it(daemon):
    assert json.loads(daemon.ok("info", "http", "--json").out) == {"http": None}
    assert "modserd_http_" not in daemon.ok("metrics").out


def test_requests_and_calls_of_either_front(visit):
    with Wire(visit.daemon.host) as wire, Visit(visit.daemon) as other:
        wire.ask("ping")
        moved = Moved(visit)
        for _ in range(3):
            wire.call("m:ok")
            assert ask_json(other, "/v2/models/m:ok/infer", "POST", b'{"inputs":[]}')[0] == 200
        with pytest.raises(Failure, match="NOT_FOUND"):
            wire.call("nowhere:f")
        assert ask_json(other, "/v2/models/nowhere:f/infer", "POST", b'{"inputs":[]}')[0] == 404
        # the scrape that asks is one, too
        assert moved.by("modserd_requests_total", "modserd_requests_to_modules_total") == [9, 6]
        calls = "modserd_calls_total"
        assert moved.by((calls, "OK"), (calls, "NOT_FOUND")) == [6, 2]
        assert moved.by(("modserd_errors_total", "NOT_FOUND")) == [2]


def test_bytes_and_frames_of_clients_are_counted(visit):
    with Wire(visit.daemon.host) as wire:
        wire.ask("ping")
        moved = Moved(visit)
        for _ in range(5):
            wire.ask("ping")
        frames, received, sent = moved.by("modserd_frames_total", "modserd_received_bytes_total",
                                          "modserd_sent_bytes_total")
        assert frames == 5
        assert received >= 5 * 16 and sent >= 5 * 16


def test_a_death_is_a_restart(visit):
    moved = Moved(visit)
    assert ask_json(visit, "/v2/models/m:crash/infer", "POST", b'{"inputs":[]}')[0] == 502
    assert moved.by("modserd_module_restarts_total", ("modserd_calls_total", "WORKER_LOST")) == [
        1, 1]
    until(lambda: moved.by("modserd_module_ready") == [0], "it serves again")


def test_rights_that_were_wanted(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    bearer = f"Authorization: Bearer {TOKEN}\r\n"
    with start("--acl", path) as d, Visit(d) as v, Wire(d.host) as operator:
        before = operator.ask("server.info")["denied"]
        for _ in range(3):
            assert status(d, "/readyz/other", bearer) == 403
        text = v.ask("/metrics", bearer)[2].decode()
        assert f"\nmodserd_permission_denied_total {before + 3}\n" in text

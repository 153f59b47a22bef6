"""A scrape of many modules is made in pieces: it is whole, and says what the protocol says."""
import json

import harness
import pytest
from test_http import Visit, start
from test_metrics import FAULTS, LABEL, SAMPLE
from wire import Wire

MODULES = 30  # of some 13 KB each; a piece is 128 KiB


@pytest.fixture(scope="module")
def many():
    with start() as daemon:
        for i in range(MODULES):
            daemon.load(f"m{i}", FAULTS)
        with Wire(daemon.host) as wire:
            for i in range(MODULES):
                wire.call(f"m{i}:ok", deadline_ms=harness.LONG_MS)
        yield daemon


def read(text):
    """{(name, labels): number}, each told once; the samples of a family stand together."""
    found, families = {}, []
    for line in text.splitlines():
        if line.startswith("# TYPE"):
            families.append(line.split()[2])
        elif not line.startswith("#"):
            name, labels, number = SAMPLE.fullmatch(line).groups()
            assert name.startswith(families[-1].removesuffix("_total")), "of another family"
            key = (name, *(value for _, value in LABEL.findall(labels or "")))
            assert key not in found, key
            found[key] = number
    assert len(families) == len(set(families))
    return found


def test_it_has_all_that_the_protocol_tells_at_once(many):
    with Visit(many) as visit, Wire(many.host) as wire:
        status, fields, body = visit.ask("/metrics")
        assert status == 200 and int(fields["content-length"]) == len(body) > 2 * 131072
        scraped, told = read(body.decode()), read(wire.ask("server.metrics"))
        assert scraped.keys() == told.keys()
        for name in ("modserd_calls_total", "modserd_module_ready"):
            assert ({k: v for k, v in scraped.items() if k[0] == name}
                    == {k: v for k, v in told.items() if k[0] == name} != {})
        assert visit.ask("/livez")[0] == 200


def test_head_has_its_length_alone(many):
    with Visit(many) as visit:
        status, fields, body = visit.ask("/metrics", method="HEAD")
        assert (status, body) == (200, b"") and int(fields["content-length"]) > 2 * 131072
        assert visit.ask("/livez")[0] == 200


def test_openmetrics_ends_where_it_ends(many):
    with Visit(many) as visit:
        body = visit.ask("/metrics", "Accept: application/openmetrics-text\r\n")[2]
        assert body.endswith(b"\n# EOF\n") and body.count(b"# EOF") == 1


def test_the_status_has_each_module_once_in_its_pieces(many):
    """A piece is 16 modules."""
    with Visit(many) as visit, Wire(many.host) as wire:
        status, fields, body = visit.ask("/status")
        assert status == 200 and fields["content-type"] == "application/json"
        said, listed = json.loads(body), wire.ask("module.list")
        assert [m["name"] for m in said["modules"]] == [m["name"] for m in listed]
        assert said["modules"][0].keys() == listed[0].keys() and said["server"]["pid"] == many.pid
        status, fields, body = visit.ask("/status", method="HEAD")
        assert (status, body) == (200, b"") and int(fields["content-length"]) > MODULES * 100
        assert visit.ask("/livez")[0] == 200


@pytest.mark.parametrize("method, path, name", [
    ("POST", "/v2/repository/index", lambda said: said),
    ("GET", "/v2/models/stats", lambda said: said["model_stats"])])
def test_a_list_has_each_module_once_in_its_pieces(many, method, path, name):
    with Visit(many) as visit:
        status, _, body = visit.ask(path, "Content-Length: 0\r\n", method=method)
        listed = sorted(m["name"] for m in name(json.loads(body)))
        assert status == 200 and listed == sorted(f"m{i}" for i in range(MODULES))


@pytest.mark.parametrize("path", ["/metrics", "/status"])
def test_who_leaves_meanwhile_leaves_nothing_behind(many, path):
    for _ in range(20):
        with Visit(many) as visit:
            visit.say(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
    with Visit(many) as visit:
        assert visit.ask("/livez")[0] == 200
    with Wire(many.host) as wire:
        harness.until(lambda: len(wire.ask("client.list")) == 1, "the others are gone")


def test_modules_may_come_and_go_meanwhile(many):
    with Visit(many) as visit, Wire(many.host) as wire:
        for _ in range(5):
            visit.say("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            wire.load("a", FAULTS.read_bytes())
            wire.ask("module.unload", "a")
            status, _, body = visit.answer()
            assert status == 200
            found = read(body.decode())
            assert sum(k[0] == "modserd_module_ready" for k in found) in (MODULES, MODULES + 1)

"""Metrics: what they count is what clients were answered."""
import collections
import json
import re
import shutil
import subprocess

import harness
import pytest
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"
SAMPLE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
STAGES = ("read", "queue", "worker", "run", "reply")


def scrape(wire):
    """{(name, label values...): number}; no sample is told twice."""
    found = {}
    for line in wire.ask("server.metrics").splitlines():
        if line.startswith("#"):
            continue
        name, labels, number = SAMPLE.fullmatch(line).groups()
        key = (name, *(value for _, value in LABEL.findall(labels or "")))
        assert key not in found, key
        found[key] = float(number)
    return found


def calls(wire, module):
    """{(function, code): times} of a module."""
    return {key[2:]: n for key, n in scrape(wire).items()
            if key[:2] == ("modserd_calls_total", module)}


class Counted:
    """A client that counts what it is answered."""

    def __init__(self, wire):
        self.wire, self.seen = wire, collections.Counter()

    def call(self, module, function, deadline_ms=harness.LONG_MS):
        try:
            self.wire.call(f"{module}:{function}", deadline_ms=deadline_ms)
            self.seen[function, "OK"] += 1
        except Failure as failure:
            self.seen[function, failure.name] += 1


@pytest.fixture
def wire(daemon):
    with Wire(daemon.host) as wire:
        yield wire


def test_calls_are_counted_as_their_client_was_answered(daemon, wire):
    daemon.load("counted", FAULTS)
    client = Counted(wire)
    for _ in range(3):
        client.call("counted", "ok")
        client.call("counted", "error_long")
        client.call("counted", "crash")
    client.call("counted", "ok", deadline_ms=0)
    client.call("counted", "no_such_function")
    seen = client.seen
    # It is not the module's, so that no client can fill the labels with names.
    unknown = {code: n for (name, code), n in seen.items() if name == "no_such_function"}
    seen = {k: n for k, n in seen.items() if k[0] != "no_such_function"}
    seen.update({("other", code): n for code, n in unknown.items()})
    assert calls(wire, "counted") == seen
    assert seen["crash", "WORKER_LOST"] == 3
    assert scrape(wire)["modserd_module_restarts_total", "counted"] == 3


def test_calls_of_no_module_are_counted_without_a_name(wire):
    before = scrape(wire).get(("modserd_calls_total", "", "", "NOT_FOUND"), 0)
    Counted(wire).call("nowhere", "at_all")
    assert scrape(wire)["modserd_calls_total", "", "", "NOT_FOUND"] == before + 1


def test_stages_of_all_that_was_done_are_noted(daemon, wire):
    daemon.load("staged", FAULTS)
    for _ in range(5):
        wire.call("staged:ok")
    found = scrape(wire)
    for stage in STAGES:
        assert found["modserd_call_stage_seconds_count", "staged", stage] == 5
        assert found["modserd_call_stage_seconds_bucket", "staged", stage, "+Inf"] == 5
    assert found["modserd_call_stage_seconds_sum", "staged", "worker"] > 0


def test_a_call_whose_client_has_gone_is_told_apart(daemon, wire):
    daemon.load("left", FAULTS)
    with harness.Gate() as gate:
        with Wire(daemon.host) as other:
            other.start("call", "left:gate", gate.path)
            gate.entered()
        harness.until(lambda: calls(wire, "left") == {("gate", "ABANDONED"): 1}, "it is noticed")
        gate.open()


def test_a_module_that_replaces_another_counts_on_until_it_is_unloaded(daemon, wire):
    daemon.load("named", FAULTS)
    wire.call("named:ok")
    daemon.load("named", FAULTS, "--replace")
    wire.call("named:ok")
    assert calls(wire, "named") == {("ok", "OK"): 2}
    daemon.ok("unload", "named")
    assert calls(wire, "named") == {}


def test_promtool_has_nothing_against_what_modser_prints(daemon):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian's prometheus): the text is not checked by it")
    daemon.load("checked", FAULTS)
    daemon.ok("call", "checked:ok")
    text = daemon.ok("metrics").out
    assert 'modserd_calls_total{module="checked",function="ok",code="OK"} 1\n' in text
    said = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


ODD = "a\x9b31mb\u202ec\u2028d\u2066é"
SHOWN = r"a\xc2\x9b31mb\xe2\x80\xaec\xe2\x80\xa8d\xe2\x81\xa6é"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def odd(daemon, tmp_path):
    """A module whose function has a name that a terminal would obey."""
    name = "".join(f"\\{byte:03o}" for byte in ODD.encode())
    (tmp_path / "odd.c").write_text(
        "void *__tvm_ffi__library_ctx;\n"
        f'int f(void *self, const void *args, int n, void *ret) __asm__("__tvm_ffi_{name}");\n'
        "int f(void *self, const void *args, int n, void *ret) { return 0; }\n")
    built = harness.run("cc", "-shared", "-fPIC", tmp_path / "odd.c", "-o", tmp_path / "odd.so")
    assert built.status == 0, built
    daemon.load("odd", tmp_path / "odd.so")
    yield daemon
    daemon.ok("unload", "odd")


def test_a_name_that_a_terminal_would_obey_is_shown_escaped(odd):
    odd.ok("call", f"odd:{ODD}")
    for words in ("funcs", "odd"), ("show", "odd"), ("monitor", "--tail", "1"), ("stats", "odd"), \
            ("metrics",), ("top", "--once"), ("--json", "funcs", "odd"), \
            ("--json", "monitor", "--tail", "1"):
        out = odd.ok(*words).out
        assert not OBEYED.search(out), (words, out)
    assert SHOWN in odd.ok("funcs", "odd").out
    assert json.loads(odd.ok("--json", "funcs", "odd").out)[0]["name"] == ODD
    said = odd.modser("call", f"odd:{ODD}x")
    assert said.status != 0 and SHOWN in said.err and not OBEYED.search(said.err)
    assert not OBEYED.search(odd.log())


def test_promtool_has_nothing_against_names_that_a_terminal_would_obey(odd):
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian's prometheus): the text is not checked by it")
    odd.ok("call", f"odd:{ODD}")
    text = odd.ok("metrics").out
    label = SHOWN.replace("\\", "\\\\")
    assert f'modserd_calls_total{{module="odd",function="{label}",code="OK"}} 1\n' in text
    said = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True,
                          text=True, check=False)
    assert said.returncode == 0, said.stdout + said.stderr


EXAMPLES = harness.ROOT / "examples/prometheus"


def test_promtool_has_nothing_against_the_example():
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("no promtool (Debian's prometheus): the example's rules are not tested")
    for words in (["check", "config", "prometheus.yml"], ["test", "rules", "rules_test.yml"]):
        said = harness.run(promtool, *words, cwd=EXAMPLES)
        assert said.status == 0, said


def test_the_example_asks_for_what_there_is(daemon, wire):
    daemon.load("example", FAULTS)
    wire.call("example:ok")
    told = {line.split("{")[0].split(" ")[0] for line in wire.ask("server.metrics").splitlines()}
    for name in ("rules.yml", "dashboard.json"):
        asked = set(re.findall(r"\b(?:modserd|process)_\w+", (EXAMPLES / name).read_text()))
        assert len(asked) > 4 and asked <= told, asked - told
    panels = json.loads((EXAMPLES / "dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels) == 8


def test_stats_show_those_of_one_module(daemon, wire):
    daemon.load("shown", FAULTS)
    client = Counted(wire)
    for _ in range(4):
        client.call("shown", "ok")
    client.call("shown", "error_long")
    found = dict(line.split("\t") for line in daemon.ok("stats", "shown").out.splitlines())
    assert found["ok OK"] == "4" and found["error_long CALL_FAILED"] == "1"
    assert found["ready"] == "1" and found["restarts"] == "0"
    assert 0 < int(found["run_p50_ns"]) <= int(found["run_p90_ns"]) <= int(found["run_p99_ns"])
    assert json.loads(daemon.ok("stats", "shown", "--json").out)["ok OK"] == 4
    assert daemon.modser("stats", "nowhere").status == 4

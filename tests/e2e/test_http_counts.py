"""Calls by HTTP are counted as their clients were told of them, however they failed."""
import collections
import hashlib
import json
import signal

import numpy
import pytest

import harness
from harness import until
from test_http import RIGHTS, Visit, ask_json, start
from test_http_infer import ADD, PATH, infer
from test_metrics import calls, scrape
from wire import Wire


@pytest.fixture(scope="module")
def daemon():
    loads = [w for n in ("shapes", "dtypes") for w in ("--load", f"{n}={harness.MODELS / n}.so")]
    with start(*loads, "--load", f"zoo={harness.ZOO / 'results.so'}", "--load",
               f"faults={harness.ZOO / 'faults.so'}", "--max-json", "1M") as d:
        for name in ("shapes", "dtypes", "zoo", "faults"):
            d.ok("wait", name)
        yield d


def wide(value, n=70_000):
    """So many that a thread makes the answer: 280,000 bytes, some 400,000 of text."""
    return [{"name": "A", "datatype": "FP32", "shape": [n],
             "parameters": {"binary_data_size": 4 * n}}], numpy.full(n, value, "float32").tobytes()


def infer_bytes(visit, model, inputs, behind):
    head = json.dumps({"inputs": inputs}).encode()
    answered, _, body = visit.ask(
        PATH.format(model), f"Inference-Header-Content-Length: {len(head)}\r\n"
        f"Content-Length: {len(head) + len(behind)}\r\n", "POST", head + behind)
    return answered, json.loads(body)


def moved(wire, before, module):
    after = collections.Counter(calls(wire, module))
    after.subtract(before)
    return {key: n for key, n in after.items() if n}


def test_an_answer_that_cannot_be_told_is_no_success(daemon):
    nan = numpy.array([numpy.nan], "float32").tobytes()
    one = [{"name": "A", "datatype": "FP32", "shape": [1], "parameters": {"binary_data_size": 4}}]
    with Wire(daemon.host) as wire, Visit(daemon) as visit:
        before = calls(wire, "shapes")
        errors = scrape(wire)["modserd_errors_total", "BAD_REQUEST"]
        assert infer_bytes(visit, "shapes:addone", one, nan)[0] == 400
        assert infer(visit, "shapes:addone", ADD, outputs=[{"name": "C"}])[0] == 400
        assert infer_bytes(visit, "shapes:addone", *wide(numpy.nan))[0] == 400, "on a thread"
        assert infer_bytes(visit, "shapes:addone", *wide(0.1, 300_000))[0] == 400, "too much JSON"
        assert infer_bytes(visit, "shapes:addone", *wide(1))[0] == 200
        assert infer(visit, "shapes:addone", ADD)[0] == 200
        assert moved(wire, before, "shapes") == {("addone", "BAD_REQUEST"): 4,
                                                 ("addone", "OK"): 2}
        assert scrape(wire)["modserd_errors_total", "BAD_REQUEST"] == errors + 4
        told = wire.ask("server.monitor", {"from": 0, "module": "shapes"})["requests"][-6:]
        assert sorted(r["code"] for r in told) == ["BAD_REQUEST"] * 4 + ["OK"] * 2


def test_what_fails_in_any_way_is_counted_so(daemon):
    told = collections.Counter()
    with Wire(daemon.host) as wire, Visit(daemon) as visit:
        before = collections.Counter(
            {k[1:]: n for k, n in scrape(wire).items() if k[0] == "modserd_calls_total"})

        def ask(module, model, inputs, **more):
            answered, said = infer(visit, model, inputs, **more)
            told[module] += 1
            return answered, said

        assert ask("faults", "faults:ok", [])[0] == 200
        assert ask("faults", "faults:error_long", [])[0] == 500
        assert ask("faults", "faults:ok", [], parameters={"deadline_ms": 0})[0] == 504
        assert ask("faults", "faults:crash", [])[0] == 502  # it may have run
        assert ask("faults", "faults:none", [])[0] == 404
        assert ask("", "nowhere:f", [])[0] == 404
        assert ask("shapes", "shapes:addone", [])[0] == 400
        after = collections.Counter(
            {k[1:]: n for k, n in scrape(wire).items() if k[0] == "modserd_calls_total"})
        after.subtract(before)
        by_module = collections.Counter()
        for (module, _, _), n in after.items():
            by_module[module] += n
        assert {k: n for k, n in by_module.items() if n} == dict(told)


def test_a_call_that_is_refused_counts_to_the_function_that_it_was_of(daemon):
    wide_shape = [{"name": "A", "datatype": "FP32", "shape": [1 << 40]}]
    with Wire(daemon.host) as wire, Visit(daemon) as visit:
        before = calls(wire, "shapes")
        assert infer(visit, "shapes:addone", [])[0] == 400, "an input is missing"
        assert infer(visit, "shapes:addone", [{**ADD[0], "datatype": "FP64"}])[0] == 400
        assert infer(visit, "shapes:addone", wide_shape)[0] in (400, 413)
        assert infer(visit, "shapes:nothing", ADD)[0] == 404
        assert infer(visit, "shapes", ADD)[0] == 404, "it has no model function"
        assert infer(visit, "shapes:addone/versions/7", ADD)[0] == 404
        after = moved(wire, before, "shapes")
        assert after.pop(("other", "NOT_FOUND")) == 2
        assert after.pop(("addone", "NOT_FOUND")) == 1
        assert sum(after.values()) == 3 and {name for name, _ in after} == {"addone"}, after


def test_what_was_refused_is_among_the_last_calls(daemon):
    with Visit(daemon) as visit, Wire(daemon.host) as wire:
        begin = wire.ask("server.monitor")["next"]
        assert infer(visit, "shapes:addone", [])[0] == 400
        assert infer(visit, "shapes:nothing", ADD)[0] == 404
        assert infer(visit, "none", ADD)[0] == 404, "of no module: nobody's"
        assert infer(visit, "shapes:addone", ADD)[0] == 200
        told = wire.ask("server.monitor", {"from": begin})["requests"]
        assert [(c["module"], c["function"], c["code"]) for c in told] == [
            ("shapes", "addone", "BAD_REQUEST"), ("shapes", "other", "NOT_FOUND"),
            ("shapes", "addone", "OK")]
        assert told[0]["all_ns"] == 0 < told[2]["all_ns"]
        assert told[0]["peer"] == told[2]["peer"] == "127.0.0.1"


def test_a_function_s_times_are_its_own(daemon):
    def stats(visit, model):
        (said,) = ask_json(visit, f"/v2/models/{model}/stats")[1]["model_stats"]
        return said["inference_stats"]

    with Visit(daemon) as visit:
        was = {m: stats(visit, m) for m in ("shapes:addone", "shapes:matmul", "shapes")}
        assert infer(visit, "shapes:addone", ADD)[0] == 200
        assert infer_bytes(visit, "shapes:addone", *wide(1))[0] == 200, "answered on a thread"
        daemon.ok("call", "shapes:addone", "ones:float32[3]", "out:float32[3]")
        assert infer(visit, "shapes:addone", [])[0] == 400
        now = {m: stats(visit, m) for m in was}
    assert now["shapes:matmul"] == was["shapes:matmul"]
    for part in ("success", "queue", "compute_input", "compute_infer", "compute_output"):
        of_one, of_all = ({k: now[m][part][k] - was[m][part][k] for k in ("count", "ns")}
                          for m in ("shapes:addone", "shapes"))
        assert of_one == of_all and of_one["count"] == 3, part
        assert of_one["ns"] > 0 or part not in ("success", "compute_infer")
    assert now["shapes:addone"]["fail"]["count"] == was["shapes:addone"]["fail"]["count"] + 1


def test_a_wrong_token_is_a_call_that_was_refused(tmp_path):
    path = tmp_path / "acl"
    digest = hashlib.sha256(b"a token of a caller").hexdigest()
    path.write_text(f"user caller token:sha256={digest} +@call m/addone\n{RIGHTS}")
    path.chmod(0o600)
    with start("--acl", path, "--load", f"m={harness.MODELS / 'shapes.so'}") as d:
        with Visit(d) as visit, Wire(d.host) as wire:
            wrong = "Authorization: Bearer nobody's\r\n"
            right = "Authorization: Bearer a token of a caller\r\n"
            assert infer(visit, "m:addone", ADD, wrong)[0] == 401
            assert infer(visit, "m:addone", ADD)[0] == 401
            assert infer(visit, "m:matmul", [], right)[0] == 403
            found = scrape(wire)
            assert found["modserd_calls_total", "", "", "REFUSED"] == 3
            assert found["modserd_errors_total", "REFUSED"] == 3


def test_who_asks_while_it_drains_is_told_when_to_ask_again():
    """And the connection ends with that answer, whether it was there before or not."""
    shapes = harness.MODELS / "shapes.so"
    with start("--drain", harness.FOREVER, "--load", f"m={shapes}", "--load",
               f"faults={harness.ZOO / 'faults.so'}") as d, harness.Gate() as gate:
        d.ok("wait", "m")
        d.ok("wait", "faults")
        with Wire(d.host) as wire, Visit(d) as kept:
            assert infer(kept, "m:addone", ADD)[0] == 200
            wire.start("call", "faults:gate", gate.path)
            gate.entered()
            d.process.send_signal(signal.SIGTERM)
            d.expect_logged("event=daemon_drain")
            until(lambda: [m["name"] for m in wire.ask("module.list")] == ["faults"],
                  "the idle module is gone")
            before = scrape(wire).get(("modserd_calls_total", "", "", "DRAINING"), 0)
            body = json.dumps({"inputs": ADD}).encode()
            with Visit(d) as other:
                for visit in (kept, other):
                    answered, fields, _ = visit.ask(
                        PATH.format("m:addone"), f"Content-Length: {len(body)}\r\n", "POST", body)
                    assert (answered, fields["retry-after"]) == (503, "1")
                    assert fields["connection"] == "close"
                    visit.expect_end()
            assert scrape(wire)["modserd_calls_total", "", "", "DRAINING"] == before + 2
            gate.open()

"""Modules loaded again and unloaded by HTTP."""
import json
import shutil

import harness
import pytest
from harness import until
from test_http import RIGHTS, TOKEN, ZOO, Visit, start, status
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"


def change(visit, name, what, body=b"", fields=""):
    path = f"/v2/repository/models/{name}/{what}"
    return visit.ask(path, f"Content-Length: {len(body)}\r\n{fields}", "POST", body)[::2]


def test_what_the_command_line_names_is_unloaded_and_loaded_again():
    with start("--allow-load-tcp", "--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        d.ok("wait", "zoo")
        assert change(visit, "zoo", "unload") == (200, b"")
        assert visit.ask("/readyz/zoo")[0] == 404
        assert change(visit, "zoo", "load", b'{"parameters": {}}') == (200, b"")
        assert visit.ask("/readyz/zoo")[0] == 200
        assert change(visit, "zoo", "load") == (200, b""), "in place of what serves"
        d.ok("load", "other", ZOO)
        answered, said = change(visit, "other", "load")
        assert answered == 404 and b"--load" in said
        assert change(visit, "none", "unload")[0] == 404
        for what, body in (("load", b"[]"), ("load", b'{"parameters": 1}'),
                           ("load", b'{"device": "cpu"}'),
                           ("unload", b'{"parameters": {"unload_dependents": 1}}')):
            assert change(visit, "zoo", what, body)[0] == 400, body
        assert change(visit, "a:b", "load")[0] == 400
        assert change(visit, "zoo", "unload",
                      b'{"parameters": {"unload_dependents": false}}') == (200, b"")


def test_a_load_while_the_module_is_unloaded_may_be_sent_again():
    with start("--allow-load-tcp", "--drain", harness.FOREVER, "--load", f"zoo={FAULTS}") as d, \
         Visit(d) as visit, Wire(d.host) as wire, Wire(d.host) as other, harness.Gate() as gate:
        d.ok("wait", "zoo")
        held = wire.start("call", "zoo:gate", gate.path)
        gate.entered()
        unload = other.start("module.unload", "zoo")
        until(lambda: visit.ask("/readyz/zoo")[0] != 200, "it drains")
        answered, fields, said = visit.ask("/v2/repository/models/zoo/load",
                                           "Content-Length: 0\r\n", "POST")
        assert answered == 503 and b"being unloaded" in said, said
        assert int(fields["retry-after"]) >= 1
        gate.open()
        wire.finish(held)
        other.finish(unload)
        assert change(visit, "zoo", "load") == (200, b"")


def test_errors_that_a_caller_can_avoid_are_not_the_modules():
    with start("--load", f"zoo={FAULTS}") as d, Wire(d.host) as wire:
        d.ok("wait", "zoo")
        for target, code in (("zoo:nothing", "NOT_FOUND"), ("zoo:error_long", "CALL_FAILED")):
            with pytest.raises(Failure, match=code):
                wire.call(target)
        told = {m["name"]: m for m in wire.ask("module.list")}["zoo"]
        assert (told["calls"], told["errors"]) == (2, 1)


def load_with(visit, name, **parameters):
    return change(visit, name, "load", json.dumps({"parameters": parameters}).encode())


def described(d, name):
    with Wire(d.host) as wire:
        return wire.ask("module.describe", name)


def test_what_is_said_of_a_load_is_over_what_the_command_line_says():
    with start("--allow-load-tcp", "--load", f"zoo={ZOO},workers=2,sandbox=cpu") as d, \
         Visit(d) as visit:
        d.ok("wait", "zoo")
        before = described(d, "zoo")
        assert load_with(visit, "zoo", workers=3, tvm_inputs=True, device="cpu:0") == (200, b"")
        said = described(d, "zoo")
        assert said["workers"] == 3 and said["sandbox"] == before["sandbox"]
        assert load_with(visit, "zoo", threads=2) == (200, b"")
        assert described(d, "zoo")["workers"] == 2, "until it is loaded again"


def test_what_is_not_to_be_said_of_a_load_is_refused_by_its_name():
    with start("--allow-load-tcp", "--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        d.ok("wait", "zoo")
        pids = d.workers()
        for key, value, why in (
                ("config", "{}", "modser load"), ("file:1/model.onnx", "AA==", "modser load"),
                ("sandbox", "trusted", "expected device, workers"), ("keep_alive", 1, "keep_alive = 1"),
                ("graph", "/etc/passwd", "workers"), ("source", "file:///x", "workers"),
                ("workers", 0, "1 or more"), ("workers", 1.5, "a whole number"),
                ("workers", [2], "a whole number"), ("device", "moon", "device moon"),
                ("batch-delay", 5, "batch-delay"), ("none", 1, "workers")):
            answered, said = load_with(visit, "zoo", **{key: value})
            text = json.loads(said)["error"]
            assert answered == 400 and key in text and why in text, said
        answered, said = load_with(visit, "zoo", config="x" * 5000)
        assert answered == 413 and b"4096" in said
        assert load_with(visit, "zoo", **{f"{i}": i for i in range(40)})[0] == 400
        assert d.workers() == pids, "what serves goes on"


def test_a_file_that_is_none_is_the_answer_of_its_load(tmp_path):
    path = tmp_path / "zoo.so"
    shutil.copy(ZOO, path)
    with start("--allow-load-tcp", "--load", f"zoo={path}") as d, Visit(d) as visit:
        d.ok("wait", "zoo")
        path.write_bytes(b"no library")
        answered, said = change(visit, "zoo", "load")
        assert answered == 400 and b"zoo" in json.loads(said)["error"].encode()
        assert visit.ask("/readyz/zoo")[0] == 200, "what serves goes on"


def test_the_store_has_what_is_loaded_again(tmp_path):
    with start("--allow-load-tcp", "--store", tmp_path / "store") as d, Visit(d) as visit:
        d.ok("load", "--keep", "--workers", "2", "zoo", ZOO)
        assert change(visit, "zoo", "load") == (200, b"")
        assert load_with(visit, "zoo", tvm_inputs=True) == (200, b"")
        assert described(d, "zoo")["workers"] == 2
        assert load_with(visit, "zoo", workers=3) == (200, b"")
        assert change(visit, "zoo", "load") == (200, b"")
        assert described(d, "zoo")["workers"] == 3, "it is kept with that"
        assert change(visit, "none", "load")[0] == 404
        assert change(visit, "zoo", "unload") == (200, b"")
        assert change(visit, "zoo", "load")[0] == 404


def test_changing_modules_needs_the_right_to_load_them(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path, "--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        until(lambda: status(d, "/readyz") == 200, "it is ready")
        assert change(visit, "zoo", "unload")[0] == 401
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        assert change(visit, "zoo", "unload", fields=bearer)[0] == 403
        assert change(visit, "zoo", "unload", fields="Authorization: Bearer no\r\n")[0] == 401
        [guess] = [x for x in d.ok("acl", "log").out.splitlines() if "anonymous" in x][-1:]
        assert "module.unload" in guess, guess
    with start("--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        assert change(visit, "zoo", "load")[0] == 403, "--allow-load-tcp"

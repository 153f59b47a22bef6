"""Calls by the Open Inference Protocol, against what the protocol of frames says of the same."""
import hashlib
import json
import os
import signal
import struct
from pathlib import Path

import numpy
import pytest

import harness
from harness import until
from test_http import RIGHTS, TOKEN, Visit, ask_json, start, status
from wire import Wire

PATH = "/v2/models/{}/infer"


@pytest.fixture(scope="module")
def daemon():
    names = ("mlp", "dtypes", "scalars", "shapes", "tuples", "empties")
    loads = [w for n in names for w in ("--load", f"{n}={harness.MODELS / n}.so")]
    with start(*loads, "--load", f"zoo={harness.ZOO / 'results.so'}") as d:
        for name in (*names, "zoo"):
            d.ok("wait", name)
        yield d


def tensor(name, datatype, array, data=True):
    it = {"name": name, "datatype": datatype, "shape": list(array.shape)}
    return {**it, "data": array.flatten().tolist()} if data else it


def infer(visit, model, inputs, fields="", **more):
    body = json.dumps({"inputs": inputs, **more}).encode()
    return ask_json(visit, PATH.format(model), "POST", body, fields)


def called(daemon, tmp_path, target, *arrays):
    """What the command line has of the same call, as bytes of the first result."""
    words = []
    for i, a in enumerate(arrays):
        numpy.save(tmp_path / f"{i}.npy", a)
        words.append(f"@{tmp_path}/{i}.npy")
    daemon.ok("call", target, *words, "-o", tmp_path / "out.npy")
    return numpy.load(tmp_path / "out.npy").tobytes()


ADD = [tensor("A", "FP32", numpy.arange(3, dtype="float32"))]


def test_a_function_fills_what_it_is_not_given(daemon):
    with Visit(daemon) as visit:
        answered, said = infer(visit, "shapes:addone", ADD, id="7")
        assert answered == 200, said
        assert said == {"model_name": "shapes:addone", "model_version": "1", "id": "7",
                        "outputs": [{"name": "B", "datatype": "FP32", "shape": [3],
                                     "data": [1, 2, 3]}]}


def test_a_shape_that_varies_can_be_told(daemon):
    x, y = numpy.ones((2, 3), "float32"), numpy.ones((3, 4), "float32")
    inputs = [tensor("Y", "FP32", y), tensor("X", "FP32", x)]
    outputs = [{"name": "Z", "parameters": {"shape": [2, 4]}}]
    with Visit(daemon) as visit:
        answered, said = infer(visit, "shapes:matmul", inputs, outputs=outputs)
        assert (answered, said["outputs"][0]["data"]) == (200, [3.0] * 8)


def test_a_whole_model_numbers_its_outputs(daemon):
    x = numpy.arange(6, dtype="float32").reshape(2, 3)
    inputs = [tensor("x", "FP32", x), tensor("y", "FP32", x[1])]
    with Visit(daemon) as visit:
        answered, said = infer(visit, "tuples:pair", inputs)
        assert answered == 200, said
        assert [o["name"] for o in said["outputs"]] == ["output0", "output1"]
        answered, said = infer(visit, "tuples:pair", inputs, outputs=[{"name": "output1"}])
        assert [o["name"] for o in said["outputs"]] == ["output1"]


def test_numbers_are_parameters_too(daemon):
    a = numpy.ones(16, "float32")
    inputs = [tensor("a", "FP32", a), tensor("s", "FP32", numpy.array([2.5], "float32")),
              tensor("k", "INT32", numpy.array([-1], "int32"))]
    with Visit(daemon) as visit:
        answered, said = infer(visit, "scalars:scale", inputs)
        assert answered == 200, said
        assert said["outputs"][0]["shape"] == [16]


def test_json_has_all_of_uint64(daemon):
    values = [2**64 - 1, 2**63, 2**53 + 1, *range(34)]
    inputs = [{"name": n, "datatype": "UINT64", "shape": [37], "data": values} for n in "AB"]
    with Visit(daemon) as visit:
        answered, said = infer(visit, "dtypes:f_uint64", inputs)
        assert answered == 200, said
        more = [{**t, "parameters": {"binary_data_size": 8 * 37}} for t in inputs]
        for t in more:
            del t["data"]
        head = json.dumps({"inputs": more, "parameters": {"binary_data_output": True}}).encode()
        raw = numpy.array(values, "<u8").tobytes()
        _, fields, body = visit.ask(
            PATH.format("dtypes:f_uint64"), f"Inference-Header-Content-Length: {len(head)}\r\n"
            f"Content-Length: {len(head) + 2 * len(raw)}\r\n", "POST", head + 2 * raw)
        behind = body[int(fields["inference-header-content-length"]):]
        assert said["outputs"][0]["data"] == numpy.frombuffer(behind, "<u8").tolist()
        assert max(said["outputs"][0]["data"]) >= 2**63
        inputs[0]["data"] = [2**64, *values[1:]]
        answered, said = infer(visit, "dtypes:f_uint64", inputs)
        assert answered == 400 and said["error"].startswith("input A, element 0: it is out of")


WRONG = {
    "missing": ([], "x"),
    "unknown": ([*ADD, tensor("Q", "FP32", numpy.zeros(3))], "Q"),
    "doubled": ([*ADD, *ADD], "A"),
    "datatype": ([tensor("A", "FP64", numpy.zeros(3))], "A"),
    "dimensions": ([tensor("A", "FP32", numpy.zeros((1, 3)))], "A"),
    "too few": ([{**ADD[0], "shape": [4]}], "A"),
    "BYTES": ([{**ADD[0], "datatype": "BYTES"}], "A"),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_is_wrong_names_the_tensor(daemon, how):
    inputs, name = WRONG[how]
    with Visit(daemon) as visit:
        model = "mlp" if how == "missing" else "shapes:addone"
        answered, said = infer(visit, model, inputs)
        assert answered == 400
        assert f"input {name}" in said["error"]
        assert infer(visit, "shapes:addone", ADD)[0] == 200, "the connection goes on"


def test_what_is_wrong_says_what_is_right(daemon):
    x = numpy.zeros((2, 16))
    ask = {
        "the model has no such input; its parameters are: x": [tensor("img", "FP32", x)],
        "its shape is not that of the model, [*,16]": [tensor("x", "FP32", numpy.zeros((2, 3)))],
        "its datatype is not the model's, FP32": [tensor("x", "FP64", x)],
    }
    with Visit(daemon) as visit:
        for text, inputs in ask.items():
            answered, said = infer(visit, "mlp", inputs)
            assert answered == 400 and text in said["error"], said
        path = "/v2/models/mlp/infer"
        answered, _, body = visit.ask(path, "Content-Length: 0\r\n", "POST", b"")
        assert answered == 400 and b"the body is empty" in body
        answered, _, body = visit.ask(path)
        assert answered == 405 and b"needs POST" in body


def test_what_a_model_has_done_is_counted(daemon):
    with Visit(daemon) as visit:
        path = "/v2/models/shapes:addone/stats"
        before = ask_json(visit, path)[1]["model_stats"][0]
        assert infer(visit, "shapes:addone", ADD)[0] == 200
        after = ask_json(visit, path)[1]["model_stats"][0]
        assert after["name"] == "shapes:addone" and after["version"] == "1"
        assert after["inference_count"] == before["inference_count"] + 1
        was, now = (s["inference_stats"]["compute_infer"] for s in (before, after))
        assert now["count"] == was["count"] + 1 and now["ns"] > was["ns"]
        assert visit.ask("/v2/models/none/stats")[0] == 404
        every = ask_json(visit, "/v2/models/stats")[1]["model_stats"]
        assert {m["name"] for m in every} >= {"shapes", "zoo"}
        assert next(m for m in every if m["name"] == "shapes")["inference_count"] >= 1


def test_tritons_configuration_tells_the_tensors(daemon):
    with Visit(daemon) as visit:
        for path in ("shapes:addone", "shapes:addone/versions/1"):
            answered, said = ask_json(visit, f"/v2/models/{path}/config")
            assert answered == 200 and said["max_batch_size"] == 0
            assert said["input"] == [{"name": "A", "data_type": "TYPE_FP32", "dims": [-1]}]
            assert said["output"] == [{"name": "B", "data_type": "TYPE_FP32", "dims": [-1]}]
        assert visit.ask("/v2/models/none/config")[0] == 404


def test_the_status_says_who_can_help(daemon):
    with Visit(daemon) as visit:
        assert infer(visit, "none", [])[0] == 404
        assert infer(visit, "shapes:none", [])[0] == 404
        assert infer(visit, "shapes", [])[0] == 404, "nobody can say which function"
        assert infer(visit, "shapes:addone", ADD, parameters={"deadline_ms": 0})[0] == 504
        assert infer(visit, "shapes:addone", ADD, outputs=[{"name": "C"}])[0] == 400
        answered, said = ask_json(visit, PATH.format("shapes:addone"), "POST", b"[" * 1000)
        assert (answered, "JSON" in said["error"]) == (400, True)


def binary(visit, model, array, **more):
    """The answer to @array as bytes behind the JSON: what it says, and what lies behind."""
    head = json.dumps({"inputs": [{**tensor("A", "FP32", array, False),
                                   "parameters": {"binary_data_size": array.nbytes}}],
                       "parameters": {"binary_data_output": True}, **more}).encode()
    fields = (f"Inference-Header-Content-Length: {len(head)}\r\n"
              f"Content-Length: {len(head) + array.nbytes}\r\n")
    answered, told, body = visit.ask(PATH.format(model), fields, "POST", head + array.tobytes())
    n = int(told.get("inference-header-content-length", len(body)))
    return answered, json.loads(body[:n]), body[n:]


def test_bytes_go_both_ways_as_they_are(daemon):
    # The signs of zeros and of what is no number, too.
    array = numpy.frombuffer(struct.pack("<4I", 0x80000000, 0x7FC00001, 0x7F800000, 1), "<f4")
    with Visit(daemon) as visit:
        answered, said, behind = binary(visit, "shapes:addone", array)
        assert answered == 200, said
        assert said["outputs"][0]["parameters"] == {"binary_data_size": 16}
        assert behind == (array + numpy.float32(1)).tobytes()


def test_the_same_header_brings_other_bytes(daemon):
    with Visit(daemon) as visit:
        for i in range(4):
            array = numpy.full(4, i, "float32")
            assert binary(visit, "shapes:addone", array)[2] == (array + 1).tobytes()
        assert binary(visit, "shapes:none", array)[0] == 404
        array = numpy.full(2, 7, "float32")
        assert binary(visit, "shapes:addone", array)[2] == (array + 1).tobytes()
        assert binary(visit, "shapes:addone", array, outputs=[{"name": "C"}])[0] == 400
        assert binary(visit, "shapes:addone", array, outputs=[{"name": "C"}])[0] == 400


def test_the_same_header_asks_who_serves_now(tmp_path):
    array = numpy.ones(4, "float32")
    with start("--load", f"m={harness.MODELS / 'shapes.so'}") as d, Visit(d) as visit:
        d.ok("wait", "m")
        for name, status in (("shapes", 200), ("mlp", 404), ("shapes", 200)):
            d.ok("load", "--replace", "m", harness.MODELS / f"{name}.so")
            for _ in range(2):
                assert binary(visit, "m:addone", array)[0] == status


def test_large_tensors_follow_each_other_on_a_connection(daemon):
    array = numpy.arange(1 << 20, dtype="float32")
    with Visit(daemon) as visit:
        for _ in range(3):
            answered, said, behind = binary(visit, "shapes:addone", array)
            assert answered == 200, said
            assert behind == (array + 1).tobytes()


def test_an_answer_is_whole_though_it_is_more_than_a_connection_may_hold():
    x, y = numpy.ones((2000, 1), "float32"), numpy.arange(2000, dtype="float32").reshape(1, 2000)
    inputs = [{**tensor(n, "FP32", a, False), "parameters": {"binary_data_size": a.nbytes}}
              for n, a in (("X", x), ("Y", y))]
    outputs = [{"name": "Z", "parameters": {"shape": [2000, 2000], "binary_data": True}}]
    head = json.dumps({"inputs": inputs, "outputs": outputs}).encode()
    body = head + x.tobytes() + y.tobytes()
    few = ("--max-connection-memory", "4M", "--load", f"shapes={harness.MODELS}/shapes.so")
    with start(*few) as d, Visit(d) as visit:
        d.ok("wait", "shapes")
        for _ in range(2):
            answered, _, said = visit.ask(
                PATH.format("shapes:matmul"), f"Inference-Header-Content-Length: {len(head)}\r\n"
                f"Content-Length: {len(body)}\r\n", "POST", body)
            assert answered == 200 and said.endswith((x @ y).tobytes())


def test_an_image_is_called_as_nested_json(daemon):
    """A picture of 224 x 224: more than 1 MB of JSON, in nested arrays, each way."""
    image = numpy.random.default_rng(7).random((448, 336), "float32")
    with Visit(daemon) as visit:
        values = tensor("X", "FP32", image)
        values["data"] = image.tolist()
        one = tensor("Y", "FP32", numpy.eye(336, dtype="float32"))
        answered, said = infer(visit, "shapes:matmul", [values, one], outputs=[
            {"name": "Z", "parameters": {"shape": [448, 336]}}])
        assert answered == 200, said
        assert numpy.array_equal(numpy.float32(said["outputs"][0]["data"]), image.ravel())


def test_json_has_the_operators_limit():
    with start("--max-json", "4K", "--load", f"shapes={harness.MODELS}/shapes.so") as d:
        d.ok("wait", "shapes")
        few, many = numpy.ones(500, "float32"), numpy.ones(2000, "float32")
        with Visit(d) as visit:
            assert infer(visit, "shapes:addone", [tensor("A", "FP32", few)])[0] == 200
            answered, said = infer(visit, "shapes:addone", [tensor("A", "FP32", many)])
            assert answered == 413 and "4096 of --max-json" in said["error"], said
        with Visit(d) as visit:
            body = many.tobytes()
            head = json.dumps({"inputs": [{**tensor("A", "FP32", many, False), "parameters": {
                "binary_data_size": len(body)}}]}).encode()
            answered, _, said = visit.ask(
                PATH.format("shapes:addone"), f"Inference-Header-Content-Length: {len(head)}\r\n"
                f"Content-Length: {len(head) + len(body)}\r\n", "POST", head + body)
            assert answered == 400 and b"--max-json: request binary_data" in said, said


WIDE = 100_000  # elements: 0.5 MiB of JSON and more each way


def wide_text():
    values = ",".join(str(i % 97 + 0.5) for i in range(WIDE))
    tensor = f'{{"name":"A","datatype":"FP32","shape":[{WIDE}],"data":[{values}]}}'
    return f'{{"inputs":[{tensor}]}}'.encode()


def ask_wide(visit, text):
    visit.say(f"POST /v2/models/shapes:addone/infer HTTP/1.1\r\nHost: x\r\n"
              f"Content-Length: {len(text)}\r\n\r\n")
    visit.say(text)


def spent_ns(pid, thread):
    """What a thread of the process has had of a processor."""
    return int(Path(f"/proc/{pid}/task/{thread}/schedstat").read_text().split()[0])


def test_much_json_is_not_the_loops_work(daemon):
    pid, text = daemon.process.pid, wide_text()
    with Visit(daemon) as visit:
        before = {t: spent_ns(pid, t) for t in os.listdir(f"/proc/{pid}/task")}
        for _ in range(4):
            ask_wide(visit, text)
            answered, _, body = visit.answer()
            assert answered == 200
            data = json.loads(body)["outputs"][0]["data"]
            assert data == [i % 97 + 1.5 for i in range(WIDE)]
    spent = {t: spent_ns(pid, t) - before.get(t, 0) for t in os.listdir(f"/proc/{pid}/task")}
    loop = spent.pop(str(pid))
    assert loop < sum(spent.values()) / 3, (loop, spent)


def test_who_leaves_while_a_thread_works_for_him_leaves_nothing(daemon):
    text = wide_text()
    for n in (0, 1, 2, 3):
        visits = [Visit(daemon) for _ in range(6)]
        for visit in visits:
            ask_wide(visit, text)
        for visit in visits[:n]:
            assert visit.answer()[0] == 200
        for visit in visits:
            visit.socket.close()
    with Wire(daemon.host) as wire:
        until(lambda: [c["peer"] for c in wire.ask("client.list")].count("127.0.0.1") == 0,
              "they are gone")
        assert wire.ask("ping") is None


def test_a_drain_waits_until_an_answer_is_read():
    array = numpy.arange(4 << 20, dtype="float32")  # more than the sockets hold
    with start("--drain", harness.FOREVER, "--load", f"shapes={harness.MODELS}/shapes.so") as d:
        d.ok("wait", "shapes")
        with Visit(d) as visit:
            head = json.dumps({"inputs": [tensor("A", "FP32", array, False) | {
                "parameters": {"binary_data_size": array.nbytes}}],
                "parameters": {"binary_data_output": True}}).encode()
            visit.say(f"POST {PATH.format('shapes:addone')} HTTP/1.1\r\nHost: x\r\n"
                      f"Inference-Header-Content-Length: {len(head)}\r\n"
                      f"Content-Length: {len(head) + array.nbytes}\r\n\r\n")
            visit.say(head + array.tobytes())
            with Wire(d.host) as wire:
                until(lambda: wire.ask("module.list")[0]["calls"] == 1, "it is done")
            d.process.send_signal(signal.SIGTERM)
            until(lambda: not d.workers(), "the module is gone")
            answered, _, body = visit.answer()
            assert answered == 200 and body.endswith((array + 1).tobytes())


def test_pipelined_calls_are_answered_in_their_order(daemon):
    with Visit(daemon) as visit:
        for i in range(20):
            one = json.dumps({"inputs": ADD, "id": str(i)})
            visit.say(f"POST {PATH.format('shapes:addone')} HTTP/1.1\r\nHost: x\r\n"
                      f"Content-Length: {len(one)}\r\n\r\n{one}"
                      "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        for i in range(20):
            assert json.loads(visit.answer()[2])["id"] == str(i)
            assert visit.answer()[2] == b"live\n"


def test_a_call_needs_the_right_to_call_that_function(tmp_path):
    path = tmp_path / "acl"
    digest = hashlib.sha256(b"a token of a caller").hexdigest()
    path.write_text(f"user caller token:sha256={digest} +@call m/addone\n{RIGHTS}")
    path.chmod(0o600)
    with start("--acl", path, "--load", f"m={harness.MODELS / 'shapes.so'}") as d:
        until(lambda: status(d, "/readyz") == 200, "it is ready")
        bearer = "Authorization: Bearer a token of a caller\r\n"
        with Visit(d) as visit:
            assert infer(visit, "m:addone", ADD)[0] == 401
            assert infer(visit, "none:addone", ADD)[0] == 401, "there or not"
            assert infer(visit, "m:addone", ADD, f"Authorization: Bearer {TOKEN}\r\n")[0] == 403
            assert infer(visit, "m:addone", ADD, bearer)[0] == 200
            with Wire(d.host) as wire:
                assert "user caller" in [c["peer"] for c in wire.ask("client.list")]
            assert infer(visit, "m:matmul", [], bearer)[0] == 403
            assert infer(visit, "m:none", [], bearer)[0] == 403
            assert infer(visit, "m:addone", ADD)[0] == 401, "each request for itself"

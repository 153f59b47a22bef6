"""What those who come from tvm.rpc and tune, or look around in a prompt, expect to find."""
import inspect
import os
import pickle
import pydoc

import harness
import numpy as np
import pytest

import modser
from modser._errors import from_wire


@pytest.fixture
def shapes(client, models):
    return client.load("shapes", models / "shapes.so", replace=True)


def test_modules_and_functions_are_told_as_containers_are(client, shapes):
    assert "shapes" in client and "none" not in client
    assert set(client) == {m["name"] for m in client.list()} and len(client) == len(list(client))
    assert "addone" in shapes and "none" not in shapes and len(shapes) == len(list(shapes))


def test_what_is_empty_is_still_there(own_daemon):
    with modser.connect(own_daemon().host) as client:
        assert client and not len(client)


def test_get_function_is_tvm_s_way_to_say_it(shapes):
    y = shapes.get_function("addone")(np.zeros(2, "float32"), modser.out("float32", 2))
    assert y.tolist() == [1, 1]


def test_help_and_signature_tell_what_a_function_takes(shapes):
    assert list(inspect.signature(shapes.addone).parameters)[:2] == ["A", "B"]
    assert "A: float32[*]" in str(inspect.signature(shapes.addone))
    assert "addone(A: Tensor([n], float32)" in inspect.getdoc(shapes.addone)
    assert "addone(A: Tensor([n], float32)" in pydoc.plain(pydoc.render_doc(shapes.addone))
    assert "args" in inspect.signature(modser.Function.__call__).parameters
    assert modser.Function.__doc__.startswith("A function of a module")


def test_help_of_a_function_that_is_not_known_is_the_general_one(shapes):
    assert inspect.getdoc(shapes.none) == inspect.getdoc(modser.Function)
    assert "args" in inspect.signature(shapes.none).parameters


def test_an_error_says_what_makes_the_right_elements(shapes):
    with pytest.raises(modser.BadArgument) as caught:
        shapes.addone(np.zeros(2), modser.out("float32", 2))
    assert 'x.astype("float32")' in caught.value.hint
    with pytest.raises(modser.BadArgument) as caught:
        shapes.addone([0.0, 1.0], modser.out("float32", 2))
    assert "a list is sent as a tuple" in caught.value.hint
    with pytest.raises(modser.BadArgument) as caught:
        shapes.addone("text", modser.out("float32", 2))
    assert "np.asarray" in caught.value.hint and "astype" not in caught.value.hint
    with pytest.raises(modser.BadArgument) as caught:
        shapes.addone(np.zeros((2, 2), "float32"), modser.out("float32", 2))
    assert "astype" not in caught.value.hint


@pytest.mark.parametrize("message, hint", [
    ("f: argument 1 (s): expected a shape, got tuple", "modser.Shape(2, 3)"),
    ("f: argument 0 (x): expected a float32 tensor of rank 1, got bfloat16 of rank 1",
     "x.to(torch.float32) for a tensor"),
    ("f: argument 0 (x): expected a no_such_type tensor of rank 1, got float32 of rank 1",
     'x.astype("no_such_type") converts it, with ml_dtypes installed'),
])
def test_an_error_says_what_makes_the_right_value(message, hint):
    error = from_wire((modser.BadArgument.code, modser.BadArgument.name, message))
    assert isinstance(error, modser.BadArgument) and hint in error.hint


def test_who_is_refused_for_a_while_comes_again_and_who_is_not_reads_why():
    later, never = (from_wire((modser.Busy.code, modser.Busy.name, "full", details))
                    for details in ({"retry_after_ms": 5}, {}))
    assert later.hint == "try later" and "do what the text says" in never.hint


def test_resident_tensors_are_filled_at_random_and_the_same_for_the_same_seed(shapes):
    with shapes.alloc("float32", 100) as a, shapes.alloc("int8", 100) as b:
        first = a.fill_random(7).numpy()
        assert 0 <= first.min() < first.max() < 1 and len(set(first)) > 50
        assert np.array_equal(first, a.fill_random(7).numpy())
        assert not np.array_equal(first, a.fill_random(8).numpy())
        assert set(b.fill_random().numpy()) <= set(range(10))


class Meddling(modser.Client):
    """Beside each of its calls somebody else's runs; it counts what it is asked to do."""

    other, pauses, fills = None, 0, 0

    def _answer(self, step):
        if isinstance(step, modser._requests.Pause):
            self.pauses += 1
            return None
        is_message = isinstance(step, modser._message.Message)
        self.fills += is_message and b"tensor.fill" in step.pieces[0]
        if self.other is not None and is_message and step.pieces[0].endswith(b"call"):
            self.other()
        return super()._answer(step)


@pytest.fixture
def meddling(client):
    return Meddling(modser._channel.Channel(client.address, harness.PATIENCE), harness.PATIENCE)


def test_calls_of_others_make_a_measurement_doubtful(client, shapes, meddling):
    x, y = np.zeros(4, "float32"), modser.out("float32", 4)
    with meddling:
        times = meddling["shapes"].time_evaluator("addone", number=3)(x, y)
        assert times.doubts == () and "others" not in str(times)
        meddling.other = lambda: shapes.addone(x, y)
        times = meddling["shapes"].time_evaluator("addone", "cpu", number=3)(x, y)
        assert times.doubts == ("2 calls of other clients ran meanwhile",)
        assert str(times).endswith(times.doubts[0])


class Older(modser.Client):
    """A client of a daemon without the option `repeat`; it counts calls."""

    knows_repeat, calls, runs = False, 0, 0

    def _answer(self, step):
        if isinstance(step, modser._message.Message) and step.pieces[0].endswith(b"call"):
            if step.repeat and not self.knows_repeat:
                raise modser.UnknownOption("options: \"repeat\" is unknown")
            self.calls += 1
            self.runs += step.repeat[0] + 1 if step.repeat else 1
        return super()._answer(step)


@pytest.mark.parametrize("knows_repeat, plan, calls, runs", [
    (True, {"number": 50, "repeat": 3}, 1 + 3, 1 + 3 * 51),
    (True, {"number": np.int64(50), "repeat": 3, "cooldown_interval_ms": 1}, 1 + 3, 1 + 3 * 51),
    (True, {"number": 5, "cache_flush_bytes": 64}, 1 + 5, 1 + 5),
    (False, {"number": 5, "repeat": 3}, 1 + 15, 1 + 15)])
def test_the_worker_makes_the_runs_of_a_short_repeat(
        shapes, client, knows_repeat, plan, calls, runs):
    x, y = np.zeros(4, "float32"), modser.out("float32", 4)
    channel = modser._channel.Channel(client.address, harness.PATIENCE)
    with Older(channel, harness.PATIENCE) as older:
        older.knows_repeat = knows_repeat
        times = older["shapes"].addone.time_evaluator(**plan)(x, y)
        assert times.doubts == () and times.min > 0
        assert len(times.results) == len(times.wall) == plan.get("repeat", 1)
        assert (older.calls, older.runs) == (calls, runs)


def test_repeats_are_parted_by_rests_and_flushes(shapes, meddling):
    x, y = np.zeros(4, "float32"), modser.out("float32", 4)
    with meddling:
        evaluator = meddling["shapes"]["addone"].time_evaluator(
            number=1, repeat=5, cooldown_interval_ms=1, repeats_to_cooldown=2,
            cache_flush_bytes=1 << 16)
        times = evaluator(x, y)
    assert len(times.results) == 5 and times.doubts == ()
    assert meddling.pauses == 2 and meddling.fills == 5


@pytest.mark.parametrize("plan, error", [
    ({"cooldown_interval_ms": -1}, ValueError), ({"cooldown_interval_ms": "1"}, TypeError),
    ({"repeats_to_cooldown": 0}, ValueError), ({"cache_flush_bytes": -1}, ValueError),
    ({"cache_flush_bytes": 0.5}, TypeError), ({"cache": 1}, TypeError)])
def test_a_plan_that_is_none_is_refused_before_anything_runs(shapes, plan, error):
    with pytest.raises(error):
        shapes.time_evaluator("addone", **plan)


def in_a_child(do):
    """What @do returns as text in a forked child."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(theirs, do().encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with open(ours) as said:
        text = said.read()
    os.waitpid(child, 0)
    return text


def told(do):
    try:
        do()
    except modser.ConnectionLost as error:
        return f"{error.message} / {error.hint}"
    return "nothing was raised"


def test_after_a_fork_the_child_is_told_to_connect_again(client, shapes):
    x, y = np.zeros(1, "float32"), modser.out("float32", 1)
    said = in_a_child(lambda: told(lambda: shapes.addone(x, y)))
    assert "forked" in said and "connect again" in said
    in_a_child(lambda: str(client.close()))
    assert shapes.addone(x, y).tolist() == [1], "the parent's connection goes on"


def test_a_child_that_connects_again_can_call(client, shapes):
    def again():
        with modser.connect(client.address) as mine:
            x = np.ones(1, "float32")
            return str(mine["shapes"].addone(x, modser.out("float32", 1)).tolist())

    assert in_a_child(again) == "[2.0]"


class Odd:
    """A tensor of another library that its DLPack cannot export."""

    def __dlpack__(self, **_):
        raise BufferError("not today")


def test_an_array_that_cannot_be_read_is_named(shapes):
    with pytest.raises(TypeError, match="addone: argument 0: DLPack cannot export a Odd: not today"):
        shapes.addone(Odd(), modser.out("float32", 2))


def test_torch_tensors_go_in_and_are_filled(shapes):
    torch = pytest.importorskip("torch", reason="no torch in this Python: its tensors not tried")
    x, y = torch.ones(3), torch.zeros(3)
    assert shapes.addone(x, out=y) is y and y.tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="argument 0: the tensor requires grad.*x.detach"):
        shapes.addone(torch.ones(3, requires_grad=True), out=y)
    with pytest.raises(TypeError, match="out 0: the tensor requires grad"):
        shapes.addone(x, out=torch.ones(3, requires_grad=True))
    for odd, advice in (
        (torch.ones(3).to_sparse(), "sparse_coo: pass x.to_dense"),
        (torch.ones(3, dtype=torch.complex64).conj(), "x.resolve_conj"),
        (torch.ones(3, device="meta"), "no elements here"),
    ):
        with pytest.raises(TypeError, match=f"argument 0: .*{advice}"):
            shapes.addone(odd, out=y)
    with shapes.put(torch.ones(3, dtype=torch.bfloat16)) as narrow:
        assert str(narrow.dtype) == "bfloat16" and narrow.numpy().tolist() == [1, 1, 1]


def test_what_belongs_to_a_connection_cannot_be_pickled(client, shapes):
    for thing in (client, shapes, shapes.addone):
        with pytest.raises(TypeError, match=r"call modser.connect\(\) in the process that uses it"):
            pickle.dumps(thing)


def test_a_parameter_may_be_called_self(shapes):
    with pytest.raises(modser.Error, match="self"):  # the function has no such parameter
        shapes.addone(**{"self": np.zeros(2, "float32")})

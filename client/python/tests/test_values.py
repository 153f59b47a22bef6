"""What goes in and out of a call: values, dtypes, layouts, tensors of every size."""
import ml_dtypes
import numpy as np
import pytest

import modser

F32 = np.arange(24, dtype="f4").reshape(2, 3, 4)
PAIR = np.ones((4, 3), "f4"), np.arange(3, dtype="f4")


def addone(client, models):
    return client.load("shapes", models / "shapes.so", replace=True).addone


def array_of(models, described):
    array = np.load(models / described["array"])
    name = described["dtype"]
    return array.view(getattr(ml_dtypes, name)) if described["foreign"] else array


def argument(models, described):
    if "array" in described:
        return array_of(models, described)
    if "out" in described:
        return modser.out(described["out"], tuple(described["dims"]))
    if "shape" in described:
        return modser.Shape(described["shape"])
    if "tuple" in described:
        return tuple(argument(models, d) for d in described["tuple"])
    return next(iter(described.values()))


def flat(value):
    if type(value) is tuple:
        return [v for item in value for v in flat(item)]
    return [value]


def expect_values(models, got, want):
    for g, w in zip(got, want):
        if "array" in w:
            w = array_of(models, w)
            assert (g.dtype, g.shape) == (w.dtype, w.shape)
            assert g.tobytes() == w.tobytes()
        else:
            assert (modser.Shape(w["shape"]) if "shape" in w else next(iter(w.values()))) == g
    assert len(got) == len(want)


def test_compiled_models_give_what_tvm_gives(client, cases, models):
    for name in sorted({c["library"] for c in cases}):
        module = client.load(name, models / f"{name}.so", replace=True)
        for case in (c for c in cases if c["library"] == name):
            args = [argument(models, a) for a in case["args"]]
            expect_values(models, flat(module[case["function"]](*args)), case["want"])
        module.unload()


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63), True, False, 1e-300, None])
def test_scalars_come_back_as_they_are(client, value):
    got = client["results"].echo(value)
    assert got == value and type(got) is type(value)


@pytest.mark.parametrize(
    "value, plain",
    [(np.int8(-3), -3), (np.uint64(5), 5), (np.float32(0.5), 0.5), (np.bool_(1), True)],
)
def test_scalars_of_numpy_are_plain_scalars(client, value, plain):
    got = client["results"].echo(value)
    assert got == plain and type(got) is type(plain)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, np.uint64(2**63)])
def test_ints_beyond_int64_are_refused_here(client, value):
    with pytest.raises(OverflowError, match="results:echo: argument 1: .*int64"):
        client["results"].echo(0, value)


@pytest.mark.parametrize(
    "value", [object(), 1j, "\ud800", np.array(["text"]), np.array([None]), np.longdouble([1])]
)
def test_what_cannot_travel_is_refused_here(client, value):
    with pytest.raises(TypeError, match="results:echo: argument 0: "):
        client["results"].echo(value)


@pytest.mark.parametrize(
    "array",
    [
        np.asfortranarray(F32),
        F32.T,
        F32[:, ::2, 1:],
        F32[::-1],
        F32.astype(">f4"),
        np.broadcast_to(np.float32(3), (4, 5)),
        F32.view(type("Sub", (np.ndarray,), {})),
        np.zeros((0, 3), "f4"),
        np.frombuffer(F32.tobytes(), "f4"),
    ],
    ids=lambda a: "x".join(map(str, a.shape)) + str(a.dtype.str),
)
def test_every_layout_is_the_same_array(client, models, array):
    row = np.ascontiguousarray(array, "f4").reshape(-1)
    resident = client["results"].put(array)
    assert np.array_equal(resident.numpy(), array) and resident.shape == array.shape
    flat = array if array.ndim == 1 else row
    got = addone(client, models)(flat, modser.out("float32", flat.shape))
    assert np.array_equal(got, row + 1)


DTYPES = [d for d in modser._types.BY_NUMPY]


@pytest.mark.parametrize("dtype", DTYPES, ids=[d.name for d in DTYPES])
def test_every_dtype_goes_and_comes(client, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    with client["results"].put(array) as resident:
        back = resident.numpy()
    assert back.dtype == dtype and back.tobytes() == array.tobytes()


@pytest.mark.parametrize("dtype", ["complex128", "bfloat16", "bool", "float16", "int64"])
def test_large_tensors_are_sent_in_parts(client, dtype):
    dtype = modser.DType.parse(dtype).numpy
    array = np.random.default_rng(3).integers(0, 2, (1 << 20, 3)).astype(dtype)
    with client["results"].put(array) as resident:
        assert np.array_equal(resident.numpy(), array)


def test_dtypes_without_a_numpy_name_are_tensors(client):
    raw = bytes(range(6))
    for name, shape in [("int4", (3, 4)), ("float6_e3m2fn", (8,)), ("uint8x3", (2,))]:
        tensor = modser.Tensor(raw, name, shape)
        with client["results"].put(tensor) as resident:
            back = resident.numpy()
        assert isinstance(back, modser.Tensor)
        assert (str(back.dtype), back.shape, back.tobytes()) == (name, shape, raw)


def test_tensor_names_the_dtype_of_foreign_memory(client):
    bits = np.uint16([0x3F80, 0x4000])
    tensor = modser.Tensor(bits, "bfloat16")
    assert tensor.numpy().astype("f4").tolist() == [1, 2]
    with client["results"].put(tensor) as resident:
        assert resident.numpy().tolist() == [1, 2]
    with pytest.raises(ValueError, match="4 bytes, expected 6"):
        modser.Tensor(bits, "bfloat16", (3,))


class Foreign:
    """A tensor of another library."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **more):
        return self.array.__dlpack__(**more)

    def __dlpack_device__(self):
        return self.device, 0


def test_dlpack_goes_in(client, models):
    got = addone(client, models)(Foreign(np.float32([1, 2])), modser.out("float32", 2))
    assert got.tolist() == [2, 3]


def test_dlpack_of_another_device_is_refused(client):
    with pytest.raises(TypeError, match="device cuda"):
        client["results"].count(Foreign(np.zeros(1), device=2))


def test_results_are_dlpack_and_aligned(client, models):
    for n in (4096, 1 << 20):
        got = addone(client, models)(np.zeros(n, "f4"), modser.out("float32", n))
        assert got.ctypes.data % 128 == 0 and got.flags.writeable
        assert np.from_dlpack(got).sum() == n


@pytest.mark.parametrize("n", [0, 3, 100_000])
def test_out_is_received_into_an_array(client, models, n):
    into = np.full(n, 7, "f4")
    assert addone(client, models)(np.ones(n, "f4"), modser.out(into)) is into
    assert (into == 2).all()
    assert addone(client, models)(into, out=into) is into
    assert (into == 3).all()


def test_out_refuses_memory_that_it_cannot_fill():
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    for array in (readonly, np.zeros((4, 4)).T[1:], np.zeros(3, ">f4")):
        with pytest.raises(ValueError):
            modser.out(array)


def test_outputs_of_a_model_are_copied_into_arrays(client, models):
    tuples = client.load("tuples", models / "tuples.so", replace=True)
    want = tuples.pair(*PAIR)
    outs = tuple(np.zeros_like(w) for w in want)
    got = tuples.pair(*PAIR, out=outs)
    assert all(g is o for g, o in zip(got, outs))
    assert all(np.array_equal(o, w) for o, w in zip(outs, want))
    fresh = [modser.out(w.dtype, w.shape) for w in want]
    assert all(np.array_equal(g, w) for g, w in zip(tuples.pair(*PAIR, out=fresh), want))
    pending = tuples.pair.submit(*PAIR, out=outs)
    assert pending.result()[0] is outs[0]


def test_outputs_that_do_not_fit_change_nothing(client, models):
    tuples = client.load("tuples", models / "tuples.so", replace=True)
    want = tuples.pair(*PAIR)
    good, other = np.full_like(want[0], 7), np.zeros((9, 9), "i2")
    with pytest.raises(ValueError, match=r"tuples:pair: output 1 is .*, out= has int16\[9, 9\]"):
        tuples.pair(*PAIR, out=(good, other))
    assert (good == 7).all()
    with pytest.raises(ValueError, match="2 outputs came back for 1 arrays"):
        tuples.pair(*PAIR, out=good)


def test_what_is_known_of_a_function_does_not_outlive_it(client, served, models):
    """The name belongs to a model, then to a PrimFunc that another client loads."""
    client.load("swap", models / "mlp.so", replace=True)
    swapped = client["swap"].addone
    client._known["swap", "addone"] = {"name": "addone", "style": "model"}
    with modser.connect(served.host) as other:
        other.load("swap", models / "shapes.so", replace=True)
    out = np.zeros(2, "f4")
    with pytest.raises(modser.BadArgument):
        swapped(np.float32([1, 2]), out=out)
    assert swapped(np.float32([1, 2]), out=out).tolist() == [2, 3]


def test_tensors_of_64_mib(client, models):
    x = np.random.default_rng(1).random(16 << 20, "f4")
    got = addone(client, models)(x, modser.out("float32", x.shape))
    assert np.array_equal(got, x + np.float32(1))


def test_tuples_nest_as_deep_as_the_protocol_lets_them(client):
    def nested(depth):
        return (nested(depth - 1),) if depth else 1

    echo = client["results"].echo
    with pytest.raises(modser.BadArgument, match="got tuple"):  # the daemon could read it
        echo(nested(modser._message.MAX_TUPLES))
    for depth in (modser._message.MAX_TUPLES + 1, 500):
        with pytest.raises(ValueError, match=r"results:echo: argument 0: tuples and dicts are nested"):
            echo(nested(depth))
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="tuples and dicts are nested"):
        echo(endless)
    assert client.ping() >= 0, "nothing was sent"


@pytest.mark.parametrize(
    "deadline, error",
    [("1", TypeError), (-1, ValueError), (float("nan"), ValueError), (float("inf"), ValueError)],
)
def test_what_is_no_deadline_is_not_sent(client, deadline, error):
    with pytest.raises(error, match="a deadline"):
        client["results"].int(deadline=deadline)


@pytest.mark.parametrize("deadline", [30, 30.0, np.float32(30), 2_000_000])
def test_deadlines_may_be_any_number(client, deadline):
    assert client["results"].int(deadline=deadline) == -42

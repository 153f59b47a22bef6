"""Arrays in memory that the daemon is lent: the same results, and nothing of them sent."""
import gc

import harness
import numpy as np
import pytest

import modser

MIB = 1 << 20


@pytest.fixture(scope="module")
def loaded(served, models):
    with modser.connect(served.host) as client:
        for name in ("shapes", "mlp", "tuples"):
            client.load(name, models / f"{name}.so", replace=True)
    return served


@pytest.fixture
def client(loaded):
    with modser.connect(loaded.host) as c:
        yield c


@pytest.fixture
def segment(client):
    with client.segment(4 * MIB) as s:
        yield s


def sent(client):
    """Bytes that the daemon has read of this connection."""
    return max(client._run(ask_clients()), key=lambda c: c["connection"])["in_bytes"]


def ask_clients():
    from modser import _requests
    return (yield from _requests.ask_maps("client.list"))


def filled(segment, shape, dtype="f4"):
    array = segment.array(shape, dtype)
    array[...] = np.random.default_rng(1).random(shape) * 9
    return array


def test_neither_argument_nor_output_is_sent(client, segment):
    x, y = filled(segment, 1 << 18), segment.array(1 << 18)
    before = sent(client)
    assert client["shapes"].addone(x, out=y) is y
    assert sent(client) - before < 4096
    assert np.array_equal(y, x + 1)


def test_one_of_both_may_be_anywhere(client, segment):
    x, y = filled(segment, 99), segment.array(99)
    plain = np.array(x)
    addone = client["shapes"].addone
    assert np.array_equal(addone(x, modser.out("float32", 99)), plain + 1)
    assert addone(plain, modser.out(y)) is y and np.array_equal(y, plain + 1)
    assert np.array_equal(addone(x[1:], out=np.empty(98, "f4")), plain[1:] + 1)
    assert np.array_equal(addone(x[::2], out=y[:50]), plain[::2] + 1)
    assert addone.submit(x, out=y).result() is y


def test_what_a_model_returns_goes_to_its_place(client, segment):
    x = filled(segment, (3, 16))
    want = client["mlp"].main(x)
    y = segment.array(want.shape)
    assert client["mlp"].main(x, out=y) is y
    assert y.tobytes() == want.tobytes()
    with pytest.raises(modser.BadArgument, match="but the out tensor has"):
        client["mlp"].main(x, out=segment.array((1, 1)))


def test_several_outputs_have_a_place_each(client, segment, cases, models):
    case = next(c for c in cases if (c["library"], c["function"]) == ("tuples", "pair"))
    shapes = [np.load(models / a["array"]).shape for a in case["args"]]
    x, y = (filled(segment, shape) for shape in shapes)
    want = client["tuples"].pair(np.array(x), np.array(y))
    places = tuple(segment.array(w.shape, w.dtype) for w in want)
    got = client["tuples"].pair(x, y, out=places)
    assert all(g is p and g.tobytes() == w.tobytes() for g, p, w in zip(got, places, want))


def test_tensors_without_a_name_in_numpy_lie_there_too(client, segment):
    x = modser.Tensor(segment.array(64, "u1"), "float32", (16,))
    x.data.view("f4")[:] = range(16)
    assert np.array_equal(client["shapes"].addone(x, modser.out("float32", 16)),
                          np.arange(16, dtype="f4") + 1)


def test_arrays_are_behind_each_other_and_inside(client):
    with client.segment(4096) as s:
        one, two = s.array((2, 3), "f8"), s.array(5, "u1", offset=256)
        assert [a.__array_interface__["data"][0] - s.address for a in (one, two)] == [0, 256]
        assert s.array(1).__array_interface__["data"][0] - s.address == 128
        with pytest.raises(ValueError, match="does not fit into the 4096 bytes"):
            s.array(1024)
        with pytest.raises(ValueError, match="multiple of 128"):
            s.array(1, offset=4)
    with pytest.raises(ValueError, match="a segment of 0 bytes"):
        client.segment(0)


def test_arrays_outlive_their_segment(client):
    with client.segment(4096) as s:
        x = filled(s, 8)
    kept = np.array(x)
    s.close()
    del s
    gc.collect()
    assert np.array_equal(client["shapes"].addone(x, modser.out("float32", 8)), kept + 1)
    assert client.info()["held"]["segments"] == 0


def test_where_none_can_be_it_is_said():
    with harness.Daemon(listen=["tcp://127.0.0.1:0"]) as d, modser.connect(d.host) as client:
        with pytest.raises(modser.Refused, match="unix socket"):
            client.segment(4096)
        assert client.ping() > 0

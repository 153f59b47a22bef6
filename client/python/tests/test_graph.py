"""Graph executors: from three files, and as instances that keep their inputs and outputs."""
import asyncio
import contextlib
import gc

import harness
import numpy as np
import pytest

import modser
import modser.aio

FOLDER = "tvm-0.8/mlp_llvm"


@pytest.fixture
def folder(fixtures):
    if not (fixtures / FOLDER / "mlp_llvm.so").exists():
        pytest.skip("no mlp_llvm.so among the fixtures")
    return fixtures / FOLDER


@pytest.fixture
def x(folder):
    return np.load(folder / "in_data.npy")


@pytest.fixture
def want(folder):
    return np.load(folder / "out_0.npy")


@pytest.fixture
def mlp(client, folder):
    return client.load("mlp", folder / "mlp_llvm.so", replace=True)


def parts(folder):
    library = folder / "mlp_llvm_nofactory.so"
    return library, {"graph": folder / "graph.json", "params": folder / "model.params"}


def test_a_graph_comes_beside_its_library(client, folder, x, want):
    library, beside = parts(folder)
    module = client.load("parts", library, replace=True, **beside)
    assert np.allclose(module.run(data=x), want, atol=1e-6)
    data = {key: path.read_bytes() for key, path in beside.items()}
    module = client.load("parts", library.read_bytes(), device="cpu", replace=True, **data)
    assert np.allclose(module.run(x), want, atol=1e-6)


def test_parts_that_are_missing_are_named_before_anything_is_sent(client, folder, tmp_path):
    library, beside = parts(folder)
    with pytest.raises(FileNotFoundError, match="no.json"):
        client.load("parts", library, graph=tmp_path / "no.json")
    (tmp_path / "empty.json").touch()
    with pytest.raises(ValueError, match="empty.json: an empty file"):
        client.load("parts", library, graph=tmp_path / "empty.json")
    with pytest.raises(IsADirectoryError):
        client.load("parts", tmp_path)
    for wrong in (3, None, [library]):
        with pytest.raises(TypeError, match="source is a path or the file's bytes"):
            client.load("parts", wrong)


def test_an_instance_keeps_its_inputs(mlp, x, want):
    with mlp.instance() as one, mlp.instance() as two:
        one.set_input("data", x)
        two.set_input("data", 0 * x)
        one.run()
        two.run()
        assert np.allclose(one.get_output(0), want, atol=1e-6)
        assert not np.allclose(two.get_output(0), want, atol=1e-6)
        into = np.zeros_like(want)
        assert one.get_output(0, out=into) is into and np.allclose(into, want, atol=1e-6)
        assert one["get_input"]("data").tobytes() == x.tobytes()
        assert one.run.submit().result() is None
        with pytest.raises(modser.BadArgument, match='no input "nobody"; its inputs are: data'):
            two.set_input(**{"data": x, "nobody": x})
        two.set_input(data=x)
        two.run()
        assert np.allclose(two.get_output(0), want, atol=1e-6)
        two.set_input("data", 0 * x, p3=np.zeros((1, 10), "f4"))
        assert not two.get_input("data").any() and not two.get_input("p3").any()
        with pytest.raises(modser.BadArgument, match=r"argument 3, for input 4 \(p3\)"):
            two.set_input(data=x, p3=x)
        assert one.get_output.time_evaluator(number=2)(0).mean > 0
    with pytest.raises(modser.StaleHandle, match="has been freed"):
        one.run()
    one.close()


def test_an_instance_that_is_forgotten_is_freed(client, mlp):
    graph = mlp.instance()
    packed = graph.packed()
    del graph
    gc.collect()
    client.ping()  # takes the forgotten one along
    message = modser._message.Message(modser._message.pack("instance.free"))
    message.raw(packed)
    with pytest.raises(modser.StaleHandle):
        client._settle(client._send(message))


def test_instances_of_what_has_none_are_refused(client):
    with pytest.raises(modser.Unsupported):
        client["results"].instance()


def test_a_block_ends_well_when_the_worker_is_gone(own_daemon, folder):
    daemon = own_daemon()
    with modser.connect(daemon.host) as client:
        client.load("mlp", folder / "mlp_llvm.so")
        with client["mlp"].instance() as graph, client["mlp"].alloc("int8", 3):
            pid = client.describe("mlp")["pid"]
            harness.os.kill(pid, harness.signal.SIGKILL)
            harness.until(lambda: client.describe("mlp")["pid"] not in (0, pid), "a new worker")
            with pytest.raises(modser.StaleHandle):
                graph.run()


def test_the_asyncio_twin(served, mlp, folder, x, want):
    async def work():
        async with modser.aio.connect(served.host, deadline=harness.PATIENCE) as client:
            library, beside = parts(folder)
            how = {"replace": True, "ignore_unknown_inputs": True, **beside}
            module = await client.load("aparts", library, **how)
            async with module.instance() as graph:
                await graph.set_input(data=x, nobody=x)
                await graph.run()
                assert np.allclose(await graph.get_output(0), want, atol=1e-6)
                into = np.zeros_like(want)
                assert await graph.get_output(0, out=into) is into
            with pytest.raises(modser.StaleHandle):
                await graph.run()
            graph = await module.instance()
            await graph.close()
            assert await module.run(data=x, out=into) is into
            async with module.put(x) as a:
                assert (await a.numpy()).tobytes() == x.tobytes()
            times = await module.run.time_evaluator(number=3, repeat=2)(data=x, out=into)
            assert len(times.results) == 2 and 0 < times.min <= times.mean

    with contextlib.closing(asyncio.new_event_loop()) as loop:
        loop.run_until_complete(work())

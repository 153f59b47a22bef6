"""Where calls run and tensors lie; on OpenCL where a driver is."""
import asyncio

import harness
import numpy as np
import pytest

import modser
import modser.aio

FOLDER = "tvm-0.8/two_level"  # a library with a host function and an OpenCL one


@pytest.fixture
def both(client, fixtures):
    if "opencl:0" not in {d["device"] for d in client.info()["devices"]}:
        pytest.skip("no OpenCL device")
    return client.load("two_level", fixtures / FOLDER / "two_level.so", replace=True)


@pytest.fixture
def a(fixtures):
    return np.load(fixtures / FOLDER / "a.npy")


def test_a_call_says_where_it_runs(both, a):
    result = modser.out(a.dtype, a.shape)
    for device in ("cpu", "cpu:0", modser.Device("cpu"), modser.Device(1)):
        assert (both.cpu_double(a, result, device=device) == 2 * a).all()
    assert (both.cpu_double.submit(a, result, device="cpu").result() == 2 * a).all()
    with pytest.raises(modser.CallFailed, match="opencl"):
        both.cpu_double(a, result)
    with pytest.raises(modser.Error):
        both.cpu_double(a, result, device="opencl:7")


def test_the_asyncio_twin_says_it_too(served, both, a):
    async def work():
        async with modser.aio.connect(served.host, deadline=harness.PATIENCE) as client:
            module = client["two_level"]
            got = await module.cpu_double(a, modser.out(a.dtype, a.shape), device="cpu")
            assert (got == 2 * a).all()
            x = await module.alloc("float32", 3, "opencl:0")
            assert (await (await x.fill(2)).numpy()).tolist() == [2, 2, 2]

    asyncio.run(work())


def test_resident_tensors_are_filled_where_they_lie(both):
    x = both.alloc("float32", 5)
    assert x.device == modser.Device("opencl")
    assert x.fill(2.5) is x and x.numpy().tolist() == [2.5] * 5
    host = x.to("cpu")
    assert host.device == modser.Device("cpu") and host.fill(True).numpy().tolist() == [1] * 5
    assert x.numpy().tolist() == [2.5] * 5
    whole = both.alloc("int8", 2, device="cpu")
    assert whole.fill(np.int8(-128)).numpy().tolist() == [-128, -128]
    for wrong in (128, 0.5):
        with pytest.raises(modser.BadArgument):
            whole.fill(wrong)
    with pytest.raises((TypeError, modser.Error)):
        whole.fill("2")


def test_a_module_is_loaded_for_a_device(client, both, fixtures, a):
    host = client.load("host", fixtures / FOLDER / "two_level.so", device="cpu")
    assert host.describe()["device"] in ("cpu", "cpu:0")
    assert (host.cpu_double(a, modser.out(a.dtype, a.shape)) == 2 * a).all()
    host.unload()
    with pytest.raises(modser.Error):
        client.load("host", fixtures / FOLDER / "two_level.so", device="opencl:7")


def test_time_evaluator_puts_tensors_where_the_call_runs(both, a):
    timed = both.cpu_double.time_evaluator(number=2)
    assert timed(a, modser.out(a.dtype, a.shape), device="cpu").mean > 0


@pytest.mark.parametrize("wrong", ["", "quantum", "opencl:", "opencl:x", "cpu:-1", 3, b"cpu"])
def test_what_is_no_device_is_not_sent(client, wrong):
    with pytest.raises((ValueError, TypeError), match="device"):
        client["results"].int(device=wrong)
    with pytest.raises((ValueError, TypeError), match="device"):
        client["results"].alloc("int8", 1, wrong)

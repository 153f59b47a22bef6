"""OpenCL modules through the daemon: values, errors, faults, the cache of built programs."""
import json
import os
import struct
import subprocess

import harness
import msgpack
import numpy as np
import pytest
from test_fixtures import Calls, need, out
from test_models import name_of, word
from wire import DEVICE, DTYPE, Failure, Wire, shape_ext
from wire import out as out_of

MODELS = harness.BUILD / "models_opencl"
VECADD = "tvm-0.8/opencl_vecadd/opencl_vecadd.so"
GRAPH = "tvm-0.8/convnet_opencl"
TWO = {"POCL_DEVICES": "pthread basic"}  # PoCL shows the machine as two devices


def load_cases():
    path = MODELS / "cases.json"
    return json.loads(path.read_text()) if path.exists() else []


CASES = load_cases()


@pytest.fixture(scope="module")
def device(tmp_path_factory):
    """A daemon whose workers have two OpenCL devices and a cache of their own."""
    cache = tmp_path_factory.mktemp("cache")
    with harness.Daemon(env=TWO | {"MODSERD_CACHE": str(cache)}) as daemon:
        if "opencl:0" not in daemon.ok("devices").out:
            pytest.skip("no OpenCL device")
        yield daemon


@pytest.fixture(scope="module")
def second(device):
    if "opencl:1" not in device.ok("devices").out:
        pytest.skip("one OpenCL device alone: PoCL would show two")
    return device


@pytest.fixture(scope="module")
def served(device):
    for name in sorted({c["library"] for c in CASES}):
        device.load(name, MODELS / f"{name}.so")
    return device


@pytest.fixture
def call(device, tmp_path):
    return Calls(device, tmp_path)


def close(got, want):
    if want.dtype.kind == "f":
        return np.allclose(got, want, rtol=1e-4, atol=1e-3)
    return got.tobytes() == want.tobytes()


def expect_given(daemon, case, folder, *words):
    words = [*map(str, words)] + [word(MODELS, a) for a in case["args"]]
    if "device" in case:
        words += ["--device", case["device"]]
    for i in range(len(case["want"])):
        words += ["-o", folder / f"{i}.npy"]
    daemon.ok("call", name_of(case), *words)
    for i, want in enumerate(case["want"]):
        got, expected = np.load(folder / f"{i}.npy"), np.load(MODELS / want["array"])
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
        assert close(got, expected), f"result {i}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_gives_what_tvm_gives_on_the_cpu(served, tmp_path, case):
    expect_given(served, case, tmp_path)


def test_a_function_runs_on_the_second_device_as_well(served, second, tmp_path):
    for case in [c for c in CASES if c["library"] == "by_hand"]:
        expect_given(served, case, tmp_path, "--device", "opencl:1")
        expect_given(served, case, tmp_path)


def vectors(fixtures):
    return [np.load(need(fixtures, VECADD).parent / f"vecadd_{n}.npy") for n in "abc"]


def expect_refused(said, *texts):
    assert said.status != 0
    for text in texts:
        assert text in said.err, said
    assert "to do:" in said.err, said


def resident(wire, module, shape, ordinal):
    float32 = msgpack.ExtType(DTYPE, struct.pack("<BBH", 2, 32, 1))
    place = msgpack.ExtType(DEVICE, struct.pack("<ii", 4, ordinal))
    return wire.ask("tensor.alloc", module, float32, shape_ext(*shape), place)


def test_tensors_of_two_devices_in_one_call_are_both_named(second, fixtures):
    second.load("v", need(fixtures, VECADD), "--replace")
    a, _, _ = vectors(fixtures)
    with Wire(second.host) as wire:
        here, there = (resident(wire, "v", a.shape, i) for i in range(2))
        with pytest.raises(Failure, match="argument 0 is on opencl:0 and argument 1 on opencl:1"):
            wire.call("v:vecadd", here, there, there)
        # One that names no device belongs where the module is.
        with pytest.raises(Failure, match="argument 0 is on opencl:0 and argument 1 on opencl:1"):
            wire.call("v:vecadd", a, there, there)
        wire.ask("tensor.fill", there, 1.5)
        wire.call("v:vecadd", there, there, there)
        result = out_of("float32", *a.shape)
        (back,), _ = wire.call("v:vecadd", there, there, result, device="opencl:1")
        assert (back == 6).all()


def test_a_device_beyond_the_last_is_named(second, fixtures, call):
    second.load("v", need(fixtures, VECADD), "--replace")
    a, b, c = vectors(fixtures)
    words = [call.save(a), call.save(b), out(c)]
    said = second.modser("call", "--device", "opencl:7", "v:vecadd", *words)
    expect_refused(said, "no device opencl:7: this machine has 2", "modser devices")


def test_a_tensor_that_can_never_fit_is_refused(device, fixtures):
    device.load("v", need(fixtures, VECADD), "--replace")
    with Wire(device.host) as wire:
        with pytest.raises(Failure, match="NO_SPACE: .*--max-resident"):
            resident(wire, "v", (1 << 40,), 0)


def test_a_load_names_the_device_that_is_not_there(device, fixtures):
    file = need(fixtures, VECADD)
    expect_refused(device.modser("load", "--device", "opencl:7", "x", file), "no device opencl:7")
    expect_refused(device.modser("load", "--device", "cuda:0", "x", file), "no code for cuda")


def test_a_host_function_says_where_its_tensors_were(device, fixtures, call):
    folder = fixtures / "tvm-0.8/two_level"
    device.load("both", need(folder, "two_level.so"), "--replace")
    a = np.load(folder / "a.npy")
    said = device.modser("call", "both:cpu_double", call.save(a), out(a))
    expect_refused(said, "its tensors are on opencl:0")
    (got,) = call("both:cpu_double", a, out(a), "--device", "cpu")
    assert (got == 2 * a).all()


def test_too_large_a_group_is_refused_with_its_size(served, call):
    x = np.zeros(100000, "int32")
    said = served.modser("call", "careless:wide", call.save(x), out(x))
    expect_refused(said, "kernel wide_kernel on opencl:0", "groups of 100000 x 1 x 1 (the device has")
    expect_refused(said, "CL_INVALID_WORK_GROUP_SIZE")


def test_a_kernel_that_faults_costs_its_worker_alone(served, call):
    """PoCL runs kernels in the worker; other drivers may tell, or read zeros."""
    if "pocl" not in served.ok("devices").out.lower():
        pytest.skip("not PoCL")
    x = np.arange(16, dtype="int32")
    said = served.modser("call", "careless:far", call.save(x), str(10**12), out(x))
    expect_refused(said, "WORKER_LOST", "call of far")
    (got,) = call("careless:far", x, "1", out(x))
    assert (got == x).all()
    assert np.array_equal(call("dynamic:addone", *[np.ones(3, "f4"), "out:float32[3]"])[0], [2] * 3)


def test_without_a_driver_the_load_says_what_was_looked_for(own_daemon, fixtures, tmp_path):
    file = need(fixtures, VECADD)
    bare = own_daemon(env={"OCL_ICD_VENDORS": str(tmp_path)})
    expect_refused(bare.modser("load", "v", file), "knows no platform", str(tmp_path))
    assert str(tmp_path) in bare.modser("devices").err
    bare = own_daemon(env={"MODSERD_LIBOPENCL": "/nowhere/libOpenCL.so"})
    expect_refused(bare.modser("load", "v", file), "no OpenCL loader: /nowhere/libOpenCL.so")


def damage_flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0x40
    path.write_bytes(data)


def damage_cut(path):
    os.truncate(path, 50)


def damage_link(path):
    path.unlink()
    path.symlink_to("/etc/passwd")


def damage_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = [damage_flip, damage_cut, damage_link, damage_folder]


def test_workers_share_a_cache_and_survive_its_damage(device, own_daemon, fixtures, tmp_path):
    file = need(fixtures, f"{GRAPH}/convnet_opencl.so")
    cache = tmp_path / "cache"
    daemon = own_daemon(env={"MODSERD_CACHE": str(cache)})
    call = Calls(daemon, tmp_path)
    x, want = (np.load(file.parent / f"{n}.npy") for n in ("in_data", "out_0"))
    command = [harness.BIN / "modser", "-H", daemon.host, "load"]
    loads = [
        subprocess.Popen([*command, f"m{i}", file], stdout=subprocess.DEVNULL) for i in range(4)
    ]
    assert [load.wait(harness.PATIENCE) for load in loads] == [0] * 4
    files = sorted(cache.iterdir())
    assert files and all(f.name.startswith("opencl-") for f in files), "no file half written"
    for damage in DAMAGES:
        for path in files:
            damage(path)
        daemon.load("again", file, "--replace")
        assert close(call("again:run", x)[0], want), damage.__name__
        for path in files:  # what could not be replaced
            if path.is_dir():
                path.rmdir()


@pytest.mark.parametrize("cache", ["/proc/1/cache", "/dev/null/cache", "relative", ""])
def test_what_cannot_be_kept_costs_time_alone(device, own_daemon, fixtures, tmp_path, cache):
    daemon = own_daemon(env={"MODSERD_CACHE": cache})
    daemon.load("v", need(fixtures, VECADD))
    a, b, c = vectors(fixtures)
    (got,) = Calls(daemon, tmp_path)("v:vecadd", a, b, out(c))
    assert got.tobytes() == c.tobytes()

"""Devices in a session of TVM's RPC: attributes, streams, arrays and kernels of OpenCL.

TVM's packages have no OpenCL, so attributes are compared with what the driver says, and
values with the CPU's.
"""
import ctypes
import json
import struct

import numpy as np
import pytest

import harness
from rpc_wire import CALL, COPY_FROM, EXCEPTION, RETURN, ask, function, seq, text
from test_tvm_rpc import Place, greeted
from wire import Wire

tvm = pytest.importorskip("tvm", reason="apache-tvm is not installed")
rpc = pytest.importorskip("tvm.rpc", reason="this TVM has no RPC client")

TWO = {"POCL_DEVICES": "pthread basic"}  # PoCL shows the machine as two devices
OPENCL, COPY_TO, ALLOC, FREE_DATA, SYNC, COPY_AMONG, SCOPED, CREATE_STREAM = (
    4, 7, 13, 14, 15, 16, 17, 18)
ATTRIBUTES = range(16)


@pytest.fixture(scope="module")
def at(tmp_path_factory):
    """A place whose sessions have two OpenCL devices, and a cache of their own."""
    cache = str(tmp_path_factory.mktemp("cache"))
    place = Place(harness.Daemon, "--drain", "50ms", env=TWO | {"MODSERD_CACHE": cache})
    with place.daemon:
        if "opencl:0" not in place.daemon.ok("devices").out:
            pytest.skip("no OpenCL device")
        yield place


@pytest.fixture
def remote(at):
    session = at.connect()
    yield session
    del session


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """add and scale by kernels of OpenCL, and host_add for the CPU."""
    from tvm import te

    from models_opencl import TARGET, by_default

    n = te.var("n", "int64")
    a, b = (te.placeholder((n,), name=name) for name in "ab")
    add = te.create_prim_func([a, b, te.compute((n,), lambda i: a[i] + b[i], name="c")])
    scale = te.create_prim_func([a, te.compute((n,), lambda i: a[i] * 3.0, name="c")])
    module = tvm.IRModule({"add": add.with_attr("global_symbol", "add"),
                           "scale": scale.with_attr("global_symbol", "scale")})
    target = tvm.target.Target(TARGET, host="llvm")
    path = tmp_path_factory.mktemp("library") / "kernels.so"
    with target:
        module = by_default(module)
    tvm.compile(module, target=target).export_library(str(path))
    return path


def load(remote, path):
    remote.upload(str(path))
    return remote.load_module(path.name)


def attribute(dev, which):
    return dev._GetDeviceAttr(dev.dlpack_device_type(), dev.index, which)


def driver_facts(ordinal):
    """The attributes of a device, read from the OpenCL driver."""
    cl = ctypes.CDLL("libOpenCL.so.1")
    platform, device, n = ctypes.c_void_p(), (ctypes.c_void_p * 8)(), ctypes.c_uint32()
    assert cl.clGetPlatformIDs(1, ctypes.byref(platform), None) == 0
    every = ctypes.c_uint64(0xFFFFFFFF)
    assert cl.clGetDeviceIDs(platform, every, 8, device, ctypes.byref(n)) == 0
    assert ordinal < n.value

    def ask_for(which):
        to, size = ctypes.create_string_buffer(1024), ctypes.c_size_t()
        handle = ctypes.c_void_p(device[ordinal])
        assert cl.clGetDeviceInfo(handle, which, ctypes.c_size_t(1024), to,
                                  ctypes.byref(size)) == 0
        return to.raw[:size.value]

    def number(which, kind):
        return struct.unpack_from(kind, ask_for(which))[0]

    def said(which):
        return ask_for(which).rstrip(b"\0").decode()

    return {1: number(0x1004, "N"), 2: 1, 3: number(0x1023, "Q"),
            4: said(0x102F).split()[1], 5: said(0x102B), 6: number(0x100C, "I") * 1000,
            7: number(0x1002, "I"), 8: list(struct.unpack_from("NNN", ask_for(0x1005))), 9: None,
            10: None, 11: 120, 12: said(0x102D), 13: number(0x101E, "Q"),
            14: number(0x101F, "Q"), 15: None}


def test_the_cpu_has_the_attributes_that_it_has_locally(remote):
    local = tvm.cpu(0)
    for dev in (remote.cpu(0), remote.cpu(1)):
        assert [attribute(dev, k) for k in ATTRIBUTES] == [attribute(local, k) for k in ATTRIBUTES]
        assert dev.exist


@pytest.mark.parametrize("ordinal", [0, 1])
def test_opencl_has_the_attributes_that_its_driver_says(remote, monkeypatch, ordinal):
    monkeypatch.setenv("POCL_DEVICES", TWO["POCL_DEVICES"])
    dev = remote.cl(ordinal)
    expected = driver_facts(ordinal)
    got = {k: attribute(dev, k) for k in ATTRIBUTES if k != 0}
    got[8] = json.loads(got[8])
    # A driver counts its free memory anew in each process.
    assert got.pop(14) == pytest.approx(expected.pop(14), rel=0.5)
    assert got == expected
    assert dev.exist


def test_a_device_that_is_not_there(remote):
    for dev in (remote.cl(7), remote.device("vulkan", 0), remote.ext_dev(0)):
        assert not dev.exist
        for use in (lambda: dev.max_threads_per_block, dev.sync, dev.create_raw_stream,
                    lambda: tvm.runtime.empty((4,), "float32", dev)):
            with pytest.raises(Exception, match="no device"):
                use()
    assert remote.get_function("testing.echo")(1) == 1


def test_streams_are_the_queue_of_the_device(remote):
    for dev in (remote.cpu(0), remote.cl(0), remote.cl(1)):
        stream = dev.create_raw_stream()
        assert stream == 0, "as TVM's of a CPU"
        dev.set_raw_stream(stream)
        dev.sync(stream)
        dev.sync()
        dev.free_raw_stream(stream)
    assert remote.get_function("testing.echo")(1) == 1


def test_arrays_of_devices_are_copied_between_each_other(remote):
    places = [remote.cpu(0), remote.cl(0), remote.cl(1)]
    data = np.random.default_rng(1).random((257, 1021))
    for here in places:
        a = tvm.runtime.tensor(data, here)
        np.testing.assert_array_equal(a.numpy(), data)
        for there in places:
            if here.dlpack_device_type() != there.dlpack_device_type():
                continue  # TVM's client refuses it: see the next test
            b = tvm.runtime.tensor(np.zeros_like(data), there)
            a.copyto(b)
            np.testing.assert_array_equal(b.numpy(), data)
    empty = tvm.runtime.tensor(np.zeros((0, 3)), remote.cl(0))
    assert empty.numpy().shape == (0, 3)


@pytest.mark.parametrize("scope", [None, "global", "texture"])
def test_a_memory_scope_is_global(remote, scope):
    for dev in (remote.cpu(0), remote.cl(0)):
        if scope != "texture":
            assert tvm.runtime.empty((4,), "float32", dev, mem_scope=scope).shape == (4,)
            continue
        with pytest.raises(Exception, match="does not support.*memory scope: texture"):
            tvm.runtime.empty((4,), "float32", dev, mem_scope=scope)


@pytest.mark.parametrize("ordinal", [0, 1])
def test_kernels_give_what_the_cpu_gives(remote, library, ordinal):
    module = load(remote, library)
    for n in (1, 1000, 65537):
        x, y = (np.random.default_rng(k).random(n, dtype="float32") for k in (1, 2))
        a, b, c = (tvm.runtime.tensor(v, remote.cl(ordinal)) for v in (x, y, np.zeros_like(x)))
        module["add"](a, b, c)
        module["scale"](c, a)
        np.testing.assert_array_equal(c.numpy(), x + y)
        np.testing.assert_array_equal(a.numpy(), (x + y) * np.float32(3))


def test_kernels_refuse_arrays_of_another_place(remote, library):
    module = load(remote, library)
    a, b = (tvm.runtime.tensor(np.ones(8, "float32"), dev) for dev in (remote.cl(0), remote.cpu(0)))
    for args in ((a, b), (b, a), (b, b)):
        with pytest.raises(Exception, match="device"):
            module["scale"](*args)
    module["scale"](a, a)
    np.testing.assert_array_equal(a.numpy(), np.full(8, 3, "float32"))


def test_evaluates_times_of_kernels(remote, library):
    module, dev = load(remote, library), remote.cl(0)
    a, b, c = (tvm.runtime.tensor(np.full(4096, k, "float32"), dev) for k in (1, 2, 0))
    for more in ({}, {"min_repeat_ms": 2}, {"f_preproc": "cache_flush_cpu_non_first_arg"},
                 {"cache_flush_bytes": 1 << 16}):
        times = module.time_evaluator("add", dev, number=3, repeat=4, **more)(a, b, c)
        assert len(times.results) == 4 and all(t > 0 for t in times.results)
    np.testing.assert_array_equal(c.numpy(), np.full(4096, 3, "float32"))
    with pytest.raises(Exception, match="no device opencl:7"):
        module.time_evaluator("add", remote.cl(7))


def test_fills_arrays_of_a_device_as_a_measurement_does(remote):
    a = tvm.runtime.tensor(np.zeros(4096, "float32"), remote.cl(0))
    remote.get_function("tvm.contrib.random.random_fill_for_measure")(a)
    assert len(np.unique(a.numpy())) > 100


def test_a_relax_machine_runs_on_opencl(remote, tmp_path):
    from tvm import relax

    import models_relax
    from models_opencl import TARGET, by_default

    model, _, _ = models_relax.bound(models_relax.Net("float32"), [4, 16], "float32")
    x = np.random.default_rng(3).random((4, 16), dtype="float32")
    local = relax.VirtualMachine(tvm.compile(model, target="llvm"), tvm.cpu())
    expected = local["main"](tvm.runtime.tensor(x)).numpy()
    target = tvm.target.Target(TARGET, host="llvm")
    with target:
        model = by_default(relax.get_pipeline("zero")(model))
    tvm.compile(model, target=target).export_library(str(tmp_path / "mlp.so"))
    dev = remote.cl(0)
    machine = relax.VirtualMachine(load(remote, tmp_path / "mlp.so"), dev)
    given = tvm.runtime.tensor(x, dev)
    np.testing.assert_allclose(machine["main"](given).numpy(), expected, rtol=1e-5, atol=1e-5)
    machine.set_input("main", given)
    machine.invoke_stateful("main")
    np.testing.assert_allclose(machine.get_outputs("main").numpy(), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["mlp_opencl", "convnet_opencl"])
def test_get_input_gives_the_memory_of_a_graph_executor(remote, fixtures, name):
    folder = fixtures / "tvm-0.8" / name
    if not folder.exists():
        pytest.skip(f"fixture {name} is not here")
    dev = remote.cl(0)
    graph = load(remote, folder / f"{name}.so")["default"](dev)
    n = graph["get_num_inputs"]()
    x = graph["get_input"](0).numpy()
    assert n > 0 and graph["get_input"](0).device.dlpack_device_type() % 128 == OPENCL
    data = np.random.default_rng(4).random(x.shape, dtype=x.dtype)
    outputs = []
    for factor in (1, 0.5, 1):
        graph["get_input"](0).copyfrom(data * x.dtype.type(factor))
        graph["run"]()
        outputs.append(graph["get_output"](0).numpy())
    np.testing.assert_array_equal(outputs[0], outputs[2])
    assert np.abs(outputs[0] - outputs[1]).max() > 0
    given = tvm.runtime.tensor(data * x.dtype.type(0.5), dev)
    out = tvm.runtime.tensor(np.zeros_like(outputs[0]), dev)
    graph["set_input_zero_copy"](0, given)
    graph["set_output_zero_copy"](0, out)
    del given  # the executor keeps it
    graph["run"]()
    np.testing.assert_array_equal(out.numpy(), outputs[1])


def place_of(ordinal, kind=OPENCL):
    return struct.pack("<iii", 6, kind, ordinal)


def described(handle, n, kind=OPENCL, ordinal=0, offset=0):
    return struct.pack("<QiiiBBHqQ", handle, kind, ordinal, 1, 0, 8, 1, n, offset)


def allocate(s, n, **where):
    size = struct.pack("<iq", 1, n)
    code, answer = ask(s, ALLOC, seq(place_of(**where), size, size))
    assert code == RETURN
    return struct.unpack("<Q", answer[-8:])[0]


def test_arrays_are_copied_between_host_and_device(at):
    data = bytes(range(64))
    tensor = struct.pack("<i", 7)
    with greeted(at) as s:
        function(s, b"testing.echo")
        host, other = (allocate(s, 64, ordinal=0, kind=1) for _ in range(2))
        there = allocate(s, 64, ordinal=0)
        assert ask(s, COPY_TO, described(host, 64, kind=1) + struct.pack("<Q", 64) + data)[0] == RETURN
        for a, b in ((described(host, 64, kind=1), described(there, 64)),
                     (described(there, 60, offset=4), described(other, 60, kind=1, offset=2))):
            assert ask(s, COPY_AMONG, seq(tensor + a, tensor + b))[0] == RETURN
        code, got = ask(s, COPY_FROM, described(other, 60, kind=1, offset=2) + struct.pack("<Q", 60))
        assert got == data[4:]


def test_no_byte_moves_outside_an_array_of_a_device(at):
    with greeted(at) as s:
        echo = function(s, b"testing.echo")
        array = allocate(s, 64, ordinal=0)
        for what in (described(array, 64) + struct.pack("<Q", 65),
                     described(array, 64, offset=1) + struct.pack("<Q", 64),
                     described(array, 64, kind=1) + struct.pack("<Q", 64),
                     described(array, 64, ordinal=1) + struct.pack("<Q", 64),
                     described(array + 1, 64) + struct.pack("<Q", 64)):
            assert ask(s, COPY_FROM, what)[0] == EXCEPTION
            (n,) = struct.unpack("<Q", what[-8:])
            assert ask(s, COPY_TO, what + bytes(n))[0] == EXCEPTION
        tensor = struct.pack("<i", 7)
        assert ask(s, COPY_AMONG, seq(tensor + described(array, 64),
                                      tensor + described(array, 64, offset=1)))[0] == EXCEPTION
        # The client believes that it may read any address.
        assert ask(s, CALL, struct.pack("<Q", echo) + seq(
            struct.pack("<iQ", 4, array)))[0] == EXCEPTION
        for n in (2**44, -1, 2**62):
            size = struct.pack("<iq", 1, n)
            assert ask(s, ALLOC, seq(place_of(0), size, size))[0] == EXCEPTION
        free = seq(place_of(0), struct.pack("<iQ", 4, array))
        assert ask(s, FREE_DATA, free)[0] == RETURN
        assert ask(s, FREE_DATA, free)[0] == EXCEPTION
        for bad in (place_of(-1), place_of(64), place_of(0, kind=0), place_of(0, kind=-1),
                    place_of(2**31 - 1, kind=2**31 - 1)):
            for code in (SYNC, CREATE_STREAM):
                assert ask(s, code, seq(bad, struct.pack("<iQ", 4, 0)))[0] == EXCEPTION
        assert ask(s, SYNC, seq(place_of(0), struct.pack("<iQ", 4, 77)))[0] == EXCEPTION
        code, answer = ask(s, CALL, struct.pack("<Q", echo) + seq(text(b"still here")))
        assert code == RETURN and b"still here" in answer


def test_a_session_without_the_right_has_no_device(at, own_daemon):
    """/etc/OpenCL says which drivers there are."""
    with Wire(at.daemon.host) as wire:
        if wire.ask("server.info")["sandbox"]["landlock"] == 0:
            pytest.skip("this kernel has no Landlock")
    assert at.connect().cl(0).exist
    remote = Place(own_daemon, "--sandbox", "cpu").connect()
    assert not remote.cl(0).exist
    with pytest.raises(Exception, match="no device opencl:0"):
        tvm.runtime.tensor(np.zeros(4), remote.cl(0))

"""CUDA modules through the daemon, on a stand-in for the driver: what it saw is its log."""
import contextlib
import json

import direct
import harness
import numpy as np
import pytest
from at_exit import AtExit
from test_fixtures import Calls, need, out, ulps
from wire import Failure, Wire
from wire import out as out_of

STUB = harness.BUILD / "tests/runtime/cuda/libcuda_stub.so"
OPS = "tvm-0.8/cuda_ops"


class Stand:
    """A daemon whose workers find the stand-in driver."""

    def __init__(self, own_daemon, folder, words, **more):
        if not STUB.exists():
            pytest.skip(f"no {STUB}")
        self.log = folder / "driver.log"
        env = {"MODSERD_LIBCUDA": str(STUB), "MODSERD_CACHE": str(folder / "cache")}
        self.daemon = own_daemon(*words, env=env | {"STUB_CUDA_LOG": str(self.log)} | more)
        self.call = Calls(self.daemon, folder)

    def saw(self, what):
        return self.log.read_text().splitlines().count(what) if self.log.exists() else 0

    def clean(self):
        assert "violation" not in self.log.read_text(), self.log.read_text()[-2000:]


@pytest.fixture
def stand(own_daemon, tmp_path):
    return lambda words=(), **more: Stand(own_daemon, tmp_path, words, **more)


@pytest.fixture
def stack():
    with contextlib.ExitStack() as s:
        yield s


def arrays(fixtures, *names):
    return [np.load(fixtures / OPS / f"{name}.npy") for name in names]


def test_both_eras_give_their_values(stand, fixtures):
    s = stand()
    s.daemon.load("old", need(fixtures, f"{OPS}/cuda_ops_ptx.so"))
    s.daemon.load("new", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x, y = arrays(fixtures, "addone_x", "addone_y")
    for name in ("old", "new"):
        (got,) = s.call(f"{name}:addone", x, out(y))
        assert ulps(got, y) == 0
    a, b, c = arrays(fixtures, "matmul_a", "matmul_b", "matmul_c")
    (got,) = s.call("old:matmul", a, b, out(c))
    assert np.allclose(got, c, rtol=1e-4, atol=1e-4)
    s.clean()


def test_a_graph_runs_on_the_device(stand, fixtures):
    s = stand()
    folder = fixtures / "tvm-0.8/mlp_cuda"
    s.daemon.load("g", need(folder, "mlp_cuda.so"))
    want = np.load(folder / "out_0.npy")
    (got,) = s.call("g:run", np.load(folder / "in_data.npy"))
    assert np.allclose(got, want, rtol=1e-5, atol=1e-6)
    assert s.saw("cuLaunchKernel") == 3
    s.clean()


def test_a_convolution_network_runs_on_the_device(stand, fixtures):
    s = stand()
    folder = fixtures / "tvm-0.8/convnet_cuda"
    s.daemon.load("c", need(folder, "convnet_cuda.so"))
    for _ in range(2):
        first, second = s.call("c:run", np.load(folder / "in_data.npy"), results=2)
        assert np.allclose(first, np.load(folder / "out_0.npy"), rtol=1e-5, atol=1e-6)
        assert np.allclose(second, np.load(folder / "out_1.npy"), rtol=1e-5, atol=1e-6)
    assert s.saw("cuLaunchKernel") == 2 * 8
    s.daemon.ok("unload", "c")
    s.clean()


def test_a_relax_model_runs_on_the_device(stand, fixtures):
    s = stand()
    s.daemon.load("r", need(fixtures, "tvm-0.27/relax_mlp_cuda.so"))
    arrays = np.load(fixtures / "tvm-0.27/relax_mlp_static.npz")
    (got,) = s.call("r:forward", *[arrays[f"in{i}"] for i in range(5)])
    assert np.allclose(got, arrays["out0"], rtol=1e-5, atol=1e-6)
    assert s.saw("cuLaunchKernel") == 5
    s.clean()


def test_kernels_follow_their_tensors_to_the_second_device(stand, fixtures):
    s = stand()
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = np.arange(17, dtype="float32")
    loads = s.saw("cuModuleLoadDataEx")
    for _ in range(2):
        (got,) = s.call("m:addone", x, out(x), "--device", "cuda:1")
        assert got.tobytes() == (x + 1).tobytes()
        (got,) = s.call("m:addone", x, out(x))
        assert got.tobytes() == (x + 1).tobytes()
    assert s.saw("cuModuleLoadDataEx") == loads + 1, "the second device gets the code once"
    said = s.daemon.modser("call", "--device", "cuda:2", "m:addone", s.call.save(x), out(x))
    assert "no device cuda:2: this machine has 2" in said.err, said
    s.clean()


def about(s, name):
    return json.loads(s.daemon.ok("show", "--json", name).out)


def test_workers_are_spread_over_devices(stand, fixtures):
    s = stand()
    file = need(fixtures, "tvm-0.27/addone_cuda.so")
    x = np.arange(17, dtype="float32")
    s.daemon.ok("load", "m", file, "--device", "cuda:1,cuda:0")
    assert about(s, "m")["devices"] == ["cuda:1", "cuda:0"] and about(s, "m")["workers"] == 2
    for _ in range(4):
        assert s.call("m:addone", x, out(x))[0].tobytes() == (x + 1).tobytes()
    s.daemon.ok("load", "n", file, "--device", "cuda:0,cuda:1", "--workers", "3")
    assert about(s, "n")["devices"] == ["cuda:0", "cuda:1", "cuda:0"]
    said = s.daemon.modser("load", "bad", file, "--device", "cuda:0,opencl:0")
    assert said.status != 0 and "of one type" in said.err, said
    said = s.daemon.modser("load", "bad", file, "--device", "cuda:0,cuda:7")
    assert said.status != 0 and "no device cuda:7: this machine has 2" in said.err, said
    said = s.daemon.modser("call", "--device", "cuda:0,cuda:1", "m:addone", s.call.save(x), out(x))
    assert said.status != 0 and "device: expected one such as" in said.err, said
    s.clean()


def test_a_call_waits_once_and_copies_from_pinned_memory(stand, fixtures):
    s = stand()
    s.daemon.load("m", need(fixtures, "tvm-0.27/axpb_cuda.so"))
    a = np.arange(1000, dtype="float32")
    s.call("m:axpb", a, "1.5", "3", out(a))
    before = s.saw("cuStreamQuery"), s.saw("cuLaunchKernel")
    (got,) = s.call("m:axpb", a, "1.5", "3", out(a))
    assert got.tobytes() == (a * np.float32(1.5) + np.float32(3)).tobytes()
    assert s.saw("cuLaunchKernel") - before[1] == 2
    assert s.saw("cuStreamQuery") - before[0] == 1
    assert s.saw("cuMemHostRegister") >= 2, "a segment in and one out"
    s.clean()


def test_exec_ns_is_the_devices_own_time(stand, fixtures):
    s = stand()
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = np.ones(17, dtype="float32")
    with Wire(s.daemon.host) as wire:
        id = wire.start("call", "m:addone", x, out_of("float32", 17))
        _, meta = wire.finish_meta(id)
    assert meta["exec_ns"] == 5_000_000, "one kernel by the stand-in's clock, and no copies"
    s.clean()


def test_how_long_code_was_compiled_is_shown(stand, fixtures):
    s = stand()
    built = []
    for file in ("ptx", "ptx", "cubin"):
        s.daemon.ok("load", "--replace", "m", need(fixtures, f"tvm-0.27/addone_cuda_{file}.so"))
        built.append(about(s, "m")["built_ms"])
    assert built[0] >= 1 and built[1:] == [0, 0], "compiled, kept, and ready as it is"


def test_a_segment_that_cannot_be_pinned_is_told_once(stand, fixtures):
    s = stand(STUB_CUDA_PIN="0")
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    for n in (17, 1 << 20):
        x = np.ones(n, dtype="float32")
        assert s.call("m:addone", x, out(x))[0].sum() == 2 * n
    said = s.daemon.ok("logs", "m").out
    assert said.count("cannot be pinned") == 1 and "cuMemHostRegister" in said, said


def test_a_fault_is_named_and_the_module_comes_back(stand, fixtures):
    s = stand(STUB_CUDA_FAULT="2")
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = np.ones(17, dtype="float32")
    assert s.call("m:addone", x, out(x))[0].sum() == 34
    said = s.daemon.modser("call", "m:addone", s.call.save(x), out(x))
    assert said.status == 1 and "GPU_FAULT" in said.err, said
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said.err, said
    harness.until(lambda: len(s.daemon.restarts("m")) == 1, "the worker is replaced")
    s.daemon.ok("wait", "m")
    assert s.call("m:addone", x, out(x))[0].sum() == 34


def test_a_call_is_late_when_the_device_is(stand, fixtures):
    """On a channel of the client's own, where the worker itself tells."""
    s = stand(direct.GIVEN, STUB_CUDA_DELAY="1000")
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = np.ones(17, dtype="float32")
    with Wire(s.daemon.host) as wire, direct.open_direct(wire, "m") as channel:
        channel.call("m:addone", x, out_of("float32", 17))
        with pytest.raises(Failure, match="DEADLINE_EXCEEDED.*ran .* and did not finish"):
            channel.call("m:addone", x, out_of("float32", 17), deadline_ms=500)


def in_flight(daemon, name):
    (module,) = [m for m in json.loads(daemon.ok("--json", "ls").out) if m["name"] == name]
    return module["in_flight"]


def test_a_worker_that_a_driver_takes_long_to_end_is_sent_nothing(stand, fixtures, stack):
    """The next call waits for a fresh worker, and is not answered with the last one's fault."""
    if harness.SANITIZED:
        pytest.skip("the leak checker traces its process itself")
    s = stand(STUB_CUDA_FAULT="2")
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = s.call.save(np.ones(17, dtype="float32"))
    s.daemon.ok("call", "m:addone", x, "out:float32[17]")
    (pid,) = json.loads(s.daemon.ok("--json", "show", "m").out)["pids"]
    words = (harness.BIN / "modser", "-H", s.daemon.host, "call", "m:addone", x, "out:float32[17]")
    try:
        with AtExit(pid) as held:
            said = s.daemon.modser(*words[3:])
            assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said.err, said
            held.wait()
            following = stack.enter_context(harness.started(*words))
            harness.until(lambda: in_flight(s.daemon, "m") == 1, "the next call has come")
    except PermissionError as why:
        pytest.skip(str(why))
    assert following.wait(harness.PATIENCE) == 0


def test_faults_are_never_backed_off(stand, fixtures):
    s = stand(STUB_CUDA_FAULT="1")
    s.daemon.load("m", need(fixtures, "tvm-0.27/addone_cuda.so"))
    x = s.call.save(np.ones(17, dtype="float32"))
    for deaths in range(1, 4):
        s.daemon.ok("wait", "m")
        said = s.daemon.modser("call", "m:addone", x, "out:float32[17]")
        assert "GPU_FAULT" in said.err, said
        # The answer may be here before the worker's end has been noticed.
        harness.until(lambda: s.daemon.restarts("m") == [0] * deaths, "it restarts at once")


def test_a_machine_without_a_driver_refuses_the_load(own_daemon, fixtures):
    daemon = own_daemon(env={"MODSERD_LIBCUDA": "/nowhere/libcuda.so.1"})
    file = need(fixtures, "tvm-0.27/addone_cuda.so")
    said = daemon.modser("load", "m", file)
    assert said.status != 0 and "no CUDA driver: /nowhere/libcuda.so.1" in said.err, said


def test_code_that_the_driver_refuses_fails_the_load(stand, fixtures):
    s = stand(STUB_CUDA_FAIL="cuModuleLoadDataEx,209")  # every place: tests/runtime/cuda
    said = s.daemon.modser("load", "m", need(fixtures, "tvm-0.27/addone_cuda_cubin.so"))
    assert said.status != 0 and "(cuda)" in said.err, said
    assert "(209)" in said.err and "UNSUPPORTED" in said.err, said

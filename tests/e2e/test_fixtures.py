"""Real artifacts of several TVM versions, where they are at hand, with TVM's own outputs."""
import harness
import numpy as np
import pytest

NARROW = {"float16": "i2", "float32": "i4", "float64": "i8"}


def ulps(got, want):
    """The largest distance in units of the last place."""
    if want.dtype.name not in NARROW:
        return 0 if got.tobytes() == want.tobytes() else np.inf
    kind = NARROW[want.dtype.name]
    a, b = (x.view(kind).astype("i8").ravel() for x in (got, want))
    least = np.iinfo(kind).min
    a, b = (np.where(x < 0, least - x, x) for x in (a, b))
    return int(np.abs(a - b).max()) if a.size else 0


class Calls:
    def __init__(self, daemon, folder):
        self.daemon, self.folder, self.n = daemon, folder, 0

    def save(self, array):
        self.n += 1
        path = self.folder / f"in{self.n}.npy"
        np.save(path, array)
        return f"@{path}"

    def __call__(self, function, *args, results=1):
        """Arrays of the first results; array arguments go through files."""
        words = [self.save(a) if isinstance(a, np.ndarray) else str(a) for a in args]
        paths = [self.folder / f"out{i}.npy" for i in range(results)]
        for path in paths:
            words += ["-o", str(path)]
        self.daemon.ok("call", function, *words)
        return [np.load(p) for p in paths]


@pytest.fixture
def call(daemon, tmp_path):
    return Calls(daemon, tmp_path)


def out(like):
    return f"out:{like.dtype.name}[{','.join(map(str, like.shape))}]"


def need(folder, name):
    path = folder / name
    if not path.exists():
        pytest.skip(f"no {name} among the fixtures")
    return path


def loaded(daemon, path, *words):
    name = path.stem
    listed = [line.split()[0] for line in daemon.ok("ls").out.splitlines() if line.strip()]
    if name not in listed:
        daemon.load(name, path, *words)
    return name


@pytest.mark.parametrize("n", [1, 17, 1000])
def test_modern_addone(daemon, fixtures, call, n):
    name = loaded(daemon, need(fixtures, "tvm-0.27/addone.so"))
    data = np.load(fixtures / "tvm-0.27/addone.npz")
    (got,) = call(f"{name}:addone", data[f"in{n}"], out(data[f"out{n}"]))
    assert got.tobytes() == data[f"out{n}"].tobytes()


@pytest.mark.parametrize(
    "function, n_in, most",
    [
        ("matmul", 2, 0),
        ("add_i8", 2, 0),
        ("mul_i32", 2, 0),
        ("exp_f64", 1, 2),
        ("add_f16", 2, 0),
        ("not_bool", 1, 0),
        ("scale", 3, 0),
        ("par_add", 2, 0),
        ("ws_f32", 1, 0),
    ],
)
def test_modern_multi(daemon, fixtures, call, function, n_in, most):
    name = loaded(daemon, need(fixtures, "tvm-0.27/multi.so"))
    data = np.load(fixtures / "tvm-0.27/multi.npz")
    args = [data[f"{function}.in{i}"] for i in range(n_in)]
    args = [a.item() if a.shape == () else a for a in args]
    want = data[f"{function}.out"]
    (got,) = call(f"{name}:{function}", *args, out(want))
    assert ulps(got, want) <= most


def test_modern_dtypes(daemon, fixtures, tmp_path):
    name = loaded(daemon, need(fixtures, "tvm-0.27/dtypes.so"))
    data = np.load(fixtures / "tvm-0.27/dtypes.npz")
    for key in [k[:-3] for k in data.files if k.endswith(".in")]:
        dtype = key.removeprefix("id_")
        raw = data[f"{key}.in"]
        width = raw.size // 16
        np.save(tmp_path / "x.npy", raw.view(f"u{width}"))
        x = f"@{tmp_path / 'x.npy'}:{dtype}"
        daemon.ok("call", f"{name}:{key}", x, f"out:{dtype}[16]", "-o", tmp_path / "y.npy")
        assert np.load(tmp_path / "y.npy").tobytes() == data[f"{key}.out"].tobytes(), key


@pytest.mark.parametrize(
    "stem, function",
    [
        ("relax_mlp", "forward"),
        ("relax_mlp_static", "forward"),
        ("relax_mlp_const", "forward"),
        ("convnet_small", None),
        ("ctrl", "main"),
        ("ctrl_false", "main"),
    ],
)
def test_modern_models(daemon, fixtures, call, stem, function):
    name = loaded(daemon, need(fixtures, f"tvm-0.27/{stem}.so"))
    data = np.load(fixtures / f"tvm-0.27/{stem}.npz")
    if function is None:
        words = daemon.ok("funcs", name).out.split()
        function = "forward" if any(w.startswith("forward") for w in words) else "main"
    count = sum(k.startswith("in") for k in data.files)
    wants = [data[f"out{i}"] for i in range(sum(k.startswith("out") for k in data.files))]
    args = [data[f"in{i}"] for i in range(count)]
    got = call(f"{name}:{function}", *args, results=len(wants))
    for g, w in zip(got, wants):
        assert g.shape == w.shape and ulps(g, w) <= 2


def test_modern_c_target_links_the_api_itself(daemon, fixtures, call):
    name = loaded(daemon, need(fixtures, "tvm-0.27/callext.so"))
    said = daemon.modser("call", f"{name}:callext", "out:float32[8]", "3")
    assert said.status == 1 and "my.ext.func" in said.err


def test_classic_addone(daemon, fixtures, call):
    folder = fixtures / "tvm-0.8/addone_cpu"
    name = loaded(daemon, need(folder, "addone_cpu.so"))
    x, y = (np.load(folder / f"addone_{k}.npy") for k in "xy")
    (got,) = call(f"{name}:addone", x, out(y))
    assert got.tobytes() == y.tobytes()


def test_classic_system_library(daemon, fixtures, call):
    folder = fixtures / "tvm-0.8/addone_cpu"
    name = loaded(daemon, need(folder, "addone_syslib.so"))
    x, y = (np.load(folder / f"addone_{k}.npy") for k in "xy")
    (got,) = call(f"{name}:addone", x, out(y))
    assert got.tobytes() == y.tobytes()


@pytest.mark.parametrize(
    "dtype", "float32 float64 float16 int8 uint8 int16 int32 int64 bool".split()
)
def test_classic_dtypes(daemon, fixtures, call, dtype):
    folder = fixtures / "tvm-0.8/multi_cpu"
    name = loaded(daemon, need(folder, "multi_cpu.so"))
    a, b, c = (np.load(folder / f"add_{dtype}_{k}.npy") for k in "abc")
    (got,) = call(f"{name}:add_{dtype}", a, b, out(c))
    assert got.dtype == c.dtype and got.tobytes() == c.tobytes()


def test_classic_scalars_threads_and_results(daemon, fixtures, call):
    folder = fixtures / "tvm-0.8/multi_cpu"
    name = loaded(daemon, need(folder, "multi_cpu.so"))
    a, c = (np.load(folder / f"scale_shift_{k}.npy") for k in "ac")
    (got,) = call(f"{name}:scale_shift", 1.5, a, 7, out(c))
    assert got.tobytes() == c.tobytes()
    a, c = (np.load(folder / f"parallel_exp_{k}.npy") for k in "ac")
    (got,) = call(f"{name}:parallel_exp", a, out(c))
    assert ulps(got, c) <= 2
    assert daemon.ok("call", f"{name}:ret_i", "3", "4").out.strip() == "11"
    assert daemon.ok("call", f"{name}:ret_f", "3.0").out.strip() == "1.5"


def test_classic_missing_host_function_is_named(daemon, fixtures):
    folder = fixtures / "tvm-0.8/multi_cpu"
    name = loaded(daemon, need(folder, "multi_cpu.so"))
    x = folder / "call_packed_host_a.npy"
    said = daemon.modser("call", f"{name}:call_packed_host", f"@{x}", "out:float32[8]")
    assert said.status == 1 and "modserd.test.double" in said.err


@pytest.mark.parametrize(
    "path, kind",
    [
        ("mlp_cuda/mlp_cuda.so", "cuda"),
        ("opencl_vecadd/opencl_vecadd.so", "opencl"),
        ("two_level/two_level.so", "opencl"),
        ("cuda_ops/cuda_ops_ptx.so", "cuda"),
        ("synthetic/style06.so", "opencl"),
        ("synthetic/style07.so", "opencl"),
    ],
)
def test_code_for_devices_is_shown_and_loads_on_the_cpu(daemon, fixtures, path, kind):
    file = need(fixtures / "tvm-0.8", path)
    assert kind in harness.run(harness.BIN / "modser", "inspect", file).out
    name = loaded(daemon, file, "--device", "cpu")
    assert kind in daemon.ok("show", name).out


def test_a_kernel_of_an_absent_device_says_so_when_it_is_called(daemon, fixtures):
    name = loaded(daemon, need(fixtures / "tvm-0.8", "mlp_cuda/mlp_cuda.so"), "--device", "cpu")
    said = daemon.modser("call", f"{name}:run", "out:float32[2,16]")
    assert said.status == 1 and "cuda" in said.err


def test_a_module_whose_device_is_absent_is_refused_by_the_devices_name(own_daemon, fixtures):
    file = need(fixtures / "tvm-0.8", "opencl_vecadd/opencl_vecadd.so")
    daemon = own_daemon(env={"OCL_ICD_VENDORS": "/nonexistent"})
    said = daemon.modser("load", "vecadd", file)
    assert said.status == 8 and "opencl:0" in said.err


def test_the_host_has_one_ordinal(daemon, fixtures):
    file = need(fixtures / "tvm-0.8", "opencl_vecadd/opencl_vecadd.so")
    said = daemon.modser("load", "--device", "cpu:3", "cpu3", file)
    assert said.status == 8 and "cpu:3: the host is cpu:0" in said.err, said
    assert "modser devices" in said.err, said


def test_the_host_functions_beside_a_device_module_run(daemon, fixtures, call):
    folder = fixtures / "tvm-0.8/two_level"
    name = loaded(daemon, need(folder, "two_level.so"), "--device", "cpu")
    a, c = (np.load(folder / f) for f in ("a.npy", "cpu_double_c.npy"))
    (got,) = call(f"{name}:cpu_double", a, out(c))
    assert got.tobytes() == c.tobytes()


def test_every_artifact_can_be_inspected(fixtures):
    files = sorted(p for p in fixtures.glob("tvm-*/**/*.so") if "bad_" not in p.name)
    assert files
    for path in files:
        said = harness.run(harness.BIN / "modser", "inspect", path)
        assert said.status == 0, f"{path}: {said}"

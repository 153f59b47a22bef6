"""What real compilers of the releases between made runs here, bit for bit where it is host code."""
import numpy as np
import pytest
import releases

KEPT = releases.kept()
MORE = [a for a in releases.more() if repr(a) not in {repr(k) for k in KEPT}]
NEAR = 1e-5  # where the expected values are another code generator's


def load_words(artifact):
    minor = int(artifact.release.removesuffix("-dev").split(".")[1])
    is_bare = artifact.name == "tir_c" and minor < 20  # it has no symbol of TVM
    words = ["--abi", "classic"] if is_bare else []
    for option, file in [("--graph", "graph"), ("--params", "params"), ("--params", "consts")]:
        if file in artifact.files:
            words += [option, artifact.path(artifact.files[file])]
    return words


def argument(artifact, value):
    if "npy" in value:
        name = f"{value['kw']}=" if "kw" in value else ""
        return f"{name}@{artifact.path(value['npy'])}"
    if "out" in value:
        dtype, shape = value["out"]
        return f"out:{dtype}[{','.join(map(str, shape))}]"
    return str(value["val"])


def expect_array(artifact, got, want):
    """The largest difference, which is 0 where the bits are the same."""
    assert got.dtype == want.dtype and got.shape == want.shape
    if got.tobytes() == want.tobytes():
        return 0.0
    assert "tolerance" in artifact.note
    assert np.allclose(got, want, rtol=0, atol=NEAR)
    return float(np.abs(got - want).max())


def expect_runs(daemon, artifact, tmp_path):
    if artifact.kind in ("opencl", "device") and "opencl:0" not in daemon.ok("devices").out:
        pytest.skip("no OpenCL device")
    daemon.load("m", artifact.lib(), "--replace", *load_words(artifact))
    differences = []
    for call in artifact.calls:
        words = [argument(artifact, value) for value in call["in"]]
        wanted = [np.load(artifact.path(out["npy"])) for out in call["out"]]
        if artifact.name == "vm_adt_map":  # lists in lists; TVM's Python leaves their tags out
            wanted = [one for item in wanted for one in (None, item)]
        paths = [tmp_path / f"out{i}.npy" for i in range(len(wanted))]
        for path in paths:
            words += ["-o", path]
        daemon.ok("call", f"m:{call['fn']}", *words)
        for path, want in zip(paths, wanted):
            if want is not None:
                differences.append(expect_array(artifact, np.load(path), want))
    releases.record(artifact.told(), differences)


@pytest.mark.parametrize("artifact", KEPT, ids=repr)
def test_a_real_artifact_runs(daemon, artifact, tmp_path):
    expect_runs(daemon, artifact, tmp_path)


@pytest.mark.parametrize("artifact", MORE or [None], ids=repr)
def test_a_further_artifact_runs(daemon, artifact, tmp_path):
    if artifact is None:
        pytest.skip("no further artifacts of the releases between TVM 0.9 and 0.23")
    expect_runs(daemon, artifact, tmp_path)


def test_constants_that_are_bound_later_are_asked_for(daemon):
    late = next(a for a in KEPT if a.kind == "vm_late")
    asked = ["inspect", "--check-daemon", daemon.host]
    said = daemon.modser(*asked, late.lib())
    assert said.status == 8 and "--params FILE, which has const_" in said.out, said
    consts = late.path(late.files["consts"])
    daemon.ok(*asked, "--params", consts, late.lib())
    assert "bound later: const_" in daemon.ok("inspect", late.lib()).out
    daemon.load("late", late.lib(), "--replace")
    x = late.path(late.calls[0]["in"][0]["npy"])
    said = daemon.modser("call", "late:main", f"@{x}")
    assert said.status == 1 and "modser load --params FILE" in said.err, said


def tensors_in(params):
    """Of a .params file: behind magic and reserved word the names, then the tensors, each with
    its magic, reserved word, device, rank, type, shape, size and bytes."""
    data, at = params.read_bytes(), 16

    def taken(n):
        nonlocal at
        at += n
        return data[at - n:at]

    def number(n=8):
        return int.from_bytes(taken(n), "little")

    def tensor():
        head = taken(24)
        ndim = number(4)
        rest = taken(4 + 8 * ndim)
        return head, rest, taken(number())

    names = [taken(number()).decode() for _ in range(number())]
    assert number() == len(names)
    tensors = [tensor() for _ in names]
    assert at == len(data)
    return dict(zip(names, tensors))


@pytest.mark.parametrize("form", [[], ["--tvm-names"]], ids=["content", "tvm"])
def test_a_relay_programs_constants_go_and_come_back(daemon, tmp_path, form):
    artifact = next(a for a in KEPT if repr(a) == "0.16-vm_dyn")
    params, slim = tmp_path / "c.params", tmp_path / "slim.so"
    daemon.ok("unpack", artifact.lib(), "-C", tmp_path / "m")
    daemon.ok("pack", tmp_path / "m", "--split-params", params, *form, "-o", slim)
    assert all(name.removeprefix("const_").isdigit() for name in tensors_in(params)) == bool(form)
    daemon.load("slim", slim, "--params", params, "--replace")
    call = artifact.calls[0]
    words = [argument(artifact, value) for value in call["in"]]
    daemon.ok("call", "slim:main", *words, "-o", tmp_path / "y.npy")
    expect_array(artifact, np.load(tmp_path / "y.npy"), np.load(artifact.path(call["out"][0]["npy"])))
    again = daemon.modser("pack", tmp_path / "m", "--split-params", params, "--tvm-names", "-o", slim)
    assert again.status != 0 and "name a new file" in again.err, again


def kept(name):
    return next(a for a in KEPT if repr(a) == name)


def test_names_are_those_that_tvm_gives(daemon, tmp_path):
    """TVM moved the larger constants of this program out by itself."""
    params = tmp_path / "all.params"
    daemon.ok("unpack", kept("0.16-vm_lstm").lib(), "-C", tmp_path / "m")
    daemon.ok("pack", tmp_path / "m", "--split-params", params, "--tvm-names", "-o",
              tmp_path / "slim.so")
    late = kept("0.16-vm_lstm_late")
    tvms, ours = tensors_in(late.path(late.files["consts"])), tensors_in(params)
    assert sorted(ours) == sorted(f"const_{i}" for i in range(len(ours)))
    assert 0 < len(tvms) < len(ours) and {name: ours[name] for name in tvms} == tvms


def test_what_is_left_of_a_program_is_not_split(daemon, tmp_path):
    params = tmp_path / "rest.params"
    said = daemon.modser("unpack", kept("0.16-vm_lstm_late").lib(), "-C", tmp_path / "m",
                         "--split-params", params)
    assert said.status == 8 and "in another file already" in said.err, said
    assert not params.exists()


def test_a_library_without_parameters_is_not_split(daemon, tmp_path):
    params = tmp_path / "no.params"
    daemon.ok("unpack", kept("0.16-aot_two").lib(), "-C", tmp_path / "m")
    said = daemon.modser("pack", tmp_path / "m", "--split-params", params, "-o", tmp_path / "m.so")
    assert said.status == 8 and "keeps parameters that can move" in said.err, said
    assert not params.exists()

"""A module's parameters from a folder of shards; results are compared with those of TVM's VM."""
import shutil
import subprocess
import sys

import harness
import numpy as np
import pytest
from registry import REGISTRY, DockerRegistry
from test_pull import FETCH

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
import modser  # noqa: E402

LIBRARIES = ("packed_bytecode", "packed_compiled", "plain_bytecode", "plain_compiled")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    script = harness.ROOT / "tests" / "e2e" / "models_folder.py"
    subprocess.run([sys.executable, script, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def flip(path):
    data = bytearray(path.read_bytes())
    data[7] ^= 1
    path.write_bytes(data)


def swap(one, other):
    first = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(first)


def edit(folder, old, new):
    index = folder / "tensor-cache.json"
    index.write_text(index.read_text().replace(old, new))


def expect_bits(daemon, made, name, params, tmp_path, functions=("main", "lift")):
    for function in functions:
        out = tmp_path / "out.npy"
        daemon.ok("call", f"{name}:{function}", f"@{made}/x.npy", "-o", out)
        want = np.load(made / f"{params}.{function}.npy")
        assert np.array_equal(np.load(out).view("uint32"), want.view("uint32"))


@pytest.mark.parametrize("params", ["raw", "half", "shards"])
def test_parameters_of_a_folder_give_the_bits_of_tvm(daemon, made, tmp_path, params):
    for library in LIBRARIES:
        daemon.ok("load", "--params", made / params, library, made / f"{library}.so")
        expect_bits(daemon, made, library, params, tmp_path)
        daemon.ok("unload", library)


def test_bound_parameters_are_not_in_the_signature(daemon, made):
    daemon.ok("load", "--params", made / "raw", "short", made / "packed_bytecode.so")
    assert "packed_params" not in daemon.ok("funcs", "short").out
    said = daemon.modser("call", "short:main")
    assert said.status == 1 and "expected 1 argument, got 0" in said.err
    daemon.ok("unload", "short")


def test_a_library_without_metadata_takes_one_shard_only(daemon, made, tmp_path):
    daemon.ok("load", "--params", made / "raw", "bare", made / "bare.so")
    expect_bits(daemon, made, "bare", "raw", tmp_path)
    daemon.ok("unload", "bare")
    said = daemon.modser("load", "--params", made / "shards", "bare", made / "bare.so")
    assert said.status == 8 and "no function _metadata" in said.err


def test_the_cache_of_tensors_has_the_folder(daemon, made, tmp_path):
    daemon.ok("load", "--params", made / "half", "cached", made / "cached.so")
    for function in ("by_name", "get"):
        out = tmp_path / "out.npy"
        daemon.ok("call", f"cached:{function}", "-o", out)
        assert np.array_equal(np.load(out), np.load(made / f"half.{function}.npy"))
    assert daemon.ok("call", "cached:absent").out == ""
    assert "the cache has no tensor none" in daemon.modser("call", "cached:unpacked").err
    assert "--params DIR" in daemon.modser("call", "cached:load").err
    daemon.ok("unload", "cached")


@pytest.mark.parametrize("change, text", [
    (lambda f: (f / "params_shard_1.bin").write_bytes(b""), "but the file has 0"),
    (lambda f: flip(f / "params_shard_0.bin"), "shard params_shard_0.bin: its MD5 is not"),
    (lambda f: swap(f / "params_shard_0.bin", f / "params_shard_1.bin"), "shard params_shard_0.bin"),
    (lambda f: (f / "params_shard_0.bin").unlink(), "params_shard_0.bin: No such file"),
    (lambda f: edit(f, "params_shard_0.bin", "../raw/params_shard_0.bin"), "of this folder"),
    (lambda f: edit(f, '"up.bias"', '"up.other"'), "wants the parameter up.bias"),
    (lambda f: (f / "tensor-cache.json").unlink(), "has an index, tensor-cache.json"),
])
def test_damaged_folders_are_refused_by_name(daemon, made, tmp_path, change, text):
    bad = tmp_path / "bad"
    shutil.copytree(made / "shards", bad)
    change(bad)
    said = daemon.modser("load", "--params", bad, "bad", made / "packed_bytecode.so")
    assert said.status != 0 and text in said.err, said


def test_a_folder_for_another_library_is_refused(daemon, made):
    said = daemon.modser("load", "--params", made / "raw", "bad", made / "closed.so")
    assert said.status == 8 and "none of its functions takes packed_params" in said.err


def test_a_daemon_starts_with_a_folder(own_daemon, made, tmp_path):
    config = tmp_path / "modserd.conf"
    config.write_text(f'module "written" {{\n  file = "{made}/plain_compiled.so"\n'
                      f'  params = "{made}/half"\n}}\n')
    daemon = own_daemon("--config", config, "--load",
                        f"given={made}/packed_bytecode.so,params={made}/shards")
    daemon.ok("wait", "given", "written")
    expect_bits(daemon, made, "given", "shards", tmp_path)
    expect_bits(daemon, made, "written", "half", tmp_path)


def test_the_python_client_sends_a_folder(daemon, made):
    with modser.connect(daemon.host) as client:
        for params in ("raw", "shards"):
            module = client.load("python", made / "packed_compiled.so", params=made / params, replace=True)
            got = module["main"](np.load(made / "x.npy"))
            assert np.array_equal(got, np.load(made / f"{params}.main.npy"))
        client["python"].unload()


def test_callers_may_send_the_parameters(daemon, made):
    with modser.connect(daemon.host) as client:
        module = client.load("both", made / "packed_bytecode.so", params=made / "raw")
        x = np.load(made / "x.npy")
        zeros = (np.zeros((32, 16), "float32"), np.ones(32, "float32"),
                 np.zeros((5, 32), "float16"), np.zeros(5, "float32"))
        assert np.array_equal(module["lift"](x, zeros), np.ones((3, 32), "float32"))
        assert np.array_equal(module["lift"](x), np.load(made / "raw.lift.npy"))
        client["both"].unload()


def test_a_kept_folder_is_restored_and_rolled_back(own_daemon, made, tmp_path):
    words = ("--store", tmp_path / "store")
    daemon = own_daemon(*words)
    daemon.ok("load", "--keep", "--params", made / "raw", "m", made / "packed_bytecode.so")
    daemon.ok("load", "--keep", "--replace", "--params", made / "half", "m", made / "packed_bytecode.so")
    daemon.stop()
    daemon = own_daemon(*words)
    daemon.ok("wait", "m")
    expect_bits(daemon, made, "m", "half", tmp_path)
    daemon.ok("rollback", "m")
    expect_bits(daemon, made, "m", "raw", tmp_path)


@pytest.mark.skipif(not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")
@pytest.mark.skipif(REGISTRY is None, reason="no docker-registry: nothing is pushed")
def test_a_pushed_folder_is_pulled_whole(own_daemon, made, folder, tmp_path):
    with DockerRegistry(folder) as registry:
        uri = f"oci://{registry.host}/models/net:1"
        said = harness.run(harness.BIN / "modser", "push", "--params", made / "shards",
                           made / "packed_bytecode.so", uri)
        assert said.status == 0, said
        daemon = own_daemon("--store", tmp_path / "store")
        daemon.ok("pull", "net", uri)
    expect_bits(daemon, made, "net", "shards", tmp_path)
    daemon.stop()
    daemon = own_daemon("--store", tmp_path / "store")
    daemon.ok("wait", "net")
    expect_bits(daemon, made, "net", "shards", tmp_path)

"""Language models that TVM compiled: functions of tensors through a daemon, scripts with objects
inside of run_steps; both compared bit for bit with what TVM's VM recorded."""
import json
import subprocess
import sys

import harness
import numpy as np
import pytest

sys.path.insert(0, str(harness.ROOT / "client" / "python"))
import modser  # noqa: E402

STEPS = harness.ROOT / "tests" / "runtime" / "kv" / "steps.py"


@pytest.fixture(scope="module")
def models(fixtures):
    folder = fixtures / "llm" / "fixtures" / "lm"
    if not folder.is_dir():
        pytest.skip(f"no {folder.name} in the fixtures: language models not tested")
    return folder


def entries(folder, key):
    return [e for e in (json.loads(f.read_text()) for f in sorted(folder.glob("*.json"))) if key in e]


def test_functions_that_make_their_cache_give_the_bits_of_tvm(daemon, models):
    seen = 0
    for e in entries(models, "plays"):
        data, par = np.load(models / e["data"]), np.load(models / e["params"])
        params = tuple(par[k] for k in e["param_names"])
        for library in e["libraries"].values():
            with modser.connect(daemon.host) as client:
                module = client.load("lm", models / library)
                for p in e["plays"]:
                    if p["function"] + ".logits" in e.get("unstable", []):
                        continue
                    logits, tokens = module[p["function"]](data["in." + p["ids"]], params)
                    assert np.array_equal(logits, data[f"out.{p['function']}.logits"]), library
                    assert np.array_equal(tokens, data[f"out.{p['function']}.tokens"]), library
                    seen += 1
                client["lm"].unload()
    assert seen > 0


def test_sampling_gives_the_tokens_of_tvm(daemon, models):
    for e in entries(models, "single"):
        data = np.load(models / e["data"])
        with modser.connect(daemon.host) as client:
            module = client.load("lm", models / e["libraries"]["bytecode"])
            for p in e["single"]:
                got = module[p["function"]](*[data[f"in.{p['n']}.{j}"] for j in range(p["ins"])])
                got = got if isinstance(got, tuple) else (got,)
                for j, v in enumerate(got):
                    assert np.array_equal(np.asarray(v), data[f"out.{p['n']}.{j}"]), p["function"]
            client["lm"].unload()


def test_a_cache_as_a_result_stays_in_the_worker(daemon, models):
    with modser.connect(daemon.host) as client:
        module = client.load("lm", models / "llama.so")
        cache = module["create_tir_paged_kv_cache"](
            *[modser.Shape([n]) for n in (4, 64, 16, 16, 0)])
        assert isinstance(cache, modser.Object) and "PagedAttentionKVCache" in repr(cache)
        del cache
        client["lm"].unload()


def test_scripts_with_objects_give_the_bits_of_tvm(models):
    program = harness.BUILD / "tests" / "runtime" / "kv" / "run_steps"
    run = subprocess.run([sys.executable, str(STEPS), str(program), str(models)], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr

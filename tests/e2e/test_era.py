"""Libraries of TVM's C target have no symbol that tells their era: somebody has to say it."""
import json
import os
import signal
import subprocess

import harness
import pytest
import releases

CLASSIC_C = """
#include <stdint.h>
int32_t twice(void *args, int32_t *codes, int32_t n, void *ret, int32_t *ret_code, void *self);
int32_t twice(void *args, int32_t *codes, int32_t n, void *ret, int32_t *ret_code, void *self)
{
	(void)codes, (void)n, (void)self;
	*(int64_t *)ret = 2 * *(int64_t *)args;
	*ret_code = 0;
	return 0;
}
"""


@pytest.fixture(scope="module")
def tir_c():
    """TVM 0.16's own."""
    return next(a for a in releases.kept() if repr(a) == "0.16-tir_c")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("era")
    (folder / "c.c").write_text(CLASSIC_C)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "c.so", folder / "c.c"], check=True)
    return folder / "c.so"


def test_without_a_word_it_is_refused_with_the_option(daemon, tir_c):
    said = daemon.modser("load", "c", tir_c.lib())
    assert said.status == 8 and "classic (TVM 0.6 to 0.20) or ffi" in said.err, said
    said = daemon.modser("inspect", "--check-daemon", daemon.host, tir_c.lib())
    assert said.status == 8 and "--abi" in said.out, said


def test_with_the_word_it_is_shown_and_will_run(daemon, tir_c):
    shown = harness.run(harness.BIN / "modser", "inspect", "--abi", "classic", tir_c.lib())
    assert shown.status == 0 and "addone" in shown.out and "0.6-0.20" in shown.out, shown
    daemon.ok("inspect", "--check-daemon", daemon.host, "--abi", "classic", tir_c.lib())


def test_a_graph_beside_it_tells_the_era(daemon, tir_c, folder):
    """As packages of tvmc have it that are made for the C target."""
    op = {"func_name": "addone", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}
    graph = folder / "graph.json"
    graph.write_text(json.dumps({
        "nodes": [{"op": "null", "name": "x", "inputs": []},
                  {"op": "tvm_op", "name": "y", "attrs": op, "inputs": [[0, 0, 0]]}],
        "arg_nodes": [0], "heads": [[1, 0, 0]], "node_row_ptr": [0, 1, 2],
        "attrs": {"shape": ["list_shape", [[2], [2]]], "dltype": ["list_str", ["float32"] * 2],
                  "storage_id": ["list_int", [0, 1]]}}))
    daemon.ok("load", "--replace", "beside", tir_c.lib(), "--graph", graph)
    assert daemon.ok("call", "beside:run", "[1,2]").out.strip() == "[2.0, 3.0]"
    assert "classic" in daemon.ok("show", "beside").out


def test_the_word_stays_with_the_module_when_its_worker_is_restarted(daemon, library):
    daemon.load("stays", library, "--abi", "classic", "--replace")
    assert daemon.ok("call", "stays:twice", "21").out.strip() == "42"
    (pid,) = json.loads(daemon.ok("show", "--json", "stays").out)["pids"]
    with harness.Watched(pid) as worker:
        os.kill(pid, signal.SIGKILL)
        harness.until(worker.has_ended, "the worker is gone")
    daemon.ok("wait", "stays")
    assert daemon.ok("call", "stays:twice", "4").out.strip() == "8"


def test_the_daemon_loads_one_at_its_start(own_daemon, library):
    daemon = own_daemon("--load", f"c={library},abi=classic")
    daemon.ok("wait", "c")
    assert daemon.ok("call", "c:twice", "3").out.strip() == "6"


def test_a_word_that_the_symbols_contradict_is_refused(daemon, models):
    said = daemon.modser("load", "x", models / "mlp.so", "--abi", "classic")
    assert said.status == 8 and "the option abi is classic, but the symbols are those of" in said.err
    said = harness.run(harness.BIN / "modser", "inspect", "--abi", "classic", models / "mlp.so")
    assert said.status == 8 and "tvm-ffi" in said.err, said
    said = daemon.modser("load", "x", models / "mlp.so", "--abi", "new")
    assert said.status == 2 and "expected classic" in said.err, said


def test_a_wrong_word_that_nothing_contradicts_costs_the_module_alone(daemon, library):
    daemon.modser("load", "wrong", library, "--abi", "ffi", "--replace")
    daemon.modser("call", "wrong:twice", "21", "--deadline", "120s")
    assert daemon.ok("ping").status == 0

"""Ahead-of-time compiled models in Model Library Format archives: both of their interfaces run."""
import numpy as np
import pytest
from test_mlf import FLAT_C, modser, unpacked, write_archive, write_parts

AOT_HEADER = """
struct tvmgen_m_inputs {
  void* x;
  void* a_b;
};

struct tvmgen_m_outputs {
  void* output;
};
"""
AOT_C = """
#include "tvm/runtime/c_runtime_api.h"
TVM_DLL int32_t tvmgen_m_run_model(void* x, void* a_b, void* output) {
  for (int i = 0; i < 4; ++i) ((float*)output)[i] = ((float*)x)[i] + ((float*)a_b)[0];
  return 0;
}
"""
AOT_RUN_C = AOT_HEADER + """
int32_t tvmgen_m_run(struct tvmgen_m_inputs* inputs, struct tvmgen_m_outputs* outputs) {
  return tvmgen_m_run_model(inputs->x, inputs->a_b, outputs->output);
}
"""


def aot_metadata(version, main, target="c -keys=cpu --executor=aot"):
    memory = {"functions": {"main": [main], "operator_functions": []}}
    model = {"model_name": "m", "executors": ["aot"], "style": "full-model", "memory": memory}
    if version == 7:
        return {"version": 7, "modules": {"m": model | {"target": [target]}}}
    return model | {"version": version, "target": {"1": target}}


@pytest.mark.parametrize("version, function", [(5, "tvmgen_m_run_model"), (6, "tvmgen_m_run_model"),
                                               (7, "tvmgen_m___tvm_main__")])
def test_a_packed_ahead_of_time_model_runs(daemon, tmp_path, version, function):
    write_parts(tmp_path)
    sizes = {"inputs": {"x:0": {"size": 16, "dtype": "float32"}},
             "outputs": {"output": {"size": 16, "dtype": "float32"}}}
    path = write_archive(tmp_path / "aot.tar", aot_metadata(version, sizes if version == 7 else {}),
                         {"codegen/host/src/m_lib0.c": FLAT_C % function})
    daemon.load("aot", path, "--replace")
    for name in (function, "run"):
        daemon.ok("call", f"aot:{name}", f"@{tmp_path / 'x.npy'}", "out:float32[4]",
                  "-o", tmp_path / "y.npy")
        assert np.load(tmp_path / "y.npy").tolist() == [1, 2, 3, 4]
    if version == 7:
        said = daemon.modser("call", "aot:run", f"@{tmp_path / 'x.npy'}", "out:float32[5]")
        assert said.status == 1 and "modser: run: output: another size; expected in bytes: 16" in said.err
        said = daemon.modser("call", "aot:run", f"@{tmp_path / 'x.npy'}")
        assert said.status == 1 and "run: give its inputs, then its outputs (out:): number of tensors: 2" in said.err


@pytest.mark.parametrize("version", [5, 7])
@pytest.mark.parametrize("source", [AOT_C, AOT_C + AOT_RUN_C])
def test_the_c_interface_gets_an_entry_that_checks_sizes(daemon, tmp_path, version, source):
    write_parts(tmp_path)
    np.save(tmp_path / "b.npy", np.float32([10]))
    sizes = {"inputs": {"x": {"size": 16}, "a.b": {"size": 4}}, "outputs": {"output": {"size": 16}}}
    metadata = aot_metadata(version, {"io_size_bytes": 36} | (sizes if version == 7 else {}),
                            "c -unpacked-api=1 -interface-api=c --executor=aot")
    files = {"codegen/host/src/m_lib0.c": source, "codegen/host/include/tvmgen_m.h": AOT_HEADER}
    daemon.load("c", write_archive(tmp_path / "c.tar", metadata, files), "--replace")
    x, b = f"@{tmp_path / 'x.npy'}", f"@{tmp_path / 'b.npy'}"
    daemon.ok("call", "c:run", x, b, "out:float32[4]", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [10, 11, 12, 13]
    for words in [(x, b, "out:float32[3]"), (x, b), (x, "out:float32[4]", "2"), (x, b, "none")]:
        said = daemon.modser("call", "c:run", *words)
        assert said.status == 1 and "run: " in said.err, said


def test_a_c_interface_without_sizes_is_refused(tmp_path):
    files = {"codegen/host/src/m_lib0.c": AOT_C, "codegen/host/include/tvmgen_m.h": AOT_HEADER}
    path = write_archive(tmp_path / "c.tar", aot_metadata(5, {}, "c -unpacked-api=1"), files)
    said = modser("convert", path, "-o", tmp_path / "c.so")
    assert said.status == 8 and "C interface" in said.err and "sizes" in said.err


def test_an_archives_header_takes_the_place_of_none_of_ours(daemon, tmp_path):
    write_parts(tmp_path)
    sizes = {"inputs": {"x": {"size": 16}}, "outputs": {"output": {"size": 16}}}
    trap = "#error taken"
    path = write_archive(tmp_path / "own.tar", aot_metadata(7, sizes),
                         {"codegen/host/src/m_lib0.c": FLAT_C % "tvmgen_m___tvm_main__",
                          "codegen/host/include/modser_aot.h": trap,
                          "codegen/host/include/tvm/runtime/c_runtime_api.h": trap})
    daemon.load("own", path, "--replace")
    assert daemon.ok("call", "own:run", f"@{tmp_path / 'x.npy'}", "out:float32[4]").out.strip()


def test_several_inputs_are_not_taken_in_the_descriptions_order(daemon, tmp_path):
    """TVM sorts its JSON by name; the function takes x first and has no metadata here."""
    write_parts(tmp_path)
    np.save(tmp_path / "b.npy", np.float32([10, 20]))
    sizes = {"inputs": {"a": {"size": 8}, "x": {"size": 16}}, "outputs": {"output": {"size": 16}}}
    path = write_archive(tmp_path / "two.tar", aot_metadata(7, sizes),
                         {"codegen/host/src/m_lib0.c": FLAT_C % "tvmgen_m___tvm_main__"})
    daemon.load("two", path, "--replace")
    x, b = f"@{tmp_path / 'x.npy'}", f"@{tmp_path / 'b.npy'}"
    daemon.ok("call", "two:run", x, b, "out:float32[4]", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [1, 2, 3, 4]
    said = daemon.modser("call", "two:run", x, x, "out:float32[4]")
    assert said.status == 1 and "expected bytes in all: 40" in said.err


def test_the_c_interfaces_sizes_are_the_programs_where_the_description_counts_every_variable(
    daemon, tmp_path
):
    write_parts(tmp_path)
    np.save(tmp_path / "b.npy", np.float32([10]))
    files = {"codegen/host/src/m_lib0.c": AOT_C + AOT_RUN_C,
             "codegen/host/include/tvmgen_m.h": AOT_HEADER,
             "src/m.relay": "def @main(%x: Tensor[(4), float32], %a.b: float32) -> "
                            "Tensor[(4), float32] {\n}\n"}
    path = write_archive(tmp_path / "c.tar", aot_metadata(7, {"io_size_bytes": 1000}), files)
    daemon.load("program", path, "--replace")
    x, b = f"@{tmp_path / 'x.npy'}", f"@{tmp_path / 'b.npy'}"
    daemon.ok("call", "program:run", x, b, "out:float32[4]", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [10, 11, 12, 13]
    said = daemon.modser("call", "program:run", x, b, "out:float32[5]")
    assert said.status == 1 and "output: another size; expected in bytes: 16" in said.err


def test_memory_pools_of_unknown_size_are_refused(tmp_path):
    header = AOT_HEADER + "struct tvmgen_m_workspace_pools {\n  void* sram;\n};\n"
    sizes = {"inputs": {"x": {"size": 16}, "a.b": {"size": 4}}, "outputs": {"output": {"size": 16}}}
    files = {"codegen/host/src/m_lib0.c": AOT_C + AOT_RUN_C,
             "codegen/host/include/tvmgen_m.h": header}
    path = write_archive(tmp_path / "c.tar", aot_metadata(7, sizes), files)
    said = modser("convert", path, "-o", tmp_path / "c.so")
    assert said.status == 8 and "memory whose size is not in its header" in said.err

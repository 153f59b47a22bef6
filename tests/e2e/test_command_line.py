"""`modser`, line by line of its description: arguments, results, exit codes."""
import io
import json
import re
import signal
import socket
import subprocess

import harness
import numpy as np
import pytest


def echo(served, word):
    return served.ok("call", "results:echo", word).out.strip()


def kind(served, word):
    return int(served.ok("call", "results:kind", word).out)


INT, BOOL, FLOAT, DTYPE, DEVICE = 1, 2, 3, 5, 6


@pytest.mark.parametrize(
    "word, index, printed",
    [
        ("2", INT, "2"),
        ("-17", INT, "-17"),
        ("9223372036854775807", INT, "9223372036854775807"),
        ("-9223372036854775808", INT, "-9223372036854775808"),
        ("2.0", FLOAT, "2"),
        ("1e-3", FLOAT, "0.001"),
        ("-1e-3", FLOAT, "-0.001"),
        ("inf", FLOAT, "inf"),
        ("-inf", FLOAT, "-inf"),
        ("nan", FLOAT, "nan"),
        ("true", BOOL, "true"),
        ("false", BOOL, "false"),
        ("dtype:bfloat16", DTYPE, "bfloat16"),
        ("device:cpu:0", DEVICE, "cpu:0"),
    ],
)
def test_plain_words_are_values_of_one_kind(served, word, index, printed):
    assert kind(served, word) == index
    assert printed in echo(served, word)


def test_none_is_no_value(served):
    assert kind(served, "none") == 0
    assert echo(served, "none") == ""


def test_a_tensor_written_out_has_the_dtype_of_the_signature(served):
    out = served.ok("call", "shapes:addone", "[1,2.5,-3]", "out:float32[3]").out.strip()
    assert out == "[2.0, 3.5, -2.0]"


def test_a_tensor_written_out_goes_to_the_parameter_that_is_named(served):
    facts = json.loads(served.ok("--json", "funcs", "shapes").out)
    names = [p["name"] for f in facts if f["name"] == "addone" for p in f["params"]]
    words = [f"{names[1]}=out:float32[2]", "[1,2]"]
    assert served.ok("call", "shapes:addone", *words).out.strip() == "[2.0, 3.0]"


def test_a_tensor_written_out_needs_a_dtype_from_somewhere(served):
    said = served.modser("call", "results:echo", "[1,2]")
    assert said.status == 2 and "float32:[1.0,2.0]" in said.err
    said = served.modser("call", "shapes:addone", "[1,x]", "out:float32[2]")
    assert said.status == 2 and '"x" is not a float32' in said.err


def test_who_leaves_out_what_a_primfunc_fills_is_told_how_it_is_written(served):
    said = served.modser("call", "shapes:addone", "[1,2]")
    assert said.status == 1 and "out:DTYPE[SHAPE] of modser call" in said.err, said


@pytest.mark.parametrize("word", ["9223372036854775808", "-9223372036854775809"])
def test_an_int_beyond_int64_is_an_error(served, word):
    said = served.modser("call", "results:echo", word)
    assert said.status == 2 and word in said.err


def test_texts_and_bytes_are_arguments_and_shapes_only_of_models(served, tmp_path):
    file = tmp_path / "f"
    file.write_bytes(b"\0\1")
    words = ["str:T", "str:", f"bytes:@{file}"]
    assert served.ok("call", "results:count", *words).out.strip() == "3"
    said = served.modser("call", "results:count", "shape:[1,2]")
    assert said.status == 1 and "shape" in said.err, "compiled code would take it for a tensor"


@pytest.mark.parametrize(
    "word", ["", "quatsch", "dtype:float33", "device:nowhere", "shape:[1,x]", "out:float32",
             "out:nothing[1]", "out:float32[-1]", "@/no/such/file.npy", "bytes:@/no/such/file"]
)
def test_words_that_are_no_argument_are_usage_errors(served, word):
    said = served.modser("call", "results:count", word)
    assert said.status == 2
    assert len(said.err.strip().splitlines()) == 2, "one line of cause, one of what to do"


@pytest.mark.parametrize(
    "function, printed",
    [
        ("int", "-42"),
        ("bool", "true"),
        ("float", "2.5"),
        ("dtype", "bfloat16"),
        ("device", "cpu:0"),
        ("small_str", "abc"),
        ("str", "a string of some length \u00e9"),
        ("shape", "2"),
        ("tensor", "5.5"),
        ("tuple", "0.25"),
    ],
)
def test_results_without_o_are_printed(served, function, printed):
    assert printed in served.ok("call", f"results:{function}").out


def test_nothing_is_printed_for_none(served):
    assert served.ok("call", "results:none").out == ""


def test_an_alien_result_is_an_error_and_not_a_crash(served):
    workers = served.workers()
    said = served.modser("call", "results:alien")
    assert said.status == 1 and "1000" in said.err
    assert served.workers() == workers


def test_numbers_become_rank_0_npy(served, tmp_path):
    for function, dtype, value in [("int", "int64", -42), ("float", "float64", 2.5)]:
        served.ok("call", f"results:{function}", "-o", tmp_path / "n.npy")
        got = np.load(tmp_path / "n.npy")
        assert got.shape == () and got.dtype == dtype and got == value


def test_a_shape_becomes_a_row_of_int64(served, tmp_path):
    printed = served.ok("call", "results:shape").out.strip()
    served.ok("call", "results:shape", "-o", tmp_path / "s.npy")
    got = np.load(tmp_path / "s.npy")
    assert got.dtype == "int64" and str(got.tolist()) == printed


@pytest.mark.parametrize("function", ["str", "small_str"])
def test_a_text_is_written_as_it_is(served, tmp_path, function):
    printed = served.ok("call", f"results:{function}").out.strip()
    served.ok("call", f"results:{function}", "-o", tmp_path / "s.txt")
    assert (tmp_path / "s.txt").read_text() == printed


@pytest.mark.parametrize("function", ["dtype", "device"])
def test_what_no_file_can_hold_is_named_and_printed_without_o(served, tmp_path, function):
    said = served.modser("call", f"results:{function}", "-o", tmp_path / "x.npy")
    cause, advice = said.err.strip().splitlines()
    assert said.status == 2 and f"is a {function}" in cause and "omit -o" in advice
    assert not (tmp_path / "x.npy").exists()


def test_tuples_are_flattened_and_the_kth_o_takes_the_kth_result(served, tmp_path):
    said = served.ok("call", "results:tuple", "-o", tmp_path / "0.npy", "-o", tmp_path / "1.npy")
    assert np.load(tmp_path / "0.npy") == 7
    assert np.load(tmp_path / "1.npy").shape == (2, 3)
    assert said.out.split() == ["0.25"]


def test_more_o_than_results_is_usage_and_writes_nothing(served, tmp_path):
    words = [w for i in range(4) for w in ("-o", tmp_path / f"{i}.npy")]
    said = served.modser("call", "results:tuple", *words)
    assert said.status == 2 and said.out == ""
    assert not list(tmp_path.iterdir())


def test_outs_come_before_the_return_value_and_standard_output_takes_npy(served, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3, dtype="float32"))
    x = f"@{tmp_path / 'x.npy'}"
    said = served.ok("call", "shapes:addone", x, "out:float32[3]", "-o", "-")
    assert np.load(io.BytesIO(said.bytes)).tolist() == [1, 2, 3]


def test_a_tensor_is_made_without_a_file(served):
    said = served.ok("call", "shapes:addone", "ones:float32[3]", "out:float32[3]", "--json")
    assert json.loads(said.out)["results"][0]["data"] == [2, 2, 2]
    made = [served.ok("call", "shapes:addone", "rand:float32[99]", "out:float32[99]", "--json").out
            for _ in range(2)]
    assert made[0] == made[1], "the same in every run"


def test_standard_input_is_an_argument(served, tmp_path):
    data = io.BytesIO()
    np.save(data, np.arange(3, dtype="float32"))
    said = served.ok(
        "call", "shapes:addone", "@-", "out:float32[3]", "-o", tmp_path / "y.npy",
        stdin=data.getvalue(),
    )
    assert np.load(tmp_path / "y.npy").tolist() == [1, 2, 3]


def npy_bytes(array, version):
    data = io.BytesIO()
    np.lib.format.write_array(data, array, version=version)
    return data.getvalue()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize(
    "convert", [np.ascontiguousarray, np.asfortranarray, lambda a: a.astype(">f4")]
)
def test_npy_versions_fortran_order_and_big_endian(served, tmp_path, version, convert):
    x = np.arange(35, dtype="float32").reshape(7, 5)
    (tmp_path / "x.npy").write_bytes(npy_bytes(convert(x), version))
    np.save(tmp_path / "one.npy", np.eye(5, dtype="float32"))
    served.ok(
        "call", "shapes:matmul", f"@{tmp_path / 'x.npy'}", f"@{tmp_path / 'one.npy'}",
        "out:float32[7,5]", "-o", tmp_path / "y.npy",
    )
    assert np.load(tmp_path / "y.npy").tolist() == x.tolist()


@pytest.mark.parametrize(
    "array", [np.array([{}, 1], dtype=object), np.zeros(2, [("a", "f4"), ("b", "i4")])]
)
def test_object_and_structured_npy_are_refused(served, tmp_path, array):
    np.save(tmp_path / "x.npy", array, allow_pickle=True)
    said = served.modser("call", "results:count", f"@{tmp_path / 'x.npy'}")
    assert said.status == 2 and "x.npy" in said.err


@pytest.mark.parametrize("cut", [0, 5, 9, 60, 127, 130])
def test_a_cut_npy_is_refused_by_name(served, tmp_path, cut):
    (tmp_path / "x.npy").write_bytes(npy_bytes(np.zeros(3, "f4"), (1, 0))[:cut])
    said = served.modser("call", "results:count", f"@{tmp_path / 'x.npy'}")
    assert said.status == 2 and "x.npy" in said.err


def test_reinterpreting_needs_equal_size(served, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(37, "u1"))
    x = f"@{tmp_path / 'x.npy'}"
    said = served.modser("call", "dtypes:f_bfloat16", f"{x}:bfloat16", f"{x}:bfloat16", "1")
    assert said.status == 2 and "bfloat16" in said.err


@pytest.mark.parametrize("dtype, raw", [("bfloat16", "|V2"), ("float8_e5m2", "|V1")])
def test_foreign_dtypes_are_written_as_void(served, tmp_path, dtype, raw):
    width = int(raw[-1])
    np.save(tmp_path / "x.npy", np.zeros(37, f"u{width}"))
    x = f"@{tmp_path / 'x.npy'}:{dtype}"
    served.ok("call", f"dtypes:f_{dtype}", x, x, f"out:{dtype}[37]", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").dtype.str == raw


@pytest.mark.parametrize(
    "words, status",
    [
        (["ping"], 0),
        (["call", "scalars:weigh", "1"], 1),
        ([], 2),
        (["no-such-verb"], 2),
        (["ping", "--no-such-option"], 2),
        (["call"], 2),
        (["call", "no-colon"], 4),
        (["call", "-bad:name"], 2),
        (["call", f"{'a' * 65}:f"], 2),
        (["load", "x"], 2),
        (["call", "absent:f"], 4),
        (["call", "scalars:absent"], 4),
        (["show", "absent"], 4),
        (["funcs", "absent"], 4),
        (["unload", "absent"], 4),
        (["wait", "absent"], 4),
        (["logs", "absent"], 4),
        (["load", "new", "/no/such/file.so"], 4),
    ],
)
def test_exit_codes(served, words, status):
    said = served.modser(*words)
    assert said.status == status, said
    if status:
        assert said.err.strip(), "says why"


def expect_no_daemon(host):
    said = harness.run(harness.BIN / "modser", "-H", host, "ping")
    assert said.status == 3 and host.split(":", 1)[1].strip("/") in said.err
    assert len(said.err.strip().splitlines()) == 2


def test_no_daemon_is_exit_3_and_names_the_address():
    expect_no_daemon("unix:/no/such/socket")
    with socket.socket() as taken:  # and nobody listens there
        taken.bind(("127.0.0.1", 0))
        expect_no_daemon(f"tcp://127.0.0.1:{taken.getsockname()[1]}")


def test_a_passed_deadline_is_exit_9(served):
    served.load("endless", harness.ZOO / "faults.so")
    said = served.modser("--deadline", "50ms", "call", "endless:loop")
    assert said.status == 9, said
    served.ok("unload", "endless")


def test_an_interrupt_is_exit_130(served):
    served.load("faulty", harness.ZOO / "faults.so")
    with harness.Gate() as gate, harness.started(
        harness.BIN / "modser", "-H", served.host, "call", "faulty:gate", f"str:{gate.path}",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:
        gate.entered()
        process.send_signal(signal.SIGINT)
        assert process.wait(harness.PATIENCE) == 130


def test_modser_host_names_the_daemon(served):
    env = harness.environment() | {"MODSER_HOST": served.host}
    assert harness.run(harness.BIN / "modser", "ping", env=env).status == 0


def test_each_option_of_the_daemon_is_in_its_manual():
    manual = (harness.ROOT / "docs/man/modserd.8").read_text().replace("\\-", "-")
    options = re.findall(r"^  (--[a-z-]+)", harness.run(harness.BIN / "modserd", "--help-all").out, re.M)
    assert len(options) > 40
    assert [option for option in options if f"{option} " not in manual.replace("\n", " ")] == []


def test_a_text_of_several_lines_is_printed_as_such_where_it_is_alone(served, models):
    served.load("told", models / "mlp.so")
    said = served.ok("session", "told", "stats").out
    assert "\\n" not in said and len(said.splitlines()) > 2, said
    both = served.ok("session", "told", "stats", "then", "stats").out
    assert len(both.splitlines()) == 2 and "\\n" in both, both

"""`modser`, verb by verb: their help, other words for them, what they print for people and scripts."""
import json
import os
import re
import shutil
import signal
import subprocess

import harness
import numpy as np
import pytest
from onnx_writer import model, node, value
from wire import Wire

VERBS = "ping ls show funcs load unload wait logs inspect info call".split()


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb):
    said = harness.run(harness.BIN / "modser", verb, "--help")
    assert said.status == 0 and verb in said.out and not said.err


OPTION = re.compile(r"^  (?:-(?P<letter>\w), |    )--(?P<name>[a-z0-9-]+)(?P<value> [A-Z0-9|]+)?", re.M)
CLIENT = harness.ROOT / "client"


def options_of(verb):
    """Of `modser VERB --help`: of each option its match."""
    return list(OPTION.finditer(harness.run(harness.BIN / "modser", verb, "--help").out))


def all_verbs():
    said = harness.run(harness.BIN / "modser", "help").out
    return re.findall(r"^  ([a-z]+) +\w", said.partition("\nOptions:")[0], re.M)


@pytest.mark.parametrize("script", ["modser.bash", "_modser", "modser.fish"])
def test_completion_knows_each_option_that_has_a_value(script):
    """What it does not know it takes the value of for a word."""
    text = (CLIENT / "completion" / script).read_text()
    words = {f"--{o['name']}" for verb in all_verbs() for o in options_of(verb) if o["value"]}
    words |= {f"-{o['letter']}" for verb in all_verbs() for o in options_of(verb) if o["value"] and o["letter"]}
    assert [word for word in sorted(words) if not re.search(rf"(?<![\w-]){word}(?![\w-])", text)] == []


def test_the_manual_has_each_verb_with_its_options():
    text = (harness.ROOT / "docs/man/modser.1").read_text().replace("\\-", "-")
    general, _, rest = text.partition(".SH VERBS")
    verbs = re.split(r"^\.TP\n", rest.partition(".SH ARGUMENTS")[0], flags=re.M)[1:]
    results = rest.partition(".SH RESULTS")[2]
    for verb in all_verbs():
        about = "".join(v for v in verbs if re.match(rf'\.\w+ "?{verb}\b', v))
        assert about, verb
        for o in options_of(verb):
            assert f"--{o['name']}" in about + general + results, (verb, o["name"])


@pytest.mark.parametrize("other, verb", [("ps", "ls"), ("list", "ls")])
def test_other_programs_words_are_known(served, other, verb):
    names = [line.split("\t")[0] for line in served.ok(verb).out.splitlines()]
    assert names == [line.split("\t")[0] for line in served.ok(other).out.splitlines()] != []


def test_rm_takes_several_names_and_tries_all(served):
    for name in ("rm-a", "rm-b"):
        served.load(name, harness.ZOO / "results.so")
    said = served.modser("rm", "rm-a", "rm-none", "rm-b")
    assert said.status == 4 and "rm-none" in said.err
    assert "rm-" not in served.ok("ls").out


def test_several_modules_are_told_apart(served):
    said = served.ok("funcs", "results", "shapes").out
    assert said.startswith("==> results <==\n") and "==> shapes <==\n" in said
    both = [json.loads(line) for line in served.ok("--json", "show", "results", "shapes").out.splitlines()]
    assert [module["name"] for module in both] == ["results", "shapes"]


def test_a_mistyped_module_is_told_what_is_near(served):
    said = served.modser("show", "reslts")
    assert said.status == 4 and "did you mean results?" in said.err


STAGES = "read_ns queue_ns to_worker_ns copy_in_ns run_ns copy_out_ns reply_ns".split()


def test_a_traced_call_says_where_its_time_went(served):
    said = served.ok("call", "results:echo", "5", "--trace")
    assert said.out == "5\n"
    told = {key: int(ns) for key, ns in (line.split("\t") for line in said.err.splitlines())}
    assert list(told) == [*STAGES, "total_ns"]
    assert sum(told[stage] for stage in STAGES) == told["total_ns"] and told["run_ns"] > 0
    trace = json.loads(served.ok("call", "results:echo", "5", "--trace", "--json").out)["trace"]
    assert sum(trace[stage] for stage in STAGES) == trace["total_ns"]


def test_an_untraced_call_says_nothing_of_it(served):
    assert not served.ok("call", "results:echo", "5").err
    assert "trace" not in served.ok("call", "results:echo", "5", "--json").out


@pytest.mark.parametrize(
    "words, said_of",
    [
        ("call shapes:adone x", "did you mean addone?"),
        ("call shapes:something x", "has no function something; it has addone, "),
        ("call shaps:addone x", "did you mean shapes?"),
        ("bench shapes:adone x", "did you mean addone?"),
        ("instance shaps run x", "did you mean shapes?"),
    ],
)
def test_a_name_that_is_not_there_is_told_before_its_arguments(served, words, said_of):
    said = served.modser(*words.split())
    assert said.status == 4 and said_of in said.err and '"x"' not in said.err


def test_a_wrong_argument_of_what_is_there_is_told(served):
    said = served.modser("call", "shapes:addone", "x")
    assert said.status == 2 and 'argument "x"' in said.err


def test_version_is_that_of_both_sides(served):
    assert served.ok("version").out == "modser 0.1.0\nmodserd 0.1.0\n"
    said = harness.run(harness.BIN / "modser", "-H", "unix:/no/such/socket", "version")
    assert said.status == 3 and said.out == "modser 0.1.0\n"


def test_help_and_version():
    said = harness.run(harness.BIN / "modser", "--help")
    assert said.status == 0 and all(verb in said.out for verb in VERBS)
    for program in ("modser", "modserd"):
        said = harness.run(harness.BIN / program, "--version")
        assert said.status == 0 and "0.1.0" in said.out
    said = harness.run(harness.BIN / "modserd", "--help-all")
    assert said.status == 0 and "--listen" in said.out and "--max-upload-size" in said.out


@pytest.mark.parametrize(
    "words",
    [["ping"], ["ls"], ["info"], ["show", "results"], ["funcs", "results"],
     ["call", "results:tuple"], ["call", "results:none"], ["call", "results:str"],
     ["inspect", harness.ZOO / "results.so"]],
)
def test_json_is_one_value_of_json(served, words):
    text = served.ok("--json", *words).out
    _, end = json.JSONDecoder().raw_decode(text)
    assert text[end:].strip() == ""


@pytest.mark.parametrize("words, near", [
    ("ls --hedaer", "--header"), ("call --retyr 1s m:f", "--retry"), ("ls --jsn", "--json"),
    ("load --worker=2 a b", "--workers"), ("--hots unix:x ls", "--host"),
])
def test_a_mistyped_option_is_told_which_of_its_verb_is_near(words, near):
    said = harness.run(harness.BIN / "modser", *words.split())
    assert said.status == 2 and f"did you mean {near}?" in said.err, said


def test_a_mistyped_option_of_the_daemon_is_told_what_is_near(tmp_path):
    said = harness.run(harness.BIN / "modserd", "--lisen", "unix:/x")
    assert said.status == 2 and "did you mean --listen?" in said.err, said
    said = harness.run(harness.BIN / "modserd", "--max-qeued", "3")  # near a former spelling
    assert said.status == 2 and "did you mean --max-reply-buffer?" in said.err, said
    for text, near in (("max-uplaod-size = 3\nmodule m { file = x }\n", "max-upload-size"),
                       ("max-uplaod = 3\n", "max-upload-size"),  # near former spellings
                       ("module m { file = x tvm_input = yes }\n", "ignore-unknown-inputs")):
        (tmp_path / "m.conf").write_text(text)
        said = harness.run(harness.BIN / "modserd", "--check-config", tmp_path / "m.conf")
        assert said.status == 2 and f"did you mean {near}?" in said.err, said


def test_stats_of_a_mistyped_module_is_told_what_is_near(served):
    said = served.modser("stats", "reslts")
    assert said.status == 4 and "did you mean results?" in said.err, said


@pytest.mark.parametrize("words, said_of", [
    ("monitor reslts", "did you mean results?"),
    ("load --format onx odd /etc/hostname", "to do: correct what the text names; `modser help load`"),
    ("acl dry-run me call", "to do: follow the text, or ask the daemon's operator"),
    ("store", "modser store [-C DIR] ls|verify|prune | pin|unpin|rm NAME"),
    (f"load {harness.ZOO}/results.so new", "to do: the NAME comes first, then the FILE"),
    ("store sl", "modser store ls|verify|prune, or pin|unpin|rm NAME"),
])
def test_the_advice_is_about_what_was_asked(served, words, said_of):
    said = served.modser(*words.split())
    assert said.status != 0 and said_of in said.err, said


def test_a_file_that_is_not_there_is_named_once(tmp_path):
    said = harness.run(harness.BIN / "modser", "convert", tmp_path / "no.tar", "-o", tmp_path / "x.so")
    assert said.status == 4 and said.err.count("no.tar") == 1, said


def test_errors_are_json_too(served):
    said = served.modser("--json", "call", "absent:f")
    assert said.status == 4
    assert "NOT_FOUND" in said.out + said.err


def test_a_pipe_gets_plain_lines(served):
    lines = served.ok("ls").out.splitlines()
    assert all("\x1b" not in line for line in lines)
    assert sum(line.startswith("results") for line in lines) == 1


def test_ls_has_a_few_columns_whose_keys_a_script_may_ask_for(served):
    served.ok("call", "results:int")
    head, *rows = [line.split("\t") for line in served.ok("ls", "--header").out.splitlines()]
    keys = "name state device rss_bytes calls errors p50_ns p99_ns busy_ms next watch_ms sleeps_ms config error"
    assert head == keys.split()
    row = next(dict(zip(head, row)) for row in rows if row[0] == "results")
    assert row["state"] == "READY" and row["device"] == "cpu:0" and int(row["calls"]) > 0
    assert 0 < int(row["p50_ns"]) <= int(row["p99_ns"])


def test_ls_l_has_the_rest(served):
    head = served.ok("ls", "-l", "--header").out.splitlines()[0].split("\t")
    assert {"pid", "restarts", "in_flight", "queued", "workers", "ready", "functions", "file"} <= set(head)


def bench(served, *words):
    return json.loads(served.ok("--json", "bench", "--time", "200ms", *words).out)


def test_bench_makes_its_inputs_of_the_signature(served):
    said = bench(served, "shapes:addone")
    assert said["calls"] > 0
    assert 0 < said["p50_ns"] <= said["p90_ns"] <= said["p99_ns"] <= said["p999_ns"]
    assert 0 < said["execution_p50_ns"] < said["p999_ns"] and 0 <= said["execution_percent"] <= 100
    assert said["ping_ns"] > 0
    assert said["to_worker_mean_ns"] > 0 and said["queue_mean_ns"] >= 0, "where the time went"


def test_bench_takes_arguments_connections_and_a_depth(served):
    said = bench(served, "-c", "3", "--depth", "4", "shapes:addone", "[1,2]", "out:float32[2]")
    assert (said["connections"], said["depth"]) == (3, 4)


@pytest.mark.parametrize("line", ["-d 4 bench shapes:addone", "bench shapes:addone -d4"])
def test_the_letter_of_a_depth_is_benchs_and_elsewhere_that_of_a_folder(served, line):
    said = served.ok("--json", "--time", "200ms", *line.split())
    assert json.loads(said.out)["depth"] == 4
    said = served.modser("bench", "--dir", "4", "shapes:addone")
    assert said.status == 2 and "bench does not have the option --dir" in said.err, said
    said = served.modser("call", "-d", "4", "shapes:addone")
    assert said.status == 2 and "call does not have the option -d" in said.err, said


def test_bench_of_a_function_that_takes_longer_than_the_time_has_a_call(served):
    served.load("slow", harness.ZOO / "faults.so", "--replace")
    said = json.loads(served.ok("--json", "bench", "--time", "10ms", "slow:slow", "30").out)
    assert said["calls"] > 0 and said["p50_ns"] >= 30_000_000
    assert 0 < said["per_second"] <= 1000 / 30 and said["run_mean_ns"] >= 30_000_000


def test_bench_of_no_call_is_no_success(served):
    said = served.modser("bench", "--rate", "1", "--time", "1ms", "shapes:addone")
    assert said.status == 2 and "no call was due in 1 ms" in said.err and not said.out, said


def test_bench_at_a_rate_says_what_became_of_each_call(served):
    said = json.loads(served.ok("--json", "bench", "--rate", "500", "--time", "200ms", "-c", "2",
                                "--deadline", harness.LONG, "shapes:addone").out)
    assert 50 < said["due"] < 150 and said["connections"] == 2, "as many as fall due in the time"
    assert said["in_time"] == said["due"] and said["p99_ns"] > 0
    assert not any(said[key] for key in ("late", "refused", "expired", "unsent"))


def test_bench_at_a_rate_counts_what_expires(served):
    with harness.Gate() as gate, Wire(served.host) as wire:
        served.load("held", harness.ZOO / "faults.so", "--replace")
        held = wire.start("call", "held:gate", gate.path)
        gate.entered()
        told = served.modser("--json", "bench", "--rate", "500", "--time", "200ms", "--deadline", "20ms", "held:ok", "1")
        assert told.status == 5, told
        said = json.loads(told.out)
        assert said["expired"] == said["due"] > 0 and said["in_time"] == 0
        assert "no call was answered" in said["doubts"]
        gate.open()
        wire.finish(held)


def test_bench_has_a_rate_or_a_depth(served):
    said = served.modser("bench", "--rate", "5", "--depth", "2", "shapes:addone")
    assert said.status == 2 and "omit one of them" in said.err


def test_bench_says_so_when_others_call_the_module(served):
    def sees_others():
        said = bench(served, "results:int", "1")["doubts"]
        return said is not None and "other clients called the module" in said

    with harness.started(
        harness.BIN / "modser", "-H", served.host, "bench", "--time", "10m", "results:int", "1",
        stdout=subprocess.DEVNULL,
    ):
        harness.until(sees_others, "others are seen")


def test_show_says_each_fact_once_and_json_all(served):
    said = served.ok("show", "shapes").out
    for fact in ("machine", "era", "functions"):
        assert not re.search(rf"^inspect\.text\t{fact} ", said, re.M), fact
    assert said.count("addone(A: Tensor([n], float32), B: Tensor([n], float32))") == 1
    assert re.search(r"^inspect\.text\tmodules", said, re.M) and "\nmachine\tx86-64\n" in said
    whole = json.loads(served.ok("--json", "show", "shapes").out)
    assert "\nmachine " in whole["inspect"]["text"]


def test_bench_ends_when_its_daemon_is_lost(own_daemon):
    daemon = own_daemon()
    daemon.load("results", harness.ZOO / "results.so")

    def calls(wire):
        return wire.ask("module.list")[0]["calls"]

    with harness.started(
        harness.BIN / "modser", "-H", daemon.host, "bench", "-c", "2", "--depth", "4",
        "--time", "10m", "results:int", "1", stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:
        with Wire(daemon.host) as wire:
            harness.until(lambda: calls(wire) > 100, "it is on")
        # One that is asked to end may still answer a call, as may a worker that dies before it.
        os.kill(daemon.pid, signal.SIGKILL)
        assert process.wait(harness.PATIENCE) == 3
        assert b"modserd" in process.stderr.read()
    daemon.process.wait(harness.PATIENCE)
    harness.until(lambda: not daemon.processes(), "its workers end with it")
    daemon.kill()


def test_bench_of_a_function_that_is_not_there_names_what_is_near(served):
    said = served.modser("bench", "tuples:nestde")
    assert said.status == 4 and "near it: nested" in said.err, said


def test_bench_fails_as_a_call_does(served):
    assert served.modser("bench", "absent:f").status == 4
    assert served.modser("bench", "shapes:none").status == 4
    assert served.modser("bench", "results:int").status == 2, "no signature, no arguments"


def test_the_method_table_is_printed(served):
    said = harness.run(harness.BIN / "modserd", "--api")
    assert said.status == 0
    for method in ("session.hello", "module.load", "call", "tensor.alloc"):
        assert method in said.out


def test_inspect_needs_no_daemon_and_runs_nothing():
    said = harness.run(
        harness.BIN / "modser", "-H", "unix:/no/such", "inspect",
        harness.ZOO / "constructor_exit.so",
    )
    assert said.status == 0 and "ok" in said.out


def completed(served, line, shell="bash"):
    """What a shell offers behind @line."""
    env = harness.environment() | {"PATH": f"{harness.BIN}:{os.environ['PATH']}"}
    env["MODSER_HOST"] = served.host
    script = {
        "bash": "source <(modser completion bash); COMP_LINE=$0; COMP_POINT=${#0}; "
        "_modser modser; printf '%s\\n' \"${COMPREPLY[@]}\"",
        "fish": "modser completion fish | source; complete -C $argv[1] | cut -f1",
    }[shell]
    said = harness.run(shell, "-c", script, line, env=env)
    return set(said.out.split())


@pytest.mark.parametrize("shell", ["bash", "fish"])
def test_completion_offers_verbs_options_modules_and_functions(served, shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on this machine: its completion is not tested")
    assert completed(served, "modser ", shell) >= set(VERBS) | {"session", "completion"}
    assert completed(served, "modser sh", shell) == {"show"}
    assert completed(served, "modser show ", shell) >= {"results", "tuples"}
    assert completed(served, "modser funcs tup", shell) == {"tuples"}
    assert {"--replace", "--graph", "--host"} <= completed(served, "modser load --", shell)
    pair = "pair" if shell == "bash" else "tuples:pair"  # bash puts it behind the colon
    assert completed(served, "modser call tuples:pai", shell) == {pair}
    assert "out:" in completed(served, "modser call tuples:pair ", shell)
    assert "then" in completed(served, "modser instance results run ", shell)
    if " " not in served.host:  # where the completion takes lines apart
        elsewhere = f"modser -H {served.host} unload sca"
        assert completed(served, elsewhere, shell) == {"scalars"}


def test_signatures_are_listed(served):
    out = served.ok("funcs", "scalars").out
    assert "scale" in out and "float32" in out and "16" in out


def test_info_prints_the_sections_that_are_asked_for(served):
    whole = json.loads(served.ok("--json", "info").out)
    some = json.loads(served.ok("--json", "info", "limits", "pid").out)
    assert some == {"limits": whole["limits"], "pid": whole["pid"]}
    assert served.ok("info", "pid").out == f"pid\t{whole['pid']}\n"
    lines = served.ok("info", "limits").out.splitlines()
    assert lines and all(line.startswith("limits.") for line in lines)


def test_info_names_the_sections_when_there_is_none_of_a_name(served):
    said = served.modser("info", "limit")
    assert said.status == 2 and "info limit: " in said.err and "limits" in said.err


def relu(folder):
    path = folder / "relu.onnx"
    ends = [value(name, "float32", [3]) for name in "xy"]
    path.write_bytes(model([node("Relu", ["x"], ["y"])], ends[:1], ends[1:]))
    return path


def test_a_call_of_a_module_is_a_call_of_its_model(served, tmp_path):
    np.save(tmp_path / "x.npy", np.float32([-1, 0, 2]))
    served.load("one", relu(tmp_path))
    assert json.loads(served.ok("--json", "show", "one").out)["model"] == "run"
    served.ok("call", "one", f"@{tmp_path / 'x.npy'}", "-o", tmp_path / "y.npy")
    assert np.load(tmp_path / "y.npy").tolist() == [0, 0, 2]
    assert "per_second" in served.ok("bench", "--time", "20ms", "one").out
    said = served.modser("call", "one", "1")
    assert said.status == 1 and "rand:float32[3]" in said.err, "the signature is known"
    served.ok("unload", "one")


def test_a_module_without_a_model_is_told_with_its_functions(served):
    said = served.modser("call", "results")
    assert said.status == 2
    assert "results has no function that is its model; it has: " in said.err and "echo" in said.err
    assert json.loads(served.ok("--json", "show", "results").out)["model"] is None
    said = served.modser("call", "nothing-here")
    assert said.status == 4 and "nothing-here" in said.err
    said = served.modser("call", "no/name")
    assert said.status == 2 and '"no/name" is not NAME or NAME:FUNC' in said.err


def test_a_reader_that_has_left_ends_modser_quietly():
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run([harness.BIN / "modser", "help"], stdout=write,
                              stderr=subprocess.PIPE, timeout=harness.PATIENCE)
    finally:
        os.close(write)
    assert done.returncode == -signal.SIGPIPE and done.stderr == b""

"""What modser advises when arguments do not fit: it names the word and the edit, and who does as it
says has a call that runs."""
import os
import pathlib
import re
import shlex
import subprocess
import sys

import harness
import numpy as np
import pytest
from test_fixtures import need


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("advice")
    x = np.arange(4, dtype="f4")
    for name, array in {"x": x, "x64": x.astype("f8"), "row": x.reshape(1, 4), "square": np.ones((3, 5), "f4"),
                        "table": np.ones((1, 32))}.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def advice_of(said):
    assert said.status == 1 and "BAD_ARGUMENT" in said.err, said
    return re.search(r"to do: (.*)", said.err)[1]


def followed(words, advice, folder):
    """@words with the edit that @advice tells, as a person with a shell makes it."""
    if convert := re.fullmatch(r"convert it: (python3 -c .*); then write (\S+) in place of (\S+)", advice):
        path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
        subprocess.run(["sh", "-c", convert[1]], cwd=folder, check=True, env=os.environ | {"PATH": path})
        return [convert[2] if word == convert[3] else word for word in words]
    if whole := re.fullmatch(r"write modser (call .*)", advice):
        return shlex.split(whole[1])
    if more := re.fullmatch(r"add (\S+)", advice):
        return [*words, more[1]]
    if name := re.fullmatch(r"write (\S+=) in place of (\S+=)", advice):
        return [name[1] + word.removeprefix(name[2]) if word.startswith(name[2]) else word for word in words]
    edit = shlex.split(re.fullmatch(r"in place of (.*?)(, or .*)?", advice)[1])
    assert edit[1] == "write" and len(edit) == 3, advice
    return [edit[2] if word == edit[0] else word for word in words]


@pytest.mark.parametrize("words", [
    "shapes:addone @x64.npy out:float32[4]",
    "shapes:addone @row.npy out:float32[4]",
    "shapes:addone @x.npy out:float64[4]",
    "shapes:addone float64:[1,2] out:float32[2]",
    "shapes:addone zeros:int8[3] out:float32[3]",
    "shapes:addone ones:float32[1,3] out:float32[3]",
    "shapes:addone 3 out:float32[3]",
    "shapes:addone str:x out:float32[3]",
    "shapes:addone @x.npy",
    "shapes:addone @x.npy out:float32[4] 5",
    "shapes:addone A=@x.npy",
    "shapes:addone A=@x.npy C=out:float32[4]",
    "shapes:addone A=zeros:float64[4] B=out:float32[4]",
])
def test_who_follows_the_advice_has_a_call_that_runs(served, files, words, monkeypatch):
    monkeypatch.chdir(files)
    line = ["call", *words.split()]
    for _ in range(2):  # of two things the first is told first
        said = served.modser(*line)
        if said.status == 0:
            break
        line = followed(line, advice_of(said), files)
    assert served.modser(*line).status == 0, line


def test_what_no_edit_can_mend_says_what_is_wanted(served, files, monkeypatch):
    monkeypatch.chdir(files)
    said = served.modser("call", "shapes:addone", "@square.npy", "out:float32[4]")
    assert advice_of(said) == "in place of @square.npy give a tensor of float32[4]"


@pytest.mark.parametrize("words, said_of", [
    ("2.5 3.5", "in place of 3.5 write an integer, such as 2"),
    ("2.5 3.0", "in place of 3.0 write 3"),
    ("str:x 3", "in place of str:x write a number, such as 2.5"),
    ("2.5 99999999999", "in place of 99999999999 write an integer, such as 2, that int32 holds"),
])
def test_a_number_of_another_kind_is_told_which(daemon, fixtures, words, said_of):
    daemon.load("multi", need(fixtures / "tvm-0.27", "multi.so"), "--replace")
    said = daemon.modser("call", "multi:scale", "ones:float32[64]", *words.split(), "out:float32[64]")
    assert advice_of(said) == said_of


def test_what_no_signature_tells_leads_to_the_module_that_was_called(served, files):
    said = served.modser("call", "shapes:addone", "zeros:float32[4]", "zeros:float32[4]")
    assert "give out:float32[4] instead" in said.err, said
    assert advice_of(said) == "follow the text; `modser funcs shapes` has the signatures"


def test_bench_and_instance_advise_as_a_call_does(served, models, files, monkeypatch):
    monkeypatch.chdir(files)
    said = served.modser("bench", "--time", "50ms", "shapes:addone", "zeros:float64[4]", "out:float32[4]")
    assert advice_of(said) == "in place of zeros:float64[4] write zeros:float32[4]"
    served.load("mlp", models / "mlp.so")
    said = served.modser("session", "mlp", "set_input", "str:main", "zeros:float64[2,16]")
    assert advice_of(said) == "in place of zeros:float64[2,16] write zeros:float32[2,16]"
    said = served.modser("session", "mlp", "set_input", "str:mian", "zeros:float32[2,16]")
    assert "has no function mian; it has: main" in said.err, said

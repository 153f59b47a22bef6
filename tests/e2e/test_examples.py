"""The examples in C, run against a real daemon."""
import harness
import pytest


@pytest.mark.parametrize("program, words, said", [
    ("example_call", ["shapes:addone", "5"], "4: 4 -> 5\n"),
    ("example_poll", ["shapes:addone", "200"], "200 calls, 0 failed\n"),
    ("example_uv", [], "5 modules\n"),
])
def test_an_example_does_what_its_head_says(served, program, words, said):
    env = harness.environment() | {"MODSER_HOST": served.host}
    done = harness.run(harness.BIN / program, *words, env=env)
    assert done.status == 0 and done.out.endswith(said), done


def test_an_example_says_why_a_call_failed(served):
    env = harness.environment() | {"MODSER_HOST": served.host}
    done = harness.run(harness.BIN / "example_poll", "shapes:none", "3", env=env)
    assert done.status == 1 and done.err.count("NOT_FOUND") == 3, done
    assert done.out == "3 calls, 3 failed\n"

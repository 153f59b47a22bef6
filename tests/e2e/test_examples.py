"""The examples in C, run against a real daemon."""
import subprocess

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


def test_an_example_calls_on_after_a_restart(own_daemon, tmp_path):
    options = ("--load", f"results={harness.ZOO / 'results.so'}")
    listen = [f"unix:{tmp_path}/m.sock"]
    daemon = own_daemon(*options, listen=listen)
    daemon.ok("wait", "results")
    command = (harness.BIN / "example_reconnect", listen[0], "results:int", "3")
    with harness.started(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as caller:
        assert caller.stdout.readline() == b"2 to do\n"
        daemon.stop()
        assert b":" in caller.stderr.readline(), "a call that failed"
        own_daemon(*options, listen=listen)
        assert caller.stdout.read() == b"1 to do\n0 to do\n"
        assert caller.wait() == 0

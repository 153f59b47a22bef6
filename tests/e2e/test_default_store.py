"""A daemon to which nobody has named a store: it has one in its user's home, or goes without."""
import harness
import pytest
from wire import Wire

RESULTS = harness.ZOO / "results.so"
GOES_WITHOUT = "the daemon runs without a store: choose another with --store DIR"


@pytest.fixture
def start(own_daemon, folder):
    """start(): one of the user whose state is in that folder."""
    env = {"MODSERD_STORE": "", "XDG_STATE_HOME": str(folder / "a/b")}
    return lambda *words: own_daemon(*words, env=env)


def test_what_is_kept_is_there_again_and_nobody_elses(start, folder):
    first = start()
    first.ok("load", "--keep", "m", RESULTS)
    assert (folder / "a/b/modserd/modules/m").exists()
    assert (folder / "a").stat().st_mode & 0o777 == 0o700
    first.stop()
    with Wire(start().host) as wire:
        wire.ask("module.wait", "m")
        assert wire.call("m:int")[1] == -42


def test_the_second_daemon_of_a_user_goes_without_and_says_so(start):
    first, second = start(), start()
    assert GOES_WITHOUT not in first.log()
    second.expect_logged(GOES_WITHOUT)
    second.expect_logged("another process writes to it")
    said = second.modser("load", "--keep", "m", RESULTS)
    assert said.status == 8 and "this daemon has no store" in said.err, said
    second.ok("load", "m", RESULTS)


def test_a_home_that_cannot_be_written_keeps_no_daemon_from_serving(start, folder):
    (folder / "a").touch()
    daemon = start()
    daemon.expect_logged(GOES_WITHOUT)
    daemon.ok("load", "m", RESULTS)


def test_none_is_no_folder(start, folder):
    daemon = start("--store", "none")
    assert "event=store_failed" not in daemon.log() and not (folder / "a").exists()
    assert daemon.modser("store", "ls").status == 1


def test_a_store_that_was_named_must_be_there_for_it(own_daemon, folder):
    own_daemon("--store", folder / "s")
    said = harness.run(harness.BIN / "modserd", "--listen", f"unix:{folder}/x.sock",
                       "--store", folder / "s", timeout=harness.PATIENCE)
    assert said.status == 1 and "another process writes to it" in said.err, said

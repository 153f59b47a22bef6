"""Configuration that is read again by a daemon that serves: as a whole or not at all."""
import signal
import socket

import harness
import pytest
from wire import Failure, Wire

FAULTS = harness.ZOO / "faults.so"
RESULTS = harness.ZOO / "results.so"


@pytest.fixture
def served(folder, own_daemon):
    """served(text): a daemon whose file says that; the file."""

    def start(text, *words):
        conf = folder / "m.conf"
        conf.write_text(text)
        return own_daemon("--config", conf, *words), conf

    return start


def states(wire):
    return {(c["key"], c["name"]): c["state"] for c in wire.ask("server.reload")}


def test_nothing_differs_when_nothing_was_written(served):
    daemon, _ = served("max-upload-size = 1M\n")
    with Wire(daemon.host) as wire:
        assert wire.ask("server.reload") == []


def test_limits_are_taken_over_at_once(served):
    daemon, conf = served("max-upload-size = 1M\n")
    conf.write_text("max-upload-size = 2M\nthreads = 3\n")
    with Wire(daemon.host) as wire:
        assert states(wire) == {("max-upload-size", ""): "changed", ("threads", ""): "changed"}
        assert wire.ask("server.info")["limits"]["max-upload-size"] == 2 << 20
        assert states(wire) == {}


def test_a_limit_below_what_is_taken_is_kept_to(served):
    daemon, conf = served("max-upload-memory = 1M\n")
    with Wire(daemon.host) as wire:
        wire.ask("module.upload", "begin", 1 << 20)
        conf.write_text("max-upload-memory = 64K\n")
        assert states(wire) == {("max-upload-memory", ""): "changed"}
        for nbytes in (1, 32 << 10, 2 << 20):
            with pytest.raises(Failure, match="NO_SPACE.*max-upload-memory"):
                wire.ask("module.upload", "begin", nbytes)


def test_more_handles_than_can_be_counted_are_all_that_can_be(served):
    daemon, _ = served("max-handles = 4G\n")
    with Wire(daemon.host) as wire:
        upload = wire.ask("module.upload", "begin", 1 << 10)
        assert wire.ask("module.upload", "abort", upload) is None


def test_a_limit_that_is_gone_has_its_default_again(served):
    daemon, conf = served("max-concurrent-uploads = 3\nmax-upload-memory = 5M\n")
    conf.write_text("# nothing\n")
    with Wire(daemon.host) as wire:
        before = wire.ask("server.info")["limits"]
        assert len(states(wire)) == 2
        after = wire.ask("server.info")["limits"]
    assert (before["max-concurrent-uploads"], after["max-concurrent-uploads"]) == (3, 8)
    assert before["max-upload-memory"] == 5 << 20 < after["max-upload-memory"]


def test_what_waits_for_a_restart_is_told_until_then(served):
    daemon, conf = served("max-memory = 64M\n")
    conf.write_text("max-memory = 32M\n")
    with Wire(daemon.host) as wire:
        for _ in range(2):
            assert states(wire) == {("max-memory", ""): "waits for a restart"}
        assert wire.ask("server.info")["limits"]["max-memory"] == 64 << 20


def test_modules_come_change_and_go(served):
    one, two = f"module one {{ file = {RESULTS} }}\n", f"module two {{ file = {RESULTS} }}\n"
    daemon, conf = served(one + two)
    conf.write_text(f"module two {{ file = {RESULTS} workers = 2 }}\nmodule three {{ file = {FAULTS} }}\n")
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "two")
        assert states(wire) == {
            ("module", name): "changed" for name in ("one", "two", "three")
        }
        wire.ask("module.wait", "three")

        def workers():
            return {m["name"]: m["workers"] for m in wire.ask("module.list")}

        harness.until(lambda: workers() == {"two": 2, "three": 1}, "one is gone, two has two")


def test_a_module_that_did_not_change_stays(served):
    one = f"module one {{ file = {RESULTS} }}\n"
    daemon, conf = served(one)
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "one")
        before = daemon.workers()
        conf.write_text("# another comment\n\n" + one)
        assert states(wire) == {}
        assert daemon.workers() == before


def test_a_wrong_file_changes_nothing(served):
    one = f"module one {{ file = {RESULTS} }}\n"
    daemon, conf = served("max-upload-size = 1M\n" + one)
    conf.write_text("max-upload-size = 2M\n\nmax-uplaods = 3\n")
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match=f"{conf}:3: no such option 'max-uplaods'"):
            wire.ask("server.reload")
        assert wire.ask("server.info")["limits"]["max-upload-size"] == 1 << 20
        wire.ask("module.wait", "one")
    daemon.expect_logged(f"event=config_reload why=\"{conf}:3")


def test_the_command_line_still_wins(served):
    daemon, conf = served("max-upload-size = 1M\n", "--max-upload-size", "3M")
    conf.write_text("max-upload-size = 2M\n")
    with Wire(daemon.host) as wire:
        assert states(wire) == {}


def section(name, **keys):
    words = "".join(f" {k} = {v}" for k, v in keys.items())
    return f"module {name} {{ file = {RESULTS}{words} }}\n"


def workers(wire):
    return {m["name"]: m["workers"] for m in wire.ask("module.list")}


def words(wire):
    return {m["name"]: m["config"] for m in wire.ask("module.list")}


def test_the_last_of_quick_changes_is_what_serves(served):
    daemon, conf = served(section("m", workers=1))
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "m")
        said = []
        for n in (2, 1, 4, 2, 1, 3):
            conf.write_text(section("m", workers=n))
            said.append(states(wire)[("module", "m")])
        assert said[0] == "changed" and said[-1] == "waits", said
        harness.until(lambda: workers(wire) == {"m": 3}, "three workers serve")
        harness.until(lambda: words(wire) == {"m": None}, "nothing differs")
        assert states(wire) == {}


def test_what_waits_is_told_until_it_is_done(served):
    daemon, conf = served(section("m", workers=1))
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "m")
        conf.write_text(section("m", workers=2))
        assert states(wire) == {("module", "m"): "changed"}
        conf.write_text(section("m", workers=3))
        assert states(wire) == {("module", "m"): "waits"}
        assert words(wire)["m"] == "waits"
        assert states(wire) == {("module", "m"): "waits"}
        harness.until(lambda: words(wire) == {"m": None}, "it is done")


def test_a_change_of_what_is_being_unloaded_is_done_behind_it(served):
    faults = f"module m {{ file = {FAULTS} workers = %d }}\n"
    daemon, conf = served(faults % 1)
    with harness.Gate() as gate, Wire(daemon.host) as wire, Wire(daemon.host) as other:
        wire.ask("module.wait", "m")
        call = other.start("call", "m:gate", gate.path)
        gate.entered()
        conf.write_text("# nothing\n")
        assert states(wire) == {("module", "m"): "changed"}
        conf.write_text(faults % 2)
        assert states(wire) == {("module", "m"): "waits"}
        assert words(wire) == {"m": "waits"}
        gate.open()
        other.finish(call)
        harness.until(lambda: workers(wire) == {"m": 2}, "it is back, as it is said now")


def test_a_place_that_is_about_to_be_free_is_waited_for(served):
    daemon, conf = served("max-modules = 1\n" + section("one"))
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "one")
        conf.write_text("max-modules = 1\n" + section("two"))
        said = states(wire)
        assert said == {("module", "one"): "changed", ("module", "two"): "waits"}
        harness.until(lambda: workers(wire) == {"two": 1}, "two has the place of one")


def test_what_failed_is_begun_again_by_the_next_reload(served, folder):
    late = folder / "late.so"
    daemon, conf = served(section("m"))
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "m")
        conf.write_text(f"module m {{ file = {late} }}\n")
        assert states(wire) == {("module", "m"): "changed"}
        harness.until(lambda: words(wire) == {"m": "failed"}, "there is no such file")
        late.write_bytes(RESULTS.read_bytes())
        assert states(wire) == {("module", "m"): "again"}
        harness.until(lambda: words(wire) == {"m": None}, "it is there")
        assert states(wire) == {}


def test_what_failed_at_the_start_is_begun_again_by_a_reload(served, folder):
    late = folder / "late.so"
    daemon, conf = served(f"module m {{ file = {late} }}\n")
    with Wire(daemon.host) as wire:
        harness.until(lambda: wire.ask("module.list")[0]["state"] == "FAILED", "no such file")
        late.write_bytes(RESULTS.read_bytes())
        assert states(wire) == {("module", "m"): "again"}
        assert wire.ask("module.wait", "m")["state"] == "READY"


def test_what_was_loaded_by_hand_stays_and_is_told(served):
    daemon, conf = served(section("m"))
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "m")
        daemon.ok("load", "m", FAULTS, "--replace")
        assert states(wire) == {}
        assert words(wire) == {"m": "differs"}
    assert "differs" in daemon.ok("ls").out


@pytest.mark.parametrize("text, why", [
    ("", "is empty"),
    ("max-upload-size = 2M\nmax-concurrent-uploads = 7", "m.conf:2: the last line has no newline"),
    ("max-upload-size = 2M", "m.conf:1: the last line has no newline"),
])
def test_a_file_that_is_cut_changes_nothing(served, text, why):
    daemon, conf = served("max-upload-size = 1M\n")
    conf.write_text(text)
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match=why):
            wire.ask("server.reload")
        assert wire.ask("server.info")["limits"]["max-upload-size"] == 1 << 20


def test_an_empty_drop_in_changes_nothing(served, folder):
    daemon, conf = served("max-upload-size = 1M\n")
    (folder / "modules.d").mkdir()
    (folder / "modules.d" / "a.conf").touch()
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="a.conf: the file is empty"):
        wire.ask("server.reload")


def test_rights_do_not_vanish_by_a_reload(served, folder):
    acl = folder / "acl"
    acl.write_text("# only the operator\nend\n")
    daemon, conf = served(f"acl = {acl}\n")
    conf.write_text("max-upload-size = 2M\n")
    with Wire(daemon.host) as wire:
        with pytest.raises(Failure, match=f"the line acl = is missing.*acl = {acl}"):
            wire.ask("server.reload")


def test_the_null_device_is_a_configuration_of_nothing(own_daemon):
    daemon = own_daemon("--config", "/dev/null")
    with Wire(daemon.host) as wire:
        assert wire.ask("server.reload") == []


def test_a_hangup_reads_it_again(served):
    daemon, conf = served("max-upload-size = 1M\n")
    conf.write_text("max-upload-size = 2M\n")
    daemon.process.send_signal(signal.SIGHUP)
    harness.until(lambda: "event=config_reload changes=1" in daemon.log(), "it was read again")
    with Wire(daemon.host) as wire:
        assert wire.ask("server.info")["limits"]["max-upload-size"] == 2 << 20


def test_modser_lists_what_differs(served):
    daemon, conf = served("max-upload-size = 1M\nmax-memory = 64M\n")
    conf.write_text("max-upload-size = 2M\nmax-memory = 32M\n")
    lines = daemon.ok("reload").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["max-upload-size", "max-memory"]
    assert "waits for a restart" in lines[1]


def test_modser_names_the_fault(served):
    daemon, conf = served("")
    conf.write_text("module m {\n")
    said = daemon.modser("reload")
    assert said.status == 1 and str(conf) in said.err and "is not closed" in said.err


def test_over_tcp_only_who_may_load_may_reload(served, own_daemon):
    daemon = own_daemon(listen=["tcp://127.0.0.1:0"])
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="is disabled over TCP"):
        wire.ask("server.reload")


def test_the_service_manager_is_told_of_it(folder, own_daemon):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(folder / "notify"))
        s.settimeout(harness.PATIENCE)
        daemon = own_daemon(env={"NOTIFY_SOCKET": s.getsockname()})
        with Wire(daemon.host) as wire:
            assert wire.ask("server.reload") == []
        lines = []
        while lines.count("READY=1") < 2:
            lines += s.recv(4096).decode().splitlines()
    assert [l for l in lines if l.endswith("=1")] == ["READY=1", "RELOADING=1", "READY=1"]

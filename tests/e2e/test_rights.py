"""Who may do what by a file of rights: every identity, method and module; whose the identities
are; when a change counts."""
import hashlib
import signal

import harness
import msgpack
import numpy as np
import pytest
from rights import (
    MODULES,
    NAME,
    OF_FUNCTIONS,
    REQUESTS,
    RIGHTS,
    USERS,
    User,
    connect,
    expect_rights,
    lines,
    methods,
    refused,
    request,
    token_of,
    whole,
)
from wire import DTYPE, Closed, Failure, Wire, shape_ext

RESULTS = harness.ZOO / "results.so"

@pytest.fixture
def start(folder, own_daemon):
    """start(text, word...): a daemon with these rights on a unix socket and on TCP; the file."""

    def run(text, *words):
        acl = folder / "rights.acl"
        acl.write_text(text)
        acl.chmod(0o644)
        return (
            own_daemon("--acl", acl, *words, listen=[f"unix:{folder}/s", "tcp://127.0.0.1:0"]),
            acl,
        )

    return run


def test_every_method_of_the_table_has_a_request():
    assert set(methods()) == set(REQUESTS)


def test_every_identity_method_and_module_over_a_unix_socket(start):
    daemon, _ = start(lines(USERS))
    daemon.load("mine", RESULTS)
    daemon.load("theirs", RESULTS)
    for user in USERS:
        with connect(daemon, user.name) as wire:
            expect_rights(wire, user)
    operator = User("operator", RIGHTS)
    with Wire(daemon.host) as wire:  # with nothing but the kernel's word
        expect_rights(wire, operator)
        assert {m["name"] for m in wire.ask("module.list")} == {"mine", "theirs"}


@pytest.mark.parametrize("allow", [False, True])
@pytest.mark.parametrize("names", [(), ("mine*/*",)])
def test_every_method_and_module_over_tcp(start, allow, names):
    anonymous = User("anonymous", RIGHTS, names)
    daemon, _ = start(whole(anonymous.line()), *(["--allow-load-tcp"] if allow else []))
    daemon.load("mine", RESULTS)
    daemon.load("theirs", RESULTS)
    with Wire(daemon.hosts[1]) as wire:
        expect_rights(wire, anonymous, () if allow else ("load", "read", "admin"))


def test_who_shows_nothing_may_ping(start):
    daemon, _ = start(lines(USERS))
    with Wire(daemon.hosts[1]) as wire:
        expect_rights(wire, User("anonymous", []))
        assert wire.ask("acl.whoami")["user"] == "anonymous"
    said = daemon.modser("ls", host=daemon.hosts[1])
    assert said.status == 6 and "REFUSED" in said.err, said


def test_only_what_one_may_look_at_is_listed(start):
    daemon, _ = start(lines(USERS))
    daemon.load("mine", RESULTS)
    daemon.load("theirs", RESULTS)
    with connect(daemon, "mine") as wire:
        assert [m["name"] for m in wire.ask("module.list")] == ["mine"]


def test_a_token_is_taken_over_no_transport_that_others_read(start):
    daemon, _ = start(lines(USERS))
    with pytest.raises(Failure, match="REFUSED.*unix sockets"):
        connect(daemon, "all", daemon.hosts[1])


def test_wrong_tokens_make_their_own_peer_wait(start):
    daemon, _ = start(lines(USERS))
    answers = []
    while "BUSY" not in answers and len(answers) < 12:  # a slow guesser need not wait yet
        # From connections of their own: it is the peer that is counted.
        with Wire(daemon.host) as wire, pytest.raises(Failure) as caught:
            wire.ask("session.hello", {"token": "guessed"})
        answers.append(caught.value.name)
    assert answers[:5] == ["REFUSED"] * 5 and answers[-1] == "BUSY", answers
    with Wire(daemon.host) as wire:
        wire.ask("ping")  # only tokens wait
        assert wire.ask("acl.whoami")["user"] == "operator"


def test_a_change_counts_from_the_next_request_on(start):
    before = User("app", ["call", "lookup"], ["mine/*"])
    daemon, acl = start(lines([before]))
    daemon.load("mine", RESULTS)
    with connect(daemon, "app") as wire, Wire(daemon.host) as operator:
        assert wire.call("mine:echo", 5)[1] == 5
        floats = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))
        tensor = wire.ask("tensor.alloc", "mine", floats, shape_ext(4))
        acl.write_text(lines([User("app", ["call", "lookup"], ["other/*"])]))
        assert [c["key"] for c in operator.ask("server.reload")] == ["acl"]
        for method, params in (
            ("call", ["mine:echo", 5]),
            ("tensor.fill", [tensor, 1]),
            ("module.describe", ["mine"]),
        ):
            with pytest.raises(Failure, match="REFUSED"):
                wire.ask(method, *params)
        acl.write_text(lines([before]))
        daemon.ok("reload")
        assert wire.call("mine:echo", 6)[1] == 6
        wire.ask("tensor.fill", tensor, 1)


def test_a_call_that_is_known_by_its_bytes_is_asked_for_its_right_again(start):
    daemon, acl = start(lines([User("app", ["call", "lookup"])]))
    daemon.load("mine", RESULTS)
    with connect(daemon, "app") as wire, Wire(daemon.host) as operator:
        for _ in range(50):
            assert wire.call("mine:echo", 5)[1] == 5
        acl.write_text(lines([User("app", ["lookup"])]))
        operator.ask("server.reload")
        with pytest.raises(Failure, match="REFUSED"):
            wire.call("mine:echo", 5)


def test_a_user_that_is_gone_is_nobody(start):
    daemon, acl = start(lines(USERS))
    with connect(daemon, "all") as wire:
        acl.write_text(lines(USERS[:2]))
        daemon.ok("reload")
        assert wire.ask("acl.whoami")["user"] == "anonymous"
        assert refused(wire, "module.list", "") is not None


def test_a_broken_file_changes_nothing(start):
    daemon, acl = start(lines(USERS))
    acl.write_text(whole(USERS[0].line(), "user broken +@everything */*\n"))
    said = daemon.modser("reload")
    assert said.status != 0 and f"{acl}:2: " in said.err, said
    daemon.process.send_signal(signal.SIGHUP)
    harness.until(lambda: daemon.log().count(f"{acl}:2: ") == 2, "SIGHUP has been heard")
    with connect(daemon, "all") as wire:
        expect_rights(wire, User("all", RIGHTS))


def test_a_broken_file_keeps_the_daemon_from_starting(folder):
    acl = folder / "rights.acl"
    (folder / "empty.conf").touch()
    for text, why in (
        ("user a uid=1 */*\nuser b uid=1 */*\nend\n", ":2: "),
        ("user a +@call */*\nend\n", ":1: "),
        ("nonsense\nend\n", ":1: "),
    ):
        acl.write_text(text)
        for words in (["--listen", f"unix:{folder}/s"], ["--check-config", folder / "empty.conf"]):
            said = harness.run(harness.BIN / "modserd", "--acl", acl, *words)
            assert said.status == 2 and f"{acl}{why}" in said.err, said
    acl.chmod(0o666)
    said = harness.run(harness.BIN / "modserd", "--acl", acl, "--listen", f"unix:{folder}/s")
    assert said.status == 2 and "every user may write" in said.err, said


def test_an_older_file_is_told_and_upgraded(folder, start):
    acl = folder / "rights.acl"
    old = f"# of us\n{User('all', RIGHTS).line()}user ops uid=70001 +@all -@admin  # most\n"
    acl.write_text(old)
    acl.chmod(0o640)
    check = (harness.BIN / "modserd", "--listen", f"unix:{folder}/s", "--acl", acl)
    said = harness.run(*check)
    assert said.status == 2 and f"modser acl upgrade {acl}" in said.err, said
    said = harness.run(harness.BIN / "modser", "acl", "upgrade", acl)
    assert said.status == 0 and f"{acl}:3: user ops: added */*" in said.err, said
    new = old.replace("-@admin ", "-@admin */* ") + "end\n"
    assert acl.read_text() == new and acl.stat().st_mode & 0o777 == 0o640
    said = harness.run(harness.BIN / "modser", "acl", "upgrade", acl)
    assert said.status == 0 and "nothing to do" in said.err and acl.read_text() == new, said
    daemon, _ = start(new)
    with connect(daemon, "all") as wire:
        expect_rights(wire, User("all", RIGHTS))


def test_what_is_refused_has_no_effect_and_needs_no_room(start):
    daemon, _ = start(lines(USERS), "--max-memory", "1M")
    daemon.load("mine", RESULTS)
    with connect(daemon, "nothing") as wire, Wire(daemon.host) as operator:
        large = np.zeros(1 << 19, "u1")
        for _ in range(8):  # more than all the memory that there is
            with pytest.raises(Failure, match="REFUSED"):
                wire.call("mine:echo", large)
            with pytest.raises(Failure, match="REFUSED"):
                wire.ask("module.upload", "begin", 1 << 30)
        held = operator.ask("server.info")["held"]
        assert (held["tensor_bytes"], held["upload_bytes"]) == (0, 0)


def test_the_log_tells_who_was_refused_what(start):
    daemon, _ = start(lines(USERS))
    with connect(daemon, "only-lookup") as wire, Wire(daemon.host) as operator:
        before = operator.ask("server.info")["denied"]
        for _ in range(3):
            assert refused(wire, "call", "theirs") is not None
        assert refused(wire, "server.reload", "") is not None
        log = [
            (e["user"], e["method"], e["name"], e["times"]) for e in operator.ask("acl.log")
        ]
        assert log[-2:] == [
            ("only-lookup", "call", "theirs:echo", 3),
            ("only-lookup", "server.reload", "", 1),
        ]
        assert operator.ask("server.info")["denied"] == before + 4
    harness.until(lambda: daemon.log().count("event=request_denied") == 4, "a thread writes the log")
    assert token_of("only-lookup") not in daemon.log()


def test_a_dry_run_says_what_would_be(start):
    daemon, _ = start(lines(USERS))
    with Wire(daemon.host) as operator:
        for user in USERS:
            for method, right in methods().items():
                for module in MODULES if NAME in REQUESTS[method] else MODULES[:1]:
                    name = (f"{module}:echo" if method in (*OF_FUNCTIONS, "function.get")
                            else module)
                    told = operator.ask("acl.dry_run", user.name, method, name)
                    assert told["allowed"] == user.may(method, right, module), (user.name, method)
        assert operator.ask("acl.dry_run", "mine", "@load", "mine")["line"] == 8
        with pytest.raises(Failure, match="NOT_FOUND"):
            operator.ask("acl.dry_run", "mallory", "call")
        with pytest.raises(Failure, match="NOT_FOUND"):
            operator.ask("acl.dry_run", "mine", "dance")


def test_whose_connections_are_counted_is_the_user(start):
    daemon, _ = start(lines(USERS))
    with connect(daemon, "all") as one, connect(daemon, "all") as two:
        peers = [c["peer"] for c in one.ask("client.list") if c["user"] == "all"]
        assert peers == ["user all", "user all"]
        assert two.ask("acl.whoami")["peer"] == "user all"


def test_an_operator_ends_a_connection(start):
    daemon, _ = start(lines(USERS))
    with connect(daemon, "caller") as wire, Wire(daemon.host) as operator:
        (number,) = [
            c["connection"] for c in operator.ask("client.list") if c["user"] == "caller"
        ]
        operator.ask("client.kill", number)
        assert wire.receive()[1:] == ["session.close", [20, "REFUSED", "an operator ended it"]]
        with pytest.raises(Closed):
            wire.receive()
        with pytest.raises(Failure, match="NOT_FOUND"):
            operator.ask("client.kill", number)


def test_without_a_file_whoami_tells_what_the_way_in_gives(own_daemon, folder):
    daemon = own_daemon(listen=[f"unix:{folder}/s", "tcp://127.0.0.1:0"])
    with Wire(daemon.hosts[0]) as local, Wire(daemon.hosts[1]) as remote:
        assert local.ask("acl.whoami")["rights"] == list(RIGHTS)
        assert remote.ask("acl.whoami")["rights"] == ["lookup", "call"]
        local.ask("session.hello", {"token": "of no use here"})
        with pytest.raises(Failure, match="UNSUPPORTED.*--acl"):
            local.ask("acl.list")


def test_digests_of_tokens_are_not_told_whole(start):
    daemon, _ = start(lines(USERS))
    digest = hashlib.sha256(token_of("all").encode()).hexdigest()
    with Wire(daemon.host) as operator:
        (told,) = [u["identities"] for u in operator.ask("acl.list") if u["name"] == "all"]
    assert told == [f"token:sha256={digest[:8]}..."]


def test_the_command_line_shows_a_token(start, folder):
    daemon, _ = start(lines(USERS))
    token = folder / "token"
    token.write_text(token_of("mine") + "\n")
    said = daemon.ok("--token-file", token, "acl", "whoami")
    assert "user\tmine" in said.out, said
    by_env = harness.environment() | {"MODSER_TOKEN": token_of("caller")}
    assert "user\tcaller" in daemon.ok("acl", "whoami", env=by_env).out
    assert "user\tmine" in daemon.ok("--token-file", token, "acl", "whoami", env=by_env).out
    said = daemon.modser("--token-file", token, "call", "theirs:echo", "1")
    assert said.status == 6 and "mine has no right to call theirs:echo" in said.err, said
    said = daemon.modser("ls", env=harness.environment() | {"MODSER_TOKEN": "guessed"})
    assert said.status == 6 and "no user has this token" in said.err, said


def test_the_command_line_sends_no_token_over_plain_tcp(start, folder):
    daemon, _ = start(lines(USERS))
    token = folder / "token"
    token.write_text(token_of("mine"))
    said = daemon.modser("--token-file", token, "ping", host=daemon.hosts[1])
    assert said.status == 2 and "sends no token" in said.err, said
    by_env = harness.environment() | {"MODSER_TOKEN": token_of("mine")}
    daemon.ok("ping", host=daemon.hosts[1], env=by_env)
    token.write_text("\n")
    said = daemon.modser("--token-file", token, "ping")
    assert said.status == 2 and "no token" in said.err, said


def test_the_command_line_asks_about_rights(start):
    daemon, _ = start(lines(USERS))
    assert "only-load" in daemon.ok("acl", "list").out
    assert daemon.modser("acl", "dry-run", "mine", "call", "mine:f").status == 0
    assert daemon.modser("acl", "dry-run", "mine", "call", "theirs:f").status == 6
    assert daemon.modser("acl", "dry-run", "mallory", "call").status == 4
    assert daemon.modser("acl", "dry-run", "mine").status == 2
    assert daemon.modser("acl", "dance").status == 2
    with connect(daemon, "only-lookup") as wire:
        assert refused(wire, "call", "theirs") is not None
        log = daemon.ok("acl", "log").out
        assert "only-lookup" in log and "theirs:echo" in log, log
        (number,) = [
            line.split("\t")[0]
            for line in daemon.ok("clients").out.splitlines()
            if "only-lookup" in line
        ]
        daemon.ok("clients", "kill", number)
        assert wire.receive()[1] == "session.close"
    assert daemon.modser("clients", "kill", "nobody").status == 2


def lose(operator, acl):
    """Of whoever waits by now, who has shown a token may only call from here on."""
    harness.until(lambda: any(c["in_flight"] for c in operator.ask("client.list") if c["user"] == "all"),
                  "it waits")
    acl.write_text(lines([User("all", ["call"])]))
    operator.ask("server.reload")


@pytest.mark.parametrize("method, name", [("server.monitor", []), ("module.logs", ["faults"])])
def test_who_follows_is_told_nothing_more_when_its_right_is_gone(start, method, name):
    daemon, acl = start(lines([User("all", RIGHTS)]))
    daemon.load("faults", harness.ZOO / "faults.so")
    with connect(daemon, "all") as wire, Wire(daemon.host) as operator:
        waits = wire.start(method, *name, {"wait_ms": harness.FOREVER_MS})
        lose(operator, acl)
        operator.call("faults:say")
        with pytest.raises(Failure, match=f"REFUSED.*all has no right to {method}"):
            wire.finish(waits)


def test_who_waits_for_a_module_is_told_nothing_when_its_right_is_gone(start):
    daemon, acl = start(lines([User("all", RIGHTS)]), "--load-timeout", harness.LONG)
    data = (harness.ZOO / "constructor_loop.so").read_bytes()
    with connect(daemon, "all") as wire, Wire(daemon.host) as operator:
        loads = operator.start("module.load", "slow", operator.upload(data), {})
        operator.ask("ping")
        waits = wire.start("module.wait", "slow")
        lose(operator, acl)
        operator.ask("module.unload", "slow")
        with pytest.raises(Failure, match="REFUSED.*all has no right to module.wait slow"):
            wire.finish(waits)
        with pytest.raises(Failure, match="DRAINING"):
            operator.finish(loads)

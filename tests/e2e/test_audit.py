"""Who was there and who has changed what for others, as the log tells it."""
import os
import re

import harness
import pytest
from rights import RIGHTS, User, connect, lines
from wire import Closed, Wire

OPS, WEB = User("ops", RIGHTS), User("web", ["lookup"])


@pytest.fixture
def daemon(folder, own_daemon):
    acl = folder / "rights.acl"
    acl.write_text(lines([OPS, WEB]))
    acl.chmod(0o600)
    return own_daemon("--acl", acl, listen=[f"unix:{folder}/s", "tcp://127.0.0.1:0"])


def told(daemon, event, n):
    """The rest of the lines of @event without the connection's number, when there are @n."""
    line = re.compile(rf"event={event} conn=\d+ (.*) others=\d+")
    return harness.until(lambda: len(f := line.findall(daemon.log())) >= n and f, f"{n} {event}")


def test_who_changes_what_is_told(daemon):
    with connect(daemon, "ops") as wire:
        wire.load("digits", (harness.ZOO / "results.so").read_bytes())
        wire.load("digits", (harness.ZOO / "results.so").read_bytes(), replace=True)
        wire.ask("module.unload", "digits")
        wire.ask("server.reload")
    assert told(daemon, "request_audit", 4) == [
        f'user="ops" peer="user ops" method={rest}'
        for rest in ('module.load name="digits"', 'module.load name="digits"',
                     'module.unload name="digits"', 'server.reload name=""')
    ]


def test_who_connects_is_told_and_whose_token_it_shows(daemon):
    with connect(daemon, "web"):
        pass
    with Wire(daemon.hosts[1]) as wire:
        wire.ask("ping")
    assert told(daemon, "connection_open", 2) == [
        f'user="operator" peer="uid {os.getuid()}" way=unix http=0',
        'user="anonymous" peer="127.0.0.1" way=tcp http=0',
    ]
    assert told(daemon, "session_token", 1) == ['user="web" peer="user web"']


def test_who_ends_a_connection_is_told(daemon):
    with connect(daemon, "web") as victim, connect(daemon, "ops") as wire:
        [number] = [c["connection"] for c in wire.ask("client.list") if c["user"] == "web"]
        wire.ask("client.kill", number)
        assert victim.receive()[1] == "session.close"
        with pytest.raises(Closed):
            victim.take(1)
    [line] = told(daemon, "connection_kill", 1)
    assert line == (f'user="ops" peer="user ops" killed={number} whose="web" from="user web"')


def test_a_flood_of_kills_is_a_few_lines_and_their_number(daemon):
    n = 200
    with connect(daemon, "ops") as ops:
        for _ in range(n):
            with Wire(daemon.hosts[1]) as victim:
                victim.ask("ping")
                for c in ops.ask("client.list"):
                    if c["user"] == "anonymous":
                        ops.ask("client.kill", c["connection"])
        ops.ask("ping")
    written = told(daemon, "connection_kill", 1)
    others = [int(x) for x in re.findall(r"event=connection_kill .* others=(\d+)", daemon.log())]
    assert len(written) == len(others) and sum(others) + len(others) <= n
    # Ten a second at most: as many as there were seconds, and no more.
    seconds = {line[:19] for line in daemon.log().splitlines() if "event=connection_kill" in line}
    assert len(others) <= 10 * (len(seconds) + 1), (len(others), seconds)

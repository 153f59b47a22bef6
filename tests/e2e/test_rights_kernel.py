"""Who may do what by whom the kernel says they are, at a unix socket: every user and group, method and
module."""
import os
import socket

import harness
import pytest
from rights import RIGHTS, USERS, User, expect_rights, whole
from wire import Wire

RESULTS = harness.ZOO / "results.so"
FIRST_UID, FIRST_GID = 70000, 71000

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be other users")


def connected_as(path, uid, gid, groups):
    """A socket that a process with these numbers has connected: the kernel remembers them."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            made = socket.socket(socket.AF_UNIX)
            made.connect(path)
            socket.send_fds(theirs, [b"."], [made.fileno()])
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    os.waitpid(pid, 0)
    assert fds, "it could not connect"
    return socket.socket(fileno=fds[0])


@pytest.fixture
def start(folder, own_daemon):
    """start(text): a daemon with these rights whose socket is open to all, and two modules."""

    def run(text):
        acl = folder / "rights.acl"
        acl.write_text(text)
        acl.chmod(0o644)
        folder.chmod(0o755)
        if not harness.is_open_to_all(folder):
            pytest.skip("others cannot enter the folder of the socket")
        daemon = own_daemon("--acl", acl, "--socket-mode", "0666", listen=[f"unix:{folder}/s"])
        for module in ("mine", "theirs"):
            daemon.load(module, RESULTS)
        return daemon

    return run


def come(daemon, uid, gid, groups=()):
    return Wire(connected_as(daemon.host.removeprefix("unix:"), uid, gid, list(groups)))


class Both:
    """What one line allows, or the other."""

    name = "one with its group"

    def __init__(self, *lines):
        self.lines = lines

    def may(self, *asked):
        return any(line.may(*asked) for line in self.lines)


def test_every_user_method_and_module_by_uid(start):
    daemon = start(whole(*(u.line(f"uid={FIRST_UID + i}") for i, u in enumerate(USERS))))
    for i, user in enumerate(USERS):
        with come(daemon, FIRST_UID + i, 1) as wire:
            expect_rights(wire, user)
            assert wire.ask("acl.whoami")["user"] == user.name
    with come(daemon, FIRST_UID - 1, 1) as wire:
        expect_rights(wire, User("anonymous", []))


def test_every_group_method_and_module_by_gid(start):
    """Who is no user has what the groups give; by the first group or by a further one."""
    lines = (u.line(f"gid={FIRST_GID + i}") for i, u in enumerate(USERS))
    daemon = start(whole(*(line.replace("user ", "group ", 1) for line in lines)))
    for i, group in enumerate(USERS):
        with come(daemon, FIRST_UID, FIRST_GID + i) as first, \
                come(daemon, FIRST_UID, 1, [FIRST_GID + i]) as further:
            expect_rights(first, group)
            expect_rights(further, group)


def test_a_user_has_what_its_groups_have_and_the_groups_names_alone(start):
    """Two lines, one of the user's for all names and one of the group's for some."""
    daemon = start(f"user one uid={FIRST_UID} +@lookup +@call */*\n"
                   f"group brings gid={FIRST_GID} +@load +@read +@admin mine*/*\nend\n")
    with come(daemon, FIRST_UID, 1) as alone, come(daemon, FIRST_UID, 1, [FIRST_GID]) as member:
        expect_rights(alone, User("one", ["lookup", "call"]))
        expect_rights(member, Both(User("", ["lookup", "call"]), User("", RIGHTS[2:], ["mine*/*"])))


def test_the_kernel_says_who_is_at_a_unix_socket(start):
    daemon = start(
        "user ops uid=70001 +@all */*\nuser team gid=70010 +@lookup */*\n"
        "group gpu gid=70044 +@load */*\nend\n")
    for uid, gid, groups, name in (
        (70001, 1, [], "ops"),
        (70002, 70010, [], "team"),
        (70002, 1, [70010], "team"),
        (70002, 1, [70044], "gpu"),
        (70002, 1, [], "anonymous"),
    ):
        with come(daemon, uid, gid, groups) as wire:
            assert wire.ask("acl.whoami")["user"] == name

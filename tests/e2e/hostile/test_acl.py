"""The file of rights is as large as it may be and no larger, a pattern takes no more steps than it may,
and of those who are refused so many are remembered."""
import harness
import pytest
from wire import Failure, Wire

USERS, GROUPS, IDENTITIES, NAMES, FILE_BYTES = 1024, 64, 4096, 64, 1 << 20
KEPT, CUT_NAME = 256, 128
STARS = 100_000
RESULTS = harness.ZOO / "results.so"


def users(n):
    return "".join(f"user u{i} uid={i} */*\n" for i in range(n)) + "end\n"


def groups(n):
    return "".join(f"group g{i} gid={i} */*\n" for i in range(n)) + "end\n"


def identities(n):
    return "user all " + " ".join(f"uid={i}" for i in range(n)) + " */*\nend\n"


def names(n):
    return "user one uid=1 +@call " + " ".join(f"m{i}/f" for i in range(n)) + "\nend\n"


def as_long_as(n):
    return "#" * (n - 5) + "\nend\n"


@pytest.fixture
def written(folder):
    """written(text): the path of a file of rights."""

    def write(text):
        path = folder / "rights.acl"
        path.write_text(text)
        path.chmod(0o644)
        return path

    return write


LARGE = [
    (users, USERS, USERS + 1, "there are too many lines"),
    (groups, GROUPS, GROUPS + 1, "there are too many lines"),
    (identities, IDENTITIES, 1, "there are too many identities"),
    (names, NAMES, 1, "there are too many names on the line"),
    (as_long_as, FILE_BYTES, 1, f"more than {FILE_BYTES} bytes"),
]


@pytest.mark.parametrize("make, most, line, why", LARGE, ids=[row[0].__name__ for row in LARGE])
def test_a_file_of_rights_is_so_large(own_arena, written, make, most, line, why):
    """A larger one is refused by its line, at the start, and when it is read again: then the one before
    counts on."""
    path = written(make(most))
    arena = own_arena("--acl", path)
    before = arena.state()
    with Wire(arena.host) as operator:
        told = operator.ask("acl.list")
        written(make(most + 1))
        with pytest.raises(Failure) as failure:
            operator.ask("server.reload")
        assert f"{path}:{line}: " in failure.value.message and why in failure.value.message
        assert operator.ask("acl.list") == told
    arena.expect_as_before(before)
    with pytest.raises(AssertionError) as ended:
        harness.Daemon("--acl", path)
    assert f"{path}:{line}: " in str(ended.value) and why in str(ended.value)


@pytest.mark.parametrize("pattern", ["*" * STARS, "*a" * 63 + "*" * STARS + "b"],
                         ids=["stars", "words"])
def test_a_pattern_takes_so_many_steps(own_arena, written, pattern):
    """Others' turns go on, however the name looks that it is held against."""
    path = written(f"user anonymous +@lookup {pattern}/none* {pattern}/{pattern}\nend\n")
    arena = own_arena("--acl", path, listen=[f"unix:{path.parent}/m.sock", "tcp://127.0.0.1:0"])
    victim, wire = arena.victim(), arena.connect(arena.daemon.hosts[1])
    asked = [wire.start("function.get", "a" * 64, "a" * 512) for _ in range(100)]
    for id in asked:
        with pytest.raises(Failure):
            wire.finish(id)
    victim.ask_later()
    # 64 bytes against 64 and 512 against 64 are some 40,000 steps each time.
    victim.expect_within(victim.cost(), frames=102, cpu_us=500_000)


def test_of_those_who_are_refused_so_many_are_remembered(own_arena, written):
    path = written("user anonymous +@lookup mine/*\nend\n")
    arena = own_arena("--acl", path, listen=[f"unix:{path.parent}/m.sock", "tcp://127.0.0.1:0"])
    attacker, operator = arena.connect(arena.daemon.hosts[1]), arena.victim()
    with arena.growth(0):
        for i in range(3 * KEPT):
            with pytest.raises(Failure, match="REFUSED"):
                attacker.ask("function.get", f"m{i}", "f" * 500)
    log = operator.ask("acl.log")
    assert len(log) == KEPT
    assert [e["name"][:6] for e in (log[0], log[-1])] == [f"m{2 * KEPT}:f", f"m{3 * KEPT - 1}:f"]
    assert all(len(e["name"]) == CUT_NAME for e in log)
    assert operator.ask("server.info")["denied"] == 3 * KEPT


def test_a_name_forges_no_field_of_the_log(own_arena, written):
    path = written("user anonymous +@lookup mine/*\nend\n")
    arena = own_arena("--acl", path, listen=[f"unix:{path.parent}/m.sock", "tcp://127.0.0.1:0"])
    with pytest.raises(Failure, match="REFUSED"):
        arena.connect(arena.daemon.hosts[1]).ask("function.get", "m", 'f" user=operator x="\n\\')
    arena.daemon.expect_logged('name="m:f\\" user=operator x=\\"\\x0a\\\\" others=0')

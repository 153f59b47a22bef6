"""What the examples of a fleet read of haproxy's runtime interface, and what they make of an answer that is none."""
import contextlib
import socket
import sys
import threading

import harness
import pytest

sys.path.append(str(harness.ROOT / "examples/fleet/etcd"))
import haproxy  # noqa: E402

STAT = b"# pxname,svname,status,\ndaemons,one,UP,\ndaemons,two,DOWN,\ndaemons,BACKEND,UP,\nweb,three,UP,\n\n"
STATE = b"1\n# be_id be_name srv_name srv_addr srv_port srv_agent_port\n3 daemons one 127.0.0.1 9190 9191\n\n"


@contextlib.contextmanager
def saying(folder, answer):
    """The path of a socket where somebody answers once, and is gone."""
    path = folder / "stats.sock"
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(harness.PATIENCE)
        door.bind(str(path))
        door.listen()

        def serve():
            with door.accept()[0] as s:
                s.recv(4096)
                s.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        thread.join()
    path.unlink()


@pytest.fixture
def folder():
    with contextlib.ExitStack() as stack:
        made = harness.short_folder()
        stack.callback(made.rmdir)
        yield made


def test_tables_are_read(folder):
    with saying(folder, STAT) as stats:
        assert haproxy.serving(stats, "daemons") == {"one"}
    with saying(folder, STATE) as stats:
        assert haproxy.there(stats, "daemons") == {"one": ("127.0.0.1:9190", "9191")}


@pytest.mark.parametrize("reads, answer", [(haproxy.serving, STAT), (haproxy.there, STATE)])
def test_a_table_that_is_cut_anywhere_is_an_os_error(folder, reads, answer):
    for n in range(len(answer)):
        with saying(folder, answer[:n]) as stats, pytest.raises(OSError, match="haproxy"):
            reads(stats, "daemons")


def test_a_refusal_is_told(folder):
    with saying(folder, b"Can't find backend.\n\n") as stats, \
            pytest.raises(OSError, match="show servers state none: haproxy says Can't find backend."):
        haproxy.there(stats, "none")


def test_who_is_not_there_is_an_os_error(folder):
    with pytest.raises(OSError):
        haproxy.say(folder / "stats.sock", "show info")

"""What the scripts here, and those of ../haproxy, say to haproxy: its runtime interface, on the socket of its
statistics. OSError: it is not there, does not answer, or its answer is not whole."""
import socket

PATIENCE_S = 10  # for one word with it


def _ask(stats, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE_S)
        s.connect(str(stats))
        s.sendall(command.encode() + b"\n")
        said = b""
        while more := s.recv(65536):
            said += more
    if not said.endswith(b"\n"):
        raise OSError(f"{command}: haproxy left in the midst of its answer")
    return said.decode()


def say(stats, command):
    return _ask(stats, command).strip()


def rows(stats, command):
    """The table that it answers, a dictionary a line. An empty line ends it."""
    said = _ask(stats, command)
    lines = [line for line in said.splitlines() if len(line) > 1]
    if not lines or not lines[0].startswith("# "):
        raise OSError(f"{command}: haproxy says {said.strip() or 'nothing'}")
    cut = "," if "," in lines[0] else " "
    keys, *found = [line.removeprefix("# ").split(cut) for line in lines]
    if not said.endswith("\n\n") or any(len(row) != len(keys) for row in found):
        raise OSError(f"{command}: haproxy left in the midst of its answer")
    return [dict(zip(keys, row)) for row in found]


def serving(stats, backend):
    """The servers of @backend that take calls, by what haproxy's own checks say."""
    return {row["svname"] for row in rows(stats, "show stat")
            if row["pxname"] == backend and row["status"].startswith("UP")} - {"BACKEND"}


def there(stats, backend):
    """{server of @backend: (its address, the port of its agent)}, whether they take calls or not."""
    return {row["srv_name"]: (f"{row['srv_addr']}:{row['srv_port']}", row["srv_agent_port"])
            for row in rows(stats, f"show servers state {backend}")}

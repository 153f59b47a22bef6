"""What the scripts here say to haproxy: its runtime interface, on the socket of its statistics."""
import socket


def say(stats, command):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(stats))
        s.sendall(command.encode() + b"\n")
        said = b""
        while more := s.recv(65536):
            said += more
    return said.decode().strip()


def rows(stats, command):
    """The table that it answers, a dictionary a line."""
    lines = [line for line in say(stats, command).splitlines() if len(line) > 1]
    cut = "," if "," in lines[0] else " "
    keys, *found = [line.removeprefix("# ").split(cut) for line in lines]
    return [dict(zip(keys, row)) for row in found]


def serving(stats, backend):
    """The servers of @backend that take calls, by what haproxy's own checks say."""
    return {row["svname"] for row in rows(stats, "show stat")
            if row["pxname"] == backend and row["status"].startswith("UP")} - {"BACKEND"}


def there(stats, backend):
    """{server of @backend: (its address, the port of its agent)}, whether they take calls or not."""
    return {row["srv_name"]: (f"{row['srv_addr']}:{row['srv_port']}", row["srv_agent_port"])
            for row in rows(stats, f"show servers state {backend}")}

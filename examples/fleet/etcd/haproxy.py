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


def serving(stats, backend):
    """The servers of @backend that take calls, by what haproxy's own checks say."""
    keys, *rows = [line.split(",") for line in say(stats, "show stat").splitlines() if line]
    rows = [dict(zip(keys, row)) for row in rows]
    return {row["svname"] for row in rows
            if row["# pxname"] == backend and row["status"].startswith("UP")} - {"BACKEND"}

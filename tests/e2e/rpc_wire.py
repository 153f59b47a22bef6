"""Packets of TVM's RPC (0.21 and later), for tests that send what TVM's client never sends."""
import socket
import struct

MAGIC = 0xff271
SHUTDOWN, CALL, RETURN, EXCEPTION, COPY_FROM, GET_GLOBAL = 1, 3, 4, 5, 6, 9


def ask(s, code, body):
    s.sendall(struct.pack("<Qi", 4 + len(body), code) + body)
    (n,) = struct.unpack("<Q", s.recv(8, socket.MSG_WAITALL))
    answer = s.recv(n, socket.MSG_WAITALL)
    return struct.unpack("<i", answer[:4])[0], answer[4:]


def seq(*values):
    return struct.pack("<i", len(values)) + b"".join(values)


def text(s):
    return struct.pack("<iQ", 8, len(s)) + s


def tensor(data, shape, offset=0):
    return struct.pack("<QiiiBBH", data, 1, 0, len(shape), 0, 8, 1) + struct.pack(
        f"<{len(shape)}qQ", *shape, offset)


def function(s, name):
    code, answer = ask(s, GET_GLOBAL, seq(text(name)))
    assert code == RETURN
    return struct.unpack("<iiQ", answer)[2]

#!/usr/bin/env python3
"""Write tests/corpus/rpc_session: all that a client of TVM's RPC sends after its hello.

Run it after changing modserd-rpc and commit what it writes; --check tells when that was
forgotten. Handles are known: the first use of slot N is 1 << 20 | N.
"""
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "rpc_session"
SHUTDOWN, INIT, CALL, COPY_FROM, COPY_TO, GET_GLOBAL, FREE, SET_DEVICE, ATTR, ALLOC, FREE_DATA = (
    1, 2, 3, 6, 7, 9, 10, 11, 12, 13, 14)
SYNC, AMONG, ALLOC_SCOPE, NEW_STREAM = 15, 16, 17, 18


def handle(slot, use=1):
    return use << 20 | slot


def packet(code, body=b""):
    return struct.pack("<Qi", 4 + len(body), code) + body


def seq(*values):
    return struct.pack("<i", len(values)) + b"".join(values)


def text(s):
    return struct.pack("<iQ", 8, len(s)) + s.encode()


def raw(s):
    return struct.pack("<iiQ", 66, 66, len(s)) + s


def number(v):
    return struct.pack("<iq", 1, v)


def pointer(v):
    return struct.pack("<iQ", 4, v)


def module(v):
    return struct.pack("<iQ", 73, v)


def remote(v):
    return struct.pack("<iiQ", 115, 115, v)


CPU = struct.pack("<iii", 6, 1, 0)


def tensor(data, *shape, offset=0):
    return struct.pack("<QiiiBBH", data, 1, 0, len(shape), 0, 8, 1) + struct.pack(
        f"<{len(shape)}qQ", *shape, offset)


def argument(data, *shape, offset=0):
    return struct.pack("<i", 7) + tensor(data, *shape, offset=offset)


INITIAL = packet(INIT, struct.pack("<Q", 5) + b"0.8.0" + struct.pack("<i", 0))


def find(name):
    return packet(GET_GLOBAL, seq(text(name)))


def call(slot, *values, use=1):
    return packet(CALL, struct.pack("<Q", handle(slot, use)) + seq(*values))


def classic(name):
    return packet(GET_GLOBAL, struct.pack("<iiQ", 1, 11, len(name)) + name.encode())


UPLOAD = find("tvm.rpc.server.upload")
FILES = UPLOAD + find("tvm.rpc.server.download") + find("tvm.rpc.server.remove") + find(
    "tvm.rpc.server.load_module")
ARRAY = find("testing.echo") + packet(ALLOC_SCOPE, seq(argument(0, 4, 4), struct.pack("<i", 0)))

SESSIONS = {
    "accept_hello": INITIAL + packet(SHUTDOWN),
    "accept_echo": INITIAL + find("testing.echo") + call(0, number(7)) + call(0, text("a text"))
    + call(0, raw(b"bytes longer than seven")) + packet(FREE, seq(pointer(handle(0)))),
    "accept_classic": INITIAL + classic("testing.echo") + packet(
        CALL, struct.pack("<Qiiq", handle(0), 1, 0, 7)),
    "accept_array": INITIAL + ARRAY + packet(
        COPY_TO, tensor(handle(1), 4, 4) + struct.pack("<Q", 16) + bytes(range(16)))
    + packet(COPY_FROM, tensor(handle(1), 2, 4, offset=8) + struct.pack("<Q", 8))
    + packet(AMONG, seq(argument(handle(1), 4), argument(handle(1), 4, offset=4), pointer(0)))
    + packet(FREE_DATA, seq(CPU, pointer(handle(1)))),
    "accept_outside_an_array": INITIAL + ARRAY + packet(
        COPY_FROM, tensor(handle(1), 4, 4, offset=1) + struct.pack("<Q", 16))
    + packet(COPY_TO, tensor(handle(1), 1 << 20, 1 << 20) + struct.pack("<Q", 16) + bytes(16))
    + packet(COPY_FROM, tensor(handle(7), 4) + struct.pack("<Q", 4)),
    "accept_files": INITIAL + FILES + call(0, text("a/b"), raw(b"contents of a file"))
    + call(1, text("a/b")) + call(3, text("a/b")) + call(2, text("a/b")) + call(1, text("a/b"))
    + call(0, text("../x"), raw(b"outside")) + call(0, text(""), raw(b"no name")),
    "accept_too_many_files": INITIAL + UPLOAD + b"".join(
        call(0, text(name), raw(name.encode() * 9)) for name in ("a", "b", "c", "d", "a")),
    "accept_modules": INITIAL + find("ffi.SystemLib") + find("tvm.rpc.server.ModuleGetFunction")
    + find("tvm.rpc.server.ImportModule") + call(0) + call(0)
    + call(1, module(handle(3)), text("main"), struct.pack("<iq", 2, 1))
    + call(2, module(handle(3)), module(handle(4))) + call(2, module(handle(4)), module(handle(3)))
    + packet(FREE, seq(pointer(handle(3)))) + call(2, module(handle(3)), module(handle(4))),
    "accept_shapes": INITIAL + find("ffi.Shape") + find("rpc.testing.GetShapeSize") + find(
        "rpc.testing.GetShapeElem") + call(0, number(2), number(3)) + call(1, remote(handle(3)))
    + call(2, remote(handle(3)), number(1)) + call(2, remote(handle(3)), number(-1))
    + call(1, remote(handle(0))),
    "accept_devices": INITIAL + find("none") + packet(ATTR, seq(CPU, number(0)))
    + packet(SET_DEVICE, seq(CPU)) + packet(SYNC, seq(CPU, pointer(0))) + packet(
        NEW_STREAM, seq(CPU)) + packet(ALLOC, seq(struct.pack("<iii", 6, 2, 0), number(8),
                                                  number(64), struct.pack("<iBBHi", 5, 0, 8, 1, 0))),
    "accept_stale_handles": INITIAL + find("testing.echo") + packet(FREE, seq(pointer(handle(0))))
    + find("testing.echo") + call(0, number(1)) + call(0, number(1), use=2)
    + packet(FREE, seq(pointer(handle(0)))) + packet(FREE, seq(pointer(handle(0, 2)))),
    "accept_unknown_values": INITIAL + find("testing.echo") + call(0, struct.pack("<i", 99))
    + packet(CALL, struct.pack("<Qi", handle(0), -1)) + packet(99) + packet(4),
    "accept_other_constructor": packet(INIT, struct.pack("<Q", 5) + b"0.8.0" + seq(
        struct.pack("<iQ", 65, 0) + struct.pack("<IQ", 65, 11) + b"rpc.Connect")),
    "reject_part_of_a_size": INITIAL + b"\x04\0\0",
    "reject_part_of_a_packet": INITIAL + find("testing.echo")[:-1],
    "reject_large_packet": struct.pack("<Qi", (1 << 20) + 1, CALL) + bytes(64),
    "reject_bytes_after_shutdown": packet(SHUTDOWN) + find("testing.echo"),
}

if __name__ == "__main__":
    settle(__file__, {CORPUS / f"{name}.bin": data for name, data in SESSIONS.items()},
           CORPUS.glob("*.bin"))

"""Rows of TVM's RPC: a session with arrays and kernels on the GPU, byte by byte."""
import socket
import struct
import subprocess

import numpy as np

from rpc_wire import CALL, COPY_FROM, MAGIC, RETURN, ask, function, seq, text
from runner import Wrong, close, off

COPY_TO, GET_ATTR, ALLOC, FREE_DATA, SYNC = 7, 12, 13, 14, 15
COPY_ACK, CUDA = 8, 2
NAMES = ["exists", "threads of a block", "warp", "shared bytes", "compute version", "name", "kHz",
         "multiprocessors", "block", "registers", "gcn arch", "api", "driver", "L2 bytes",
         "bytes", "free bytes"]


class Session:
    def __init__(self, r):
        words = [r.here / "bin/modserd", "--listen", f"unix:{r.at}/rpc.sock", "--store", "none",
                 "--sandbox", r.sandbox, "--allow-load-tcp", "--tvm-rpc", "127.0.0.1:0"]
        if r.stand_in:
            words += ["--may-write", r.at]
        self.daemon = subprocess.Popen(words, env=r.environment(), stdout=subprocess.PIPE,
                                       stderr=open(r.at / "rpc.log", "a"), text=True)
        for line in self.daemon.stdout:
            if "tvm-rpc://" in line:
                break
        else:
            raise Wrong("modserd did not start: " + (r.at / "rpc.log").read_text()[-500:])
        self.s = socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), timeout=120)
        self.s.sendall(struct.pack("<ii", MAGIC, 7) + b"client:")
        self.s.recv(15, socket.MSG_WAITALL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.s.close()
        self.daemon.terminate()
        self.daemon.wait(60)

    def ask(self, code, body, expected=RETURN):
        got, answer = ask(self.s, code, body)
        if got != expected:
            raise Wrong(answer[16:].decode(errors="replace"))
        return answer

    def call(self, handle, *values):
        return self.ask(CALL, struct.pack("<Q", handle) + seq(*values))

    def array(self, x):
        size = struct.pack("<iq", 1, x.nbytes)
        at = struct.unpack("<Q", self.ask(ALLOC, seq(DEVICE, size, size))[-8:])[0]
        shape = struct.pack(f"<{x.ndim}q", *x.shape)
        told = struct.pack("<QiiiBBH", at, CUDA, 0, x.ndim, 2, 32, 1) + shape + bytes(8)
        self.ask(COPY_TO, told + struct.pack("<Q", x.nbytes) + x.tobytes())
        return told


DEVICE = struct.pack("<iii", 6, CUDA, 0)


def value_of(answer):
    (kind,) = struct.unpack("<i", answer[4:8])
    if kind == 0:
        return None
    return answer[16:].decode() if kind in (8, 11) else struct.unpack("<q", answer[8:16])[0]


def attributes(r):
    with Session(r) as s:
        got = [value_of(s.ask(GET_ATTR, seq(DEVICE, struct.pack("<iq", 1, k))))
               for k in range(len(NAMES))]
    facts = dict(zip(NAMES, got))
    if facts["exists"] != 1:
        raise Wrong(str(facts))
    missing = [n for n in NAMES if facts[n] is None and n not in ("gcn arch", "driver")]
    if missing:
        raise Wrong(f"None: {', '.join(missing)}")
    return facts


def kernel(r):
    path = r.fixture("tvm-0.27/addone_cuda_ptx.so")
    x = np.arange(17, dtype="float32")
    bytes_of = path.read_bytes()
    with Session(r) as s:
        s.call(function(s.s, b"tvm.rpc.server.upload"), text(b"m.so"),
               struct.pack("<iIQ", 66, 66, len(bytes_of)) + bytes_of)
        module = s.call(function(s.s, b"tvm.rpc.server.load_module"), text(b"m.so"))[-8:]
        found = s.call(function(s.s, b"tvm.rpc.server.ModuleGetFunction"),
                       struct.pack("<i", 73) + module, text(b"addone"))
        a, b = s.array(x), s.array(np.zeros_like(x))
        tensor = struct.pack("<i", 7)
        s.call(struct.unpack("<Q", found[-8:])[0], tensor + a, tensor + b)
        s.ask(SYNC, seq(DEVICE, struct.pack("<iQ", 4, 0)))
        out = s.ask(COPY_FROM, b + struct.pack("<Q", x.nbytes), COPY_ACK)
        for told in (a, b):
            s.ask(FREE_DATA, seq(DEVICE, struct.pack("<i", 4) + told[:8]))
    return off(close(np.frombuffer(out, "float32"), x + 1))


ROWS = [("TVM's RPC: attributes of cuda:0", "all that TVM has", attributes),
        ("TVM's RPC: addone on cuda:0", "numpy's values", kernel)]

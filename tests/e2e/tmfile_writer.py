"""tmfiles written from the format document alone, for tests."""
import struct


def words(*v):
    return struct.pack(f"<{len(v)}I", *(x & 0xFFFFFFFF for x in v))


def floats(*v):
    return struct.pack(f"<{len(v)}f", *v)


class File:
    """Objects behind each other; padding has bytes that readers must not look at."""

    def __init__(self, versions=(2, 0, 0)):
        self.bytes = bytearray(struct.pack("<HHHH", *versions, 0x4000) + words(0))

    def put(self, raw):
        self.bytes += b"\x55" * (-len(self.bytes) % 4)
        self.bytes += raw
        return len(self.bytes) - len(raw)

    def vector(self, *v):
        return self.put(words(len(v), *v))

    def string(self, text):
        raw = text.encode() + b"\0"
        return self.put(words(len(raw), self.put(raw)))

    def node(self, index, name, op, inputs, outputs, param=b"", attrs=0, dynamic=0):
        named = self.string(name)
        ends = [self.vector(*v) if v else 0 for v in (inputs, outputs)]
        at = self.put(param) if param else 0
        operator = self.put(words(2, op, at))
        return self.put(words(index, *ends, operator, named, attrs) + bytes([dynamic, 7, 7, 7]))

    def tensor(self, index, name, kind, dims, dtype=0, buffer=-1, quants=()):
        shape = self.vector(*dims) if dims else 0
        scales = [self.put(words(zero) + floats(scale) + words(99)) for scale, zero in quants]
        listed = self.vector(*scales) if scales else 0
        return self.put(words(index, buffer, shape, self.string(name), listed, -294987624, kind,
                              dtype))

    def end(self, nodes, tensors, buffers, inputs, outputs, layout=0, subgraphs=1):
        lists = [self.vector(*v) for v in (inputs, outputs, nodes, tensors, buffers)]
        subgraph = self.put(words(0, 0, layout, *lists, 0))
        model = self.put(words(3, 0, self.vector(*[subgraph] * subgraphs), self.string("net")))
        self.bytes[8:12] = words(model)
        return bytes(self.bytes)

#!/usr/bin/env python3
"""Write tests/corpus/graph, params, shards and relay_image: one behaviour a file, named for it. An
independent writer, from the format document alone. Run it after changing it; --check tells when
that was forgotten."""
import hashlib
import json
import pathlib
import struct

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
MASK = (1 << 64) - 1


def u64(*v):
    return struct.pack(f"<{len(v)}Q", *(x & MASK for x in v))


def string(s):
    raw = s if isinstance(s, bytes) else s.encode()
    return u64(len(raw)) + raw


def strings(*names):
    return u64(len(names)) + b"".join(map(string, names))


def tensor(code, bits, shape, data):
    head = u64(0xDD5E40F096B4A13F, 0) + struct.pack("<iiiBBH", 1, 0, len(shape), code, bits, 1)
    return head + u64(*shape) + u64(len(data)) + data


def graph(**changes):
    op = {"func_name": "f", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}
    g = {
        "nodes": [
            {"op": "null", "name": "x", "inputs": []},
            {"op": "tvm_op", "name": "f1", "attrs": op, "inputs": [[0, 0, 0]]},
            {"op": "tvm_op", "name": "r", "attrs": dict(op, func_name="__nop"),
             "inputs": [[1, 0, 0]], "control_deps": [0]},
        ],
        "arg_nodes": [0],
        "heads": [[2, 0, 0]],
        "attrs": {
            "dltype": ["list_str", ["float32", "bool", "int8x4"]],
            "storage_id": ["list_int", [0, 9, 9]],
            "shape": ["list_shape", [[2, 3], [], [0, 4]]],
            "device_index": ["list_int", [1, 1, 4]],
        },
        "node_row_ptr": [0, 1, 2, 3],
    }
    g.update(changes)
    return json.dumps(g).encode()


GRAPH = {
    "accept_small": graph(),
    "accept_metadata": graph(metadata={"any": [1.5, None]}),
    "reject_empty": b"",
    "reject_not_json": b"{\"nodes\": [",
    "reject_no_nodes": graph(nodes=[]),
    "reject_nodes_not_array": graph(nodes={"op": 1}),
    "reject_row_ptr_descends": graph(node_row_ptr=[0, 2, 1, 3]),
    "reject_row_ptr_huge": graph(node_row_ptr=[0, 1, 2, 1 << 40]),
    "reject_head_out_of_range": graph(heads=[[9, 0, 0]]),
    "reject_args_missing": graph(arg_nodes=[]),
    "reject_args_twice": graph(arg_nodes=[0, 0]),
    "reject_attrs_missing": graph(attrs={}),
    "reject_deep": b"[" * 3000,
}

PARAMS = {
    "accept_two": u64(0xF7E58D4F05049CB7, 0) + strings("w", "b") + u64(2)
    + tensor(2, 32, [2], b"\0" * 8) + tensor(0, 64, [], b"\1" * 8),
    "accept_none": u64(0xF7E58D4F05049CB7, 0) + strings() + u64(0),
    "reject_empty": b"",
    "reject_magic": u64(1, 0) + strings() + u64(0),
    "reject_count": u64(0xF7E58D4F05049CB7, 0) + strings("w") + u64(2),
    "reject_huge_count": u64(0xF7E58D4F05049CB7, 0, 1 << 62),
    "reject_trailing": u64(0xF7E58D4F05049CB7, 0) + strings() + u64(0) + b"x",
    "reject_shape_overflow": u64(0xF7E58D4F05049CB7, 0) + strings("w") + u64(1)
    + tensor(2, 32, [1 << 62, 8], b"\0" * 8),
}


def archive(*files):
    """ustar, as POSIX describes it."""
    b = b""
    for name, data in files:
        head = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + b"%011o\0" % len(data)
        head += b"0" * 11 + b"\0" + b" " * 8 + b"0" + bytes(100) + b"ustar\x0000"
        head = head.ljust(512, b"\0")
        head = head[:148] + b"%06o\0 " % sum(head) + head[156:]
        b += head + data + bytes(-len(data) % 512)
    return b + bytes(1024)


def record(name, at, shape, dtype="float32", how="raw", nbytes=8):
    return {"name": name, "shape": shape, "dtype": dtype, "format": how, "nbytes": nbytes,
            "byteOffset": at}


def shards(*records, data=bytes(16), name=b"params_shard_0.bin", path=None, **changes):
    shard = {"dataPath": path or name.decode(), "format": "raw-shard", "nbytes": len(data),
             "records": records, "md5sum": hashlib.md5(data).hexdigest()}
    shard.update(changes)
    index = json.dumps({"metadata": {"ParamSize": 2}, "records": [shard]}).encode()
    return archive((b"tensor-cache.json", index), (name, data))


SHARDS = {
    "accept_two": bytes(7) + shards(record("w", 0, [2]), record("b", 8, [4], how="f32-to-bf16")),
    "accept_empty": archive((b"ndarray-cache.json", b'{"records": []}')),
    "accept_without_md5": archive(
        (b"tensor-cache.json", b'{"records": [{"dataPath": "s", "format": "raw-shard", "nbytes": 1, '
         b'"records": []}]}'), (b"s", b"x")),
    "reject_empty": b"",
    "reject_cut": shards(record("w", 0, [2]))[:-513],
    "reject_md5": shards(record("w", 0, [2]), md5sum="0" * 32),
    "reject_outside": shards(record("w", 0, [2]), path="../params_shard_0.bin"),
    "reject_overlap": shards(record("w", 0, [2]), record("b", 4, [2])),
    "reject_twice": shards(record("w", 0, [2]), record("w", 8, [2])),
    "reject_behind": shards(record("w", 12, [2])),
    "reject_shape_overflow": shards(record("w", 0, [1 << 62, 8])),
    "reject_deep": archive((b"tensor-cache.json", b'{"records": ' + b"[" * 40)),
}


def instruction(op, *fields):
    key = op
    for v in fields:
        key ^= ((v & MASK) + 0x9E3779B9 + (key << 6) + (key >> 2)) & MASK
        key &= MASK
    return u64(len(fields) + 2, key, op, *fields)


def function(name, regs, params, *code, count=None):
    count = len(code) if count is None else count
    head = strings(name, str(regs), str(count)) + strings(*params)
    return head + u64(len(params), *([0] * len(params))) + b"".join(code)


def relay(minor, *functions, packed=("add",)):
    b = u64(0xD225DE2F4214151D) + string(f"0.{minor}.0")
    if minor >= 9:
        b += u64(1) + struct.pack("<ii", 1, 0)
        b += (string("global") if minor >= 14 else b"") + struct.pack("<i", 0)
    b += strings("main") + u64(1) + (struct.pack("<I", 0) if minor >= 9 else b"")
    b += tensor(0, 64, [], struct.pack("<q", 64)) + u64(1, 0)
    b += strings(*packed) + u64(1, 0, 1) + string("hash") + string("0")
    return string(b + u64(len(functions)) + b"".join(functions))


def adds(minor):
    if minor >= 14:
        start = [instruction(11, 0, 0, 1), instruction(16, 1, 64, 2, 32, 1, 0, 0, 2)]
    else:
        start = [instruction(11, 0, 1), instruction(16, 1, 64, 2, 32, 1, 0, 2)]
    return function("main", 4, ["x"], *start, instruction(5, 2, 1, 2, 32, 1, 1, 3, 4),
                    instruction(4, 0, 2, 1, 0, 3), instruction(1, 3))


RELAY = {
    "accept_08": relay(8, adds(8)),
    "accept_09": relay(9, adds(9)),
    "accept_014": relay(14, adds(14)),
    "accept_branch": relay(9, function("main", 2, ["x"], instruction(10, 0, 1, 1, 2),
                                       instruction(1, 0), instruction(15))),
    "reject_empty": b"",
    "reject_magic": string(u64(1)),
    "reject_old": relay(7, adds(8)),
    "reject_wild_jump": relay(9, function("main", 1, ["x"], instruction(12, -5))),
    "reject_wild_register": relay(9, function("main", 1, ["x"], instruction(1, 7))),
    "reject_wild_packed": relay(9, function("main", 1, ["x"], instruction(4, 3, 0, 0),
                                            instruction(1, 0))),
    "reject_short_instruction": relay(9, function("main", 1, ["x"], u64(1, 0))),
    "reject_huge_code": relay(9, function("main", 1, ["x"], instruction(1, 0),
                                          count=4000000000)),
    "reject_open_end": relay(9, function("main", 2, ["x"], instruction(0, 0, 1))),
}


def main():
    settle(__file__, {CORPUS / folder / f"{name}.bin": data
                      for folder, files in (("graph", GRAPH), ("params", PARAMS),
                                            ("shards", SHARDS), ("relay_image", RELAY))
                      for name, data in files.items()})


if __name__ == "__main__":
    main()

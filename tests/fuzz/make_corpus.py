#!/usr/bin/env python3
"""Write tests/corpus/frame, body, proxy_head, tls and tvm_rpc: one behaviour a file, named for it.

An independent writer: it shares no code with proto/. The hex dumps of PROTOCOL.md become
files, too. Run it after changing the protocol and commit what it writes; --check tells when
that was forgotten.
"""
import json
import pathlib
import re
import struct

from settle import settle

TESTS = pathlib.Path(__file__).resolve().parent.parent
CORPUS = TESTS / "corpus"
DOCUMENT = TESTS.parent / "proto" / "PROTOCOL.md"
MAGIC = b"\xedmd\x01"
MIB = 1 << 20


def array(*items):
    return bytes([0x90 | len(items)]) + b"".join(items)


def text(s):
    raw = s.encode() if isinstance(s, str) else s
    assert len(raw) < 32
    return bytes([0xA0 | len(raw)]) + raw


def mapping(*pairs):
    return bytes([0x80 | len(pairs)]) + b"".join(k + v for k, v in pairs)


def ext(kind, data):
    return b"\xc7" + bytes([len(data), kind]) + data


def tensor(where=0, dtype=(2, 32, 1), shape=(1000,), offset=0, nbytes=4000, segment=0):
    code, bits, lanes = dtype
    return ext(1, struct.pack("<BBBBHHiiQQ", where, code, bits, len(shape), lanes, segment,
                              0, 0, offset, nbytes) + struct.pack("<%dq" % len(shape), *shape))


def uid(n):
    return b"\xcf" + struct.pack(">Q", n)


def request(method, params, options=None):
    tail = [] if options is None else [options]
    return array(b"\x00", uid(7), text(method), params, *tail)


def header(magic=MAGIC, body=1, payload=0):
    return magic + struct.pack("<IQ", body, payload)


FRAME = {
    "accept_smallest": header(),
    "accept_body_at_limit": header(body=MIB),
    "accept_payload_at_limit": header(payload=4 << 30),
    "reject_http": b"GET / HTTP/1.1\r\n",
    "reject_tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(5),
    "reject_other_version": header(magic=b"\xedmd\x02"),
    "reject_empty_body": header(body=0),
    "reject_body_over_limit": header(body=MIB + 1),
    "reject_body_huge": header(body=0xFFFFFFFF),
    "reject_payload_over_limit": header(payload=(4 << 30) + 1),
    "reject_payload_huge": header(payload=(1 << 64) - 1),
    "reject_short": header()[:15],
    "reject_empty": b"",
}

OK = b"\xc0"
ERROR = array(b"\x07", text("NOT_FOUND"), text("no module add"), mapping())
NESTED = b"\x91" * 14 + b"\x90"  # 15 deep; the body's own array makes it 16

BODY = {
    "accept_ping": request("ping", array()),
    "accept_call": request("call", array(text("add:addone"), tensor(), tensor(where=3))),
    "accept_call_options": request("call", array(text("a:b"), b"\x01"),
                                   mapping((text("deadline_ms"), b"\x64"))),
    "accept_every_scalar": request("call", array(
        text("a:b"), b"\xc0", b"\xc2", b"\xc3", b"\x7f", b"\xe0", b"\xcc\xff", b"\xd0\x80",
        b"\xcb" + struct.pack(">d", 1.5), b"\xca" + struct.pack(">f", -1.5),
        b"\xd3" + struct.pack(">q", -1 << 63), b"\xc4\x02\x00\xff", text("\u00e9\u20ac"))),
    "accept_every_ext": request("call", array(
        *[ext(k, bytes(7) + b"\x01") for k in (2, 3, 4, 5, 7, 9)],
        ext(6, bytes([2, 32, 1, 0])), ext(8, b""), ext(8, struct.pack("<2q", 3, 4)),
        tensor(shape=(), nbytes=4))),
    "accept_objects": request("call", array(
        ext(10, bytes(9)), ext(10, bytes(8) + b"\x01ffi.Function"), array(ext(10, bytes(9))))),
    "accept_object_of_a_long_key": request("call", array(
        b"\xc8" + struct.pack(">Hb", 9 + 256, 10) + bytes(9) + b"k" * 256)),
    "accept_maps": request("call", array(
        text("a:b"), array(ext(11, b"")), array(ext(11, b""), b"\x01", array(ext(11, b""), b"\xc0", b"\x02")))),
    "reject_object_of_eight_bytes": request("call", array(ext(10, bytes(8)))),
    "reject_object_of_a_longer_key": request("call", array(
        b"\xc8" + struct.pack(">Hb", 9 + 257, 10) + bytes(9 + 257))),
    "reject_map_mark_with_data": request("call", array(array(ext(11, b"\x00")))),
    "accept_tuples": request("call", array(text("a:b"), array(array(b"\x01"), array()))),
    "accept_fixext": request("call", array(b"\xd7\x02" + bytes(8), b"\xd6\x06\x02\x20\x01\x00")),
    "accept_wide_lengths": request("call", b"\xdd\x00\x00\x00\x01\xdb\x00\x00\x00\x01a"),
    "accept_depth_at_limit": request("call", NESTED),
    "accept_response": array(b"\x01", uid(7), OK, array(array(tensor()), b"\xc0")),
    "accept_response_meta": array(b"\x01", uid(7), OK, b"\xc0",
                                  mapping((text("exec_ns"), b"\x05"))),
    "accept_error": array(b"\x01", uid(7), ERROR, b"\xc0"),
    "accept_notification": array(b"\x02", text("session.close"), array()),
    "accept_signed_id": array(b"\x00", b"\xd3" + bytes(7) + b"\x07", text("ping"), array()),
    "reject_empty": b"",
    "reject_not_array": mapping(),
    "reject_kind_three": array(b"\x03", uid(7), text("ping"), array()),
    "reject_negative_id": array(b"\x00", b"\xff", text("ping"), array()),
    "reject_float_id": array(b"\x00", b"\xca" + bytes(4), text("ping"), array()),
    "reject_request_of_three": array(b"\x00", uid(7), text("ping")),
    "reject_request_of_six": array(b"\x00", uid(7), text("ping"), array(), mapping(), OK),
    "reject_params_map": request("ping", mapping()),
    "reject_options_nil": request("ping", array(), OK),
    "reject_method_bin": array(b"\x00", uid(7), b"\xc4\x01p", array()),
    "reject_error_str": array(b"\x01", uid(7), text("bad"), OK),
    "reject_error_of_two": array(b"\x01", uid(7), array(b"\x07", text("X")), OK),
    "reject_error_of_code_0": array(b"\x01", uid(7), array(b"\x00", text("OK"), text("")), OK),
    "reject_notification_of_four": array(b"\x02", text("x"), array(), OK),
    "reject_trailing_byte": request("ping", array()) + b"\xc0",
    "reject_huge_array": request("call", b"\xdd\xff\xff\xff\xff"),
    "reject_huge_map": request("call", array(b"\xdf\xff\xff\xff\xff")),
    "reject_huge_str": request("call", array(b"\xdb\xff\xff\xff\xffa")),
    "reject_huge_ext": request("call", array(b"\xc9\xff\xff\xff\xff\x01")),
    "reject_deep": request("call", b"\x91" + NESTED),
    "reject_never_used_byte": request("call", array(b"\xc1")),
    "reject_overlong_utf8": request("call", array(text(b"\xc0\xaf"))),
    "reject_surrogate": request("call", array(text(b"\xed\xa0\x80"))),
    "reject_cut_utf8": request("call", array(text(b"abcdefgh\xe2\x82"))),
    "reject_duplicate_key": request("ping", array(), mapping(
        (text("trace"), b"\xc3"), (text("trace"), b"\xc2"))),
    "reject_int_key": request("ping", array(), mapping((b"\x01", b"\x01"))),
    "reject_unknown_ext": request("call", array(ext(12, bytes(8)))),
    "reject_timestamp": request("call", array(b"\xd6\xff" + bytes(4))),
    "reject_short_handle": request("call", array(ext(2, bytes(4)))),
    "reject_short_tensor": request("call", array(ext(1, bytes(31)))),
    "reject_tensor_ndim_not_length": request("call", array(
        ext(1, bytes([0, 2, 32, 2]) + bytes(36)))),
    "reject_odd_shape": request("call", array(ext(8, bytes(9)))),
    "reject_map_over_limit": request("call", array(b"\xde\x00\x41" + b"".join(
        text("k%02d" % i) + b"\xc0" for i in range(65)))),
}


def proxied(command=0x21, family=0x11, addresses=bytes([203, 0, 113, 7, 127, 0, 0, 1, 48, 57, 0, 80]),
            rest=b"", length=None):
    """A header of the PROXY protocol, version 2."""
    length = len(addresses + rest) if length is None else length
    return (b"\r\n\r\n\0\r\nQUIT\n" + bytes([command, family]) + struct.pack(">H", length) +
            addresses + rest)


CAME_BY_TLS = b"\x20\0\x05\x01\0\0\0\0"
PROXY_HEAD = {
    "accept_ipv4": proxied(),
    "accept_ipv6": proxied(family=0x21, addresses=bytes(36)),
    "accept_local": proxied(command=0x20, family=0, addresses=b""),
    "accept_no_family": proxied(family=0, addresses=b""),
    "accept_unix": proxied(family=0x31, addresses=bytes(216)),
    "accept_tls": proxied(rest=b"\x04\0\0" + CAME_BY_TLS),
    "accept_and_what_follows": proxied() + b"GET / HTTP/1.1",
    "accept_longest": proxied(rest=b"\x04" + struct.pack(">H", 2017) + bytes(2017)),
    "reject_empty": b"",
    "reject_prefix": proxied()[:-1],
    "reject_version_1": b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n",
    "reject_version_3": proxied(command=0x31),
    "reject_command": proxied(command=0x22),
    "reject_family": proxied(family=0x41),
    "reject_datagram": proxied(family=0x12),
    "reject_no_room_for_addresses": proxied(length=11),
    "reject_field_cut": proxied(rest=CAME_BY_TLS[:-1]),
    "reject_too_long": proxied(length=2033),
    "reject_tls_hello": b"\x16\x03\x01\x02\0" + bytes(20),
}

# Steps of tests/fuzz/fuzz_tls.c.
SAY, DELIVER, DELIVER_ALL, READ, WRITE, HEAR, SHAKE, KEYS, FLIP, LOSE, REPEAT, MIX = range(12)
SHOWS, BY_STEPS, OLD = 1, 2, 4
BY_CLOSE, BY_SOCKET = 8 | 1 << 4, 8 | 2 << 4  # how it ends
LARGE = 255


def steps(*pairs, flags=SHOWS):
    return bytes([flags]) + b"".join(bytes(pair) for pair in pairs)


def by_bytes(step, times):
    return [(step, 1)] * times


TLS = {
    "accept_one_record": steps((SAY, 100), (DELIVER_ALL, 0), (READ, 50), (READ, LARGE)),
    "accept_without_a_certificate": steps((SAY, 100), flags=0),
    "accept_handshake_by_bytes": steps(
        (SHAKE, 0), *by_bytes(DELIVER, 40), (SHAKE, 0), (DELIVER_ALL, 0), (SHAKE, 0), (HEAR, 0),
        (SHAKE, 0), (DELIVER, 5), (SHAKE, 0), (DELIVER_ALL, 0), (SHAKE, 0), flags=SHOWS | BY_STEPS),
    "accept_many_records_at_once": steps(*[(SAY, LARGE)] * 4, (DELIVER_ALL, 0), (READ, 9)),
    "accept_record_by_bytes": steps((SAY, 20), *by_bytes(DELIVER, 40), (READ, 1), (DELIVER_ALL, 0)),
    "accept_both_ways": steps((WRITE, LARGE), (SAY, LARGE), (DELIVER_ALL, 0), (HEAR, 0), (READ, 99)),
    "accept_new_keys": steps((KEYS, 1), (SAY, 9), (DELIVER_ALL, 0), (READ, 9), (WRITE, 9), (HEAR, 0)),
    "accept_only_new_keys": steps(*[(KEYS, 1), (SAY, 0)] * 30),
    "accept_write_that_is_full": steps(*[(WRITE, LARGE)] * 12, (HEAR, 0), (WRITE, 1), (HEAR, 0)),
    "keys_while_full": steps(*[(WRITE, LARGE)] * 12, (KEYS, 1), (SAY, 19), (DELIVER_ALL, 0), (READ, 1)),
    "accept_end": steps((SAY, 9), flags=SHOWS | BY_CLOSE),
    "accept_end_of_the_socket": steps((SAY, 9), flags=SHOWS | BY_SOCKET),
    "reject_no_handshake": steps(flags=SHOWS | BY_STEPS | BY_SOCKET),
    "reject_tls_1_2": steps((SAY, 9), flags=OLD),
    "reject_record_cut": steps((SAY, 100), (LOSE, 110), flags=SHOWS | BY_SOCKET),
    "reject_record_flipped": steps((SAY, 100), (FLIP, 60), (DELIVER_ALL, 0), (READ, 100)),
    "reject_head_flipped": steps((SAY, 100), (FLIP, 3), (DELIVER_ALL, 0), (READ, 100)),
    "reject_record_repeated": steps((SAY, 1), (REPEAT, 127), (DELIVER_ALL, 0), (READ, 100)),
    "reject_record_lost": steps((SAY, 1), (LOSE, 23), (SAY, 5), (DELIVER_ALL, 0), (READ, 100)),
    "reject_alert_in_plain": steps(
        *[(MIX, b) for b in (21, 3, 3, 0, 2, 1, 0)], (DELIVER_ALL, 0), (READ, 100)),
    "reject_hello_again": steps(
        *[(MIX, b) for b in (22, 3, 3, 0, 4, 1, 0, 0, 0)], (DELIVER_ALL, 0), (READ, 100)),
    "reject_http": steps(*[(MIX, b) for b in b"GET / HTTP/1.1"], (DELIVER_ALL, 0), (SHAKE, 0),
                         flags=BY_STEPS),
}


def document_bodies():
    """The bodies of the frames that the document shows."""
    bodies = {}
    for name, dump in re.findall(r"^```hexdump (\w+)\n(.*?)^```", DOCUMENT.read_text(),
                                 re.MULTILINE | re.DOTALL):
        frame = b"".join(bytes.fromhex(line[8:].split(";")[0])
                         for line in dump.splitlines())
        body_bytes = struct.unpack_from("<I", frame, 4)[0]
        bodies["accept_document_" + name] = frame[16:16 + body_bytes]
    return bodies


RPC_REJECT = {
    "reject_no_code": b"",
    "reject_unknown_code": struct.pack("<I", 22),
    "reject_half_a_handle": struct.pack("<II", 3, 1),
    "reject_bytes_left_over": struct.pack("<IIIQQ", 9, 1, 4, 7, 7),
    "reject_unknown_type": struct.pack("<IIIQ", 9, 1, 99, 7),
    "reject_too_many_values": struct.pack("<II", 9, 4097),
    "reject_text_beyond_the_end": struct.pack("<IIIQ", 9, 1, 8, 1 << 60),
    "reject_copy_of_another_size": struct.pack("<IQiiiBBHQQ", 7, 1, 1, 0, 0, 2, 32, 1, 0, 5) + b"abcd",
    "reject_ndim": struct.pack("<IQiii", 7, 1, 1, 0, 33) + bytes(400),
    "reject_negative_extent": struct.pack("<IQiiiBBHqQQ", 6, 1, 1, 0, 1, 2, 32, 1, -1, 0, 0),
    # Answers of a tracker, which the same target reads.
    "reject_tracker_keys": json.dumps(["board:0.4", 'b"\\:\u00e9\t']).encode(),
    "reject_tracker_done": b"0",
}


def rpc_packets():
    """The packets of the recorded sessions of TVM's clients, without their sizes."""
    text = (TESTS / "proto" / "tvm_rpc_session.c").read_text().split("*/")[1]
    for number, row in enumerate(re.findall(r'"[<>][^,]*",', text)):
        line = "".join(re.findall(r'"([^"]*)"', row))
        yield f"accept_packet_{number:02}", bytes.fromhex(line[1:])[8:]


def corpus():
    """Path to content of every file."""
    return {CORPUS / name / (stem + ".bin"): data
            for name, files in (("frame", FRAME), ("body", BODY | document_bodies()),
                                ("proxy_head", PROXY_HEAD), ("tls", TLS),
                                ("tvm_rpc", RPC_REJECT | dict(rpc_packets())))
            for stem, data in files.items()}


def main():
    settle(__file__, corpus(), (path for name in ("frame", "body", "proxy_head", "tls", "tvm_rpc")
                                for path in (CORPUS / name).glob("*.bin")))


if __name__ == "__main__":
    main()

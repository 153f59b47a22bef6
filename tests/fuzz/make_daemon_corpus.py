#!/usr/bin/env python3
"""Write tests/corpus/session, replica, peer, guest, recognise and heard: what clients, workers and the supervisor say to each
other, in the forms that fuzz_session.c, fuzz_replica.c, fuzz_peer.c, fuzz_guest.c, fuzz_recognise.c and fuzz_heard.c read. Run it after changing
it; --check tells when that was forgotten."""
import pathlib
import struct

from make_corpus import array, mapping, text
from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus"
NIL, EMPTY = b"\xc0", b"\x90"
FRAME, BYTES, SEGMENT, END, TIME = range(5)

CONNECT, LOOK, PROMISE, LOAD, UNLOAD, CALL, HANDLE = 0, 0, 1, 2, 3, 4, 8
CANCEL, LEAVE, DEAF, WILD, LEND = 11, 12, 13, 14, 15
WAIT, NO_PROCESS, EXITS, RAW, ANNOUNCES, ANSWERS = 160, 150, 192, 193, 194, 195
OPENED = bytes([ANSWERS, 0, 0])
ADDED = bytes([CONNECT, 0, LOAD, 0]) + OPENED
# A segment, and a call with an argument and an output there; then its answer.
LENT = ADDED + bytes([LEND, 16, CALL, 0, 64 + 128, 0])
FILLED = bytes([ANSWERS, 0, 4, 4])
# An instance that is promised, and a call of it; then the same with a payload.
PROMISED = ADDED + bytes([PROMISE, 1, 4, 0, PROMISE, 0, 2, 0])
WITH_PAYLOAD = ADDED + bytes([PROMISE, 1, 4, 0, LOOK, 0, PROMISE, 0, 3, 0, LOOK, 1])
MADE, FAILS, ANSWERED = (bytes([ANSWERS, 0, what]) for what in (6, 7, 2))


def number(n):
    return b"\xcf" + struct.pack(">Q", n)


def piece(kind, data=b"\x00"):
    return bytes([kind]) + struct.pack("<H", len(data)) + data


def tensor(where, offset=0, n=16, segment=0):
    data = struct.pack("<BBBBHHiiQQq", where, 2, 32, 1, 1, segment, 0, 0, offset, 4 * n, n)
    return b"\xc7" + bytes([len(data), 1]) + data


def handle(kind, slot=0, generation=1):
    return b"\xd7" + bytes([kind]) + struct.pack("<II", slot, generation)


def response(id, result, *meta, error=NIL):
    return array(b"\x01", number(id), error, result, *meta)


def notification(method, *params):
    return array(b"\x02", text(method), array(*params))


def request(id, method, *params):
    return array(b"\x00", number(id), text(method), array(*params))


FAILED = array(b"\x0e", text("CALL_FAILED"), text("no"), mapping())
ANNOUNCED = piece(SEGMENT, notification("worker.segment", text("out"), b"\x00", b"\xcd\x10\x00"))
TOLD = piece(SEGMENT, notification("worker.segment", text("in"), b"\x00", b"\xcd\x10\x00"))
LENT_TO_IT = piece(SEGMENT, notification("worker.segment", text("lent"), b"\xcd\x04\x00",
                                         b"\xcd\x10\x00"))
AT_LENT = tensor(1, 0, segment=1024)
RESULT = array(array(tensor(1, 0), tensor(1, 128)), NIL)
DTYPE, SHAPE = b"\xd6\x06\x02\x20\x01\x00", b"\xd7\x08" + struct.pack("<q", 16)

SESSION = {
    "call": ADDED + bytes([CALL, 0, 3, 2, ANNOUNCES, 0, ANSWERS, 0, 3, 2]),
    "deadline": ADDED + bytes([CALL, 0, 3 + 8 * 2, 2, WAIT, 2, WAIT, 2, EXITS, 0]) + OPENED,
    "die": ADDED + bytes([CALL, 0, 1, 9, CALL, 0, 1, 9, EXITS, 0]) + OPENED + bytes([ANSWERS, 0, 2]),
    "cancel": ADDED + bytes([CALL, 0, 0, 0, CALL, 0, 0, 0, CANCEL, 0, CANCEL, 2]),
    "replace": ADDED + bytes([LOAD, 16, CALL, 0, 0, 0, ANSWERS, 64, 0, ANSWERS, 0, 2]),
    "unload": ADDED + bytes([CALL, 0, 0, 0, UNLOAD, 0, ANSWERS, 0, 2, EXITS, 0]),
    "vanish": ADDED + bytes([16, 0, 16 + CALL, 0, 1, 5, 16 + LEAVE, 0, ANSWERS, 0, 2]),
    "resident": ADDED + bytes([HANDLE, 0, ANSWERS, 0, 5, HANDLE, 1, HANDLE, 3, ANSWERS, 0, 6,
                               HANDLE, 4]),
    "function": ADDED + bytes([HANDLE, 5, HANDLE, 6, ANSWERS, 0, 2, HANDLE, 7]),
    "look": ADDED + bytes(b for i in range(8) for b in (LOOK, i)),
    "three_workers": bytes([CONNECT, 0, LOAD, 8]) + OPENED + bytes([ANSWERS, 0, 0, ANSWERS, 64, 0,
                     CALL, 0, 0, 0, CALL, 0, 0, 0, ANSWERS, 0, 2, ANSWERS, 64, 2, EXITS, 64]),
    "room": ADDED + bytes(b for _ in range(6) for b in (CALL, 0, 3, 39)) + bytes([ANSWERS, 0, 2]),
    "deaf": ADDED + bytes([DEAF, 0, WAIT, 4, CONNECT, 0, WILD, 3, 1, 2, 3]),
    "no_process": bytes([CONNECT, 0, NO_PROCESS, 0, LOAD, 0, WAIT, 6]),
    "lend": LENT + FILLED + bytes([LEND, 19, LEND, 19, CALL, 0, 64, 0]),
    "lend_removed": LENT + bytes([LEND, 19]) + FILLED + bytes([LEND, 16]),
    "lend_gone": LENT + bytes([LEAVE, 0]) + FILLED,
    "lend_dies": LENT + bytes([EXITS, 0]) + OPENED + bytes([CALL, 0, 64, 0]) + FILLED,
    "lend_lies": LENT + bytes([ANSWERS, 0, 4 + 64, 4]),
    "lend_outside": LENT + bytes([CALL, 0, 64, 128, CALL, 3, 128, 1, ANSWERS, 0, 4 + 8, 255]),
    "lend_wrong": ADDED + bytes(b for i in range(9) for b in (LEND, 16 * i + 4 * (i % 4))),
    "promise": PROMISED + MADE + ANSWERED,
    "promise_fails": PROMISED + FAILS,
    "promise_dies": PROMISED + bytes([EXITS, 0]) + OPENED,
    "promise_gone": PROMISED + bytes([LEAVE, 0]) + MADE,
    "promise_late": PROMISED + bytes([PROMISE, 5, 6, 0, WAIT, 4]) + MADE,
    "promise_cancelled": PROMISED + bytes([CANCEL, 0, CANCEL, 1]) + MADE,
    "promise_chain": ADDED + bytes([PROMISE, 0, 4, 0] + [PROMISE, 8, 4, 2] * 9) + ANSWERED * 10,
    "promise_payload": WITH_PAYLOAD + MADE + ANSWERED,
    "promise_payload_fails": WITH_PAYLOAD + FAILS,
    "promise_payload_gone": WITH_PAYLOAD + bytes([LEAVE, 0]) + MADE,
    "raw": ADDED + bytes([CALL, 0, 0, 0, RAW, 5]) + b"\x94\x01\x02\xc0\xc0",
}
TOOK = mapping((text("exec_ns"), number(5)))
VARIED = mapping((text("varied"), b"\xc3"), (text("exec_ns"), number(5)))
MARK = b"\xc7\x00\x0b"


def an_object(slot=0, generation=1, key="test.Point"):
    data = struct.pack("<IIB", slot, generation, 0) + key.encode()
    return b"\xc7" + bytes([len(data), 10]) + data


MAP = array(MARK, text("a"), b"\x01", text("b"), array(MARK, b"\x02", an_object()))
OBJECTS = piece(FRAME, request(1, "call", text("m:echo"), MAP)) + piece(
    FRAME, request(2, "call", text("m:kind"), array(an_object()))) + piece(
    FRAME, request(3, "object.free", an_object(), an_object(1))) + piece(
    FRAME, request(4, "object.describe", an_object())) + piece(
    FRAME, request(5, "call", an_object(), b"\x01")) + piece(
    FRAME, request(6, "call", text("m:echo"), array(MARK, b"\x01"))) + piece(
    FRAME, request(7, "call", text("m:echo"), array(MARK, b"\x01", NIL, b"\x01", NIL))) + piece(
    FRAME, request(8, "call", text("m:echo"), MARK))


def known(*places):
    """One answer over and over, each time with its tensor at another place."""
    return ANNOUNCED + b"".join(
        piece(FRAME, response(id, array(array(tensor(1, offset, segment=segment)), NIL), TOOK))
        for id, (segment, offset) in zip((2, 5, 6, 7, 8), places))


REPLICA = {
    "accept_known": known((0, 0), (0, 128), (0, 256), (0, 0), (0, 4096 - 128)),
    "reject_known_outside": known((0, 0), (0, 128), (0, 256), (0, 4096)),
    "reject_known_far": known((0, 0), (0, 128), (0, 256), (0, (1 << 64) - 128)),
    "reject_known_in_no_segment": known((0, 0), (0, 128), (0, 256), (1, 0)),
    "reject_known_lent": known((0, 0), (0, 128), (0, 256), (1024, 0)),
    "reject_known_askew": known((0, 0), (0, 128), (0, 256), (0, 8)),
    "accept_results": ANNOUNCED + piece(FRAME, response(2, RESULT))
    + piece(FRAME, response(3, tensor(2, 1 << 32)))
    + piece(FRAME, response(4, handle(4))),
    "accept_objects": ANNOUNCED + b"".join(
        piece(FRAME, response(id, array(array(tensor(1, at)), value), VARIED))
        for id, at, value in ((5, 0, MAP), (6, 128, an_object(7, 9, "k" * 200)),
                              (7, 256, array(MARK, an_object(), an_object())))),
    "accept_errors": b"".join(piece(FRAME, response(i, NIL, error=FAILED)) for i in (2, 3, 4)),
    "accept_meta": piece(FRAME, response(2, NIL, mapping((text("exec_ns"), b"\x05")), error=FAILED)),
    "accept_nothing": piece(TIME),
    "reject_unasked": piece(FRAME, response(9, NIL)),
    "reject_twice": piece(FRAME, response(2, NIL, error=FAILED)) * 2,
    "reject_request": piece(FRAME, request(1, "call")),
    "reject_no_segment": piece(FRAME, response(2, RESULT)),
    "reject_one_place_twice": ANNOUNCED
    + piece(FRAME, response(2, array(array(tensor(1, 0), tensor(1, 0)), NIL))),
    "reject_outside": ANNOUNCED
    + piece(FRAME, response(2, array(array(tensor(1, 0), tensor(1, 4096)), NIL))),
    "reject_no_descriptor": piece(FRAME, notification("worker.segment", text("out"), b"\x00", b"\x01")),
    "reject_end": piece(END),
    "reject_bytes": piece(BYTES, b"GET / HTTP/1.1\r\n\r\n"),
}
PEER = {
    "accept_call": piece(FRAME, request(1, "call", text("m:int"))),
    "accept_echo": piece(FRAME, request(1, "call", text("m:echo"), text("x"))),
    "accept_objects": OBJECTS,
    "accept_tensor": TOLD + piece(FRAME, request(1, "call", text("m:kind"), tensor(1))),
    "accept_lent": LENT_TO_IT + piece(FRAME, request(1, "call", text("m:kind"), AT_LENT))
    + piece(FRAME, request(2, "call", text("m:count"), tensor(3, 128, segment=1024)))
    + piece(FRAME, notification("worker.segment", text("lent"), b"\xcd\x04\x00", b"\x00"))
    + piece(FRAME, request(3, "call", text("m:kind"), AT_LENT)),
    "reject_lent_as_in": piece(SEGMENT, notification("worker.segment", text("lent"), b"\x00",
                                                     b"\xcd\x10\x00")),
    "accept_out": piece(FRAME, request(1, "call", text("m:count"), tensor(3), tensor(3)))
    + piece(FRAME, notification("worker.release", b"\x00", b"\x00", b"\x00", b"\xcc\x80")),
    "accept_resident": piece(FRAME, request(1, "tensor.alloc", text("m"), DTYPE, SHAPE))
    + piece(FRAME, request(2, "tensor.fill", tensor(2), b"\x01")),
    "accept_instance": piece(FRAME, request(1, "module.instance", text("m"))),
    "accept_cancel": piece(FRAME, notification("cancel", b"\x01")),
    "accept_unknown": piece(FRAME, request(1, "what")) + piece(FRAME, notification("what")),
    "reject_response": piece(FRAME, response(1, NIL)),
    "reject_release": piece(FRAME, notification("worker.release", b"\x00", b"\x00")),
    "reject_segment": piece(FRAME, notification("worker.segment", text("in"), b"\x00", b"\x01")),
    "reject_bytes": piece(BYTES, b"GET / HTTP/1.1\r\n\r\n"),
}
PAYLOAD, LEAVES = 3, 4
MEASURED = (text("repeat"), array(b"\x02", b"\x03", b"\x00"))
UNMEASURED = (text("repeat"), array(b"\x02", b"\x00"))
INT = piece(FRAME, request(1, "call", text("m:int")))


def with_options(*pairs):
    return piece(FRAME, array(b"\x00", number(1), text("call"), array(text("m:int")),
                              mapping(*pairs)))


PEER["accept_repeat"] = with_options(MEASURED) + with_options(UNMEASURED)
GUEST = {
    "accept_call": INT * 4,
    "accept_objects": OBJECTS,
    "accept_pipeline": piece(FRAME, request(1, "call", text("m:echo"), text("x"))) + INT,
    "accept_payload": piece(PAYLOAD, request(1, "call", text("m:kind"), tensor(0))),
    "accept_outside_the_payload": piece(PAYLOAD, request(1, "call", text("m:kind"), tensor(0, 64))),
    "accept_segment": piece(FRAME, request(1, "call", text("m:kind"), tensor(1))),
    "accept_resident": piece(FRAME, request(1, "call", text("m:kind"), tensor(2, 1 << 32))),
    "accept_out": piece(FRAME, request(1, "call", text("m:count"), tensor(3), tensor(3))),
    "accept_options": with_options((text("deadline_ms"), b"\x00")) + with_options(
        (text("instance"), handle(4))) + with_options((text("deadline_ms"), b"\xc0"))
    + with_options(MEASURED),
    "accept_unknown": piece(FRAME, request(1, "call", text("m:what"))) + piece(
        FRAME, request(2, "what")) + piece(FRAME, request(3, "worker.open", mapping())),
    "accept_cancel": piece(FRAME, notification("cancel", b"\x01")),
    "reject_leaves": INT + piece(LEAVES) + INT,
    "reject_descriptor": piece(SEGMENT, request(1, "call", text("m:int"))),
    "reject_response": piece(FRAME, response(1, NIL)),
    "reject_release": piece(FRAME, notification("worker.release", b"\x00", b"\x00")),
    "reject_peer": piece(FRAME, notification("worker.peer", b"\x01")),
    "reject_cancel": piece(FRAME, notification("cancel", b"\xc0")),
    "reject_bytes": piece(BYTES, b"GET / HTTP/1.1\r\n\r\n"),
    "reject_large": piece(BYTES, b"\xedmd\x01" + struct.pack("<IQ", 16, 4097) + bytes(16)),
}
RECOGNISE = {
    "accept_again": b"".join(piece(0, request(id, "call", text("m:int"))) for id in (1, 2, 3)),
    "accept_options": piece(0, array(b"\x00", number(1), text("call"), array(text("m:int")),
                                     mapping((text("deadline_ms"), b"\x05")))) * 3,
    "accept_tensor": piece(64, request(1, "call", text("m:kind"), tensor(0), handle(4))) * 3,
    "reject_once": piece(0, request(1, "call", text("m:int"))) * 2,
    "reject_other": piece(0, request(1, "call", text("m:int"))) * 2
    + piece(0, request(1, "call", text("m:inu"))),
    "reject_payload": piece(0, request(1, "call", text("m:int"))) * 2
    + piece(1, request(1, "call", text("m:int"))),
    "accept_map": b"".join(piece(0, request(id, "call", text("m:echo"), array(MARK, b"\x01", NIL)))
                           for id in (1, 2, 3)),
    "accept_varied": b"".join(piece(0, response(id, array(array(), NIL), VARIED)) for id in (1, 2, 3)),
    "accept_short_id": piece(0, array(b"\x00", b"\x01", text("ping"), array())) * 3,
    "accept_elsewhere": b"".join(piece(0, request(id, "call", text("m:kind"), tensor(1, 64 * id)))
                                 for id in (1, 2, 3)),
    "accept_answer": b"".join(piece(0, response(id, array(tensor(1, 64 * id, segment=id)), TOOK))
                              for id in (1, 2, 3)),
    "reject_other_answer": b"".join(piece(0, response(id, array(tensor(1, 64, id)), TOOK))
                                    for id in (1, 2, 3)),
    "reject_response": piece(0, response(1, NIL)) * 3,
    "reject_nothing": piece(0, b"") * 3,
}
HEARD = {
    "accept_again": b"".join(piece(0, response(id, array(array(), NIL), TOOK)) for id in (1, 2, 3)),
    "accept_text": piece(0, response(1, array(text("x"), text("")), TOOK)) * 3,
    "accept_map": piece(0, response(1, mapping((text("key"), array(b"\x01", SHAPE))), TOOK)) * 4,
    "accept_varied": piece(0, response(1, array(text("x"), b"\x01"), VARIED)) * 3,
    "reject_map_value": piece(0, response(1, array(MARK, b"\x01", text("x")), VARIED)) * 3,
    "reject_object": piece(0, response(1, array(array(), an_object()), VARIED)) * 3,
    "accept_behind_others": piece(0, response(1, text("x"), TOOK)) * 2
    + piece(0, response(2, text("y"), TOOK)) * 3,
    "reject_twice": piece(0, response(1, NIL, TOOK)) * 2,
    "reject_other": piece(0, response(1, text("x"), TOOK)) * 3 + piece(0, response(1, text("y"), TOOK)),
    "reject_large": piece(0, response(1, array(*[NIL] * 9), TOOK)) * 3,
    "reject_payload": piece(64, response(1, NIL, TOOK)) * 3,
    "reject_tensor": piece(0, response(1, array(tensor(2)), TOOK)) * 3,
    "reject_handle": piece(0, response(1, array(handle(4)), TOOK)) * 3,
    "reject_without_a_time": piece(0, response(1, NIL)) * 3,
    "reject_request": piece(0, request(1, "ping")) * 3,
    "reject_nothing": piece(0, b"") * 3,
}


def corpus():
    """Path to content of every file."""
    session = {"accept_" + stem: data for stem, data in SESSION.items()}
    return {CORPUS / name / (stem + ".bin"): data
            for name, files in (("session", session), ("replica", REPLICA), ("peer", PEER),
                                ("guest", GUEST),
                                ("recognise", RECOGNISE), ("heard", HEARD))
            for stem, data in files.items()}


def main():
    settle(__file__, corpus(), (path for name in ("session", "replica", "peer", "guest",
                                                     "recognise", "heard")
                                for path in (CORPUS / name).glob("*.bin")))


if __name__ == "__main__":
    main()

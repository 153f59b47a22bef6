"""What a daemon could answer, written by hand: good, cut short, and against the protocol."""
import socket

import msgpack
import pytest

import modser


def answers(folder, data):
    """Connect to something that says `data` after the first request, and ends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "odd.sock"))
    listener.listen(1)
    client = modser.connect(f"unix:{folder}/odd.sock")
    peer, _ = listener.accept()
    future = client["m"].f.submit(modser.out("uint8", 4))
    peer.recv(1 << 16)
    peer.sendall(data)
    peer.close()
    listener.close()
    return future


HEAD = bytes.fromhex("ed6d6401")
ID = "cf0000000000000001"
TENSOR = "c72801" + "0001080101000000" + 16 * "00" + 2 * "0400000000000000"


def frame(body, payload=b"", body_bytes=None, payload_bytes=None):
    body = bytes.fromhex(body)
    n = len(body) if body_bytes is None else body_bytes
    p = len(payload) if payload_bytes is None else payload_bytes
    return HEAD + n.to_bytes(4, "little") + p.to_bytes(8, "little") + body + payload


GOOD = frame(f"9401{ID}c09291{TENSOR}c0", b"abcd")


def test_a_reply_by_hand_is_good(folder):
    assert answers(folder, GOOD).result().tobytes() == b"abcd"


def test_the_daemon_says_why_it_ends_the_connection(tmp_path):
    last = msgpack.packb([2, "session.close", [22, "BUSY", "too slow a reader", {}]])
    with pytest.raises(modser.ConnectionLost, match=r"ended the connection: too slow .* \[BUSY\]"):
        answers(tmp_path, frame(last.hex())).result()


@pytest.mark.parametrize("body", [[2, "session.close", 3], [2, "session.close"], [2, "chunk", []]])
def test_other_notifications_mean_nothing(tmp_path, body):
    assert answers(tmp_path, frame(msgpack.packb(body).hex()) + GOOD).result().tobytes() == b"abcd"


@pytest.mark.parametrize("end", [0, 1, 15, 16, 40, len(GOOD) - 1])
def test_disconnect_in_the_middle_of_a_reply(folder, end):
    with pytest.raises(modser.ConnectionLost, match="closed the connection"):
        answers(folder, GOOD[:end]).result()


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        HEAD[:3] + b"\x02" + GOOD[4:],
        frame("", body_bytes=0),
        frame("90", body_bytes=(64 << 20) + 1),
        frame("90", payload_bytes=(4 << 30) + 1),
        frame("90"),
        frame("c1"),
        frame("ddffffffff"),
        frame("dfffffffff"),
        frame(f"9400{ID}c0c0"),
        frame("9401cf0000000000000007c0c0"),
        frame(f"9401{ID}9101c0"),
        frame(f"9401{ID}c09290c0"),
        frame(f"9401{ID}c0c0"),
        frame(f"9401{ID}c09291{TENSOR}c0", b"abc"),
        frame(f"9401{ID}c09291{TENSOR}{TENSOR}", b"abcd"),
        frame(f"9401{ID}c09291{TENSOR.replace('c7280100', 'c7280101', 1)}c0", b"abcd"),
        frame(f"9401{ID}c09291{TENSOR[:-16]}0500000000000000c0", b"abcd"),
        frame(f"9401{ID}c09291{TENSOR[:-16]}ffffffffffffffffc0", b"abcd"),
        frame(f"9401{ID}c0d40a00"),
    ],
)
def test_what_breaks_the_protocol_ends_the_connection(folder, data):
    with pytest.raises(modser.ProtocolError):
        answers(folder, data).result()

"""The reader alone, on bytes that nobody should send."""
import numpy as np
import pytest
import test_golden

import modser
from modser._reader import Reader


class Waiting:
    def __init__(self, *outs):
        self.outs, self.got, self.lent = list(outs), None, {}

    def finish(self, error, result, meta):
        self.got = error, result, meta


def feed(data, cut=1 << 20):
    """The reply to request 1 that the bytes hold, or None when there is none yet."""
    reader, waiting = Reader(), Waiting(modser.out("float32", 4))
    reader.waiting[1] = waiting
    for at in range(0, len(data), cut):
        piece = data[at : at + cut]
        while piece:
            target = reader.target()
            assert len(target), "nowhere to put bytes"
            n = min(len(target), len(piece))
            target[:n] = piece[:n]
            reader.received(n)
            piece = piece[n:]
    return waiting.got


RESPONSE, ERROR = test_golden.dumps()["response"], test_golden.dumps()["error"]


@pytest.mark.parametrize("whole", [RESPONSE, ERROR])
def test_every_prefix_waits_for_more(whole):
    for end in range(len(whole)):
        assert feed(whole[:end]) is None
        assert feed(whole[:end], cut=7) is None
    assert feed(whole) is not None


@pytest.mark.parametrize("whole", [RESPONSE, ERROR])
def test_every_changed_byte_is_read_or_refused(whole):
    """No other exception than ProtocolError, and never more memory than the frame says."""
    for at in range(len(whole)):
        for value in (0x00, 0x01, 0x7F, 0x80, 0xC1, 0xDD, 0xFF, whole[at] ^ 0x01, whole[at] ^ 0x40):
            changed = whole[:at] + bytes([value]) + whole[at + 1 :]
            try:
                feed(changed)
            except modser.ProtocolError as error:
                assert error.message


@pytest.mark.parametrize("payload", [16, 200_000])
def test_a_tensor_without_elements_may_say_that_it_is_anywhere(payload):
    pack = modser._tensor.pack_tensor
    tensors = [(payload, 0), (0, 1 << 40)]
    exts = b"".join(pack(0, (1, 8, 1), (n, 2), at, 2 * n) for n, at in tensors)
    body = b"\x94\x01\x01\xc0\x92\x90\x92" + exts
    header = modser._message.HEADER.pack(modser._message.MAGIC, len(body), 2 * payload)
    reader, waiting = Reader(), Waiting()
    reader.waiting[1] = waiting
    stream = header + body + bytes(2 * payload)
    while stream:
        target = reader.target()
        n = min(len(target), len(stream))
        target[:n] = stream[:n]
        reader.received(n)
        stream = stream[n:]
    assert [t.shape for t in waiting.got[1][1]] == [(payload, 2), (0, 2)]


def answered(waiting, segment, offset, dtype=(2, 32, 1)):
    """What @waiting gets when its result is a tensor in memory that was lent."""
    ext = modser._tensor.pack_tensor(1, dtype, (4,), offset, 16, segment=segment)
    body = b"\x94\x01\x01\xc0\x92\x90" + ext
    data = modser._message.HEADER.pack(modser._message.MAGIC, len(body), 0) + body
    reader = Reader()
    reader.waiting[1] = waiting
    reader.target()[: len(data)] = data
    reader.received(len(data))
    return waiting.got[1][1]


def test_a_tensor_in_a_segment_lies_at_a_position_that_the_request_named():
    y = np.zeros(4, "f4")
    for segment, offset, dtype in ((1, 128, (2, 32, 1)), (1, 256, (2, 32, 1)),
                                   (2, 128, (2, 32, 1)), (1, 128, (0, 32, 1))):
        waiting = Waiting()
        waiting.lent[1, 128] = modser.out(y)
        if (segment, offset, dtype[0]) == (1, 128, 2):
            assert answered(waiting, segment, offset, dtype) is y
        else:
            with pytest.raises(modser.ProtocolError, match="that the request did not name"):
                answered(waiting, segment, offset, dtype)


def test_frames_of_every_size_around_the_buffer():
    """What goes through the buffer and what does not gives the same."""
    for nbytes in [*range(65_390, 65_560, 3), 200_000]:
        data = bytes(range(256)) * (nbytes // 256 + 1)
        ext = modser._tensor.pack_tensor(0, (1, 8, 1), (nbytes,), 0, nbytes)
        body = b"\x94\x01\x01\xc0\x92\x90" + ext
        frame = modser._message.HEADER.pack(modser._message.MAGIC, len(body), nbytes)
        one = frame + body + data[:nbytes]
        reader, waiting = Reader(), [Waiting(), Waiting()]
        reader.waiting.update({1: waiting[0]})
        stream, at = one + one.replace(b"\x94\x01\x01\xc0", b"\x94\x01\x02\xc0", 1), 0
        reader.waiting.update({2: waiting[1]})
        while at < len(stream):
            target = reader.target()
            n = min(len(target), len(stream) - at, 60_000)
            target[:n] = stream[at : at + n]
            reader.received(n)
            at += n
        for w in waiting:
            assert w.got[1][1].tobytes() == data[:nbytes]

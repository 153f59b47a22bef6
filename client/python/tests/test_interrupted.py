"""A signal's handler may run between any two steps of a call."""
import contextlib
import itertools
import socket
import sys

import harness
import pytest
from unasked import elsewhere
from wire import INLINE, frame, tensor_ext

import modser
from modser._reader_lock import ReaderLock, WakeEvent


@pytest.fixture
def client(own_daemon):
    daemon = own_daemon("--load", f"results={harness.ZOO / 'results.so'}")
    with modser.connect(daemon.host, deadline=harness.PATIENCE) as client:
        client.wait("results")
        yield client


@pytest.mark.parametrize("step", ["acquire", "release"])
def test_ctrl_c_leaves_the_lock_to_others(client, monkeypatch, step):
    """It comes when the lock to read has been acquired, or has not been released yet."""
    do, interrupts = getattr(ReaderLock, step), [KeyboardInterrupt]

    def interrupted(lock):
        done = do(lock) if step == "acquire" or not interrupts else None
        if interrupts:
            raise interrupts.pop()
        return done

    monkeypatch.setattr(ReaderLock, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        client["results"].int()
    assert not client._channel._reading.locked(), "another thread may read"
    assert client["results"].int() == -42


def test_a_lock_that_was_not_released_is_acquired_again():
    lock = ReaderLock()
    assert lock.acquire() and lock.acquire()
    lock.release()
    lock.release()
    assert not lock.locked()


def test_a_call_within_another_one_is_refused_and_leaves_the_connection(client):
    client._channel._is_receiving = True
    with pytest.raises(RuntimeError, match="began within another call"):
        client["results"].int()
    client._channel._is_receiving = False
    assert client["results"].int() == -42


def is_interrupted(at, do):
    """Whether it has been, behind so many of the functions that it calls, and itself."""
    left = itertools.count(at, -1)

    def profile(_frame, event, _arg):
        if event.endswith("return") and next(left) == 0:
            raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        do()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def test_who_wakes_another_may_be_interrupted():
    for at in itertools.count():
        wake = WakeEvent()
        was_interrupted = is_interrupted(at, wake.set)
        with elsewhere(wake.set):
            assert wake.wait(harness.PATIENCE)
        if not was_interrupted:
            break
    assert at > 2, "each step had its turn"


BYTES = 100_000  # more than are read at once, less than a socket holds


def answer(id, byte, n):
    return frame([1, id, None, [[tensor_ext(INLINE, "u1", (n,))], None]], bytes([byte]) * n)


@contextlib.contextmanager
def answered(folder, *answers):
    """A client whose answers have come."""
    with socket.socket(socket.AF_UNIX) as listener:
        (folder / "by-hand").unlink(missing_ok=True)
        listener.bind(f"{folder}/by-hand")
        listener.listen(1)
        with modser.connect(f"unix:{folder}/by-hand", deadline=harness.PATIENCE) as client:
            with listener.accept()[0] as peer:
                peer.sendall(b"".join(answers))
                yield client


def test_ctrl_c_within_an_answer_leaves_no_rest_of_it_to_the_next(folder):
    """What has come of it and was dropped shows where the next one begins: nobody waits for that
    in vain, or has it wrong."""
    said = set()
    for at in itertools.count():
        with answered(folder, answer(1, 5, BYTES), answer(2, 7, 4)) as client:
            first = client["m"].f.submit(modser.out("uint8", (BYTES,)))
            was_interrupted = is_interrupted(at, first.result)
            try:
                said.add(client["m"].f.submit(modser.out("uint8", (4,))).result().tobytes())
            except modser.ConnectionLost as lost:
                assert "a request was interrupted" in lost.message
        if not was_interrupted:
            break
    assert at > 20, "each step had its turn"
    assert said == {bytes([7] * 4)}

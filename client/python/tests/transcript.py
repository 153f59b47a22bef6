"""A recorded conversation: `> hex` lines are what the client sends, `< hex` what it gets.

`python transcript.py ADDRESS` prints session() as spoken with a daemon that has results.so
loaded as "results"; that is how golden.txt is made. test_golden.py plays it back.
"""
import pathlib
import socket
import sys
import threading

#: The first frame of each client: request 0, session.hello, asks for objects in results.
GREETING = bytes.fromhex(
    "ed6d64011c0000000000000000000000940000ad73657373696f6e2e6865"
    "6c6c6f9181a76f626a65637473c3"
)
GOLDEN = pathlib.Path(__file__).with_name("golden.txt")


def session(client, modser, np):
    """One request of every kind, and what it must give."""
    f32 = np.arange(6, dtype="f4").reshape(2, 3)
    assert client.ping() >= 0
    m = client["results"]
    assert m.int() == -42
    assert m.echo(2.5) == 2.5
    assert m.echo(-(2**63)) == -(2**63)
    assert isinstance(m.kind("text"), int)
    assert m.bytes() == b"\0\1\2\xff"
    assert m.shape() == modser.Shape(2, 3, 4)
    assert m.dtype() == modser.DType.parse("bfloat16")
    assert np.array_equal(m.tensor(), f32 + np.float32(0.5))
    number, tensor, quarter = m.tuple()
    assert (number, quarter) == (7, 0.25) and tensor.shape == (2, 3)
    plain = (1, -17, 2**40, 2.5, True, None, "x", b"y")
    empty = np.zeros((0, 3), "i8")
    scalar = np.array(1.0)
    got = m.count(*plain, f32, empty, np.uint8([1, 2, 3]), scalar, modser.out("float32", 4))
    assert np.array_equal(got[0], np.zeros(4, "f4")) and got[1] == 13
    assert m.count(deadline=30.0) == 0
    assert m.count(modser.DType.parse("float32x4")) == 1
    assert m.count.submit(f32.T, unordered=True).result() == 1
    with m.alloc("float32", (2, 3)) as resident:
        resident.copy_from(f32)
        assert np.array_equal(resident.numpy(), f32)
        assert m.count(resident) == 1
    for error, ask in [
        (modser.NotFound, client["absent"].main),
        (modser.NotFound, m.absent),
        (modser.CallFailed, m.aligned),
        (modser.BadArgument, lambda: m.count(modser.Shape(1, 2), modser.Device("cpu"), (1, "x"))),
        (modser.BadArgument, lambda: m.count(1, x=2, deadline=30.0)),
        (modser.BadArtifact, lambda: client.load("bad", b"not a library" * 20)),
    ]:
        try:
            ask()
        except error as caught:
            assert caught.message and caught.name
        else:
            raise AssertionError(f"no {error.__name__}")


def read(path=GOLDEN):
    """[(b">" or b"<", bytes)]; lines that begin with # are comments."""
    turns = []
    for line in path.read_text().splitlines():
        if line and line[0] in "<>":
            data = bytes.fromhex(line[1:])
            if turns and turns[-1][0] == line[0]:
                data = turns.pop()[1] + data
            turns.append((line[0], data))
    return turns


class Player(threading.Thread):
    """A daemon that knows one conversation. `wrong` is what was said instead, or None."""

    def __init__(self, folder, turns):
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(folder / "golden.sock"))
        self.listener.listen(1)
        self.address = f"unix:{folder}/golden.sock"
        self.turns, self.wrong = turns, None
        self.start()

    def run(self):
        with self.listener, self.listener.accept()[0] as peer:
            for at, (side, data) in enumerate([(">", GREETING), *self.turns]):
                if side == "<":
                    peer.sendall(data)
                    continue
                said = b""
                while len(said) < len(data) and data.startswith(said):
                    more = peer.recv(len(data) - len(said))
                    if not more:
                        break
                    said += more
                if said != data:
                    self.wrong = f"turn {at}: expected {data.hex()}, got {said.hex()}"
                    return


def record(address):
    """session() with a real daemon behind a pair of sockets that prints what passes."""
    import numpy as np

    import modser

    front = socket.socket(socket.AF_UNIX)
    path = pathlib.Path(f"{address[5:]}.recorder")
    front.bind(str(path))
    front.listen(1)

    def pump(side, source, sink):
        while data := source.recv(1 << 20):
            for at in range(0, len(data), 32):
                print(side, data[at : at + 32].hex())
            sink.sendall(data)

    def serve():
        near, _ = front.accept()
        far = socket.socket(socket.AF_UNIX)
        far.connect(address[5:])
        far.sendall(near.recv(len(GREETING), socket.MSG_WAITALL))
        back = threading.Thread(target=pump, args=("<", far, near), daemon=True)
        back.start()
        pump(">", near, far)

    threading.Thread(target=serve, daemon=True).start()
    with modser.connect(f"unix:{path}") as client:
        session(client, modser, np)
    path.unlink()


if __name__ == "__main__":
    record(sys.argv[1])

"""What users write by mistake: an error of Python's own kind that says what was expected."""
import asyncio
import pathlib
import socket
import tempfile

import numpy as np
import pytest

import modser
import modser.aio


@pytest.mark.parametrize("connect", [modser.connect, modser.aio.connect])
def test_connect(connect):
    with pytest.raises(TypeError, match="an address is a str, unix:PATH or tcp://HOST:PORT"):
        connect(3)
    with pytest.raises(TypeError, match="a deadline is a number of seconds, not str"):
        connect("unix:/tmp/x", deadline="1")
    with pytest.raises(ValueError, match="a deadline of -1"):
        connect("unix:/tmp/x", deadline=-1)


@pytest.fixture
def places(tmp_path_factory):
    """Addresses at which no daemon is, in a folder whose path is short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        (pathlib.Path(folder) / "file").touch()
        for name in ("gone", "http"):
            s = socket.socket(socket.AF_UNIX)
            s.bind(f"{folder}/{name}")
            if name == "gone":
                s.close()
        with s:
            s.listen()
            yield folder, s


@pytest.mark.parametrize(
    "name, cause, advice",
    [("none", "nothing is there", "start one: modserd --listen unix:"),
     ("gone", "no daemon listens there: it has ended", "start one: modserd --listen unix:"),
     ("file", "the file is not a socket", "MODSER_HOST")],
)
def test_an_address_without_a_daemon_says_why_and_what_to_do(places, name, cause, advice):
    address = f"unix:{places[0]}/{name}"

    async def connect():
        await modser.aio.connect(address)

    for attempt in (lambda: modser.connect(address), lambda: asyncio.run(connect())):
        with pytest.raises(modser.ConnectionLost, match=cause) as found:
            attempt()
        assert advice in found.value.hint


def test_another_servers_protocol_is_named(places):
    folder, listener = places
    with modser.connect(f"unix:{folder}/http") as client:
        peer, _ = listener.accept()
        with peer:
            peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            with pytest.raises(modser.ProtocolError, match="an HTTP server, not modserd"):
                client.ping()


@pytest.mark.parametrize(
    "ask, match",
    [
        (lambda c: c[3], "a module's name is a str, not int"),
        (lambda c: c["results"][3], "a function's name is a str, not int"),
        (lambda c: c.describe(None), "a module's name is a str, not NoneType"),
        (lambda c: c.unload(b"x"), "a module's name is a str, not bytes"),
        (lambda c: c.load(3, b"x"), "a module's name is a str, not int"),
        (lambda c: c.load("m", b"x", workers="2"), "workers is an int, not str"),
        (lambda c: c["results"].put([1, 2]), r"expected an array.*not list; np\.asarray"),
        (lambda c: c["results"].put(3.0), "expected an array.*not float"),
        (lambda c: c["results"].put(None), "expected an array.*not NoneType"),
        (lambda c: c["results"].put("x"), "expected an array.*not str"),
        (lambda c: c["results"].put(np.array(["x"])), "dtype str.* cannot be sent"),
        (lambda c: c["results"].alloc(None, 3), "None is not an element type"),
        (lambda c: c["results"].alloc("float33", 3), "'float33' is not an element type"),
        (lambda c: c["results"].alloc("float32", 2.5), "a shape is an int or a tuple of ints"),
        (lambda c: c["results"].alloc("float32", "34"), "a shape is an int or a tuple of ints"),
        (lambda c: c["results"].alloc("float32", None), "a shape is an int or a tuple of ints"),
        (lambda c: c["results"].alloc("float32", 3, device=0), "a device is a str such as"),
        (lambda c: c["results"].alloc("int8", 1).copy_from(3), "expected an array.*not int"),
        (lambda c: c["results"].alloc("int8", 1).numpy(3), "out 0 is an array or modser.out"),
        (lambda c: c["results"].echo(1, out=3), "results:echo: out 0 is an array or modser.out"),
        (lambda c: c["results"].echo(1, out=[np.zeros(1), "x"]), "out 1 is an array .*not str"),
        (lambda c: c["results"].echo(c["results"]), "argument 0: Module cannot be an argument"),
        (lambda c: c["results"].echo(c["results"].echo), "argument 0: Function cannot be an arg"),
        (lambda c: modser.out("float32"), "the shape is missing"),
        (lambda c: modser.out(3), "3 is not an element type"),
        (lambda c: modser.Shape(1.5), "the dimensions of a Shape are ints"),
        (lambda c: modser.Tensor([1], "int8"), "expected an array"),
        (lambda c: c["results"].echo.time_evaluator(number=1.5), "number is an int, not float"),
        (lambda c: c["results"].echo.time_evaluator(min_repeat_ms="1"), "min_repeat_ms is a num"),
    ],
)
def test_types(client, ask, match):
    with pytest.raises(TypeError, match=match):
        ask(client)
    assert client.ping() >= 0


@pytest.mark.parametrize(
    "ask, match",
    [
        (lambda c: c["results"].alloc("float32", -1), "none negative"),
        (lambda c: c["results"].alloc("float32", (1,) * 33), "at most 32 dimensions"),
        (lambda c: c["results"].alloc("float32", 3, device="attic"), "unknown device type 'attic'"),
        (lambda c: c["results"].echo.time_evaluator(number=0), "number is at least 1"),
        (lambda c: c["results"].echo.time_evaluator(repeat=0), "repeat is at least 1"),
        (lambda c: c["results"].echo.time_evaluator(min_repeat_ms=-1), "min_repeat_ms is at least"),
        (lambda c: c.load("empty", b""), "source has no bytes"),
        (lambda c: c.load("none", b"x", workers=0), "workers is at least 1 and .*, not 0"),
        (lambda c: c.load("none", b"x", workers=1 << 64), "workers is .* at most 4294967295"),
        (lambda c: c["results"].echo(1, out=np.zeros((4, 4)).T[1:]), "out 0: the array"),
        (lambda c: c.describe("bad name"), "no such module: bad name"),
    ],
)
def test_values(client, ask, match):
    with pytest.raises((ValueError, modser.NotFound), match=match):
        ask(client)
    assert client.ping() >= 0


def test_scalars_of_numpy_are_tensors_of_rank_0(client):
    with client["results"].put(np.float32(3)) as tensor:
        assert (str(tensor.dtype), tensor.shape) == ("float32", ())
        assert tensor.numpy() == 3


def test_hints_are_in_pythons_terms(client):
    for kind in modser.Error.__subclasses__():
        assert "`" not in kind.hint and "--" not in kind.hint and "modser " not in kind.hint


def test_what_would_be_written_to_a_copy_is_refused(client, models):
    module = client.load("shapes", models / "shapes.so", replace=True)
    x, y = np.float32([1, 2, 3]), np.zeros(3, "f4")
    with pytest.raises(modser.BadArgument, match="its output is lost.*in Python out=array"):
        module.addone(x, y)
    assert module.addone(x, out=y) is y and y.tolist() == [2, 3, 4]


def test_an_error_s_text_holds_nothing_that_a_terminal_obeys():
    """As proto/base/utf8.h has it, but for the ends of lines; programs get the message as it came."""
    said = "a\x1b[31m\x9b\u202eb\u2028\u2069\ud800\n\té"
    error = modser.NotFound(said, hint="do\x07")
    assert error.message == said
    assert str(error) == ("a\\x1b[31m\\x9b\\u202eb\\u2028\\u2069\\ud800\n\té\n  do\\x07")
    escaped = [*range(9), *range(0xB, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F),
               *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
    assert [c for c in range(0x110000) if str(modser.Error(chr(c))) != chr(c)] == escaped

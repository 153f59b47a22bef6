"""Objects and maps: dicts, modser.Object, and when each is freed."""
import asyncio
import gc

import harness
import numpy as np
import pytest

import modser
import modser.aio

LIBRARY = harness.ZOO / "objects.so"


@pytest.fixture(scope="module")
def address(daemon):
    daemon.load("objects", LIBRARY)
    return daemon.host


@pytest.fixture
def module(address):
    with modser.connect(address) as client:
        yield client["objects"]


def test_an_object_is_an_argument_and_a_function(module):
    three = module.adder(3)
    assert isinstance(three, modser.Object) and repr(three) == "<modser.Object ffi.Function>"
    assert three.is_function and three(4) == 7 and three.submit(5).result() == 8
    assert module.same((1, three))[1](4) == 7
    with pytest.raises(modser.CallFailed, match="an adder takes an int"):
        three("x")
    with pytest.raises(modser.BadArgument, match="is not a function"):
        module.point(1)(2)


def test_a_dict_is_a_map(module):
    value = {"a": 1, 2: (3, "x"), None: {b"k": 1.5}, (1, 2): True}
    assert module.same(value) == value
    assert list(module.same({"b": 1, "a": 2})) == ["b", "a"]
    assert module.same({}) == {}
    back = module.same({"x": np.arange(3), "f": module.adder(2)})
    assert back["x"].tolist() == [0, 1, 2] and back["f"](1) == 3


def test_a_map_that_no_dict_can_be_is_unsupported(module):
    with pytest.raises(modser.Unsupported, match="no dict can have"):
        module.same(_Map())
    assert module.adders() == 0, "the connection goes on"


class _Map:
    """{{}: 1}, which no dict is."""

    def packed(self):
        return b"\x93\xc7\x00\x0b\x91\xc7\x00\x0b\x01"


def test_what_python_forgets_is_freed(module):
    gc.collect()
    before = module.adders()
    made = [module.adder(i) for i in range(300)]
    assert module.adders() == before + 300
    del made[:299]
    gc.collect()
    assert module.adders() == before + 300 or module.adders() == before + 1
    harness.until(lambda: module.adders() == before + 1, "the others are freed")
    made[0].free()
    made[0].free()
    assert module.adders() == before
    with pytest.raises(modser.StaleHandle):
        made[0](1)
    with module.adder(1):
        assert module.adders() == before + 1
    assert module.adders() == before
    module.adder.submit(1)  # the caller drops its result
    gc.collect()
    harness.until(lambda: module.adders() == before, "an unread result is freed")


def test_describe_has_the_fields(module):
    told = module.point(4).describe()
    assert told["type"] == "test.Point" and told["fields"] == {"x": 4} and not told["is_function"]


def test_functions_that_return_objects_do_not_go_past_the_daemon(module):
    for i in range(200):
        assert module.same(i) == i  # gets a direct channel
    assert module.same(module.adder(1))(1) == 2
    assert module.adder(1)(1) == 2
    for i in range(50):
        assert module.same(i) == i
        assert module.same((module.adder(i),))[0](1) == i + 1


def test_asyncio_has_them_too(address):
    async def run():
        async with modser.aio.connect(address) as client:
            three = await client["objects"].adder(3)
            assert isinstance(three, modser.aio.Object) and await three(4) == 7
            assert (await three.describe())["is_function"]
            assert await client["objects"].same({1: (three, 2)}) == {1: (_Any(), 2)}
            async with three:
                pass
            with pytest.raises(modser.StaleHandle):
                await three(1)

    asyncio.run(run())


class _Any:
    def __eq__(self, other):
        return True

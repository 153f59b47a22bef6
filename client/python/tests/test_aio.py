"""The asyncio twin."""
import asyncio
import os
import signal

import harness
import numpy as np
import pytest
from onnx_writer import model, node, value

import modser
import modser.aio


def run(served, work):
    """work(client) in an event loop of its own."""

    async def main():
        async with modser.aio.connect(served.host, deadline=harness.PATIENCE) as client:
            return await asyncio.wait_for(work(client), harness.PATIENCE)

    return asyncio.run(main())


def test_everything_is_awaited(served):
    async def work(client):
        await client.ping()
        assert (await client.info())["pid"] == served.pid
        assert {m["name"] for m in await client.list()} >= {"results"}
        results = harness.ZOO / "results.so"
        module = await client.load("aio", results, replace=True, workers=2)
        assert await module.int() == -42
        facts = await module.describe()
        assert facts["state"] == "READY" and facts["ready"] == 2
        assert "int" in {f["name"] for f in await module.functions()}
        assert isinstance(await module.logs(), str)
        await module["int"].signature()
        await (await module.wait()).unload()
        with pytest.raises(modser.NotFound):
            await module.int()

    run(served, work)


def test_a_module_is_called_for_its_model(served):
    ends = [value(name, "float32", [2]) for name in "xy"]
    relu = model([node("Relu", ["x"], ["y"])], ends[:1], ends[1:])

    async def work(client):
        module = await client.load("aio-model", relu)
        made = await module(np.float32([-1, 2]))
        await module.unload()
        return made.tolist()

    assert run(served, work) == [0, 2]


def test_a_traced_call_fills_a_dict_with_its_stages(served):
    async def work(client):
        times = {}
        assert await client["results"].echo(5, trace=times) == 5
        return times

    times = run(served, work)
    assert times.pop("total_ns") == sum(times.values()) and times["run_ns"] > 0


def test_a_thousand_at_once(served):
    async def work(client):
        echo = client["results"].echo
        return await asyncio.gather(*(echo(i) for i in range(3000)))

    assert run(served, work) == list(range(3000))


def test_big_tensors_both_ways_at_once(served, models):
    async def work(client):
        addone = (await client.load("shapes", models / "shapes.so", replace=True)).addone
        x = np.arange(1 << 20, dtype="f4")
        into = np.empty_like(x)
        outs = [modser.out("float32", x.shape) for _ in range(15)] + [modser.out(into)]
        for got in await asyncio.gather(*(addone(x, o) for o in outs)):
            assert np.array_equal(got, x + 1)
        assert np.array_equal(into, x + 1)

    run(served, work)


def test_resident_tensors(served):
    async def work(client):
        module = client["results"]
        async with await module.put(np.float32([1, 2])) as x:
            assert await module.count(x) == 1
            assert (await x.numpy()).tolist() == [1, 2]
        with pytest.raises(modser.StaleHandle):
            await module.count(x)
        forgotten = await module.alloc("float32", 3)
        del forgotten
        await client.ping()

    run(served, work)


def test_cancelling_a_task_drops_the_call(served):
    async def work(client):
        faults = client["faults"]
        first = asyncio.ensure_future(faults.gate(gate.path))
        tasks = [asyncio.ensure_future(faults.slow(harness.FOREVER_MS)) for _ in range(20)]
        await client.ping()  # all of them have been sent
        gate.entered()
        for task in tasks:
            task.cancel()
        done = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(d, asyncio.CancelledError) for d in done)
        await client.ping()  # the cancels have been read
        gate.open()
        assert await first is None
        assert await faults.ok() is None

    with harness.Gate() as gate:
        run(served, work)


def test_deadlines(served):
    async def work(client):
        # Anew, so that nobody knows how long its calls take: what must be late is refused as busy.
        anew = await client.load("faults", harness.ZOO / "faults.so", replace=True)
        held = asyncio.ensure_future(anew.gate(gate.path))
        await client.ping()  # it has been sent
        gate.entered()
        with pytest.raises(modser.DeadlineExceeded):
            await anew.ok(deadline=0.05)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(anew.ok(), 0.05)
        assert await client["results"].int() == -42
        gate.open()
        assert await held is None

    with harness.Gate() as gate:
        run(served, work)


def test_the_daemon_is_killed(own_daemon):
    daemon = own_daemon()

    async def work(client):
        module = await client.load("faults", harness.ZOO / "faults.so")
        calls = [asyncio.ensure_future(module.slow(harness.FOREVER_MS)) for _ in range(3)]
        await client.ping()
        daemon.process.send_signal(signal.SIGKILL)
        for got in await asyncio.gather(*calls, return_exceptions=True):
            assert type(got) is modser.ConnectionLost
        with pytest.raises(modser.ConnectionLost):
            await client.ping()

    run(daemon, work)
    daemon.kill()
    with pytest.raises(modser.ConnectionLost):
        run(daemon, lambda client: client.ping())


def test_names_come_one_by_one_and_a_measurement_rests(served):
    async def work(client):
        assert "results" in [name async for name in client]
        assert "int" in [name async for name in client["results"]]
        evaluator = client["results"].time_evaluator(
            "int", number=1, repeat=2, cooldown_interval_ms=1, cache_flush_bytes=1)
        assert len((await evaluator()).results) == 2

    run(served, work)


def test_after_a_fork_the_child_is_told_to_connect_again(served):
    async def work(client):
        child = os.fork()
        if child == 0:
            try:
                await client.ping()
            except modser.ConnectionLost as error:
                os._exit(7 if "connect again" in error.hint else 1)
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        await client.ping()

    run(served, work)

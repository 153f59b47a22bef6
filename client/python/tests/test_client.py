"""One connection, two connections, and connections that end."""
import os
import pickle
import signal
import subprocess
import sys
import threading

import harness
import numpy as np
import pytest
from onnx_writer import model, node, value

import modser


def test_the_daemon_tells_about_itself(client, served):
    assert client.ping() >= 0
    assert client.info()["pid"] == served.pid
    assert {m["name"] for m in client.list()} >= {"results", "faults"}
    assert client.describe("results")["state"] == "READY"
    assert "echo" in {f["name"] for f in client["results"].functions()}
    assert isinstance(client["faults"].logs(), str)


def test_a_module_in_several_processes_runs_calls_at_the_same_time(client, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    module = client.load("meet", harness.ZOO / "meet.so", workers=2)
    facts = module.describe()
    assert facts["workers"] == facts["ready"] == len(facts["pids"]) == 2
    taken = module.take.submit(str(fifo))  # each opens one end, and waits for the other
    assert {module.give(str(fifo)), taken.result()} == set(facts["pids"])
    module.unload()


def test_the_deadline_of_a_load_holds_for_its_upload(client):
    with pytest.raises(modser.DeadlineExceeded, match="during the upload"):
        client.load("late", harness.ZOO / "results.so", deadline=1e-6)
    assert client.load("late", harness.ZOO / "results.so").int() == -42
    client.unload("late")


def test_load_wait_unload(client):
    module = client.load("again", (harness.ZOO / "results.so").read_bytes())
    assert module.wait().int() == -42
    with pytest.raises(modser.Exists, match="again"):
        client.load("again", harness.ZOO / "results.so")
    assert client.load("again", harness.ZOO / "results.so", replace=True).int() == -42
    module.unload()
    with pytest.raises(modser.NotFound) as caught:
        module.int()
    assert caught.value.hint and "again" in caught.value.message


def test_a_broken_file_is_refused_and_leaves_nothing(client):
    with pytest.raises(modser.BadArtifact):
        client.load("broken", (harness.ZOO / "results.so").read_bytes()[:5000])
    with pytest.raises(FileNotFoundError):
        client.load("broken", "no such file")


def test_signature_of_a_compiled_function(client, models):
    module = client.load("shapes", models / "shapes.so", replace=True)
    assert module.addone.signature == "addone(A: Tensor([n], float32), B: Tensor([n], float32))"
    assert client["results"].echo.signature is None


def relu():
    ends = [value(name, "float32", [2]) for name in "xy"]
    return model([node("Relu", ["x"], ["y"])], ends[:1], ends[1:])


def test_a_module_is_called_for_its_model(client):
    x = np.float32([-1, 2])
    module = client.load("model", relu(), replace=True)
    assert module.describe()["model"] == "run"
    assert module(x).tolist() == module(x=x).tolist() == [0, 2]
    with pytest.raises(modser.NotFound, match="results has no function that is its model.*echo"):
        client["results"](1)


def test_a_model_that_another_client_replaced_is_asked_for_again(served, client):
    x = np.float32([-1, 2])
    module = client.load("renamed", relu(), replace=True)
    assert module(x).tolist() == [0, 2]
    with modser.connect(served.host, deadline=harness.PATIENCE) as other:
        other.load("renamed", harness.ZOO / "results.so", replace=True)
    with pytest.raises(modser.NotFound, match="has no function that is its model"):
        module(x)


def test_arguments_by_name(client, models):
    addone = client.load("shapes", models / "shapes.so", replace=True).addone
    out = modser.out("float32", 2)
    assert addone(B=out, A=np.float32([1, 2])).tolist() == [2, 3]
    assert addone.submit(out, A=np.float32([1, 2])).result().tolist() == [2, 3]
    with pytest.raises(modser.BadArgument, match="C"):
        addone(np.float32([1, 2]), C=out)


def test_errors_survive_pickle(client):
    with pytest.raises(modser.CallFailed) as caught:
        client["results"].aligned()
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is modser.CallFailed and str(copy) == str(caught.value)
    assert "aligned takes a tensor" in copy.message


def test_resident_tensors(client, models):
    module = client.load("shapes", models / "shapes.so", replace=True)
    x, y = module.put(np.float32([1, 2, 3])), module.alloc("float32", 3)
    assert module.addone(x, y) is None
    assert module.addone(y, modser.out("float32", 3)).tolist() == [3, 4, 5]
    into = np.zeros(3, "f4")
    assert y.numpy(into) is into and into.tolist() == [2, 3, 4]
    y.free()
    y.free()
    with pytest.raises(modser.StaleHandle, match="freed"):
        module.addone(x, y)
    with pytest.raises(modser.BadArgument):
        client["results"].count(x)


def test_a_forgotten_resident_tensor_is_freed(client):
    module = client["results"]
    handle = module.alloc("float32", 3)
    packed = handle.packed()
    del handle
    client.ping()  # takes the forgotten one along
    message = modser._message.Message(modser._message.pack("tensor.free"))
    message.raw(packed)
    with pytest.raises(modser.StaleHandle):
        client._settle(client._send(message))


def test_calls_in_flight_keep_a_tensor_that_is_freed(client):
    module = client["results"]
    with module.put(np.float32([1, 2])) as tensor:
        futures = [module.count.submit(tensor) for _ in range(300)]
    assert all(f.result() == 1 for f in futures)


def test_a_thousand_calls_in_flight(client):
    echo = client["results"].echo
    futures = [echo.submit(i) for i in range(3000)]
    assert [f.result() for f in futures] == list(range(3000))
    assert futures[0].exec_ns is not None and futures[0].done()


def test_a_traced_call_fills_a_dict_with_its_stages(client):
    echo, times, later = client["results"].echo, {}, {}
    assert echo(5, trace=times) == 5
    total = times.pop("total_ns")
    assert sum(times.values()) == total and times["run_ns"] > 0 and len(times) == 7
    future = echo.submit(6, trace=later)
    assert future.result() == 6 and later["run_ns"] == future.exec_ns


def test_sending_goes_on_while_replies_fill_the_socket(client, models):
    """More bytes both ways than sockets and daemon hold: only a sender that reads goes on."""
    addone = client.load("shapes", models / "shapes.so", replace=True).addone
    x = np.zeros(1 << 18, "f4")
    futures = [addone.submit(x, modser.out("float32", x.shape)) for _ in range(100)]
    assert all(f.result()[0] == 1 for f in futures)


def test_futures_time_out_and_go_on(client):
    with harness.Gate() as gate:
        held = client["faults"].gate.submit(gate.path)
        gate.entered()
        with pytest.raises(TimeoutError):
            held.result(0.01)
        gate.open()
        assert held.result() is None


def test_a_deadline_passes(client):
    # Anew, so that nobody knows how long its calls take: what must be late is refused as busy.
    anew = client.load("faults", harness.ZOO / "faults.so", replace=True)
    with harness.Gate() as gate:
        held = anew.gate.submit(gate.path)
        gate.entered()
        with pytest.raises(modser.DeadlineExceeded) as caught:
            anew.ok(deadline=0.05)
        gate.open()
        held.result()
    assert isinstance(caught.value, TimeoutError)
    assert client["results"].echo(1, deadline=30) == 1
    with pytest.raises(ValueError):
        client["results"].echo(1, deadline=-1)


def test_cancel_drops_what_has_not_begun(client):
    with harness.Gate() as gate:
        first = client["faults"].gate.submit(gate.path)
        gate.entered()
        queued = [client["faults"].slow.submit(harness.FOREVER_MS) for _ in range(20)]
        for f in queued:
            f.cancel()
        client.ping()  # the cancels have been read
        gate.open()
        assert first.result() is None
        assert all(type(f.exception()) is modser.Cancelled for f in queued)


def test_a_cancelled_call_may_take_its_worker_along(own_daemon):
    daemon = own_daemon("--kill-grace", "1ms", "--load", f"faults={harness.ZOO / 'faults.so'}")
    with harness.Gate() as gate, modser.connect(daemon.host) as client:
        call = client["faults"].gate.submit(gate.path, kill_abandoned=True)
        gate.entered()
        call.cancel()
        assert type(call.exception()) is modser.Cancelled, "at once: the gate is shut"
        harness.until(lambda: client.describe("faults")["restarts"] == 1, "it was killed")


def test_a_worker_dies(client):
    with pytest.raises(modser.WorkerLost, match="SIGSEGV|segmentation|signal"):
        client["faults"].crash()
    assert client["faults"].ok() is None
    assert client["results"].int() == -42


def test_many_threads_share_a_connection(client):
    echo, wrong = client["results"].echo, []

    def work(first):
        for i in range(first, first + 300):
            if echo(i) != i:
                wrong.append(i)
        futures = [echo.submit(i) for i in range(300)]
        wrong.extend(i for i, f in enumerate(futures) if f.result() != i)

    threads = [threading.Thread(target=work, args=(1000 * t,)) for t in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(harness.PATIENCE)
        assert not t.is_alive()
    assert not wrong


def test_two_clients_at_the_same_time(served):
    with modser.connect(served.host) as one, modser.connect(served.host) as two:
        ones = [one["results"].echo.submit(i) for i in range(500)]
        twos = [two["results"].echo.submit(-i) for i in range(500)]
        assert [f.result() for f in twos] == [-i for i in range(500)]
        assert [f.result() for f in ones] == list(range(500))


def test_closing_ends_what_waits(served):
    client = modser.connect(served.host)
    with harness.Gate() as gate:
        future = client["faults"].gate.submit(gate.path)
        gate.entered()
        client.close()
        with pytest.raises(modser.ConnectionLost, match="closed here"):
            future.result()
        gate.open()
    with pytest.raises(modser.ConnectionLost):
        client.ping()
    client.close()


def test_closing_wakes_another_thread(own_daemon):
    daemon = own_daemon("--load", f"faults={harness.ZOO / 'faults.so'}")
    client = modser.connect(daemon.host)
    future, caught = client.wait("faults").slow.submit(harness.FOREVER_MS), []
    thread = threading.Thread(target=lambda: caught.append(future.exception()))
    thread.start()
    harness.until(client._channel._reading.locked, "the thread reads")
    client.close()
    thread.join(harness.PATIENCE)
    assert type(caught[0]) is modser.ConnectionLost
    daemon.kill()


def test_the_daemon_is_killed(own_daemon):
    daemon = own_daemon()
    with modser.connect(daemon.host) as client:
        module = client.load("faults", harness.ZOO / "faults.so")
        futures = [module.slow.submit(harness.FOREVER_MS) for _ in range(3)]
        daemon.process.send_signal(signal.SIGKILL)
        for future in futures:
            with pytest.raises(modser.ConnectionLost) as caught:
                future.result()
        assert isinstance(caught.value, ConnectionError)
        with pytest.raises(modser.ConnectionLost):
            module.ok()
    daemon.kill()
    with pytest.raises(modser.ConnectionLost, match=daemon.host):
        modser.connect(daemon.host)


def test_time_evaluator(client, models):
    module = client.load("shapes", models / "shapes.so", replace=True)
    x = np.zeros(1000, "f4")
    timer = module.addone.time_evaluator(number=5, repeat=3)
    times = timer(x, modser.out("float32", 1000))
    assert len(times.results) == 3 and times.min <= times.median <= times.max
    assert all(0 < inside < around for inside, around in zip(times.results, times.wall))
    assert times.min <= times.mean and times.std >= 0
    for out in (np.zeros(1000, "f4"), modser.out("float32", 1000)):
        assert timer(x, out=out).min > 0


@pytest.mark.parametrize("resident", [True, False])
def test_time_evaluator_leaves_in_out_what_the_last_run_wrote(client, models, resident):
    module = client.load("shapes", models / "shapes.so", replace=True)
    x, y, copied = np.arange(8, dtype="f4"), np.zeros(8, "f4"), np.zeros(8, "f4")
    timer = module.addone.time_evaluator(number=2, resident=resident)
    timer(x, out=y)
    assert np.array_equal(y, x + 1)
    resident_y = module.put(copied)
    timer(x, resident_y)
    assert np.array_equal(resident_y.numpy(), x + 1) and not copied.any()


def test_addresses(tmp_path, monkeypatch):
    parse, default = modser._address.parse, modser._address.default
    assert parse("tcp://[::1]:9190") == ("::1", 9190)
    assert parse("unix:/a:b") == "/a:b"
    wrong = ["", "unix:", "/p", "tcp://:1", "tcp://h", "tcp://h:x", "tcp://::1:2", "tcp://h:65536"]
    for bad in wrong:
        with pytest.raises(modser.BadRequest, match="expected unix:PATH"):
            parse(bad)
    meant = {"/tmp/m.sock": "unix:/tmp/m.sock", "h:9190": "tcp://h:9190", "http://h:1": "does not use HTTP"}
    for bad, advice in meant.items():
        with pytest.raises(modser.BadRequest, match=advice):
            parse(bad)
    assert default({"MODSER_HOST": "tcp://h:1"}, 7) == "tcp://h:1"
    assert default({}, 0) == "unix:/run/modserd/modserd.sock"
    (tmp_path / "modserd").mkdir(mode=0o755)
    with pytest.raises(modser.Refused, match="belongs to|mode 0755"):
        default({"XDG_RUNTIME_DIR": str(tmp_path)}, tmp_path.stat().st_uid or 1)


def test_ctrl_c_leaves_a_usable_connection(client, monkeypatch):
    """A KeyboardInterrupt while waiting costs that wait alone."""
    main, read = threading.main_thread().ident, client._channel._read_for
    interrupt = threading.Thread(target=lambda: signal.pthread_kill(main, signal.SIGINT))

    def read_interrupted(*until):
        interrupt.start()
        return read(*until)

    # A shell's background job ignores SIGINT, and so would this test.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with harness.Gate() as gate:
        future = client["faults"].gate.submit(gate.path)
        gate.entered()
        with monkeypatch.context() as patched:
            patched.setattr(client._channel, "_read_for", read_interrupted)
            with pytest.raises(KeyboardInterrupt):
                future.result()
        interrupt.join()
        signal.signal(signal.SIGINT, before)
        gate.open()
        assert future.result() is None
    assert client["results"].int() == -42


def test_tcp(own_daemon):
    daemon = own_daemon("--allow-load-tcp", listen=["tcp://127.0.0.1:0"])
    with modser.connect(daemon.host) as client:
        assert client.load("results", harness.ZOO / "results.so").tensor().shape == (2, 3)


def test_without_ml_dtypes(served):
    """bfloat16 is a modser.Tensor then, and nothing else changes."""
    program = (
        "import sys; sys.modules['ml_dtypes'] = None\n"
        "import modser\n"
        f"with modser.connect({served.host!r}) as c:\n"
        "    t = c['results'].put(modser.Tensor(b'abcd', 'bfloat16', (2,)))\n"
        "    back = t.numpy()\n"
        "    assert isinstance(back, modser.Tensor) and back.tobytes() == b'abcd'\n"
    )
    path = ":".join(p for p in sys.path if p)
    env = harness.environment() | {"PYTHONPATH": path}
    done = harness.run(sys.executable, "-c", program, env=env)
    assert done.status == 0, done


def test_the_abi_of_a_library_without_symbols_of_tvm_is_said(client, tmp_path):
    source = tmp_path / "c.c"
    source.write_text("""
        #include <stdint.h>
        int32_t twice(void *args, void *codes, int32_t n, void *ret, int32_t *code, void *self)
        { *(int64_t *)ret = 2 * *(int64_t *)args; *code = 0; return 0; }
    """)
    library = tmp_path / "c.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", library, source], check=True)
    with pytest.raises(modser.Error, match="abi classic"):
        client.load("c_target", library)
    assert client.load("c_target", library, abi="classic").twice(5) == 10
    with pytest.raises(modser.Error, match="expected classic"):
        client.load("c_target", library, abi="other", replace=True)


def test_how_workers_run_a_model_is_said_at_the_load(client):
    relu = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_open_extents.bin"
    client.load("how", relu, keep_alive=3600, threads=3, engine="reference", max_run=0,
                inputs={"x": "float32[2,3]"}, workers=2)
    assert client["how"].describe()["options"] == {
        "keep-alive": "3600000ms", "threads": "3", "engine": "reference", "max-run": "0ms",
        "input": "x=float32[2,3]", "workers": "2"}
    with pytest.raises(modser.Error, match="expected auto, native or reference"):
        client.load("how", relu, engine="fast", replace=True)
    with pytest.raises(modser.Error, match="outputs"):
        client.load("how", relu, outputs=["y"], replace=True)
    client.sleep("how")
    assert client.describe("how")["state"] == "ASLEEP"
    client.unload("how")


def test_a_models_format_and_open_shapes_are_said_at_the_load(client):
    relu = harness.ROOT / "tests" / "corpus" / "onnx" / "accept_open_extents.bin"
    model = client.load("open", relu, replace=True, format="onnx", inputs={"x": "float32[2,3]"})
    assert model.run(np.float32([[-1, 2, 3], [4, -5, 6]])).tolist() == [[0, 2, 3], [4, 0, 6]]
    with pytest.raises(modser.BadArgument, match=r"expected shape \[2, 3\]"):
        model.run(np.zeros((1, 3), "f4"))
    with pytest.raises(modser.BadArgument, match='no input "z"'):
        client.load("open", relu, replace=True, inputs={"z": "float32[2,3]"})

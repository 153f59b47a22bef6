"""The workers of a framework's model share its packed weights: memory, results, limits, and workers
that die while they pack."""
import concurrent.futures
import contextlib
import json
import os
import re
import signal
import sys

import harness
import numpy as np
import pytest
from onnx_writer import model, node, tensor, value

sys.path.insert(0, str(harness.ROOT / "client/python"))
import modser  # noqa: E402

WORKERS = 4
CHANNELS = 448
MAPPED = "memfd:modserd-weights"


def network(path, inputs=(1, CHANNELS, 6, 6)):
    """Three convolutions of 3 x 3, by Winograd's method, and four products: 34 MB."""
    rng = np.random.default_rng(38)
    nodes, constants, last = [], [], "x"

    def weights(name, *shape):
        scale = np.sqrt(2 / np.prod(shape[1:]))
        constants.append(tensor(name, (rng.standard_normal(shape) * scale).astype("f4")))
        return name

    for i in range(3):
        w = weights(f"w{i}", CHANNELS, CHANNELS, 3, 3)
        nodes += [node("Conv", [last, w], [f"c{i}"], pads=[1, 1, 1, 1], name=f"conv{i}"),
                  node("Relu", [f"c{i}"], [f"r{i}"], name=f"relu{i}")]
        last = f"r{i}"
    nodes.append(node("GlobalAveragePool", [last], ["pooled"]))
    nodes.append(node("Flatten", ["pooled"], ["flat"]))
    last = "flat"
    for i, (rows, columns) in enumerate([(CHANNELS, 1024), (1024, 1024), (1024, 1024), (1024, 8)]):
        nodes.append(node("MatMul", [last, weights(f"m{i}", rows, columns)], [f"p{i}"], name=f"mm{i}"))
        last = f"p{i}"
    ends = [value("x", "float32", list(inputs))], [value(last, "float32", [inputs[0], 8])]
    path.write_bytes(model(nodes, *ends, constants=constants))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tmp_path_factory.mktemp("weights")


@pytest.fixture(scope="module")
def net(files):
    return network(files / "net.onnx")


@pytest.fixture(scope="module")
def served(net):
    with harness.Daemon("--max-worker-memory", "2G") as daemon:
        daemon.load("alone", net)
        daemon.load("all", net, "--workers", WORKERS)
        yield daemon


def pids(daemon, name):
    return json.loads(daemon.ok("show", "--json", name).out)["pids"]


def plan(daemon, name):
    return json.loads(daemon.ok("show", "--json", name).out)["plan"]


def smaps(pid, what=""):
    """Kilobytes of all mappings, or of the files whose name has @what, by kind."""
    sums, is_in = {}, True
    for line in open(f"/proc/{pid}/smaps"):
        if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
            is_in = what in line
        elif is_in and line.split()[-1] == "kB":
            key, kb = line.split()[:2]
            sums[key.strip(":")] = sums.get(key.strip(":"), 0) + int(kb)
    return sums


def use_all(daemon, name, x):
    """Call until each worker has read the shared weights; return the different results."""
    results = set()

    def call(_):
        with modser.connect(daemon.host) as client:
            results.add(np.asarray(client[name]["run"](x)).tobytes())

    def are_used():
        with concurrent.futures.ThreadPoolExecutor(2 * WORKERS) as pool:
            list(pool.map(call, range(4 * WORKERS)))
        rows = [smaps(pid, MAPPED) for pid in pids(daemon, name)]
        return all(row.get("Rss", 0) >= 0.9 * row.get("Size", 1) > 0 for row in rows)

    harness.until(are_used, "each worker has read all shared weights")
    return results


X = np.random.default_rng(7).standard_normal((1, CHANNELS, 6, 6)).astype("f4")


def test_four_workers_take_little_more_memory_than_one_and_give_the_same_bits(served, net):
    with modser.connect(served.host) as client:
        want = np.asarray(client["alone"]["run"](X)).tobytes()
    assert use_all(served, "all", X) == {want}
    pss = sum(smaps(pid)["Pss"] for pid in pids(served, "all")) * 1024
    assert pss <= 2.3 * net.stat().st_size
    # A mapping that could be written would be a copy of each worker's own.
    assert all(smaps(pid, MAPPED)["Private_Dirty"] == 0 for pid in pids(served, "all"))


def test_show_tells_what_is_packed_and_shared(served):
    one, four = plan(served, "alone"), plan(served, "all")
    assert one["packed_bytes"] == four["packed_bytes"] > 30e6
    assert one["shared_bytes"] == 0 and four["shared_bytes"] > 0.99 * four["packed_bytes"]
    assert not any(row["shared"] for row in one["rows"])
    shared = sum(row["packed_bytes"] for row in four["rows"] if row["shared"])
    assert shared == four["shared_bytes"]
    assert f"plan.shared_bytes\t{shared}" in served.ok("show", "all").out


def limit(pid):
    (line,) = [row for row in open(f"/proc/{pid}/limits") if row.startswith("Max data size")]
    return int(line.split()[3])


def test_weights_are_shared_if_a_call_tells_the_extents(served, files):
    path = network(files / "open.onnx", inputs=("n", CHANNELS, "h", "w"))
    served.load("open", path, "--workers", WORKERS)
    assert plan(served, "open")["shared_bytes"] == plan(served, "all")["shared_bytes"]
    with modser.connect(served.host) as client:
        want = np.asarray(client["alone"]["run"](X)).tobytes()
    assert use_all(served, "open", X) == {want}


def test_shared_memory_counts_in_the_limit_of_a_worker(served):
    shared = plan(served, "all")["shared_bytes"]
    (whole,) = map(limit, pids(served, "alone"))
    for pid in pids(served, "all"):
        assert shared <= whole - limit(pid) <= shared + (2 << 20)


def test_a_worker_that_replaces_a_dead_one_maps_the_same_file(served):
    before = pids(served, "all")
    os.kill(before[0], signal.SIGKILL)
    harness.until(lambda: len(set(pids(served, "all")) - {None}) == WORKERS
                  and before[0] not in pids(served, "all"), "another worker serves")
    files = {os.stat(f"/proc/{pid}/map_files/{place}").st_ino
             for pid in pids(served, "all") for place in weights_of(pid)}
    assert len(files) == 1
    with modser.connect(served.host) as client:
        want = np.asarray(client["alone"]["run"](X)).tobytes()
    assert use_all(served, "all", X) == {want}


def test_workers_of_a_woken_module_share_weights_again(net, tmp_path):
    with harness.Daemon("--store", tmp_path / "store") as daemon:
        daemon.load("net", net, "--keep", "--workers", 3)
        with modser.connect(daemon.host) as client:
            want = np.asarray(client["net"]["run"](X)).tobytes()
            daemon.ok("sleep", "net")
            harness.until(lambda: not daemon.workers(), "its workers have ended")
            harness.until(lambda: not held(daemon), "its bytes are only in the store")
            assert np.asarray(client["net"]["run"](X)).tobytes() == want
        harness.until(lambda: all(pids(daemon, "net")), "each worker has started")
        harness.until(lambda: all(map(weights_of, pids(daemon, "net"))), "each maps the file")
        assert use_all(daemon, "net", X) == {want}
        assert len(held(daemon)) == 1


def weights_of(pid):
    lines = open(f"/proc/{pid}/maps").read().splitlines()
    return [line.split()[0] for line in lines if MAPPED in line]


def held(daemon):
    """Weights that the supervisor keeps."""
    folder, found = f"/proc/{daemon.pid}/fd", []
    for f in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found += [f] if MAPPED in os.readlink(f"{folder}/{f}") else []
    return found


def test_a_first_worker_that_dies_while_it_packs_leaves_nothing(net):
    with harness.Daemon() as daemon:
        for _ in range(6):
            with harness.started(harness.BIN / "modser", "-H", daemon.host, "load", "--workers",
                                 WORKERS, "net", net) as loading:
                harness.until(daemon.workers, "the first worker has started")
                for pid in daemon.workers():
                    os.kill(pid, signal.SIGKILL)
                loading.wait(harness.PATIENCE)
            daemon.modser("unload", "net")
            harness.until(lambda: not held(daemon), "the file is closed")
        daemon.load("net", net, "--workers", WORKERS)
        daemon.load("alone", net)
        with modser.connect(daemon.host) as client:
            want = np.asarray(client["alone"]["run"](X)).tobytes()
        assert use_all(daemon, "net", X) == {want}
        assert len(held(daemon)) == 1


def test_a_library_has_no_shared_weights(served):
    before = held(served)
    served.load("faults", harness.ZOO / "faults.so", "--workers", 2)
    with modser.connect(served.host) as client:
        client["faults"]["ok"]()
    assert held(served) == before

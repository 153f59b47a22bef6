"""steps.py RUN_STEPS FOLDER: the scripts of language models in FOLDER (NAME.json, NAME.data.npz,
NAME.params.npz, libraries), run inside run_steps and compared with what TVM's VM recorded.

steps.py RUN_STEPS FOLDER NAME OPERATIONS SEED: random operations on the model's paged cache, run
inside run_steps and by TVM at the same time; every result is compared bit for bit.
"""
import json
import os
import subprocess
import sys

import numpy as np


class Peer:
    """A run_steps process; its values are numbers."""

    def __init__(self, program, library):
        self.p = subprocess.Popen([program, library], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.n, self.free = 0, []

    def slot(self):
        if self.free:
            return self.free.pop()
        self.n += 1
        return self.n - 1

    def send(self, text, data=b""):
        self.p.stdin.write(text.encode() + b"\n" + data)
        self.p.stdin.flush()

    def put(self, a):
        at = self.slot()
        if isinstance(a, np.ndarray):
            a = np.ascontiguousarray(a)
            self.send(f"tensor {at} {a.dtype} {a.nbytes} {' '.join(map(str, a.shape))}", a.tobytes())
        elif isinstance(a, str):
            self.send(f"text {at} {len(a.encode())}", a.encode())
        elif isinstance(a, list):
            self.send(f"shape {at} {' '.join(map(str, a))}")
        else:
            self.send(f"int {at} {a}")
        return at

    def tuple(self, slots):
        at = self.slot()
        self.send(f"tuple {at} {' '.join(map(str, slots))}")
        return at

    def item(self, of, i):
        at = self.slot()
        self.send(f"item {at} {of} {i}")
        return at

    def call(self, name, slots):
        at = self.slot()
        self.send(f"call {at} {name} {' '.join(map(str, slots))}")
        answer = self.p.stdout.readline().decode()
        if not answer.startswith("ok"):
            self.free.append(at)
            raise RuntimeError(answer.strip() or "run_steps ended")
        return at

    def get(self, slot):
        self.send(f"get {slot}")
        words = self.p.stdout.readline().decode().split()
        if words[0] == "int":
            return np.array(int(words[1]))
        if words[0] == "text":
            return self.p.stdout.read(int(words[1])).decode()
        data = self.p.stdout.read(int(words[2]))
        return np.frombuffer(data, words[1]).reshape([int(x) for x in words[3:]])

    def close(self):
        self.p.stdin.close()
        return self.p.wait(60)


def run_script(peer, steps, data, params, expect):
    """How many of the expectations of @steps hold, how many there are, the first failure."""
    names, ok, n, why = {}, 0, sum(s[0] in ("expect", "fails") for s in steps), None
    keep = set()

    def value(a, temporary):
        if not isinstance(a, dict):
            at = peer.put(a)
        elif "shape" in a:
            at = peer.put(list(a["shape"]))
        elif "in" in a:
            at = peer.put(data["in." + a["in"]])
        elif "params" in a:
            return params
        else:
            at = names[a["ref"]]
            if "at" in a:
                at = peer.item(at, a["at"])
            if "as" in a:
                at = peer.put(peer.get(at).reshape(a["as"]))
        if at not in keep:
            temporary.append(at)
        return at

    def name(key, at):
        old = names.get(key)
        if old is not None:
            keep.discard(old)
            peer.free.append(old)
        names[key] = at
        keep.add(at)

    for s in steps:
        temporary = []
        try:
            if s[0] == "call":
                r = peer.call(s[1], [value(a, temporary) for a in s[2]])
                if len(s) > 3:
                    name(s[3], r)
                else:
                    peer.free.append(r)
            elif s[0] == "fails":
                try:
                    peer.call(s[1], [value(a, temporary) for a in s[2]])
                    why = why or f"{s[1]}: no error"
                except RuntimeError:
                    ok += 1
            elif s[0] == "argmax":
                name(s[2], peer.put(peer.get(value(s[1], temporary)).argmax(-1).reshape(-1).astype("int32")))
            else:
                good = np.array_equal(peer.get(value(s[1], temporary)), expect[s[2]], equal_nan=True)
                ok += good
                if not good:
                    why = why or f"step {s[2]} differs"
        except RuntimeError as e:
            return ok, n, why or f"{s[1]}: {e}"
        peer.free += temporary
    return ok, n, why


def check_folder(program, folder):
    total = passed = 0
    for file in sorted(os.listdir(folder)):
        if not file.endswith(".json"):
            continue
        e = json.load(open(os.path.join(folder, file)))
        if "scripts" not in e:
            continue
        data, par = np.load(os.path.join(folder, e["data"])), np.load(os.path.join(folder, e["params"]))
        for mode, library in e["libraries"].items():
            for script, steps in e["scripts"].items():
                own = f"out.{mode}:{script}."
                expect = {k[len(f"out.{script}."):]: data[k] for k in data.files if k.startswith(f"out.{script}.")}
                expect.update({k[len(own):]: data[k] for k in data.files if k.startswith(own)})
                unstable = e.get("unstable", [])
                steps = [s for s in steps if not (s[0] == "expect" and f"{script}.{s[2]}" in unstable)]
                peer = Peer(program, os.path.join(folder, library))
                params = peer.tuple([peer.put(par[k]) for k in e["param_names"]])
                ok, n, why = run_script(peer, steps, data, params, expect)
                code = peer.close()
                total, passed = total + n, passed + (ok if code == 0 else 0)
                print(f"{library} {script}: {ok} of {n}" + (f"; {why}" if why else "") + (f"; exit {code}" if code else ""))
    print(f"steps: {passed} of {total}")
    return passed == total and total > 0


class Tvm:
    """The same operations by TVM's VM."""

    def __init__(self, library):
        import tvm
        from tvm import relax
        self.tvm = tvm
        self.vm = relax.VirtualMachine(tvm.runtime.load_module(library), tvm.cpu())

    def put(self, a):
        import tvm_ffi
        if isinstance(a, np.ndarray):
            return self.tvm.runtime.tensor(a)
        return tvm_ffi.Shape(a) if isinstance(a, list) else a

    def tuple(self, values):
        return values

    def item(self, of, i):
        return of[i]

    def call(self, name, args):
        return (self.tvm.get_global_func(name) if "." in name else self.vm[name])(*args)

    def get(self, v):
        if isinstance(v, str):
            return str(v)
        return v.numpy() if hasattr(v, "numpy") else np.array(v)


def exchange(peers, params, caches, others, forward, both, compare, rng, hidden, vocab):
    """Export a sequence by both; import it by both into caches of another model's size."""
    both("kv_state_add_sequence", 0)
    forward("prefill", rng.integers(0, vocab, 39).astype("int32"), [0], [39], [1, 39, hidden])
    compare(both("attention_kv_cache_get_layout_hash", keep=True), "layout hash")
    texts = both("attention_kv_cache_get_checkpoint_metadata", 0, keep=True)
    text = peers[1].get(texts[1])
    compare(texts, "checkpoint")
    shape = json.loads(text)["groups"][0]["shape"]
    groups = []
    for i in range(json.loads(text)["num_layers"]):
        out = [p.put(np.zeros(shape, "float32")) for p in peers]
        for p, cache, o in zip(peers, caches, out):
            p.call("vm.builtin.attention_kv_cache_export_page_group", [cache, 0, i, o] if isinstance(p, Tvm)
                   else [cache, p.put(0), p.put(i), o])
        groups.append(peers[1].get(out[1]))
        compare(out, f"group {i}")
    first, caches[:] = list(caches), others
    both("attention_kv_cache_prepare_import", 0, text)
    for i, g in enumerate(groups):
        both("attention_kv_cache_import_page_group", 0, i, g)
    both("attention_kv_cache_finish_import", 0)
    forward("decode", rng.integers(0, vocab, 1).astype("int32"), [0], [1], [1, 1, hidden])
    caches[:] = first
    both("kv_state_clear")
    return len(groups)


def random_run(program, folder, name, n, seed, window):
    e = json.load(open(os.path.join(folder, name + ".json")))
    par = np.load(os.path.join(folder, e["params"]))
    library = os.path.join(folder, e["libraries"]["bytecode"])
    hidden, vocab = e["config"]["hidden"], e["config"]["vocab"]
    peers = [Peer(program, library), Tvm(library)]
    params = [p.tuple([p.put(par[k]) for k in e["param_names"]]) for p in peers]
    rng = np.random.default_rng(seed)
    state = {"compared": 0}

    def create():
        return [p.call("create_tir_paged_kv_cache", [p.put([6]), p.put([480]), p.put([64]), p.put([16]),
                                                     p.put([int(window)])]) for p in peers]
    caches = create()

    def both(function, *args, keep=False):
        """Call by both; the results if they are kept."""
        out = []
        for p, cache in zip(peers, caches):
            values = [cache] + [p.put(a) for a in args]
            out.append(p.call("vm.builtin." + function, values))
            if isinstance(p, Peer):
                p.free += values[1:]
        if not keep:
            peers[0].free.append(out[0])
        return out

    def compare(results, what):
        got = [p.get(r) for p, r in zip(peers, results)]
        peers[0].free.append(results[0])
        same = got[0] == got[1] if isinstance(got[0], str) else np.array_equal(*got, equal_nan=True)
        if not same:
            raise SystemExit(f"{what}: differs after {state['compared']} comparisons")
        state["compared"] += 1

    def forward(function, ids, sequences, lengths, shape):
        both("kv_state_begin_forward", list(sequences), list(lengths))
        out = []
        for p, cache, par_ in zip(peers, caches, params):
            values = [p.put(ids)]
            embedded = p.call("embed", values + [par_])
            x = p.put(p.get(embedded).reshape(shape))
            r = p.call(function, [x, cache, par_])
            out.append(p.item(r, 0))
            if isinstance(p, Peer):
                p.free += values + [embedded, x, r]
        both("kv_state_end_forward")
        compare(out, function)

    if not window and e["config"]["kinds"] == "mha":
        state["exported"] = exchange(peers, params, caches, create(), forward, both, compare, rng, hidden, vocab)
    length, windows, following = {}, set(), 0
    for step in range(n):
        op = rng.choice(["add", "prefill", "decode", "batch", "fork", "pop", "remove", "facts", "window"],
                        p=[.12, .2, .2, .16, .12, .08, .05, .04, .03])
        live = sorted(length)
        total = sum(length.values())
        q = int(rng.choice(live)) if live else -1
        if op == "add" and len(live) < 6:
            both("kv_state_add_sequence", following)
            length[following] = 0
            following += 1
        elif op == "prefill" and live and total < 300:
            k = int(rng.integers(1, 40))
            forward("prefill", rng.integers(0, vocab, k).astype("int32"), [q], [k], [1, k, hidden])
            length[q] += k
        elif op == "decode" and live and length[q] and total < 380:
            forward("decode", rng.integers(0, vocab, 1).astype("int32"), [q], [1], [1, 1, hidden])
            length[q] += 1
        elif op == "batch" and len(live) > 1 and total < 380:
            some = [int(x) for x in rng.permutation(live)[:int(rng.integers(2, len(live) + 1))] if length[int(x)]]
            if len(some) > 1:
                forward("batch_decode", rng.integers(0, vocab, len(some)).astype("int32"), some,
                        [1] * len(some), [len(some), 1, hidden])
                for s in some:
                    length[s] += 1
        elif op == "fork" and live and len(live) < 6 and length[q] and q not in windows:
            at = -1 if rng.random() < .5 else int(rng.integers(1, length[q] + 1))
            both("kv_state_fork_sequence", q, following, at)
            length[following] = length[q] if at < 0 else at
            following += 1
        elif op == "pop" and live and length[q] > 1 and q not in windows:
            k = int(rng.integers(1, min(length[q], 30)))
            both("kv_state_popn", q, k)
            length[q] -= k
        elif op == "remove" and len(live) > 2:
            both("kv_state_remove_sequence", q)
            del length[q]
            windows.discard(q)
        elif op == "window" and window and live and q not in windows:
            both("attention_kv_cache_enable_sliding_window_for_seq", q, length[q] + int(rng.integers(12, 50)), int(rng.integers(0, 10)))
            windows.add(q)
        elif op == "facts":
            for f in ("get_total_sequence_length", "get_num_available_pages"):
                compare(both("attention_kv_cache_" + f, keep=True), f)
        for s in windows & set(length):
            length[s] = int(peers[1].get(peers[1].call("vm.builtin.attention_kv_cache_get_sequence_length", [caches[1], s])))
        if (step + 1) % 1000 == 0:
            print(f"{step + 1} operations, {state['compared']} comparisons", flush=True)
    code = peers[0].close()
    print(f"{name}: {n} operations, {state['compared']} comparisons, all the same bits; exit {code}")
    return code == 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.exit(not check_folder(sys.argv[1], sys.argv[2]))
    sys.exit(not random_run(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]), len(sys.argv) > 6))

"""record_structure.py FILE OPERATIONS SEED: random operations on paged caches of TVM (apache-tvm
0.27), whose kernels are Python functions. Each operation records a hash of the kernels' arguments.
test_kv_structure.c replays the file. The file in the tree is of 70 operations, seed 1.
"""
import struct
import sys

import numpy as np
import tvm
import tvm_ffi

KERNELS = ["new", "prefill", "decode", "prefill_window", "decode_window", "tree_cached", "tree_new", "mla",
           "store", "store_mla", "merge", "merge_second", "split", "copy", "debug", "compact"]
CONFIGS = {  # sequences, tokens, batch, page, windows, window of layers; rope, kinds
    "plain": ([6, 200, 40, 4, 0, 1024], 1, [0, 0]),
    "windows": ([6, 200, 40, 4, 1, 1024], 1, [0, 0]),
    "layers": ([6, 200, 40, 4, 0, 9], 0, [3, 0]),
    "trees": ([6, 200, 40, 4, 0, 1024], 0, [0, 0]),
}
HEADS, KV_HEADS, SIZE = 2, 1, 4


class Recorder:
    def __init__(self):
        self.h = 2166136261

    def add(self, v):
        for b in struct.pack("<q", v):
            self.h = ((self.h ^ b) * 16777619) & 0xFFFFFFFF

    def kernel(self, index):
        def call(*args):
            self.add(index)
            for a in args:
                if isinstance(a, float):
                    self.add(struct.unpack("<q", struct.pack("<d", a))[0])
                elif isinstance(a, int):
                    self.add(a)
                else:
                    n = a.numpy()
                    self.add(n.ndim)
                    for d in n.shape:
                        self.add(d)
                    if n.dtype == np.int32:
                        for v in n.reshape(-1):
                            self.add(int(v))
        return tvm_ffi.convert_func(call)

    def take(self):
        h, self.h = self.h, 2166136261
        return f"{h:08x}"


class Cache:
    def __init__(self, sizes, rope, kinds):
        self.r = Recorder()
        f = {k: self.r.kernel(i) for i, k in enumerate(KERNELS)}
        call = tvm.get_global_func("vm.builtin.paged_attention_kv_cache_create")
        self.c = call(tvm_ffi.Shape(sizes), tvm_ffi.Shape([0, len(kinds)]), HEADS, KV_HEADS, SIZE, SIZE,
                      tvm_ffi.Shape(kinds), False, rope, 1.0, 10000.0, 0, tvm.runtime.tensor(np.zeros((), "float32")),
                      f["store"], f["store_mla"], *[["tirx", f[k]] for k in KERNELS[:7]], [],
                      [f["merge"], f["merge_second"]], f["split"], f["copy"], f["debug"], f["compact"])

    def call(self, name, *args):
        return tvm.get_global_func("vm.builtin." + name)(self.c, *[tvm_ffi.Shape(a) if isinstance(a, list) else a for a in args])

    def attend(self, layer, n):
        x = tvm.runtime.tensor(np.zeros((n, HEADS + 2 * KV_HEADS, SIZE), "float32"))
        out = tvm.runtime.tensor(np.zeros((n, HEADS, SIZE), "float32"))
        self.call("attention_kv_cache_attention_with_fused_qkv", layer, 0.5, x, out)


class Play:
    def __init__(self, name, out, rng):
        self.name, self.out, self.rng = name, out, rng
        sizes, rope, self.kinds = CONFIGS[name]
        self.cache = Cache(sizes, rope, self.kinds)
        self.length, self.windows, self.following = {}, set(), 0
        self.say("cache", sizes, [rope], self.kinds)

    def say(self, word, *groups):
        pages = int(self.cache.call("attention_kv_cache_get_num_available_pages"))
        total = int(self.cache.call("attention_kv_cache_get_total_sequence_length"))
        text = " | ".join(" ".join(map(str, g)) for g in groups)
        self.out.write(f"{word} {text} = {pages} {total} {self.cache.r.take()}\n")

    def forward(self, some, lengths, parents=None):
        self.cache.call("kv_state_begin_forward", some, lengths, *([parents] if parents else []))
        for layer in range(len(self.kinds)):
            self.cache.attend(layer, sum(lengths))
        self.cache.call("kv_state_end_forward")
        for s, n in zip(some, lengths):
            self.length[s] += n
        self.say("forward", some, lengths, parents or [])

    def tree(self, n):
        return [-1] + [int(self.rng.integers(-1, i)) if self.rng.random() < .6 else i - 1 for i in range(1, n)]

    def verify(self, some):
        lengths = [int(self.rng.integers(1, 7)) for _ in some]
        trees = [self.tree(n) for n in lengths]
        self.forward(some, lengths, sum(trees, []))
        leaves = [int(self.rng.integers(-1, n)) for n in lengths]
        self.cache.call("attention_kv_cache_commit_accepted_token_tree_nodes", some, leaves)
        for s, tree, leaf in zip(some, trees, leaves):
            depth = 0
            while leaf != -1:
                leaf, depth = tree[leaf], depth + 1
            self.length[s] += depth - len(tree)
        self.say("accept", some, leaves)

    def step(self):
        rng, live, total = self.rng, sorted(self.length), sum(self.length.values())
        op = rng.choice(["add", "prefill", "decode", "verify", "fork", "pop", "remove", "window"],
                        p=[.12, .2, .3, .12, .12, .06, .04, .04])
        some = [int(x) for x in rng.permutation(live)[:int(rng.integers(1, len(live) + 1))]] if live else []
        q = some[0] if some else -1
        if op == "add" and len(live) < 6:
            self.cache.call("kv_state_add_sequence", self.following)
            self.length[self.following] = 0
            self.say("add", [self.following])
            self.following += 1
        elif op == "prefill" and some and total < 120:
            self.forward(some, [int(rng.integers(1, 12 if len(some) < 4 else 6)) for _ in some])
        elif op == "decode" and all(self.length[s] for s in some) and some and total < 150:
            self.forward(sorted(some), [1] * len(some))
        elif op == "verify" and self.name == "trees" and some and total < 120:
            self.verify(some)
        elif op == "fork" and some and len(live) < 6 and self.length[q] and q not in self.windows:
            at = -1 if rng.random() < .4 else int(rng.integers(0, self.length[q] + 1))
            self.cache.call("kv_state_fork_sequence", q, self.following, at)
            self.length[self.following] = self.length[q] if at < 0 else at
            self.say("fork", [q, self.following, at])
            self.following += 1
        elif op == "pop" and some and self.length[q] > 1 and q not in self.windows:
            k = int(rng.integers(1, self.length[q]))
            self.cache.call("kv_state_popn", q, k)
            self.length[q] -= k
            self.say("pop", [q, k])
        elif op == "remove" and len(live) > 2:
            self.cache.call("kv_state_remove_sequence", q)
            del self.length[q]
            self.windows.discard(q)
            self.say("remove", [q])
        elif op == "window" and self.name == "windows" and some and q not in self.windows:
            size, sink = self.length[q] + int(rng.integers(13, 30)), int(rng.integers(0, 7))
            self.cache.call("attention_kv_cache_enable_sliding_window_for_seq", q, size, sink)
            self.windows.add(q)
            self.say("window", [q, size, sink])
        else:
            return False
        for s in self.windows:
            self.length[s] = int(self.cache.call("attention_kv_cache_get_sequence_length", s))
        return True


if __name__ == "__main__":
    with open(sys.argv[1], "w") as out:
        for i, name in enumerate(CONFIGS):
            play = Play(name, out, np.random.default_rng(int(sys.argv[3]) * 100 + i))
            done = 0
            while done < int(sys.argv[2]):
                done += play.step()

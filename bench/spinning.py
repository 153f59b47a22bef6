"""Lone calls by libmodser where client and worker look for each other's messages for a while before
they sleep, and where they do not: what bench/run has of that. Everybody may use both CPUs."""
import contextlib

CPUS = "0,1"
MOST = 0.5  # of what is aimed at
# What the daemon is told, and the client's environment.
VARIANTS = {"spin": ((), {}), "no spin": (("--spin", "0"), {"MODSER_SPIN": "off"})}
WAYS = {"direct": {}, "daemon": {"MODSER_DIRECT": "off"}}
TIMES = ("p50", "p99")


def key(way, time):
    return "spin", way, time


def measure(bench, server):
    """@server is bench/run's: a process until the block ends."""
    addresses = {v: f"unix:{bench.folder}/{v.replace(' ', '_')}.sock" for v in VARIANTS}
    with contextlib.ExitStack() as stack:
        for variant, (words, _) in VARIANTS.items():
            stack.enter_context(server(CPUS, (
                bench.bin / "modserd", "--listen", addresses[variant], "--max-directs", 16, *words,
                "--load", f"trivial={bench.args.build}/bench/trivial.so"), 1))
            bench.tool(CPUS, "bench_call", addresses[variant], "latency", "trivial:noop", 1)
        for n in range(bench.args.rounds):
            for variant in list(VARIANTS)[::1 if n % 2 else -1]:
                for way, env in WAYS.items():
                    got = bench.tool(CPUS, "bench_library", addresses[variant], "latency",
                                     "trivial:noop", bench.args.calls,
                                     env={**env, **VARIANTS[variant][1]})
                    for time in TIMES:
                        bench.add(key(way, time), variant, got[f"{time}_ns"] / 1e3)


def ratio(bench, way, time):
    return bench.ratio(key(way, time), *VARIANTS)


def show(bench):
    print("\nlone call by libmodser, unix, both CPUs for everybody, us")
    print(" " * 12 + "".join(f"{v:>10}" for v in VARIANTS) + "     ratio")
    for way in WAYS:
        for time in TIMES:
            print(f"  {way:6} {time}"
                  + "".join(f"{bench.median(key(way, time), v):10.1f}" for v in VARIANTS)
                  + f"{ratio(bench, way, time):10.2f}")

#!/usr/bin/env python3
"""layers.py ROOT: who may include whom. layers.py --plants: one violation for each rule.

A folder may include headers of its own and of what is listed for it: folders (those in them
that have a rule of their own not among them, but with "/*"), or single headers. tests/ and bench/ may see everything; nothing sees them.
Between the folders of the table no circle is possible, and no more than CIRCLE sources
include each other in one.
"""
import pathlib
import re
import sys

from circles import circles

CIRCLE = 3
TEXT = "artifact/printable.h"
JSON = "artifact/json.h"
SCRIPT = "artifact/script.h"
ARTIFACT = [TEXT, JSON, SCRIPT] + ["artifact/" + f for f in (
    "elf", "params", "gpu", "relax", "relay", "graph_json", "kind", "tree", "inspect",
    "provides")]
# Lists of names that the runtime makes its tables of.
PROVIDES = "artifact/provides"
# The floors of runtime/, the lowest first; kinds of modules stand on all of them.
FLOOR = ["proto"] + ["runtime/" + f for f in ("value", "pool", "device", "abi", "module")]
GRAPH = ["proto", "runtime/pool", "runtime/value", "graph", "graph/ir", "graph/op", "graph/pass",
         "graph/plugin", "graph/layout"]
EXECUTOR = FLOOR + ["runtime/kind", "runtime/executor", "runtime/executor/vm"]
STREAM = ["daemon/loop", "daemon/segments", "daemon/stream"]
MAY_INCLUDE = {
    "proto": [],
    "artifact": ["proto"],
    "artifact/elf": ["proto"],
    "artifact/params": ["proto"],
    "artifact/graph_json": ["proto"],
    "artifact/gpu": ["proto", TEXT, JSON, "artifact/elf"],
    "artifact/relax": ["proto", TEXT, SCRIPT, "artifact/elf", "artifact/params"],
    "artifact/relay": ["proto", TEXT, "artifact/params"],
    "artifact/kind": ["proto", TEXT, JSON, "artifact/elf", "artifact/params", "artifact/gpu",
                      "artifact/relax", "artifact/relay", "artifact/graph_json"],
    "artifact/tree": ["proto", TEXT, "artifact/elf", "artifact/kind"],
    "artifact/provides": ["proto", "artifact/kind/kinds.h"],
    "artifact/inspect": ["proto"] + [f for f in ARTIFACT if f != "artifact/inspect"],
    "artifact/mlf": ["proto", TEXT, JSON, "artifact/params", "artifact/graph_json"],
    "pack": ["proto"] + ARTIFACT,
    "store": ["proto"],
    "store/manifest": ["proto", "store"],
    "graph": ["proto"],
    "graph/ir": ["proto", "graph"],
    "graph/op": ["proto", "graph", "graph/ir"],
    "graph/layout": ["proto", "graph", "graph/ir", "graph/op"],
    "graph/pass": ["proto", "graph", "graph/ir", "graph/op", "graph/layout"],
    "graph/inspect": ["proto", "graph", "graph/ir", "graph/layout"],
    "graph/plugin": ["proto", "graph", "graph/ir/refuse.h"],
    "graph/serializer": ["proto", "graph", "graph/ir"],
    "graph/serializer/wire": ["proto", "graph", "graph/ir"],
    "graph/serializer/build": ["proto", "graph", "graph/ir"],
    "graph/serializer/text": ["proto", "graph", "graph/ir", "graph/serializer/wire"],
    "graph/serializer/caffe": ["proto", "graph", "graph/ir", "graph/serializer",
                               "graph/serializer/wire", "graph/serializer/text",
                               "graph/serializer/build",
                               "graph/op/window/prior_box.h"],
    "graph/serializer/mxnet": ["proto", "graph", "graph/ir", "graph/serializer",
                               "graph/serializer/build",
                               "graph/op/reduce/reduce.h"],
    "graph/serializer/tensorflow": ["proto", "graph", "graph/ir", "graph/serializer",
                                    "graph/serializer/wire", "graph/serializer/build",
                                    "graph/op/reduce/reduce.h"],
    "graph/serializer/tflite": ["proto", "graph", "graph/ir", "graph/serializer",
                                "graph/serializer/build",
                                "graph/op/reduce/reduce.h"],
    "graph/serializer/tmfile": ["proto", "graph", "graph/ir", "graph/serializer",
                                "graph/op/move/pad.h", "graph/op/move/resize.h",
                                "graph/op/reduce/reduce.h", "graph/op/window/window.h"],
    "graph/serializer/onnx": ["proto", "graph", "graph/ir", "graph/serializer",
                              "graph/serializer/wire",
                              "graph/op/ml/ml_ensemble.h",
                              "graph/op/window/detect.h", "graph/op/window/prior_box.h",
                              "graph/op/window/window.h"],
    "runtime/value": ["proto"],
    "runtime/pool": FLOOR[:2],
    "runtime/device": FLOOR[:3] + ["artifact/gpu", "store/build_cache.h"],
    "runtime/device/cuda": FLOOR[:4],
    "runtime/device/opencl": FLOOR[:4],
    "runtime/abi": FLOOR[:4] + ["artifact/elf", PROVIDES],
    "runtime/kv": FLOOR[:2],
    "runtime/packed": FLOOR[:4] + ["runtime/device/cuda", "runtime/kv", PROVIDES],
    "runtime/kernel": GRAPH,
    "runtime/engine": GRAPH + ["runtime/kernel", "runtime/plan/flow.h", "runtime/plan/turns.h"],
    "runtime/plan": GRAPH + ["runtime/kernel", "runtime/engine"],
    "runtime/module": FLOOR[:5] + ["runtime/packed", SCRIPT, "artifact/elf/era.h",
                                     "artifact/tree"],
    "runtime/kind": FLOOR + ["artifact/kind", "artifact/params", "graph/plugin"],
    "runtime/library": FLOOR + ["runtime/kind", "artifact/elf", "artifact/mlf"],
    "runtime/executor": FLOOR + ["artifact/params"],
    "runtime/executor/vm": FLOOR,
    "runtime/executor/graph": EXECUTOR + ["artifact/graph_json", "artifact/params"],
    "runtime/executor/aot": EXECUTOR + ["artifact/params"],
    "runtime/executor/relax": EXECUTOR + ["runtime/packed", "artifact/params", "artifact/relax"],
    "runtime/executor/relay": EXECUTOR + ["artifact/params", "artifact/relay"],
    "runtime/executor/static_graph": FLOOR + ["runtime/executor", "runtime/kernel",
                                              "runtime/engine", "runtime/plan", "graph",
                                              "graph/inspect", "graph/ir/defaults.h",
                                              "graph/pass",
                                              "graph/serializer/choose.h",
                                              "graph/serializer/model_files.h"],
    "runtime/load": FLOOR + ["runtime/kind", "runtime/executor/static_graph", "runtime/kernel",
                             "runtime/engine", "runtime/plan",
                             "artifact/elf", "artifact/inspect", "artifact/kind",
                             "artifact/params", "artifact/tree", PROVIDES, "graph",
                             "graph/ir/refuse.h", "graph/plugin", "runtime/packed",
                             "graph/serializer/model_files.h"],
    "daemon": ["proto"],
    "daemon/loop": ["proto", "daemon"],
    "daemon/segments": ["proto", "daemon", "daemon/loop"],
    "daemon/stream": ["proto", "daemon", "daemon/loop"],
    "daemon/supervisor": ["proto", "daemon", *STREAM, "daemon/child"] + [
        "daemon/supervisor/" + f for f in ("request", "rights", "source", "module", "keep", "fetch",
                                           "edge", "facts", "http", "rpc", "tls")] + [
        "store", "artifact/elf/plugin.h", "graph/modserd_plugin.h"],
    "daemon/http": ["proto"],
    "daemon/supervisor/http": ["proto", "daemon", *STREAM, "daemon/http",
                               "store/digest.h"] + [
        "daemon/supervisor/" + f for f in ("call", "request", "rights", "module", "edge",
                                           "facts")],
    "daemon/supervisor/rpc": ["proto", "daemon", *STREAM, "daemon/child", "store/digest.h"] + [
        "daemon/supervisor/" + f for f in ("request", "rights", "module", "edge")],
    "daemon/supervisor/tls": ["proto", *STREAM, "daemon/supervisor/request"],
    "daemon/tls": ["proto", "daemon/stream/tls.h", "daemon/stream/transport.h"],
    "daemon/supervisor/call": [],
    "daemon/supervisor/keep": ["proto", "daemon", *STREAM, "store"],
    "daemon/supervisor/edge": ["proto", "daemon", *STREAM, "daemon/child"] + [
        "daemon/supervisor/" + f for f in ("call", "request", "rights", "source", "module", "keep",
                                           "fetch", "tls")],
    "daemon/supervisor/facts": ["proto", "daemon", *STREAM, "daemon/child"] + [
        "daemon/supervisor/" + f for f in ("request", "module", "edge")],
    "daemon/supervisor/rights": ["proto", "daemon/supervisor/request/peer_id.h",
                                 "daemon/supervisor/request/peer_table.h",
                                 "daemon/stream/tls.h", "store/digest.h"],
    "daemon/supervisor/fetch": ["proto", "daemon", *STREAM, "daemon/child",
                                "daemon/supervisor/keep", "daemon/supervisor/request/budget.h",
                                "daemon/supervisor/request/peer_id.h", "daemon/supervisor/source",
                                "store"],
    "daemon/supervisor/module": ["proto", "daemon", *STREAM, "daemon/child",
                                 "daemon/supervisor/request", "daemon/supervisor/source",
                                 "store/digest.h"],
    "daemon/supervisor/source": ["proto", *STREAM, "store/digest.h"],
    "daemon/supervisor/request": ["proto", "daemon", *STREAM],
    "daemon/child": ["proto", "daemon"],
    "daemon/confine": ["proto", "daemon/mark.h", "store/build_cache.h"],
    "daemon/fetch": ["proto", "daemon/mark.h", *STREAM, "store/digest.h", "store/trust.h",
                     "store/trusted_clock.h", "store/manifest"],
    "daemon/worker": ["proto", "daemon", "daemon/confine", *STREAM, "artifact/inspect", "artifact/provides",
                      "artifact/elf", "store/build_cache.h"] + [
        "runtime/" + f for f in ("value", "pool", "device", "module", "load",
                                  "engine/weights.h")],
    "daemon/rpc_session": ["proto", "daemon/mark.h", "daemon/rpc_page.h", "daemon/confine"] + [
        "runtime/" + f for f in ("value", "pool", "device", "module", "packed", "load")],
    "client": ["proto"],
    "client/cli": ["proto", "client", "client/build", "client/pki", "artifact/*", "pack", "graph", "graph/inspect",
                   "graph/serializer/choose.h", "graph/serializer/model_files.h",
                   "graph/serializer/operators.h", "graph/plugin", "graph/ir/refuse.h",
                   "store", "store/manifest"],
    "client/build": ["proto", "client", "artifact/*", "pack", "store"] + ["client/cli/" + f for f in (
        "cli.h", "doctor/system.h", "model/model.h", "model/static_graph.h", "values/file.h",
        "values/objects.h", "values/print.h", "verbs/report.h")],
    "client/pki": ["proto", "client", "client/cli/cli.h", "client/cli/values/file.h"],
    "examples": ["client"],
}
# Folders that nothing outside them may see, and system headers with their only users.
PRIVATE = ["daemon/worker", "daemon/rpc_session", "daemon/fetch", "daemon/tls"]
ONLY_IN = {"uv.h": ("daemon", "examples"), "curl/curl.h": ("daemon/fetch",),
           "dlfcn.h": ("runtime", "graph/plugin", "daemon/supervisor/tls", "client"),
           "seccomp.h": ("daemon/confine",), "llhttp.h": ("daemon/http",),
           "openssl/ssl.h": ("daemon/tls", "client")}
# What never logs: it fills a struct msd_diag.
SILENT = ["proto", "artifact", "pack", "graph", "store", "runtime"]
SAYS = re.compile(r"\b(printf|vprintf|puts|perror|syslog)\s*\(|\bstderr\b|\bstdout\b")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TOP = sorted({folder.split("/")[0] for folder in MAY_INCLUDE})


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def rule_of(path):
    return max((r for r in MAY_INCLUDE if below(path, r)), key=len, default=None)


def allows(rule, target):
    """A header may be seen from @rule: its folder's own, or one that is listed."""
    home = rule_of(target)
    return any(target == f or home == f or f.endswith("/*") and below(target, f[:-2])
               for f in [rule] + MAY_INCLUDE[rule])


def include_fault(folder, quote, target):
    if quote == "<":
        owners = ONLY_IN.get(target)
        if owners and not any(below(folder, owner) for owner in owners):
            return f"<{target}> belongs to {'/, '.join(owners)}/"
        return None
    if target.split("/")[0] not in TOP or ".." in target or not target.endswith(".h"):
        return f'"{target}" is not a header of the project, named from the root'
    rule = rule_of(folder)
    if rule is None:
        return f"{folder}/ has no rule in layers.py"
    if not allows(rule, target):
        return f'{rule}/ may not include "{target}"'
    for part in PRIVATE:
        if below(target, part) and not below(folder, part):
            return f'"{target}" is private to {part}/'
    return None


def source_of(name):
    """a/b.c and a/b.h are one source."""
    return name.rsplit(".", 1)[0]


def complaints(root, path, graph):
    name = path.relative_to(root).as_posix()
    folder = name.rsplit("/", 1)[0]
    text = path.read_text(errors="replace")
    text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        fault = include_fault(folder, *include.groups()) if include else None
        if include and include.group(1) == '"':
            graph.setdefault(source_of(name), set()).add(source_of(include.group(2)))
        if not include and any(below(folder, s) for s in SILENT):
            if SAYS.search(STRING.sub('""', line)):
                fault = f"{folder.split('/')[0]}/ does not print"
        if fault:
            yield f"{name}:{number}: {fault}"


def room_circles():
    rooms = {r: {o for o in MAY_INCLUDE if o != r and allows(r, o + "/x.h")}
             for r in MAY_INCLUDE}
    return circles(rooms)


def plants():
    """For each rule a file of its folder and a line in it that the rule refuses."""
    for rule in MAY_INCLUDE:
        for target in list(MAY_INCLUDE) + ["tests"]:
            if target != rule and not allows(rule, target + "/x.h"):
                print(f'{rule}/bad_{target.replace("/", "_")}.c #include "{target}/x.h"')
    for rule in SILENT:
        print(f'{rule}/bad_print.c int f(void) {{ return printf("x"); }}')
    for header, owners in ONLY_IN.items():
        for folder in TOP:
            if folder not in owners:
                print(f"{folder}/bad_{header[:-2]}.c #include <{header}>")


def main():
    if sys.argv[1] == "--plants":
        return plants()
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [p for top in TOP for p in sorted((root / top).rglob("*.[ch]"))]
    if not files:
        sys.exit(f"layers: no files found below {root}")
    graph = {}
    bad = [text for path in files for text in complaints(root, path, graph)]
    bad += [f"{part[0]}: a circle of {len(part)} sources: {' '.join(part)}"
            for part in circles(graph) if len(part) > CIRCLE]
    bad += [f"layers.py: rooms that may include each other: {' '.join(part)}"
            for part in room_circles()]
    print("\n".join(bad + [f"layers: {len(files)} files, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

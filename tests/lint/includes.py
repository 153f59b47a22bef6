#!/usr/bin/env python3
"""includes.py ROOT BUILD [--differing | FILE...]: no file includes what it does not use.

Asks include-what-you-use about the project's sources in BUILD's compile_commands.json and about
the headers that they include, each as if it were a source; about those that differ from what was
checked last (differing.py); or about FILEs. It knows where the C
library's own names come from, but not those of other system headers, so these are left alone;
so is what a file uses through another header.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from differing import differing, included

# X-macros name what they need only where they are expanded, and a row of a table is declared
# in the table's header: include-what-you-use counts neither.
NEEDED = [
    (r"graph/op/", r"graph/(op/op|ir/schema)\.h"),
    (r"runtime/engine/reference/", r"runtime/kernel/kernels\.h"),
    (r"graph/serializer/", r"graph/serializer/serializer\.h"),
    (r"tests/artifact/library\.c", r"embed\.h"),
    (r"tests/graph/test_params\.c", r"graph/op/.*"),
    (r"runtime/", r"runtime/kind/kinds\.h"),
    (r"runtime/abi/slots\.c", r".*"),
    # Empty at levels without VNNI or AVX-512.
    (r"runtime/engine/native/level/direct\.c", r"runtime/engine/native/level/taps\.h"),
    (r"runtime/engine/native/level/depthwise\.c", r"runtime/engine/native/level/sums\.h"),
    (r"tests/fuzz/fuzz_", r"tests/fuzz/fuzz\.h"),  # it declares what cmake/MsdFuzz.cmake renames
    (r"tests/lint/tidy_model\.h", r".*"),  # so that it can define them anew
]
C_LIBRARY = ("assert ctype errno inttypes limits math signal stdarg stdbool stddef stdint stdio "
             "stdlib string time").split()
FAULT = re.compile(r'^- #include (?:"([^"]+)"|<(\w+)\.h>)  // lines (\d+)-', re.M)
SECTION = re.compile(r"^(\S+) should remove these lines:\n(.*?)\n\n", re.M | re.S)


def is_needed(name, header):
    return any(re.match(f, name) and re.fullmatch(h, header) for f, h in NEEDED)


def ask(task):
    path, entry = task
    words = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    at = next(i for i, w in enumerate(words) if re.search(r"(^|/)(cc|gcc|clang)[-\d.]*$", w))
    words = words[at + 1:]
    if path.suffix == ".h":  # alone, compiled as who includes it is
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        is_source = [(pathlib.Path(entry["directory"]) / w).resolve() == source for w in words]
        words = [w for w, drop in zip(words, is_source) if not drop] + ["-x", "c", str(path)]
    command = ["include-what-you-use", "-Xiwyu", "--no_fwd_decls", "-w", *words]
    run = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    failed = re.search(r"^.*\berror: .*$", run.stderr, re.M)
    return path, run.stderr + "\n\n", failed and failed[0]


def faults(root, path, said, failed):
    if failed:
        yield f"{path.relative_to(root)}: does not compile alone: {failed}"
    for section in SECTION.finditer(said):
        if pathlib.Path(section[1]).resolve() != path:
            continue
        name = str(path.relative_to(root))
        for own, library, line in FAULT.findall(section[2] + "\n"):
            header = own or f"{library}.h"
            if own and not is_needed(name, own) or library in C_LIBRARY:
                yield f"{name}:{line}: {header} is not used"


def with_headers(root, sources):
    """What is to be looked at: each source, and each header with who includes it first."""
    tasks, todo = dict(sources), list(sources.items())
    while todo:
        path, entry = todo.pop()
        for header in included(root, path):
            if header not in tasks and header.is_relative_to(root):
                tasks[header] = entry
                todo.append((header, entry))
    return tasks


def main():
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    differs = sys.argv[3:] == ["--differing"]
    wanted = differing(root) if differs else {(root / f).resolve() for f in sys.argv[3:]}
    sources = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        is_made = build != root and path.is_relative_to(build)
        if path.is_relative_to(root) and not is_made:
            sources[path] = entry
    tasks = with_headers(root, sources)
    tasks = {p: e for p, e in tasks.items() if p in wanted or not (wanted or differs)}
    if not tasks and not differs:
        sys.exit(f"includes: no files of {root} in {build}/compile_commands.json")
    jobs = int(os.environ.get("MODSERD_JOBS", os.cpu_count()))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        answers = pool.map(ask, tasks.items())
        bad = sorted({f for answer in answers for f in faults(root, *answer)})
    print("\n".join([*bad, f"includes: {len(tasks)} files, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

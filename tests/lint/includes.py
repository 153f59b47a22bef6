#!/usr/bin/env python3
"""includes.py ROOT BUILD [FILE...]: no source includes what it does not use.

Asks include-what-you-use about the project's sources in BUILD's compile_commands.json, or
about FILEs. It knows where the C library's own names come from, but not those of other system
headers, so these are left alone; so are headers, whose includes are for those who include
them, and what a source uses through another header.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

# X-macros name what they need only where they are expanded, and a row of a table is declared
# in the table's header: include-what-you-use counts neither.
NEEDED = [
    (r"graph/op/", r"graph/op/op\.h"),
    (r"runtime/engine/reference/", r"runtime/engine/kernels\.h"),
    (r"graph/serializer/", r"graph/serializer/serializer\.h"),
    (r"tests/artifact/library\.c", r"embed\.h"),
    (r"runtime/", r"runtime/kind/kinds\.h"),
    (r"runtime/abi/slots\.c", r".*"),
]
C_LIBRARY = ("assert ctype errno inttypes limits math signal stdarg stdbool stddef stdint stdio "
             "stdlib string time").split()
FAULT = re.compile(r'^- #include (?:"([^"]+)"|<(\w+)\.h>)  // lines (\d+)-', re.M)
SECTION = re.compile(r"^(\S+) should remove these lines:\n(.*?)\n\n", re.M | re.S)


def is_needed(name, header):
    return any(re.match(f, name) and re.fullmatch(h, header) for f, h in NEEDED)


def ask(entry):
    words = shlex.split(entry["command"]) if "command" in entry else entry["arguments"]
    at = next(i for i, w in enumerate(words) if re.search(r"(^|/)(cc|gcc|clang)[-\d.]*$", w))
    command = ["include-what-you-use", "-Xiwyu", "--no_fwd_decls", "-w", *words[at + 1:]]
    run = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
    return run.stderr + "\n\n"


def faults(root, said):
    for section in SECTION.finditer(said):
        path = pathlib.Path(section[1]).resolve()
        if not path.is_relative_to(root) or path.suffix != ".c":
            continue
        name = str(path.relative_to(root))
        for own, library, line in FAULT.findall(section[2] + "\n"):
            header = own or f"{library}.h"
            if own and not is_needed(name, own) or library in C_LIBRARY:
                yield f"{name}:{line}: {header} is not used"


def main():
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    wanted = {str((root / f).resolve()) for f in sys.argv[3:]}
    entries = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = str((pathlib.Path(entry["directory"]) / entry["file"]).resolve())
        is_made = build != root and path.startswith(f"{build}/")
        is_own = path.startswith(f"{root}/") and not is_made
        if path in wanted or not wanted and is_own:
            entries[path] = entry
    if not entries:
        sys.exit(f"includes: no files of {root} in {build}/compile_commands.json")
    jobs = int(os.environ.get("MODSERD_JOBS", os.cpu_count()))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        bad = sorted({f for said in pool.map(ask, entries.values()) for f in faults(root, said)})
    print("\n".join([*bad, f"includes: {len(entries)} files, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

#!/usr/bin/env python3
"""calls.py ROOT BUILD: no more than CIRCLE sources call each other in a circle.

Read from the objects of BUILD/compile_commands.json by nm: a source calls another when it wants
a function that only the other one defines. Rows of tables (data) do not count. Sources of tests
and benchmarks do not take part.
"""
import json
import pathlib
import subprocess
import sys

from circles import circles

CIRCLE = 3
OUTSIDE = ("tests/", "bench/", "examples/")


def objects(root, build):
    """(source from the root, object file) of each source that takes part."""
    for row in json.loads((build / "compile_commands.json").read_text()):
        source = pathlib.Path(row["directory"], row["file"]).resolve()
        if not source.is_relative_to(root) or source.is_relative_to(build):
            continue
        name = source.relative_to(root).as_posix()
        words = row["command"].split()
        out = pathlib.Path(row["directory"], words[words.index("-o") + 1])
        if not name.startswith(OUTSIDE) and out.exists():
            yield name, out


def call_graph(root, build):
    source_of = {str(path): source for source, path in objects(root, build)}
    defines, wants = {}, {}
    said = subprocess.run(["nm", "-P", "-A", *source_of], capture_output=True, text=True,
                          check=True)
    for line in said.stdout.splitlines():
        path, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        if kind == "T":
            defines[name] = source_of[path]
        elif kind == "U":
            wants.setdefault(source_of[path], set()).add(name)
    return {source: {defines[n] for n in names if n in defines} - {source}
            for source, names in wants.items()}


def main():
    root, build = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    graph = call_graph(root, build)
    if not graph:
        sys.exit(f"calls: no objects found below {build}")
    bad = [part for part in circles(graph) if len(part) > CIRCLE]
    for part in bad:
        print(f"{part[0]}: {len(part)} sources call each other in a circle:")
        for source in part:
            print(f"  {source} calls {' '.join(sorted(graph[source] & set(part)))}")
    print(f"calls: {len(graph)} sources, {len(bad)} faults")
    sys.exit(bool(bad))


main()

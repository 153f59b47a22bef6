#!/usr/bin/env python3
"""tidy_files.py ROOT BUILD NODES [--differing | FILE...]: what tidy.sh looks at, a line for each:
a key that changes with the source, the headers that it reaches, the configuration and NODES, and
the source's path from ROOT.

All sources of BUILD's compile_commands.json; those that differ (differing.py); or FILEs.
"""
import hashlib
import json
import pathlib
import sys

from differing import own, reached, sources

digests = {}


def digest(path):
    if path not in digests:
        digests[path] = hashlib.sha256(path.read_bytes()).digest()
    return digests[path]


def main():
    root, build = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
    nodes, wanted = sys.argv[3], sys.argv[4:]
    rows = json.loads((build / "compile_commands.json").read_text())
    built = {pathlib.Path(row["directory"], row["file"]).resolve() for row in rows}
    listed = [p for p in sorted(own(root)) if p.suffix == ".c" and p in built]
    if not listed:
        sys.exit(f"tidy: no files of {root} in {build}/compile_commands.json")
    if wanted == ["--differing"]:
        files = sorted(sources(root, listed))
    else:
        files = [(root / f).resolve() for f in wanted if not f.endswith(".h")] or listed
    model = root / "tests/lint/tidy_model.h"
    common = [root / ".clang-tidy", *([model] if model.exists() else [])]
    for path in files:
        key = hashlib.sha256(f"{nodes} {path.relative_to(root)}".encode())
        for part in [*common, *sorted(reached(root, path))]:
            key.update(digest(part))
        print(key.hexdigest()[:32], path.relative_to(root))


main()

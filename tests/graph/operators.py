#!/usr/bin/env python3
"""operators.py --check | --write: the table of ONNX's operators in docs/reference/operators.md
is made from the rows of the serializer, so that it cannot say anything else."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs/reference/operators.md"
ROW = re.compile(r'^\s*(?:\{|REDUCE\()"(\w+)",\s*(\d+),\s*(?:"(\w+)"|(NULL)|)')
HEAD = """# ONNX operators

`tests/graph/operators.py --write` makes this page from the rows of the reader
(`graph/serializer/onnx/`). The table lists each version of ONNX that changed how the operator is
read; later versions are read in the same way until the next one. Versions above 17 are read, but
not written. [static-graph.md](static-graph.md) lists the forms that are not supported.

| ONNX | versions | operator of modserd |
|---|---|---|
"""


def rows():
    """{ONNX's name: ([versions], {ours})}"""
    found = {}
    for path in sorted((ROOT / "graph" / "serializer" / "onnx").rglob("rows_*.c")):
        for line in path.read_text().splitlines():
            hit = ROW.match(line)
            if not hit:
                continue
            name, since, ours = hit[1], int(hit[2]), hit[3]
            if path.name.startswith("rows_microsoft"):
                name = f"com.microsoft.{name}"
            versions, names = found.setdefault(name, ([], set()))
            versions += [1, since] if "REDUCE(" in line else [since]
            names.add("Reduction" if "REDUCE(" in line else ours or "constant")
    return found


def page():
    lines = [f"| {name} | {', '.join(map(str, sorted(versions)))} | {', '.join(sorted(ours))} |"
             for name, (versions, ours) in sorted(rows().items())]
    return HEAD + "\n".join(lines) + f"\n\n{len(lines)} operators.\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    elif PAGE.read_text() != page():
        sys.exit(f"{PAGE.name} is not what the rows say: tests/graph/operators.py --write")

#!/usr/bin/env python3
"""operators.py --check | --write: the table of ONNX's operators in docs/static-graph-operators.md
is made from the rows of the serializer, so that it cannot say anything else."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "static-graph-operators.md"
ROW = re.compile(r'^\s*(?:\{|REDUCE\()"(\w+)",\s*(\d+),\s*(?:"(\w+)"|(NULL)|)')
HEAD = """# ONNX's operators

Made by `tests/graph/operators.py --write` from the rows (`graph/serializer/onnx/rows_*.c`). Each version that reads an operator
in its own way is named; the one before holds until then. Versions above 17 are read, and not written. What a model may ask
of them beyond that stands in [static-graph.md](static-graph.md).

| ONNX | versions | here |
|---|---|---|
"""


def rows():
    """{ONNX's name: ([versions], {ours})}"""
    found = {}
    for path in sorted((ROOT / "graph" / "serializer" / "onnx").glob("rows_*.c")):
        for line in path.read_text().splitlines():
            hit = ROW.match(line)
            if not hit:
                continue
            name, since, ours = hit[1], int(hit[2]), hit[3]
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

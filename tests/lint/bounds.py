#!/usr/bin/env python3
"""bounds.py ROOT DOCUMENT: each row of the tables of resources names the test that drives it to its
bound over the wire, and that test is run; or it says why none can.

A table of resources has `resource` as its first column and `test` as its last. What is named there is
a folder, or a file that a CMakeLists.txt beside it makes a test of. One of them at least lies in
tests/e2e/; else the cell says "not over the wire: " and the reason.
"""
import pathlib
import re
import sys

CODE = re.compile(r"`([^`]+)`")
WIRE = "tests/e2e/"
EXCUSE = re.compile(r"not over the wire: \S")


def cells_of(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def rows_of(lines):
    """(line number, cells, how many there should be) of each row of a table of resources."""
    columns = None  # 0: of another table
    for at, line in enumerate(lines):
        if not line.startswith("|"):
            columns = None
            continue
        cells = cells_of(line)
        if columns is None:
            is_ours = (cells[0], cells[-1]) == ("resource", "test")
            # Rows behind an empty line are of no table, for whoever shows the document, too.
            is_head = at + 1 < len(lines) and lines[at + 1].startswith("|--")
            columns = 0 if is_head and not is_ours else 6
            if is_head:
                continue
        if columns and not line.startswith("|--"):
            yield at + 1, cells, columns


def is_run(root, path):
    file = root / path
    if file.is_dir():
        return True
    tests = file.parent / "CMakeLists.txt"
    name = re.escape(file.stem.removeprefix("test_"))
    return file.exists() and tests.exists() and bool(
        re.search(rf"\b(?:test_)?{name}\b", tests.read_text()))


def complaints(root, row):
    number, cells, columns = row
    if len(cells) != columns:
        yield f"{number}: {cells[0]}: expected {columns} cells of a table of resources"
        return
    named = CODE.findall(cells[-1])
    if not any(n.startswith(WIRE) for n in named) and not EXCUSE.search(cells[-1]):
        yield f"{number}: {cells[0]}: no test drives it over the wire, and it does not say why"
    for name in named:
        if not is_run(root, name):
            yield f"{number}: {cells[0]}: {name} is no test that is run"


def main():
    root, document = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    rows = list(rows_of((root / document).read_text().splitlines()))
    wrong = [text for row in rows for text in complaints(root, row)]
    for text in wrong:
        print(f"{document}:{text}")
    print(f"bounds: {len(rows)} rows, {len(wrong)} faults")
    sys.exit(not rows or bool(wrong))


if __name__ == "__main__":
    main()

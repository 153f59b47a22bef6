#!/usr/bin/env python3
"""names.py ROOT DOCUMENT...: each path and each function that a document names exists.

What stands in backticks and has a slash is a path from ROOT, a file or a folder; what ends in
"()" is a function that some C source defines or declares. Paths of other machines begin with
"/", "~", "$" or "<", and are left alone.
"""
import pathlib
import re
import sys

CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[A-Za-z0-9_.{},*-]+(?:/[A-Za-z0-9_.{},*-]*)+$")
FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\(\)$")
SOURCES = ("proto", "artifact", "pack", "graph", "store", "runtime", "daemon", "client",
           "tests", "bench")


def words_of(root):
    """Every identifier before an opening parenthesis in the C sources."""
    found = set()
    for top in SOURCES:
        for path in (root / top).rglob("*.[ch]"):
            found.update(re.findall(r"\b(\w+)\(", path.read_text(errors="replace")))
    return found


def expand(path):
    """a/{b,c}.h is two paths."""
    group = re.search(r"\{([^{}]*)\}", path)
    if not group:
        return [path]
    return [end for one in group.group(1).split(",")
            for end in expand(path[:group.start()] + one + path[group.end():])]


def complaints(root, document, known):
    text = document.read_text()
    name = document.relative_to(root).as_posix()
    for number, line in enumerate(text.splitlines(), 1):
        for code in CODE.findall(line):
            function = FUNCTION.match(code)
            if function and function.group(1) not in known:
                yield f"{name}:{number}: no function {function.group(1)}"
            if not PATH.match(code):
                continue
            for path in expand(code):
                if not list(root.glob(path.rstrip("/"))):
                    yield f"{name}:{number}: no file or folder {path}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    known = words_of(root)
    documents = [root / name for name in sys.argv[2:]]
    bad = [text for d in documents for text in complaints(root, d, known)]
    print("\n".join(bad + [f"names: {len(documents)} documents, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

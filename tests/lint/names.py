#!/usr/bin/env python3
"""names.py ROOT DOCUMENT...: each path and each function that a document names exists, and each
file that a comment of the C sources names.

What stands in backticks and has a slash is a path from ROOT, a file or a folder; what ends in
"()" is a function that some C source defines, declares or calls. Paths of other machines begin
with "/", "~", "$" or "<", and are left alone. Comments name files by the end of their path:
"load.c", "graph/ir/node.h", "bounds.md".
"""
import pathlib
import re
import sys

CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(r"[A-Za-z0-9_.{},*-]+(?:/[A-Za-z0-9_.{},*-]*)+$")
FUNCTION = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\(\)$")
COMMENT = re.compile(r"/\*.*?\*/", re.S)
FILE = re.compile(r"(?<![\w./<*>-])((?:[\w-]+/)*[\w-]+\.(?:c|h|md|py))\b(?!/)")
FOREIGN = ("cblas.h", "dlpack.h", "dlpack/dlpack.h", "math.h", "numpy/lib/format.py", "stdint.h")
SOURCES = ("proto", "artifact", "pack", "graph", "store", "runtime", "daemon", "client",
           "tests", "bench")


def sources_of(root):
    """The text of each C source by its path from ROOT."""
    return {path.relative_to(root).as_posix(): path.read_text(errors="replace")
            for top in SOURCES for path in sorted((root / top).rglob("*.[ch]"))}


def words_of(sources):
    """Every identifier before an opening parenthesis outside comments."""
    return {word for text in sources.values()
            for word in re.findall(r"\b(\w+)\(", COMMENT.sub(" ", text))}


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


def comment_complaints(sources, ends):
    for name, text in sources.items():
        for comment in COMMENT.finditer(text):
            for file in FILE.finditer(comment.group()):
                if file.group(1) not in ends and file.group(1) not in FOREIGN:
                    line = text.count("\n", 0, comment.start() + file.start()) + 1
                    yield f"{name}:{line}: no file {file.group(1)}"


def ends_of(root):
    """Each file by each end of its path."""
    ends = set()
    for top in (*SOURCES, "docs", "examples", "scripts"):
        for path in (root / top).rglob("*.*"):
            parts = path.relative_to(root).parts
            ends.update("/".join(parts[i:]) for i in range(len(parts)))
    return ends


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    sources = sources_of(root)
    known = words_of(sources)
    documents = [root / name for name in sys.argv[2:]]
    bad = [text for d in documents for text in complaints(root, d, known)]
    bad += comment_complaints(sources, ends_of(root))
    print("\n".join(bad + [f"names: {len(documents)} documents, {len(sources)} sources, "
                           f"{len(bad)} faults"]))
    sys.exit(bool(bad))


main()

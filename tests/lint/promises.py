#!/usr/bin/env python3
"""promises.py ROOT: a test says in its body what would fail it, and is short.

What asserts: in C cr_assert…, cr_expect…; in Python assert, pytest.raises and until(); in both
a helper called expect_…, which must assert itself, or the signal that the test dies of. A test
that can only be skipped says so.
"""
import ast
import pathlib
import re
import sys

MAX_LINES = 30
# A test, or the definition of a helper, up to its closing brace at the line's start.
BODY = re.compile(r"^(?:(Test)\(([^)]*)\)|[a-z][\w ]*[ *](expect_\w+)\((?:[^;{]*?)\))\n\{\n(.*?)^\}",
                  re.M | re.S)
C_ASSERTS = re.compile(r"\bcr_(assert|expect|fatal)\w*\(|\bexpect_\w+|\bEXPECT_\w+|\"skipped: ")
HELPERS = re.compile(r"(assert|expect)_|until$")


def c_bodies(text):
    for m in BODY.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        told = bool(C_ASSERTS.search(m[4])) or ".signal =" in (m[2] or "")
        yield line, m[2] or m[3], bool(m[1]), m[4].count("\n"), told


def asserts(node):
    if isinstance(node, ast.Assert):
        return True
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return name in ("raises", "fail") or bool(HELPERS.match(name))


def python_bodies(text):
    for f in ast.walk(ast.parse(text)):
        if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)):
            is_test = f.name.startswith("test_")
            if is_test or f.name.startswith("expect_"):
                n_lines = f.end_lineno - f.body[0].lineno + 1
                yield f.lineno, f.name, is_test, n_lines, any(map(asserts, ast.walk(f)))


def complaints(name, text):
    bodies = c_bodies(text) if name.endswith(".c") else python_bodies(text)
    for line, what, is_test, n_lines, has_assertion in bodies:
        if not has_assertion:
            yield f"{name}:{line}: {what}: nothing in its body could fail"
        if is_test and n_lines > MAX_LINES:
            yield f"{name}:{line}: {what}: {n_lines} lines; {MAX_LINES} are enough for one promise"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [p for folder in ("tests", "client/python/tests")
             for glob in ("*.c", "*.py") for p in sorted((root / folder).rglob(glob))]
    if not files:
        sys.exit(f"promises: no tests found below {root}")
    bad = [text for p in files for text in complaints(str(p.relative_to(root)), p.read_text())]
    print("\n".join(bad + [f"promises: {len(files)} files, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

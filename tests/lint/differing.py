#!/usr/bin/env python3
"""differing.py ROOT: the project's C files that differ from the commit in ROOT/tests/lint/whole.

`scripts/test nightly` writes into that file the commit on which the checks of all files passed, so
that each change is checked for what it touches. All files differ if git does not know the commit,
or if the configuration of clang-tidy differs. `differing.py ROOT --age` fails when the commit is
too old: the longer ago the whole was checked, the more a changed header may have spoiled.
"""
import functools
import pathlib
import re
import subprocess
import sys

MOST_COMMITS = 150  # that may be landed before the whole is checked again
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def git(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else None


def own(root):
    """All C files that git tracks or would track; all of an unpacked archive."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top and pathlib.Path(top[0]) == root:
        names = git(root, "ls-files", "-co", "--exclude-standard", "--", "*.c", "*.h")
        return {root / n for n in names if (root / n).is_file()}
    return {p for p in root.rglob("*.[ch]")
            if not any(re.match(r"build|\.venv|\.git", part) for part in p.relative_to(root).parts)}


def whole(root):
    """The commit that was checked as a whole; None if git does not know it."""
    file = root / "tests/lint/whole"
    commit = file.read_text().strip() if file.exists() else ""
    return commit if commit and git(root, "cat-file", "-e", f"{commit}^{{commit}}") is not None else None


def differing(root):
    files, commit = own(root), whole(root)
    names = git(root, "diff", "--name-only", commit, "--") if commit else None
    if names is None or ".clang-tidy" in names:
        return files
    names += git(root, "ls-files", "-o", "--exclude-standard")
    return files & {root / n for n in names}


@functools.cache
def included(root, path):
    """The project's headers that `path` names."""
    places = ((path.parent / name, root / name)
              for name in INCLUDE.findall(path.read_text(errors="replace")))
    found = (next((p for p in both if p.is_file()), None) for both in places)
    return {p.resolve() for p in found if p}


def reached(root, path):
    """`path` and the project's headers that it includes, however deep."""
    found, todo = {path}, [path]
    while todo:
        new = included(root, todo.pop()) - found
        found |= new
        todo += new
    return found


def sources(root, listed):
    """Those of the sources `listed` that differ, or that name a header which does; of a header
    that none names, one that reaches it."""
    changed = differing(root)
    found = {p for p in listed if p in changed or changed & included(root, p)}
    missed = {p for p in changed if p.suffix == ".h"}.difference(*(reached(root, p) for p in found))
    for path in sorted(set(listed) - found) if missed else ():
        if missed & reached(root, path):
            missed -= reached(root, path)
            found.add(path)
    return found


def age(root):
    commit = whole(root)
    if commit is None:
        return print("whole: git does not know the commit: all files are checked")
    n = int(git(root, "rev-list", "--count", f"{commit}..HEAD")[0])
    print(f"whole: {n} commits since the checks of all files passed; {MOST_COMMITS} are the most")
    if n > MOST_COMMITS:
        sys.exit("whole: run `scripts/test nightly` and commit tests/lint/whole")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if sys.argv[2:] == ["--age"]:
        return age(root)
    for path in sorted(differing(root)):
        print(path.relative_to(root))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""layers.py ROOT: the direction of includes, proto <- runtime <- daemon and proto <- client.

A folder may include headers of its own and of the folders listed for it; the longest rule
decides. tests/ and bench/ may see everything; nothing sees them.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "proto": [],
    "runtime": ["proto"],
    "runtime/artifact": ["proto"],
    "runtime/pack": ["proto", "runtime/artifact"],
    "daemon": ["proto"],
    "daemon/worker": ["proto", "runtime", "daemon"],
    "client": ["proto"],
    "client/cli": ["proto", "client", "runtime/artifact"],
    "examples": ["client"],
}
# Folders that nothing outside them may see, and system headers with their only users.
PRIVATE = ["daemon/worker", "client/cli"]
ONLY_IN = {"uv.h": "daemon", "dlfcn.h": "runtime"}
# proto/ and runtime/ never log: they fill a struct msd_diag.
SILENT = ["proto", "runtime"]
SAYS = re.compile(r"\b(printf|vprintf|puts|perror|syslog)\s*\(|\bstderr\b|\bstdout\b")
INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
TOP = ["proto", "runtime", "daemon", "client", "examples"]


def below(path, folder):
    return path == folder or path.startswith(folder + "/")


def include_fault(folder, quote, target):
    if quote == "<":
        owner = ONLY_IN.get(target)
        if owner and not below(folder, owner):
            return f"<{target}> belongs to {owner}/"
        return None
    if target.split("/")[0] not in TOP or ".." in target or not target.endswith(".h"):
        return f'"{target}" is not a header of the project, named from the root'
    rule = max((r for r in MAY_INCLUDE if below(folder, r)), key=len)
    if not any(below(target, f) for f in [rule] + MAY_INCLUDE[rule]):
        return f'{rule}/ may not include "{target}"'
    for part in PRIVATE:
        if below(target, part) and not below(folder, part):
            return f'"{target}" is private to {part}/'
    return None


def complaints(root, path):
    name = path.relative_to(root).as_posix()
    folder = name.rsplit("/", 1)[0]
    text = path.read_text(errors="replace")
    text = COMMENT.sub(lambda m: "\n" * m.group().count("\n"), text)
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        fault = include_fault(folder, *include.groups()) if include else None
        if not include and any(below(folder, s) for s in SILENT):
            if SAYS.search(STRING.sub('""', line)):
                fault = "proto/ and runtime/ do not print"
        if fault:
            yield f"{name}:{number}: {fault}"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    files = [p for top in TOP for p in sorted((root / top).rglob("*.[ch]"))]
    if not files:
        sys.exit(f"layers: no files found below {root}")
    bad = [text for path in files for text in complaints(root, path)]
    print("\n".join(bad + [f"layers: {len(files)} files, {len(bad)} faults"]))
    sys.exit(bool(bad))


main()

#!/usr/bin/env python3
"""run_keys.py: each row of proto/words/run_options.h has its argument in Python and is named in the
completions and in the documents of each front that accepts it."""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROW = re.compile(r"\bX\((\w+), ([\w.]+), (\w+), ([&\w]+), (\w+), \"([a-z-]+)\", (NULL|\"\w+\"), \"(\w+)\",")
PLURAL = {"input": "inputs"}  # Python takes a mapping


def rows(name):
    """(kind, fronts, key, key on the wire) of the rows of a map."""
    text = (ROOT / "proto/words/run_options.h").read_text()
    body = text[text.index(f"#define {name}(X)"):]
    body = re.sub(r"\s*\\\n\s*", " ", body[:re.search(r"[^\\]\n", body).end()])
    return [(m[3], m[5], m[6], m[8]) for m in ROW.finditer(body)], body.count("X(")


def arguments(file, method):
    for node in ast.walk(ast.parse((ROOT / "client/python/modser" / file).read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == method:
            names = {a.arg for a in node.args.kwonlyargs}
            if "deadline" in names and ("replace" in names or "sha256" in names):
                return names
    sys.exit(f"{file} has no {method}() with options")


def sent_by_python():
    """{argument: key on the wire} of RUN_OPTIONS."""
    for node in ast.parse((ROOT / "client/python/modser/_requests.py").read_text()).body:
        if isinstance(node, ast.AnnAssign) and node.target.id == "RUN_OPTIONS":
            return {key.value: row.elts[0].value for key, row in zip(node.value.keys, node.value.values)}
    sys.exit("_requests.py has no RUN_OPTIONS")


def of_row(text, method):
    """The rows of a table of methods that are about @method."""
    return "\n".join(line for line in text.splitlines() if f"`{method}`" in line)


def main():
    text = {path: (ROOT / path).read_text() for path in (
        "proto/PROTOCOL.md", "daemon/worker/CHANNEL.md", "docs/reference/models.md", "docs/reference/http.md",
        "docs/reference/configuration.md", "docs/man/modser.1", "docs/man/modserd.8", "client/cli/texts.c",
        "client/completion/modser.bash", "client/completion/_modser", "client/completion/modser.fish")}
    text = {path: re.sub(r"\\f[BIRP]", "", whole).replace("\\-", "-") for path, whole in text.items()}
    python = {f"{file} {method}()": arguments(file, method)
              for file in ("_client.py", "aio.py") for method in ("load", "pull")}
    python["RUN_OPTIONS of _requests.py"] = sent = sent_by_python()
    client, n_client = rows("MSD_RUN_CLIENT_KEY_MAP")
    own, n_own = rows("MSD_RUN_OWN_KEY_MAP")
    faults = []
    if len(client) != n_client or len(own) != n_own:
        faults.append(f"{len(client)} and {len(own)} rows were read of {n_client} and {n_own}")

    def expect(is_there, key, where):
        if not is_there:
            faults.append(f"{key}: {where} does not name it")

    for kind, fronts, key, wire in client:
        for where, names in python.items():
            name = key.replace("-", "_")
            expect(PLURAL.get(name, name) in names, key, where)
        expect(sent.get(PLURAL.get(name, name)) == wire, wire, "RUN_OPTIONS of _requests.py")
        for method in ("module.load", "module.pull"):
            expect(f"{wire}?" in of_row(text["proto/PROTOCOL.md"], method), wire, f"the row of {method}")
        expect(f"`{key}`" in text["docs/reference/http.md"], key, "docs/reference/http.md")
        for path in ("docs/man/modser.1", "client/cli/texts.c"):
            expect(re.search(rf"--{key}\b(?!-)", text[path]), f"--{key}", path)
        for path in ("client/completion/modser.bash", "client/completion/_modser", "client/completion/modser.fish"):
            expect(kind == "FLAG" or re.search(rf"--{key}\s", text[path]), f"--{key}", path)
    for kind, fronts, key, wire in client + own:
        for path in ("docs/reference/models.md", "docs/reference/configuration.md"):
            expect(f"`{key}`" in text[path], key, path)
        expect(re.search(rf"\b{key}=", text["docs/man/modserd.8"]), f"{key}=", "docs/man/modserd.8")
        if fronts != "MSD_RUN_LOAD" and fronts != "0":
            expect(f"`{wire}`" in text["daemon/worker/CHANNEL.md"], wire, "daemon/worker/CHANNEL.md")
    sys.exit("\n".join(faults) or None)


if __name__ == "__main__":
    main()

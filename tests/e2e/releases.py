"""Artifacts of real compilers of the releases between TVM 0.9 and 0.23, with TVM's own outputs.

Some are in tests/releases, one archive a release; more are used where they are at hand. Each
folder has a manifest.json that lists them: name, kind, files, calls with inputs and outputs.
"""
import contextlib
import datetime
import hashlib
import json
import os
import pathlib
import tarfile
import tempfile

import harness

KEPT = pathlib.Path(__file__).resolve().parents[1] / "releases"


def told(release, name, kind, lib, outs):
    outputs = b"".join(out.read_bytes() for out in outs)
    return {
        "release": release,
        "name": name,
        "kind": kind,
        "sha256": hashlib.sha256(lib.read_bytes()).hexdigest(),
        "outputs": hashlib.sha256(outputs).hexdigest(),
    }


class Artifact:
    def __init__(self, folder, release, entry):
        self.folder, self.release = folder, release
        self.name, self.kind, self.note = entry["name"], entry["kind"], entry["note"]
        self.files, self.calls = entry["files"], entry["calls"]

    def __repr__(self):
        return f"{self.release}-{self.name}"

    def path(self, name):
        return self.folder / name

    def lib(self):
        return self.path(self.files["lib"])

    def told(self):
        """What a record says of it: its hash, and that of what TVM computed."""
        outs = [self.path(out["npy"]) for call in self.calls for out in call["out"]]
        return told(self.release, self.name, self.kind, self.lib(), outs)


def unpack(archive, folder):
    """The archive's folder, unpacked below @folder, if it is the one that SHA256SUMS means."""
    sums = dict(reversed(line.split()) for line in (KEPT / "SHA256SUMS").read_text().splitlines())
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert found == sums[archive.name], archive
    whole = folder / found[:16]
    if not whole.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as mine:
            with tarfile.open(archive) as tar:
                tar.extractall(mine + "/all", filter="data")
            # Several tests may come here at once: the first has it, to the others it is the same.
            with contextlib.suppress(OSError):
                os.rename(mine + "/all", whole)
    return whole / archive.name.removesuffix(".tar.xz")


def of_folder(folder):
    entries = json.loads((folder / "manifest.json").read_text())
    release = folder.name.removeprefix("tvm-")
    return [Artifact(folder, release, entry) for entry in entries]


def kept():
    """What the repository holds, unpacked in the build folder."""
    folder = harness.BUILD / "releases"
    archives = sorted(KEPT.glob("tvm-*.tar.xz"))
    return [a for archive in archives for a in of_folder(unpack(archive, folder))]


def more():
    """What lies among the fixtures outside the repository."""
    folder = harness.fixtures()
    found = sorted((folder / "between").glob("tvm-*")) if folder else []
    return [a for release in found for a in of_folder(release)]


def record(what, differences):
    """One line in the file that $MSD_RECORDS names: what ran, and how near its outputs came.
    table.py in tests/releases makes the table of docs/reference/tvm-releases.md of such lines."""
    if "MSD_RECORDS" not in os.environ:
        return
    assert differences, "nothing was compared"
    line = what | {
        "compared": len(differences),
        "difference": max(differences),
        "date": datetime.date.today().isoformat(),
    }
    with open(os.environ["MSD_RECORDS"], "a") as file:
        print(json.dumps(line), file=file)

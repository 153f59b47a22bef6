"""Cases of a framework: files of a model, its inputs, and the outputs that the framework computed.

A folder has manifest.json with a row for each case; compare.py reads it."""

import json
import pathlib

import numpy as np


class Cases:
    def __init__(self, folder, only):
        self.path = pathlib.Path(folder)
        self.path.mkdir(parents=True, exist_ok=True)
        self.only = only
        self.rows = []

    def wanted(self, name):
        return not self.only or any(word in name for word in self.only)

    def add(self, name, files, inputs, outputs, rtol=1e-3, atol=1e-5, load=(), oracle=""):
        """files: in the order of `modser load`; inputs: {name: array}; outputs: in the model's order;
        rtol: of the largest value; load: further words of the load; oracle: program and version."""
        row = {"name": name, "files": files, "load": list(load), "oracle": oracle,
               "rtol": rtol, "atol": atol, "expect": "run", "inputs": [], "outputs": []}
        for i, (key, value) in enumerate(inputs.items()):
            np.save(self.path / f"{name}.in{i}.npy", value)
            row["inputs"].append({"name": key, "npy": f"{name}.in{i}.npy"})
        for i, value in enumerate(outputs):
            np.save(self.path / f"{name}.out{i}.npy", np.asarray(value))
            row["outputs"].append({"npy": f"{name}.out{i}.npy"})
        self.rows.append(row)
        shapes = [list(np.shape(value)) for value in outputs]
        largest = max(float(np.abs(value).max(initial=0)) for value in outputs)
        print(f"{name}: outputs {shapes}, largest {largest:.3g}", flush=True)

    def close(self):
        """Write the rows; those of other cases stay."""
        manifest = self.path / "manifest.json"
        old = json.loads(manifest.read_text()) if manifest.exists() else []
        new = {row["name"] for row in self.rows}
        rows = [row for row in old if row["name"] not in new] + self.rows
        manifest.write_text(json.dumps(rows, indent=1) + "\n")


def main(sets, doc):
    """sets: {word: function of Cases}. Arguments: word, folder, parts of names."""
    import sys

    if len(sys.argv) < 3 or sys.argv[1] not in sets:
        sys.exit(doc)
    cases = Cases(sys.argv[2], sys.argv[3:])
    try:
        sets[sys.argv[1]](cases)
    finally:
        cases.close()


def seeded(rng, name, shape, fan_in):
    """Weights whose layers keep the size of their data."""
    if "var" in name or "gamma" in name:
        value = rng.uniform(0.5, 1.5, shape)
    elif len(shape) < 2:
        value = rng.normal(0, 0.2, shape)
    else:
        value = rng.normal(0, np.sqrt(2 / max(1, fan_in)), shape)
    return value.astype("float32")

#!/usr/bin/env python3
"""table.py [--check | --add FILE]: the table in docs/reference/tvm-releases.md of what ran of which release.

Each cell comes from lines of records.jsonl: which artifact, its hash, how far its outputs were from
TVM's own, and the day. The tests write such lines into the file that MSD_RECORDS names; --add takes
them over. Without a word the table is written anew. --check fails where the document has another
table, and where an artifact of the archives here has no record with its hash.
"""
import datetime
import fnmatch
import hashlib
import json
import pathlib
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / "records.jsonl"
DOCUMENT = HERE.parents[1] / "docs/reference/tvm-releases.md"
BEGIN = "<!-- tests/releases/table.py: begin -->\n"
END = "<!-- tests/releases/table.py: end -->\n"
RELEASES = ["0.9", "0.16", "0.17", "0.19", "0.21", "0.22-dev", "0.23-dev", "0.25", "0.26", "0.27"]
RELAY, RELAX, ALL = (0, 19), (16, 99), (0, 99)  # the minor releases that have it
MLF = (0, 18)
ROWS = [  # what, where it exists, its artifacts' names
    ("host functions, LLVM", ALL, "tir_llvm tir_host dtypes shapes scalars parallel missing many"),
    ("host functions, C", ALL, "tir_c"),
    ("graph executor, one file", RELAY, "graph_conv_o[03] graph_two_io graph_ops"),
    ("– C target", RELAY, "graph_c"),
    ("– three files", RELAY, "graph_conv_three"),
    ("– linked parameters", RELAY, "graph_linked"),
    ("– parameters in a file beside it", RELAY, "graph_noparams"),
    ("Relay VM, static shapes", RELAY, "vm_conv vm_ops vm_lstm"),
    ("– dynamic shapes", RELAY, "vm_dyn vm_where"),
    ("– recursion", RELAY, "vm_control"),
    ("– data types", RELAY, "vm_adt_*"),
    ("– late-bound constants", RELAY, "vm_late vm_lstm_late"),
    ("ahead of time, packed", RELAY, "aot_packed"),
    ("– C target", RELAY, "aot_c"),
    ("– planned memory (USMP)", RELAY, "aot_usmp aot_planned_*"),
    ("– linked parameters", RELAY, "aot_linked"),
    ("– several outputs", RELAY, "aot_two aot_names"),
    ("Model Library Format, graph", MLF, "mlf_graph_* mlf2_graph_*"),
    ("– operator", MLF, "mlf2_operator"),
    ("– packed interface", MLF, "mlf_aot_packed mlf2_packed"),
    ("– packed, planned memory", MLF, "mlf2_packed_usmp"),
    ("– packed, unpacked functions", MLF, "mlf2_packed_unpacked"),
    ("– C interface", MLF, "mlf_aot_c mlf2_c mlf2_c_bool"),
    ("– C, planned memory", MLF, "mlf_aot_c_usmp mlf2_c_usmp"),
    ("– C, pools of the caller", MLF, "mlf2_c_pools"),
    ("– runtime in C++", MLF, "mlf2_cpp_*"),
    ("Relax, bytecode", RELAX, "relax_mlp relax_conv relax_half mlp mlp_* convolutions"),
    ("– compiled", RELAX, "relax_compiled"),
    ("– branches", RELAX, "relax_control control"),
    ("– recursion", RELAX, "relax_recursion control"),
    ("– tuples, shapes, empty tensors", RELAX, "tuples shape_functions empties"),
    ("– closures", RELAX, "closures"),
    ("– sorts", RELAX, "relax_sorts"),
    ("OpenCL, functions", ALL, "tir_opencl"),
    ("OpenCL, graph executor", RELAY, "opencl_graph"),
    ("OpenCL, Relay VM", RELAY, "opencl_vm opencl_vm_dyn"),
]


def key(record):
    return RELEASES.index(record["release"]), record["name"]


def checked(line):
    """A record that says all of what ran; ends the program at one that does not."""
    r = json.loads(line)
    hashes = [bytes.fromhex(r[k]) for k in ("sha256", "outputs")]
    day = datetime.date.fromisoformat(r["date"])
    if not (all(len(h) == 32 for h in hashes) and r["compared"] > 0 and 0 <= r["difference"] <= 1e-5
            and day.year >= 2026 and r["release"] in RELEASES and row_of(r["name"])):
        sys.exit(f"not a record of something that ran: {line}")
    return r


def row_of(name):
    found = [what for what, _, names in ROWS for n in names.split() if fnmatch.fnmatchcase(name, n)]
    return found[0] if found else None


def read(*files):
    """Sorted; of two that are of one artifact the later."""
    lines = [line for f in files if f.exists() for line in f.read_text().splitlines()]
    return sorted({key(r): r for r in map(checked, lines)}.values(), key=key)


def cell(records, release, first_last, names):
    minor = int(release.removesuffix("-dev").split(".")[1])
    if not first_last[0] <= minor <= first_last[1]:
        return "–"
    ran = [r for r in records if r["release"] == release
           and any(fnmatch.fnmatchcase(r["name"], n) for n in names.split())]
    if not ran:
        return "not tried"
    worst = max(r["difference"] for r in ran)
    return f"{'bits' if worst == 0 else '1e-5'} ({len(ran)})"


def table(records):
    rows = [["", *RELEASES], ["---"] * (len(RELEASES) + 1)]
    for what, first_last, names in ROWS:
        rows.append([what] + [cell(records, r, first_last, names) for r in RELEASES])
    lines = ["| " + " | ".join(row) + " |\n" for row in rows]
    days = sorted({r["date"] for r in records})
    runs = f"the oldest run is of {days[0]}, the latest of {days[-1]}"
    lines.append(f"\n{len(records)} artifacts; {runs}.\n")
    return "".join(lines)


def without_record(records):
    """What the archives hold and no record has, by name and hash."""
    known = {(r["release"], r["name"], r["sha256"]) for r in records}
    for archive in sorted(HERE.glob("tvm-*.tar.xz")):
        folder = archive.name.removesuffix(".tar.xz")
        with tarfile.open(archive) as tar:
            for entry in json.load(tar.extractfile(f"{folder}/manifest.json")):
                lib = tar.extractfile(f"{folder}/{entry['files']['lib']}").read()
                one = (folder.removeprefix("tvm-"), entry["name"], hashlib.sha256(lib).hexdigest())
                if one not in known:
                    yield f"{one[0]}-{one[1]}"


def main(words):
    more = [pathlib.Path(words[1])] if words[:1] == ["--add"] else []
    records = read(RECORDS, *more)
    missing = list(without_record(records))
    if missing:
        sys.exit("no record with the artifact's hash: " + " ".join(missing))
    before, rest = DOCUMENT.read_text().split(BEGIN)
    old, behind = rest.split(END)
    new = table(records)
    if words == ["--check"]:
        sys.exit("run tests/releases/table.py: docs/reference/tvm-releases.md has another table" if old != new else 0)
    RECORDS.write_text("".join(json.dumps(r) + "\n" for r in records))
    DOCUMENT.write_text(before + BEGIN + new + END + behind)


if __name__ == "__main__":
    main(sys.argv[1:])

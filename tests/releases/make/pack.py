"""pack.py FOLDER NAME...: a release's archive with these artifacts, the same bytes each time"""
import io, json, lzma, pathlib, sys, tarfile
folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
entries = [e for e in json.loads((folder/"manifest.json").read_text()) if e["name"] in names]
assert {e["name"] for e in entries} == set(names), set(names)-{e["name"] for e in entries}
files = {"manifest.json": (json.dumps(entries, indent=1)+"\n").encode()}
for e in entries:
    for f in e["files"].values(): files[f] = (folder/f).read_bytes()
    for c in e["calls"]:
        for v in c["in"]+c["out"]:
            if "npy" in v: files[v["npy"]] = (folder/v["npy"]).read_bytes()
raw = io.BytesIO()
with tarfile.open(fileobj=raw, mode="w") as tar:
    for name in sorted(files):
        info = tarfile.TarInfo(f"{folder.name}/{name}"); info.size = len(files[name]); info.mode = 0o644
        tar.addfile(info, io.BytesIO(files[name]))
out = pathlib.Path(__file__).resolve().parents[1]/f"{folder.name}.tar.xz"
out.write_bytes(lzma.compress(raw.getvalue(), preset=9))
print(out, out.stat().st_size)

#!/usr/bin/env python3
"""wheel.py STAGE DIST: make DIST/modserd-*.whl of the installed programs in STAGE, with the
libraries that they link. Libraries that only modser needs lie apart: a model that a worker loads
gets its own C++ runtime from the system."""
import base64
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

SYSTEM = re.compile(r"(ld-linux.*|linux-vdso|lib(c|m|dl|rt|pthread|resolv|util|anl))\.so.*")
RUNTIME = re.compile(r"lib(stdc\+\+|gcc_s)\.so.*")
PROGRAMS = ("bin/modserd", "bin/modser", "libexec/modserd/*")
MANUALS = ("share/man/man1/modser.1", "share/man/man8/modserd.8")
ONLY_MODSER = "lib/modserd/modser"


def libraries(program):
    """{name: path} of what the loader would bring."""
    said = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^\s*(\S+) => (/\S+)", said, re.M))
    missing = re.findall(r"^\s*(\S+) => not found", said, re.M)
    if missing:
        sys.exit(f"wheel: {program}: not found: {', '.join(missing)}")
    return {name: path for name, path in found.items() if not SYSTEM.fullmatch(name)}


def copyright_of(path):
    """Debian's copyright file of the library at @path."""
    owner = subprocess.run(["dpkg-query", "-S", pathlib.Path(path).resolve()],
                           capture_output=True, text=True).stdout
    package = owner.split(":")[0]
    text = pathlib.Path("/usr/share/doc", package, "copyright")
    return (package, text) if package and text.exists() else None


def contents(stage):
    """{path in the data folder: file}."""
    files = {}
    for pattern in PROGRAMS + MANUALS:
        for path in sorted(stage.glob(pattern)):
            files[str(path.relative_to(stage))] = path
    shared, apart = {}, {}
    for name, path in [(n, p) for n, p in files.items() if not n.startswith("share")]:
        (apart if name == "bin/modser" else shared).update(libraries(path))
    runtime = [name for name in shared if RUNTIME.fullmatch(name)]
    if runtime:
        sys.exit(f"wheel: the daemon's programs need {', '.join(runtime)}")
    files.update({f"lib/modserd/{name}": pathlib.Path(path) for name, path in shared.items()})
    files.update({f"{ONLY_MODSER}/{name}": pathlib.Path(path)
                  for name, path in apart.items() if name not in shared})
    return files


def metadata(root, version):
    summary = "A daemon that serves compiled models: its programs and their libraries"
    return (f"Metadata-Version: 2.1\nName: modserd\nVersion: {version}\nSummary: {summary}\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\n"
            "Classifier: Operating System :: POSIX :: Linux\n"
            "Description-Content-Type: text/markdown\n\n"
            + (root / "README.md").read_text())


def main():
    stage, dist = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    root = pathlib.Path(__file__).resolve().parent.parent
    version = re.search(r"project\(modserd\s+VERSION\s+([\d.]+)",
                        (root / "CMakeLists.txt").read_text())[1]
    libc = platform.libc_ver()[1].replace(".", "_")
    tag = f"py3-none-manylinux_{libc}_{platform.machine()}"
    info, data = f"modserd-{version}.dist-info", f"modserd-{version}.data/data"
    files = contents(stage)
    records = []
    dist.mkdir(exist_ok=True)
    out = dist / f"modserd-{version}-{tag}.whl"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        def put(name, content, mode=0o644):
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            records.append(f"{name},sha256={digest.decode()},{len(content)}")

        for name, path in files.items():
            put(f"{data}/{name}", path.read_bytes(), 0o644 if "man/" in name else 0o755)
        notices = {copyright_of(p) for n, p in files.items() if n.startswith("lib/")} - {None}
        for package, text in sorted(notices):
            put(f"{info}/licenses/{package}", text.read_bytes())
        put(f"{info}/METADATA", metadata(root, version).encode())
        put(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: modserd\nRoot-Is-Purelib: false\n"
                             f"Tag: {tag}\n".encode())
        record = f"{info}/RECORD"
        wheel.writestr(record, "\n".join([*records, f"{record},,"]) + "\n")
    print(f"{out}: {out.stat().st_size >> 20} MiB, {len(files)} files")


if __name__ == "__main__":
    main()

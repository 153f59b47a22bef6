#!/usr/bin/env python3
"""Write the corpora's files named *_release_*: what real compilers wrote into the artifacts of
tests/releases. Blobs and programs are cut out of the libraries here, without the project's own
reader. Run it after changing the artifacts; --check tells when that was forgotten."""
import pathlib
import struct
import tarfile

from settle import settle

TESTS = pathlib.Path(__file__).resolve().parent.parent
CLASSIC, FFI_021 = b"\1", b"\2"  # enum msd_era, which some targets take as their first byte
SYMBOLS = {b"__tvm_dev_mblob": CLASSIC, b"__tvm_ffi_library_bin": FFI_021}
PROGRAMS = {
    b"VMExecutable": "relay_image",
    b"relax.Executable": "relax_image",
    b"relax.VMExecutable": "relax_image",
    b"GraphExecutorFactory": "graph",
}
WHOLE = (
    "tvm-0.9/mlf2_c_pools.tar",
    "tvm-0.16/mlf2_operator.tar",
    "tvm-0.16/tir_c.so",
    "tvm-0.16/vm_late.consts",
)
FOLDERS = {".tar": "mlf", ".so": "elf", ".consts": "params"}


def sections(lib):
    """Of a 64-bit little-endian library: (type, address, offset, size, link) each."""
    (at,) = struct.unpack_from("<Q", lib, 0x28)
    size, n = struct.unpack_from("<HH", lib, 0x3A)
    for i in range(n):
        _, kind, _, addr, offset, length, link = struct.unpack_from("<IIQQQQI", lib, at + i * size)
        yield kind, addr, offset, length, link


def blob_of(lib):
    """The era and the bytes, size in front, that the library carries; None without."""
    table = list(sections(lib))
    _, _, offset, length, link = next(s for s in table if s[0] == 11)  # SHT_DYNSYM
    names = table[link][2]
    for at in range(offset, offset + length, 24):
        name, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", lib, at)
        name = lib[names + name:lib.index(b"\0", names + name)]
        if name not in SYMBOLS:
            continue
        _, addr, start, _, _ = next(s for s in table if s[1] and s[1] <= value < s[1] + s[3])
        start += value - addr
        (n,) = struct.unpack_from("<Q", lib, start)
        return SYMBOLS[name], lib[start:start + 8 + n]
    return None


def programs_of(era, blob):
    """(folder, bytes) of each: the payload starts with the length of what follows."""
    for kind, folder in PROGRAMS.items():
        at = blob.find(struct.pack("<Q", len(kind)) + kind)
        if at < 0:
            continue
        at += 8 + len(kind)
        (n,) = struct.unpack_from("<Q", blob, at)
        if folder == "graph":
            yield folder, blob[at + 8:at + 8 + n]
        else:
            yield folder, (era if folder == "relax_image" else b"") + blob[at:at + 8 + n]


def corpus():
    """(folder/name, bytes) of every file."""
    for archive in sorted((TESTS / "releases").glob("tvm-*.tar.xz")):
        release = archive.name.removeprefix("tvm-").removesuffix(".tar.xz").replace(".", "")
        with tarfile.open(archive) as tar:
            for member in sorted(tar.getmembers(), key=lambda m: m.name):
                path = pathlib.PurePosixPath(member.name)
                if not member.isfile() or path.suffix not in FOLDERS:
                    continue
                data = tar.extractfile(member).read()
                name = f"accept_release_{release}_{path.stem}.bin"
                if str(path) in WHOLE:
                    yield f"{FOLDERS[path.suffix]}/{name}", data
                found = blob_of(data) if path.suffix == ".so" else None
                if found:
                    yield f"blob/{name}", b"".join(found)
                    for folder, image in programs_of(*found):
                        yield f"{folder}/{name}", image


def main():
    folder = TESTS / "corpus"
    settle(__file__, {folder / name: data for name, data in corpus()},
           folder.glob("*/accept_release_*"))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write tests/corpus/tar with Python's tarfile, one behaviour a file, named for it."""
import gzip
import io
import pathlib
import tarfile

from settle import settle

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "tar"


def tar(entries, form=tarfile.GNU_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, bufsize=512) as archive:
        for name, content in entries:
            info = content if isinstance(content, tarfile.TarInfo) else tarfile.TarInfo(name)
            if not isinstance(content, tarfile.TarInfo):
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content))
            else:
                archive.addfile(info)
    return out.getvalue()[: 512 * (-(-len(out.getvalue().rstrip(b"\0")) // 512) + 2)]


def special(name, kind, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def packed(data):
    """As stored blocks: the bytes are the same with each release of zlib."""
    return gzip.compress(data, compresslevel=0, mtime=0)


def damage(data, at, new):
    return data[:at] + new + data[at + len(new):]


def corpus():
    one = tar([("model.onnx", b"\x08\x0aabc"), ("b/c.txt", b"x" * 600)])
    long = [("d/" * 90 + "long.onnx", b"abc")]
    return {
        "accept_two_files": one,
        "accept_gzip": packed(one),
        "accept_ustar": tar([("model.onnx", b"abc")], tarfile.USTAR_FORMAT),
        "accept_gnu_long_name": tar(long),
        "accept_pax_long_name": tar(long, tarfile.PAX_FORMAT),
        "accept_special_files": tar([(n, special(n, k, "model.onnx")) for n, k in [
            ("link", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("folder", tarfile.DIRTYPE),
            ("pipe", tarfile.FIFOTYPE), ("device", tarfile.CHRTYPE)]] + [("m", b"abc")]),
        "accept_escapes_are_skipped": tar([("/etc/passwd", b"a"), ("../b", b"b"), ("c", b"c")]),
        "accept_empty_file": tar([("empty", b""), ("m", b"abc")]),
        "reject_cut": one[:600],
        "reject_checksum": damage(one, 1024, b"X"),
        "reject_huge_size": damage(one, 124, b"77777777777\0"),
        "reject_gzip_cut": packed(one)[:1000],
        "reject_gzip_damaged": damage(packed(one), 40, b"\xff\xff\xff\xff"),
        "reject_text": b"a" * 1024,
    }


def main():
    settle(__file__, {CORPUS / f"{name}.tar": raw for name, raw in corpus().items()})


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write tests/corpus/npy with numpy, one behaviour a file, named for it. Needs numpy."""
import io
import pathlib

import numpy as np

CORPUS = pathlib.Path(__file__).resolve().parent.parent / "corpus" / "npy"


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def main():
    x = np.arange(6, dtype="f4").reshape(2, 3)
    good = npy(x)
    files = {f"accept_version_{v}": npy(x, (v, 0)) for v in (1, 2, 3)}
    for dtype in "? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >i4 >f8 >c8".split():
        name = dtype.replace("?", "bool").replace(">", "big_endian_")
        files[f"accept_{name}"] = npy(np.arange(3).astype(dtype))
    files["accept_fortran"] = npy(np.asfortranarray(x))
    files["accept_fortran_big_endian"] = npy(np.asfortranarray(x.astype(">f4")))
    files["accept_rank_0"] = npy(np.float64(1))
    files["accept_rank_5"] = npy(np.zeros((1, 2, 1, 2, 1), "i1"))
    files["accept_no_elements"] = npy(np.zeros((3, 0), "f4"))
    files["reject_object"] = npy(np.array([{}], dtype=object))
    files["reject_structured"] = npy(np.zeros(2, [("a", "f4")]))
    files["reject_text"] = npy(np.array(["a"]))
    files["reject_date"] = npy(np.zeros(1, "M8[ns]"))
    files["reject_void"] = npy(np.zeros(2, "V2"))
    files["reject_magic"] = b"\x94" + good[1:]
    files["reject_version_4"] = good[:6] + b"\x04" + good[7:]
    files["reject_header_cut"] = good[:60]
    files["reject_elements_cut"] = good[:-1]
    files["reject_more_behind"] = good + b"\0"
    files["reject_huge_header"] = good[:6] + b"\x02\0\xff\xff\xff\xff" + good[10:]
    files["reject_huge_shape"] = good.replace(b"(2, 3), }          ", b"(99999999999, 3), }")
    files["reject_negative_shape"] = good.replace(b"(2, 3), } ", b"(2, -3), }")
    CORPUS.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (CORPUS / f"{name}.npy").write_bytes(data)
    print(f"{CORPUS.name}: {len(files)} files")


if __name__ == "__main__":
    main()

"""The folder that travels: programs and their libraries, kernels in all forms, the rows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MAX_BYTES = 64 << 20
PROGRAMS = "bin/modserd bin/modserd-worker bin/modserd-rpc bin/modser bin/bench_cuda bin/bench_opencl".split() + [
    "tests/runtime/cuda/test_cuda_gpu"]
# Every system has these, of its own version: others come along.
OF_THE_SYSTEM = re.compile(r"(ld-linux|linux-vdso|lib(c|m|dl|rt|pthread)\.so)")
FIXTURES = [
    "tvm-0.8/cuda_ops/*_cubin.so", "tvm-0.8/cuda_ops/*_fatbin.so", "tvm-0.8/cuda_ops/*_ptx.so",
    "tvm-0.8/cuda_ops/*.npy", "tvm-0.8/cuda_dynshared/*_ptx.so", "tvm-0.8/cuda_dynshared/*.npy",
    "tvm-0.8/mlp_cuda/mlp_cuda.so", "tvm-0.8/mlp_cuda/*.npy",
    "tvm-0.8/convnet_cuda/convnet_cuda.so", "tvm-0.8/convnet_cuda/*.npy",
    "tvm-0.27/*_cuda*.so", "tvm-0.27/relax_mlp_static.npz", "tvm-0.27/convnet_small.npz",
    "tvm-0.8/opencl_vecadd/*.so", "tvm-0.8/opencl_vecadd/*.npy",
    "tvm-0.8/mlp_opencl/mlp_opencl.so", "tvm-0.8/mlp_opencl/*.npy",
    "tvm-0.8/convnet_opencl/convnet_opencl.so", "tvm-0.8/convnet_opencl/*.npy",
    "between/tvm-0.16/*opencl*", "between/tvm-0.21/*opencl*",
    "tvm-0.27/rev256_cuda.npz", "tvm-0.27/axpb_cuda.npz", "tvm-0.27/addone.npz", "tvm-0.27/addone.so",
]
HEADERS = ["runtime/device/cuda", "runtime/device", "proto", "proto/base", "proto/words", "artifact/gpu",
           "artifact/elf"]
# Kernels of addone's signature. Those that fault have the driver's number as their name.
PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry addone_kernel(.param .u64 a, .param .u64 b, .param .u64 n)
{ .reg .b64 %p, %t, %u; .reg .b32 %v; .reg .pred %q; mov.u32 %v, 0; ld.param.u64 %p, [a]; cvta.to.global.u64 %p, %p;
"""
KERNELS = {
    "700": "mov.u64 %p, 8; st.global.u32 [%p], %v; ret; }",
    "715": "trap; ret; }",
    "716": "add.u64 %p, %p, 1; ld.global.u32 %v, [%p]; st.global.u32 [%p], %v; ret; }",
    "spin": """mov.u64 %t, %clock64;
again: mov.u64 %u, %clock64; sub.u64 %u, %u, %t; setp.lt.u64 %q, %u, 2000000000; @%q bra again;
st.global.u32 [%p], %v; ret; }""",
}
# One fatbin for all of them; later devices compile the PTX.
ARCHITECTURES = ["arch=compute_80,code=[sm_80,compute_80]", "arch=compute_90a,code=sm_90a",
                 "arch=compute_100a,code=sm_100a", "arch=compute_120,code=sm_120"]
COMPILED_ALONE = ["captured", "uncaptured", "batched"]  # their source says nothing new
NVCC_OPTIONS = ["-std=c++17", "-O3", "--use_fast_math", "-w", "-fatbin"]
# What test_cuda_abi.c says at compile time needs no test framework.
CRITERION = """#include <stdio.h>
#define Test(suite, name) __attribute__((unused)) static void suite##_##name(void)
#define cr_expect(...) (void)(__VA_ARGS__)
#define cr_expect_not(...) (void)(__VA_ARGS__)
#define cr_expect_str_eq(...) (void)0
"""


def say(*words):
    print(*words, flush=True)


def libraries(program):
    found = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    for name, path in re.findall(r"(\S+) => (/\S+)", found):
        if not OF_THE_SYSTEM.search(name):
            yield name, pathlib.Path(path)


def copy_programs(build, out):
    for program in (build / name for name in PROGRAMS):
        if not program.exists():
            say(f"without {program}")
            continue
        subprocess.run(["strip", "-o", out / "bin" / program.name, program], check=True)
        for library, path in libraries(program):
            if not (out / "lib" / library).exists():
                subprocess.run(["strip", "--strip-unneeded", "-o", out / "lib" / library, path],
                               check=True)


def copy_fixtures(root, out):
    source = pathlib.Path(os.environ.get("MODSERD_FIXTURES", root.parent / "shared/fixtures"))
    for pattern in FIXTURES:
        for path in sorted(source.glob(pattern)):
            to = out / "fixtures" / path.relative_to(source)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)


def copy_sources(root, out):
    """What the test of the ABI is compiled from on the other machine."""
    for folder in HEADERS:
        (out / "source" / folder).mkdir(parents=True, exist_ok=True)
        for path in (root / folder).glob("*.h"):
            shutil.copyfile(path, out / "source" / folder / path.name)
    shutil.copyfile(root / "tests/runtime/cuda/test_cuda_abi.c", out / "source/test_cuda_abi.c")
    (out / "source/criterion").mkdir()
    (out / "source/criterion/criterion.h").write_text(CRITERION)


class Kernels:
    """Libraries whose device code is made here."""

    def __init__(self, root, out):
        self.root, self.out = root, out
        self.modser = out / "bin/modser"
        self.nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")

    def quietly(self, *words, cwd=None):
        said = subprocess.run([str(w) for w in words], capture_output=True, text=True, cwd=cwd)
        if said.returncode != 0:
            sys.exit(f"{words[0]}: {(said.stderr or said.stdout)[-2000:]}")

    def unpack(self, source, to):
        self.quietly(self.modser, "unpack", source, "-C", to)

    def pack(self, manifest, to):
        to.parent.mkdir(parents=True, exist_ok=True)
        self.quietly(self.modser, "pack", manifest, "-o", to)

    def fatbin(self, source, to):
        codes = [word for a in ARCHITECTURES for word in ("-gencode", a)]
        self.quietly(self.nvcc, *NVCC_OPTIONS, *codes, source, "-o", to)

    def of_ptx(self):
        """addone with another kernel in it."""
        source = self.out / "fixtures/tvm-0.27/addone_cuda_ptx.so"
        for name, body in KERNELS.items() if source.exists() else ():
            with tempfile.TemporaryDirectory() as at:
                self.unpack(source, f"{at}/u")
                for code in pathlib.Path(at).glob("u/*.ptx"):
                    code.write_text(PTX + body + "\n")
                self.pack(f"{at}/u", self.out / f"kernels/{name}.so")

    def own(self):
        with tempfile.TemporaryDirectory() as at:
            for path in (self.root / "tests/gpu/own").iterdir():
                shutil.copy(path, at)
            self.fatbin(f"{at}/kernels.cu", f"{at}/kernels.fatbin")
            self.pack(f"{at}/manifest.json", self.out / "kernels/own.so")

    def models(self, python):
        """TVM's libraries with their source, and with code for each architecture."""
        to = self.out / "models"
        self.quietly(python, self.root / "tests/gpu/models.py", to)
        for library in sorted(to.glob("*.so")):
            with tempfile.TemporaryDirectory() as at:
                self.unpack(library, f"{at}/u")
                (source,) = pathlib.Path(at).glob("u/*.cu")
                self.fatbin(source, source.with_suffix(".fatbin"))
                manifest = pathlib.Path(at) / "u/manifest.json"
                manifest.write_text(
                    manifest.read_text()
                    .replace('"format": "cuda"', '"format": "cubin"')
                    .replace(source.name, source.with_suffix(".fatbin").name))
                self.pack(manifest.parent, to / "compiled" / library.name)
            if library.stem in COMPILED_ALONE:
                library.unlink()


def tvm_python(root):
    """An interpreter with apache-tvm; None: there is none."""
    venv = pathlib.Path(os.environ.get("MODSERD_VENV", root / ".venv"))
    for python in (venv / "bin/python", pathlib.Path(sys.executable)):
        if python.exists() and subprocess.run([python, "-c", "import tvm"],
                                              capture_output=True).returncode == 0:
            return python
    return None


def make(root, build, out, models):
    for part in ("bin", "lib"):
        (out / part).mkdir(parents=True)
    copy_programs(build, out)
    copy_fixtures(root, out)
    copy_sources(root, out)
    kernels = Kernels(root, out)
    kernels.of_ptx()
    python = tvm_python(root) if models == "all" else None
    if kernels.nvcc is None:
        say("without nvcc: no kernels of our own, and no models")
    else:
        kernels.own()
    if kernels.nvcc is not None and python is not None:
        kernels.models(python)
    elif kernels.nvcc is not None:
        say("without models" if models == "none" else "without apache-tvm: no models")
    (out / "rows").mkdir()
    for path in (root / "tests/gpu").glob("*.py"):
        if path.name not in ("bundle.py", "models.py"):
            shutil.copyfile(path, out / "rows" / path.name)
    shutil.copy(root / "tests/e2e/rpc_wire.py", out / "rows/rpc_wire.py")
    shutil.copy(root / "scripts/gpu", out / "gpu")
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"{out}: {size / (1 << 20):.1f} MiB; there: {out.name}/gpu run")
    if size > MAX_BYTES:
        sys.exit(f"that is more than {MAX_BYTES >> 20} MiB")

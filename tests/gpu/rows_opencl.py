"""Rows of OpenCL: the same machine's GPU by its OpenCL driver."""
import numpy as np

import rows_costs
import rows_values
from runner import Skip, close, off, out_of

TVM_CPU = "TVM's values on the CPU"
MODELS = ["elementwise", "dynamic", "by_hand", "networks"]
RELEASES = "between/tvm-"


def needs_opencl(r):
    """Skipped where there is no such device; which one it is."""
    found = [d for d in r.asked("devices") if d["device"] == "opencl:0"]
    if not found:
        raise Skip("no OpenCL device")
    return found[0]


def device(r):
    d = needs_opencl(r)
    return f"{d['name']}, {d['platform']}, driver {d['driver']}"


def on_opencl(check):
    def run(r):
        needs_opencl(r)
        return check(r)
    return run


def sandbox(r):
    """Whether the driver lives with what workers may do."""
    vecadd(r)
    return r.asked("show", "op")["sandbox"]


def vecadd(r):
    folder = "tvm-0.8/opencl_vecadd"
    a, b, c = (np.load(r.fixture(f"{folder}/vecadd_{n}.npy")) for n in "abc")
    r.load("op", r.fixture(f"{folder}/opencl_vecadd.so"))
    (got,) = r.call("op:vecadd", a, b, out_of(c))
    return off(close(got, c))


def release(name, function, n_inputs, has_out):
    """An artifact of one of the releases between: RELEASE/NAME with its first call."""
    def run(r):
        at = f"{RELEASES}{name}"
        r.load("op", r.fixture(f"{at}.so"))
        args = [np.load(r.fixture(f"{at}.0.in{i}.npy")) for i in range(n_inputs)]
        want = np.load(r.fixture(f"{at}.0.out0.npy"))
        (got,) = r.call(f"op:{function}", *args, *([out_of(want)] if has_out else []))
        return off(close(got, want))
    return run


def model(name):
    def run(r):
        return rows_values.calls(r, r.file("models", "opencl"), f"{name}.so", name)
    return run


CHECKS = (
    [("OpenCL: the device", "its facts", device),
     ("OpenCL: the sandbox", "a call is answered", sandbox),
     ("OpenCL: TVM 0.8 vecadd", "TVM's values on PoCL", vecadd),
     ("OpenCL: graph of three kernels", "TVM's values on PoCL", rows_values.graph("mlp_opencl", 1)),
     ("OpenCL: graph of eight kernels", "TVM's values on PoCL",
      rows_values.graph("convnet_opencl", 2)),
     ("OpenCL: TVM 0.16 kernel", TVM_CPU, release("0.16/tir_opencl", "vadd", 2, True)),
     ("OpenCL: TVM 0.16 graph", TVM_CPU, release("0.16/opencl_graph", "run", 1, False)),
     ("OpenCL: TVM 0.16 Relay VM", TVM_CPU, release("0.16/opencl_vm", "main", 1, False)),
     ("OpenCL: TVM 0.16 Relay VM, any extent", TVM_CPU,
      release("0.16/opencl_vm_dyn", "main", 1, False)),
     ("OpenCL: TVM 0.21 kernel", TVM_CPU, release("0.21/tir_opencl", "vadd", 2, True))]
    + [(f"OpenCL: TVM 0.27 {name}", TVM_CPU, model(name)) for name in MODELS]
    + [("OpenCL: launches and copies beside the driver's own", "launch <= 1.05, copies a figure",
        rows_costs.beside("bench_opencl", judges_copies=False))]
)
ROWS = [(what, expected, on_opencl(check)) for what, expected, check in CHECKS]

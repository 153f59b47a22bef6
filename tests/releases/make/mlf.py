"""Model Library Format archives of every interface: two inputs whose names sort the other way, three outputs."""
import sys, os
picked = sys.argv[2:]
sys.argv = [sys.argv[0], sys.argv[1], "none"]
src = open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "relay.py")).read().split("for f in cases:")[0]
exec(src)
import importlib, types, tempfile, subprocess
try:
    from tvm.micro import export_model_library_format
except ImportError:
    for k in [k for k in sys.modules if k.startswith("tvm.micro")]:
        del sys.modules[k]
    pkg = types.ModuleType("tvm.micro"); pkg.__path__ = [os.path.join(os.path.dirname(tvm.__file__), "micro")]
    crt = tempfile.mkdtemp()
    os.mkdir(os.path.join(crt, "templates"))
    for n in ("crt_config.h.template", "platform.c.template"):
        open(os.path.join(crt, "templates", n), "wb").write(b"")
    for q in ("include", "src"): os.mkdir(os.path.join(crt, q))
    open(os.path.join(crt, "CMakeLists.txt"), "w").write("")
    pkg.get_standalone_crt_dir = lambda: crt; pkg.get_microtvm_template_projects = lambda *a: crt
    sys.modules["tvm.micro"] = pkg; tvm.micro = pkg
    export_model_library_format = importlib.import_module("tvm.micro.model_library_format").export_model_library_format
from tvm.relay.backend import Executor, Runtime

def model():
    x = relay.var("x", shape=(3, 8), dtype="float32"); a = relay.var("a.b", shape=(5, 8), dtype="float32")
    w = relay.const(rnd(8, 8))
    d = relay.nn.dense(relay.concatenate([x, a], 0), w)
    s = relay.nn.softmax(d)
    return tvm.IRModule.from_expr(relay.Function([x, a], relay.Tuple([s, relay.argmax(d, axis=1), relay.nn.relu(d) + relay.sum(x)])))

mod = relay.transform.InferType()(model())
x, a = rnd(3, 8), rnd(5, 8)
with tvm.transform.PassContext(opt_level=3):
    g = relay.build(mod, target=LLVM)
y = run_graph(g, {"x": x, "a.b": a})
outs = [("out", v.dtype.name, v.shape) for v in y]
NOTE = "expected by the llvm build: compare with a tolerance"
novec = {"tir.disable_vectorize": True}
usmp = {"tir.usmp.enable": True, "tir.usmp.algorithm": "greedy_by_conflicts"}
def pools(mode):
    from tvm.ir.memory_pools import WorkspaceMemoryPools, WorkspacePoolInfo, PoolInfoProperties
    return WorkspaceMemoryPools([WorkspacePoolInfo("sram", [tvm.target.Target("c")], PoolInfoProperties())])
rows = {
    "mlf2_packed": ("c", {"interface-api": "packed", "unpacked-api": False}, {}, "crt"),
    "mlf2_packed_usmp": ("c", {"interface-api": "packed", "unpacked-api": False}, usmp, "crt"),
    "mlf2_packed_unpacked": ("c", {"interface-api": "packed", "unpacked-api": True}, {}, "crt"),
    "mlf2_c": ("c", {"interface-api": "c", "unpacked-api": True}, {}, "crt"),
    "mlf2_c_usmp": ("c", {"interface-api": "c", "unpacked-api": True}, usmp, "crt"),
    "mlf2_c_pools": ("c", {"interface-api": "c", "unpacked-api": True}, dict(usmp, pools=1), "crt"),
    "mlf2_cpp_llvm": (LLVM, {"interface-api": "packed", "unpacked-api": False}, {}, "cpp"),
    "mlf2_cpp_c": ("c", {"interface-api": "packed", "unpacked-api": False}, {}, "cpp"),
    "mlf2_cpp_llvm_usmp": (LLVM, {"interface-api": "packed", "unpacked-api": False}, usmp, "cpp"),
    "mlf2_crt_llvm": (LLVM, {"interface-api": "packed", "unpacked-api": False}, {}, "crt"),
    "mlf2_crt_llvm_c": (LLVM, {"interface-api": "c", "unpacked-api": True}, {}, "crt"),
}
for nm, (tgt, opts, cfg, rt) in rows.items():
    if picked and nm not in picked: continue
    try:
        cfg = dict(cfg); kw = {}
        if cfg.pop("pools", None): kw["workspace_memory_pools"] = pools(1)
        with tvm.transform.PassContext(opt_level=3, config=dict(novec, **cfg)):
            r = relay.build(mod, target=tgt, executor=Executor("aot", opts), runtime=Runtime(rt), mod_name="net", **kw)
        export_model_library_format(r, os.path.join(out, nm + ".tar"))
        save(nm, "mlf_aot", [("run", [x, a] + outs, y)], {"lib": nm + ".tar"}, note=NOTE)
    except Exception as e:
        print("FAILED", nm, str(e).strip().splitlines()[-1][:300])

def other(nm, ins, body, args, row):
    """Another model in the form of @row."""
    if picked and nm not in picked: return
    tgt, opts, cfg, rt = rows[row]
    m = relay.transform.InferType()(tvm.IRModule.from_expr(relay.Function(ins, body)))
    with tvm.transform.PassContext(opt_level=3): y = run_graph(relay.build(m, target=LLVM), {v.name_hint: a for v, a in zip(ins, args)})
    with tvm.transform.PassContext(opt_level=3, config=dict(novec, **cfg)):
        r = relay.build(m, target=tgt, executor=Executor("aot", opts), runtime=Runtime(rt), mod_name="net")
    export_model_library_format(r, os.path.join(out, nm + ".tar"))
    save(nm, "mlf_aot", [("run", list(args) + [("out", v.dtype.name, v.shape) for v in y], y)], {"lib": nm + ".tar"}, note=NOTE)
v = relay.var("v", shape=(3, 8), dtype="float32"); k = relay.var("k", shape=(), dtype="int32")
try:
    other("mlf2_cpp_const_alone", [v], relay.Tuple([relay.nn.relu(v), relay.const(np.arange(6, dtype="int64"))]), [x], "mlf2_cpp_llvm_usmp")
    other("mlf2_c_bool", [v, k], relay.Tuple([relay.greater(v, relay.const(0.0)), relay.less(k, relay.const(5)), relay.nn.relu(v)]), [x, np.array(3, "int32")], "mlf2_c")
except Exception:
    traceback.print_exc()
if picked: sys.exit()
try:
    with tvm.transform.PassContext(opt_level=3, config=novec):
        r = relay.build(mod, target="c", runtime=Runtime("crt", {"system-lib": True}), mod_name="net")
    export_model_library_format(r, os.path.join(out, "mlf2_graph_crt.tar"))
    save("mlf2_graph_crt", "mlf", [("run", [x, a], y)], {"lib": "mlf2_graph_crt.tar"}, note=NOTE)
    n = te.placeholder((64,), name="A"); b = te.compute((64,), lambda i: n[i] * 2.0, name="B")
    op = tvm.build(te.create_schedule(b.op), [n, b], target=tvm.target.Target("c", "c"), runtime=Runtime("crt", {"system-lib": True}), name="twice")
    export_model_library_format(op, os.path.join(out, "mlf2_operator.tar"))
    v = rnd(64)
    save("mlf2_operator", "mlf", [("twice", [v, ("out", "float32", (64,))], [v * np.float32(2)])], {"lib": "mlf2_operator.tar"})
except Exception as e:
    traceback.print_exc()

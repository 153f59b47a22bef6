"""Artifacts of one TVM with Relay (0.9 - 0.19), with inputs and TVM's own outputs."""
import json, os, sys, traceback, tarfile
import numpy as np
import tvm
from tvm import relay, te
LLVM = os.environ.get("GEN_LLVM", "llvm")

out = sys.argv[1]
only = sys.argv[2:]
os.makedirs(out, exist_ok=True)
mp = os.path.join(out, "manifest.json")
manifest = json.load(open(mp)) if os.path.exists(mp) else []
rng = np.random.RandomState(0)


def rnd(*s, dtype="float32"):
    return (rng.randn(*s) * 0.5).astype(dtype)


def save(name, kind, calls, files=None, note=""):
    """calls: list of (function, [inputs: ndarray|scalar|('out', dtype, shape)|('kw',name,arr)], [expected])"""
    recs = []
    for i, (fn, ins, outs) in enumerate(calls):
        d = {"fn": fn, "in": [], "out": []}
        for j, a in enumerate(ins):
            if isinstance(a, np.ndarray):
                p = f"{name}.{i}.in{j}.npy"; np.save(os.path.join(out, p), a); d["in"].append({"npy": p})
            elif isinstance(a, tuple) and a[0] == "out":
                d["in"].append({"out": [a[1], list(a[2])]})
            elif isinstance(a, tuple) and a[0] == "kw":
                p = f"{name}.{i}.in{j}.npy"; np.save(os.path.join(out, p), a[2]); d["in"].append({"kw": a[1], "npy": p})
            else:
                d["in"].append({"val": a})
        for j, a in enumerate(outs):
            p = f"{name}.{i}.out{j}.npy"; np.save(os.path.join(out, p), np.asarray(a)); d["out"].append({"npy": p})
        recs.append(d)
    manifest[:] = [m for m in manifest if m["name"] != name]
    manifest.append({"name": name, "kind": kind, "files": files or {"lib": name + ".so"}, "calls": recs, "note": note})
    json.dump(manifest, open(os.path.join(out, "manifest.json"), "w"), indent=1)
    print("made", name, flush=True)


cases = []


def case(f):
    cases.append(f)
    return f


def export(lib, name, **kw):
    lib.export_library(os.path.join(out, name + ".so"), **kw)


@case
def tir_llvm():
    for tgt in (LLVM, "c"):
        n = te.var("n")
        A = te.placeholder((n,), name="A"); B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
        s = te.create_schedule(B.op)
        m1 = tvm.lower(s, [A, B], name="addone")
        X = te.placeholder((32, 16), name="X"); Y = te.placeholder((16, 24), name="Y")
        k = te.reduce_axis((0, 16), "k")
        Z = te.compute((32, 24), lambda i, j: te.sum(X[i, k] * Y[k, j], axis=k), name="Z")
        s2 = te.create_schedule(Z.op)
        if tgt == LLVM:
            s2[Z].parallel(s2[Z].op.axis[0])
        m2 = tvm.lower(s2, [X, Y, Z], name="mm")
        C = te.placeholder((n,), name="C", dtype="int8"); a = te.var("a", dtype="int32")
        D = te.compute((n,), lambda i: te.exp(C[i].astype("float32") * a.astype("float32") * 0.125), name="D")
        m3 = tvm.lower(te.create_schedule(D.op), [C, a, D], name="expscale")
        m1.update(m2); m1.update(m3)
        lib = tvm.build(m1, target=tgt)
        name = "tir_" + tgt.split()[0]
        export(lib, name)
        L = tvm.runtime.load_module(os.path.join(out, name + ".so"))
        calls = []
        for nn in (1, 37):
            x = rnd(nn); y = tvm.nd.array(np.zeros(nn, "float32")); L["addone"](tvm.nd.array(x), y)
            calls.append(("addone", [x, ("out", "float32", (nn,))], [y.numpy()]))
        x, w = rnd(32, 16), rnd(16, 24); z = tvm.nd.array(np.zeros((32, 24), "float32"))
        L["mm"](tvm.nd.array(x), tvm.nd.array(w), z)
        calls.append(("mm", [x, w, ("out", "float32", (32, 24))], [z.numpy()]))
        c = rng.randint(-5, 5, 11).astype("int8"); d = tvm.nd.array(np.zeros(11, "float32"))
        L["expscale"](tvm.nd.array(c), 2, d)
        calls.append(("expscale", [c, 2, ("out", "float32", (11,))], [d.numpy()]))
        save(name, "tir", calls)


def convnet():
    d = relay.var("data", shape=(1, 3, 32, 32), dtype="float32")
    params = {}
    def w(name, *s):
        params[name] = tvm.nd.array(rnd(*s) * 0.3)
        return relay.var(name, shape=s, dtype="float32")
    def conv(x, name, ci, co, st=1):
        y = relay.nn.conv2d(x, w(name + "_w", co, ci, 3, 3), padding=(1, 1), strides=(st, st), channels=co, kernel_size=(3, 3))
        y = relay.nn.batch_norm(y, w(name + "_g", co), w(name + "_b", co), w(name + "_m", co), relay.abs(w(name + "_v", co)) + relay.const(1.0))[0]
        return y
    x = relay.nn.relu(conv(d, "c0", 3, 16))
    r = conv(x, "c1", 16, 32, 2)
    s = relay.nn.conv2d(x, w("sw", 32, 16, 1, 1), strides=(2, 2), channels=32, kernel_size=(1, 1))
    x = relay.nn.relu(r + s)
    x = relay.nn.max_pool2d(x, pool_size=(2, 2), strides=(2, 2))
    x = relay.nn.global_avg_pool2d(x)
    x = relay.nn.batch_flatten(x)
    x = relay.nn.dense(x, w("fc", 10, 32))
    x = relay.nn.bias_add(x, w("fcb", 10))
    f = relay.Function(relay.analysis.free_vars(relay.nn.softmax(x)), relay.nn.softmax(x))
    mod = tvm.IRModule.from_expr(f)
    return relay.transform.InferType()(mod), params


def two_io():
    a = relay.var("a", shape=(4, 8), dtype="float32"); b = relay.var("b", shape=(8,), dtype="int32")
    x = a * relay.cast(b, "float32") + relay.const(rnd(4, 8))
    y = relay.sum(x, axis=[1])
    z = relay.argsort(x, axis=-1, is_ascend=False)
    return tvm.IRModule.from_expr(relay.Function([a, b], relay.Tuple([x, y, z, relay.cast(b, "int64") + relay.const(3, "int64")])))


def run_graph(lib, ins):
    from tvm.contrib import graph_executor
    m = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    m.run(**{k: tvm.nd.array(v) for k, v in ins.items()})
    return [m.get_output(i).numpy() for i in range(m.get_num_outputs())]


@case
def graph_factory():
    mod, params = convnet()
    for opt in (3, 0):
        with tvm.transform.PassContext(opt_level=opt):
            lib = relay.build(mod, target=LLVM, params=params, mod_name=("default" if opt == 3 else "net_0"))
        name = f"graph_conv_o{opt}"
        export(lib, name)
        x = rnd(1, 3, 32, 32)
        L = tvm.runtime.load_module(os.path.join(out, name + ".so"))
        from tvm.contrib import graph_executor
        m = graph_executor.GraphModule(L["default" if opt == 3 else "net_0"](tvm.cpu(0)))
        m.run(data=tvm.nd.array(x)); y = m.get_output(0).numpy()
        save(name, "graph", [("run", [x], [y]), ("run", [("kw", "data", x)], [y])])
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=LLVM, params=params)
    lib.lib.export_library(os.path.join(out, "graph_conv_three.so"))
    y = run_graph(lib, {"data": x})[0]
    open(os.path.join(out, "graph_conv_three.json"), "w").write(lib.get_graph_json())
    open(os.path.join(out, "graph_conv_three.params"), "wb").write(tvm.runtime.save_param_dict(lib.get_params()))
    save("graph_conv_three", "graph3", [("run", [x], [y])],
         {"lib": "graph_conv_three.so", "graph": "graph_conv_three.json", "params": "graph_conv_three.params"})


@case
def graph_linked():
    mod, params = convnet()
    try:
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(mod, target=LLVM, params=params, executor=relay.backend.Executor("graph", {"link-params": True}))
    except Exception:
        with tvm.transform.PassContext(opt_level=3):
            lib = relay.build(mod, target=LLVM + " --link-params", params=params)
    export(lib, "graph_linked")
    x = rnd(1, 3, 32, 32)
    L = tvm.runtime.load_module(os.path.join(out, "graph_linked.so"))
    save("graph_linked", "graph", [("run", [x], run_graph(L, {"data": x}))])


@case
def graph_two_io():
    mod = two_io()
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=LLVM)
    export(lib, "graph_two_io")
    a, b = rnd(4, 8), rng.randint(-9, 9, 8).astype("int32")
    L = tvm.runtime.load_module(os.path.join(out, "graph_two_io.so"))
    save("graph_two_io", "graph", [("run", [a, b], run_graph(L, {"a": a, "b": b}))])


@case
def graph_c():
    mod, params = convnet()
    with tvm.transform.PassContext(opt_level=3, config={"tir.disable_vectorize": True}):
        lib = relay.build(mod, target="c", params=params)
    export(lib, "graph_c")
    x = rnd(1, 3, 32, 32)
    L = tvm.runtime.load_module(os.path.join(out, "graph_c.so"))
    save("graph_c", "graph", [("run", [x], run_graph(L, {"data": x}))])


@case
def vm_conv():
    mod, params = convnet()
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(mod, target=LLVM, params=params)
    x = rnd(1, 3, 32, 32)
    exe.mod.export_library(os.path.join(out, "vm_conv.so")) if hasattr(exe, "mod") else exe.export_library(os.path.join(out, "vm_conv.so"))
    L = tvm.runtime.load_module(os.path.join(out, "vm_conv.so"))
    vm = tvm.runtime.vm.VirtualMachine(L, tvm.cpu())
    save("vm_conv", "vm", [("main", [x], [vm.run(tvm.nd.array(x)).numpy()])])


def vm_make(name, mod, calls, note="", **kw):
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(mod, target=LLVM, **kw)
    exe.mod.export_library(os.path.join(out, name + ".so")) if hasattr(exe, "mod") else exe.export_library(os.path.join(out, name + ".so"))
    L = tvm.runtime.load_module(os.path.join(out, name + ".so"))
    vm = tvm.runtime.vm.VirtualMachine(L, tvm.cpu())
    recs = []
    def flat(r):
        if isinstance(r, tvm.nd.NDArray):
            return [r.numpy()]
        return [q for f in r for q in flat(f)]
    for fn, ins in calls:
        vm.set_input(fn, *[tvm.nd.array(i) if isinstance(i, np.ndarray) else i for i in ins]) if ins else None
        r = vm.invoke(fn)
        recs.append((fn, list(ins), flat(r)))
    save(name, "vm", recs, note=note)


@case
def vm_dyn():
    a = relay.var("a", shape=(relay.Any(), 8), dtype="float32"); b = relay.var("b", shape=(relay.Any(), 8), dtype="float32")
    x = relay.concatenate([a, b], 0)
    y = relay.nn.dense(x, relay.const(rnd(5, 8)))
    z = relay.topk(y, k=3, axis=1, ret_type="both").astuple()
    mod = tvm.IRModule.from_expr(relay.Function([a, b], relay.Tuple([x, y, relay.TupleGetItem(z, 0), relay.TupleGetItem(z, 1), relay.shape_of(x)])))
    vm_make("vm_dyn", mod, [("main", [rnd(3, 8), rnd(2, 8)]), ("main", [rnd(1, 8), rnd(7, 8)])])


@case
def vm_control():
    mod = tvm.IRModule()
    sb = relay.ScopeBuilder()
    i = relay.var("i", shape=(), dtype="int32"); acc = relay.var("acc", shape=(4,), dtype="float32")
    f = relay.GlobalVar("loop")
    with sb.if_scope(relay.less_equal(i, relay.const(0, "int32"))):
        sb.ret(acc)
    with sb.else_scope():
        sb.ret(f(i - relay.const(1, "int32"), acc * relay.const(1.5) + relay.cast(i, "float32")))
    mod[f] = relay.Function([i, acc], sb.get(), relay.TensorType((4,), "float32"))
    n = relay.var("n", shape=(), dtype="int32"); x = relay.var("x", shape=(4,), dtype="float32")
    mod["main"] = relay.Function([n, x], relay.Tuple([f(n, x), relay.Tuple([x, relay.cast(n, "float32")])]))
    mod = relay.transform.InferType()(mod)
    vm_make("vm_control", mod, [("main", [np.array(k, "int32"), rnd(4)]) for k in (0, 5, 200)])


@case
def vm_adt():
    from tvm.relay.prelude import Prelude
    mod = tvm.IRModule(); p = Prelude(mod)
    _, cons, nil = mod.get_type("List")
    def lst():
        l = nil()
        for k in (3.0, 2.0, 1.0):
            l = cons(relay.const(k, "float32"), l)
        return l
    x = relay.var("x", "float32")
    mod["main"] = relay.Function([], mod.get_global_var("map")(relay.Function([x], x + relay.const(1.0, "float32")), lst()))
    vm_make("vm_adt_map", mod, [("main", [])], note="list ADT as result")
    mod = tvm.IRModule(); p = Prelude(mod)
    _, cons, nil = mod.get_type("List")
    mod["main"] = relay.Function([], relay.Tuple([mod.get_global_var("length")(lst()), mod.get_global_var("nth")(lst(), relay.const(1))]))
    vm_make("vm_adt_nth", mod, [("main", [])])


@case
def vm_where_nms():
    d = relay.var("d", shape=(relay.Any(),), dtype="float32")
    w = relay.argwhere(relay.greater(d, relay.const(0.0)))
    body = relay.Tuple([w, relay.sort(d, axis=0), relay.cumsum(d, axis=0)])
    vm_make("vm_where", tvm.IRModule.from_expr(relay.Function([d], body)), [("main", [rnd(9)]), ("main", [rnd(30)])])


@case
def vm_late():
    mod, params = convnet()
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(mod, target=LLVM, params=params)
    consts = os.path.join(out, "vm_late.consts")
    exe.move_late_bound_consts(consts, 256)
    (exe.mod if hasattr(exe, "mod") else exe).export_library(os.path.join(out, "vm_late.so"))
    L = tvm.runtime.load_module(os.path.join(out, "vm_late.so"))
    L["load_late_bound_consts"](consts)
    vm = tvm.runtime.vm.VirtualMachine(L, tvm.cpu())
    x = rnd(1, 3, 32, 32)
    save("vm_late", "vm_late", [("main", [x], [vm.run(tvm.nd.array(x)).numpy()])], {"lib": "vm_late.so", "consts": "vm_late.consts"})


def aot_pkg(mod, params, **opts):
    usmp = opts.pop("usmp", None)
    cfg = {"tir.disable_vectorize": True} if opts.pop("novec", False) else {}
    if usmp:
        cfg.update({"tir.usmp.enable": True, "tir.usmp.algorithm": usmp})
    tgt = opts.pop("target", LLVM)
    rt = opts.pop("runtime", "cpp")
    from tvm.relay.backend import Executor, Runtime
    with tvm.transform.PassContext(opt_level=3, config=cfg):
        return relay.build(mod, target=tgt, params=params, executor=Executor("aot", opts), runtime=Runtime(rt), mod_name=opts.pop("name", "default") if False else "default")


@case
def aot_cpp():
    mod, params = convnet()
    for nm, tgt, extra in (("aot_packed", LLVM, {"interface-api": "packed", "unpacked-api": False}),
                           ("aot_c", "c", {"interface-api": "packed", "unpacked-api": False, "novec": True}),
                           ("aot_usmp", LLVM, {"interface-api": "packed", "unpacked-api": False, "usmp": "greedy_by_size"}),
                           ("aot_linked", LLVM, {"interface-api": "packed", "unpacked-api": False, "link-params": True})):
        try:
            lib = aot_pkg(mod, params, target=tgt, **dict(extra))
            p = os.path.join(out, nm + ".so")
            lib.export_library(p)
            L = tvm.runtime.load_module(p)
            m = tvm.runtime.executor.AotModule(L["default"](tvm.cpu(0)))
            x = rnd(1, 3, 32, 32)
            m.set_input(data=tvm.nd.array(x)); m.run()
            save(nm, "aot", [("run", [x], [m.get_output(0).numpy()])])
        except Exception:
            print("FAILED", nm); traceback.print_exc()


@case
def aot_two():
    mod = two_io()
    lib = aot_pkg(mod, None, **{"interface-api": "packed", "unpacked-api": False})
    p = os.path.join(out, "aot_two.so"); lib.export_library(p)
    L = tvm.runtime.load_module(p)
    m = tvm.runtime.executor.AotModule(L["default"](tvm.cpu(0)))
    a, b = rnd(4, 8), rng.randint(-9, 9, 8).astype("int32")
    m.set_input("a", tvm.nd.array(a)); m.set_input("b", tvm.nd.array(b)); m.run()
    save("aot_two", "aot", [("run", [a, b], [m.get_output(i).numpy() for i in range(4)])])


@case
def ops():
    """Many operators at once: graph executor."""
    a = relay.var("a", shape=(2, 6, 6, 4), dtype="float32")
    t = relay.transpose(a, (0, 3, 1, 2))
    outs = [relay.tanh(a), relay.erf(a), relay.sigmoid(a), relay.nn.softmax(t, axis=1), relay.image.resize2d(t, (9, 9), layout="NCHW", method="linear") if hasattr(relay.image, "resize2d") else t,
            relay.argmax(a, axis=3), relay.nn.avg_pool2d(t, (3, 3)), relay.strided_slice(a, [0, 1], [2, 5]), relay.cast(a, "float16"), relay.cast(a, "int8"),
            relay.nn.pad(t, ((0, 0), (0, 0), (1, 1), (1, 1))), relay.clip(a, -0.2, 0.2), relay.nn.conv2d_transpose(t, relay.const(rnd(4, 5, 3, 3)), channels=5, kernel_size=(3, 3)),
            relay.nn.batch_matmul(relay.reshape(a, (2, 6, 24)), relay.const(rnd(2, 7, 24))), relay.topk(relay.reshape(a, (2, 144)), k=5, ret_type="values"),
            relay.greater(a, relay.const(0.0)), relay.nn.lrn(t), relay.mean(a, axis=[1, 2]), relay.take(a, relay.const(np.array([1, 0, 1])), axis=0), relay.sort(a, axis=-1)]
    mod = tvm.IRModule.from_expr(relay.Function([a], relay.Tuple(outs)))
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=LLVM)
    export(lib, "graph_ops")
    x = rnd(2, 6, 6, 4)
    L = tvm.runtime.load_module(os.path.join(out, "graph_ops.so"))
    save("graph_ops", "graph", [("run", [x], run_graph(L, {"a": x}))])
    with tvm.transform.PassContext(opt_level=3):
        pass
    vm_make("vm_ops", mod, [("main", [x])])


@case
def debug_exec():
    mod, params = convnet()
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(mod, target=LLVM, params=params)
    # package_params False path: GraphExecutorFactory packaged by tvmc: .tar with mod.so, mod.json, mod.params
    lib2 = lib["remove_params"]() if True else None
    lib2.export_library(os.path.join(out, "graph_noparams.so"))
    open(os.path.join(out, "graph_noparams.params"), "wb").write(tvm.runtime.save_param_dict(lib.get_params()))
    x = rnd(1, 3, 32, 32)
    y = run_graph(lib, {"data": x})
    save("graph_noparams", "graph_params", [("run", [x], y)], {"lib": "graph_noparams.so", "params": "graph_noparams.params"})


def lstm():
    """Names that are no C identifiers, three outputs, constants of many sizes."""
    names = {"x.0/seq:0": (3, 2, 6), "h-0": (2, 5), "c 0": (2, 5)}
    x, h, c = ins = [relay.var(n, shape=s, dtype="float32") for n, s in names.items()]
    wi, wh, b = (relay.const(np.random.RandomState(k).randn(*s).astype("float32")) for k, s in enumerate([(20, 6), (20, 5), (20,)]))
    hs = []
    for t in range(3):
        xt = relay.take(x, relay.const(t), axis=0)
        i, f, o, u = relay.split(relay.nn.bias_add(relay.nn.dense(xt, wi) + relay.nn.dense(h, wh), b), 4, axis=1)
        c = relay.sigmoid(f) * c + relay.sigmoid(i) * relay.tanh(u)
        h = relay.sigmoid(o) * relay.tanh(c); hs.append(h)
    mod = tvm.IRModule.from_expr(relay.Function(ins, relay.Tuple([relay.stack(hs, 0), h, c])))
    return relay.transform.InferType()(mod), {n: rnd(*s) for n, s in names.items()}


@case
def lstm_vm():
    """The same program twice: with its constants, and with those of 100 bytes and more moved out by TVM."""
    mod, ins = lstm()
    vm_make("vm_lstm", mod, [("main", list(ins.values()))])
    with tvm.transform.PassContext(opt_level=3):
        exe = relay.vm.compile(mod, target=LLVM)
    consts = os.path.join(out, "vm_lstm_late.consts")
    exe.move_late_bound_consts(consts, 100)
    (exe.mod if hasattr(exe, "mod") else exe).export_library(os.path.join(out, "vm_lstm_late.so"))
    L = tvm.runtime.load_module(os.path.join(out, "vm_lstm_late.so")); L["load_late_bound_consts"](consts)
    vm = tvm.runtime.vm.VirtualMachine(L, tvm.cpu())
    r = vm.run(*[tvm.nd.array(v) for v in ins.values()])
    save("vm_lstm_late", "vm_late", [("main", list(ins.values()), [v.numpy() for v in r])], {"lib": "vm_lstm_late.so", "consts": "vm_lstm_late.consts"})


@case
def lstm_aot():
    """TVM's set_input takes the names that the model had."""
    mod, ins = lstm()
    lib = aot_pkg(mod, None, **{"interface-api": "packed", "unpacked-api": False})
    p = os.path.join(out, "aot_names.so"); lib.export_library(p)
    m = tvm.runtime.executor.AotModule(tvm.runtime.load_module(p)["default"](tvm.cpu(0)))
    for k, v in ins.items():
        m.set_input(k, tvm.nd.array(v))
    m.run()
    save("aot_names", "aot", [("run", [("kw", k, v) for k, v in reversed(list(ins.items()))], [m.get_output(i).numpy() for i in range(3)])])


for f in cases:
    if only and f.__name__ not in only:
        continue
    try:
        f()
    except Exception:
        print("FAILED", f.__name__); traceback.print_exc()
    sys.stdout.flush()

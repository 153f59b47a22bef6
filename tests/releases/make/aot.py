"""AOT models with planned memory and no constants, with names that sort the other way, of several algorithms."""
import sys, os
sys.argv = [sys.argv[0], sys.argv[1], "none"]
exec(open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "relay.py")).read().split("for f in cases:")[0])
def go(nm, m, ins, **kw):
    lib = aot_pkg(m, None, **dict({"interface-api": "packed", "unpacked-api": False}, **kw))
    p = os.path.join(out, nm + ".so"); lib.export_library(p)
    L = tvm.runtime.load_module(p); e = tvm.runtime.executor.AotModule(L["default"](tvm.cpu(0)))
    for k, v in ins.items(): e.set_input(k, tvm.nd.array(v))
    try:
        e.run()
    except Exception: # TVM itself passes a constants block that the function does not take
        with tvm.transform.PassContext(opt_level=3): g = relay.build(m, target=LLVM)
        return save(nm, "aot", [("run", list(ins.values()), run_graph(g, ins))], note="expected by the graph executor: compare with a tolerance")
    save(nm, "aot", [("run", list(ins.values()), [e.get_output(i).numpy() for i in range(e.get_num_outputs())])])
x = relay.var("x", shape=(3, 8), dtype="float32"); a = relay.var("a", shape=(5, 8), dtype="float32")
d = relay.nn.softmax(relay.concatenate([x, a], 0))
m = tvm.IRModule.from_expr(relay.Function([x, a], relay.Tuple([d, relay.sum(relay.exp(d), axis=1)])))
ins = {"x": rnd(3, 8), "a": rnd(5, 8)}
go("aot_planned_noconst", m, ins, usmp="greedy_by_size")
go("aot_planned_hill", m, ins, usmp="hill_climb")
x = relay.var("x", shape=(3, 8), dtype="float32")
m = tvm.IRModule.from_expr(relay.Function([x], relay.nn.relu(relay.nn.dense(x, relay.const(rnd(4, 8))))))
go("aot_planned_const", m, {"x": rnd(3, 8)}, usmp="greedy_by_conflicts")
x = relay.var("x", shape=(3, 8), dtype="float32")
m = tvm.IRModule.from_expr(relay.Function([x], relay.Tuple([relay.nn.relu(x), relay.const(np.arange(6, dtype="int64"))])))
go("aot_planned_const_alone", m, {"x": rnd(3, 8)}, usmp="greedy_by_size")

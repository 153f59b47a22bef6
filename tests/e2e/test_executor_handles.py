"""Executors that keep their inputs and outputs between calls (module.instance)."""
import json
import struct

import harness
import msgpack
import numpy as np
import pytest
from test_fixtures import loaded, need, ulps
from wire import DTYPE, Failure, Wire, out, shape_ext

FLOAT32 = msgpack.ExtType(DTYPE, b"\2\x20\1\0")


def params_file(**arrays):
    """The bytes of a .params file, by the format's description."""
    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()

    tensors = b"".join(
        struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, a.ndim, 2, 32, 1)
        + struct.pack(f"<{a.ndim}qq", *a.shape, a.nbytes) + a.tobytes()
        for a in arrays.values()
    )
    names = struct.pack("<Q", len(arrays)) + b"".join(map(text, arrays))
    head = struct.pack("<QQ", 0xF7E58D4F05049CB7, 0)
    return head + names + struct.pack("<Q", len(arrays)) + tensors


class Instance:
    """TVM's functions by their names: instance.set_input("x", x)."""

    def __init__(self, wire, module):
        self.wire, self.module = wire, module
        self.handle = wire.ask("module.instance", module)

    def __getattr__(self, name):
        def call(*args):
            target = f"{self.module}:{name}"
            outs, value = self.wire.call(target, *args, instance=self.handle)
            return outs or value

        return call


def test_an_instance_keeps_its_state(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as wire, Wire(daemon.host) as other:
        one, two = wire.ask("module.instance", name), other.ask("module.instance", name)

        def call(w, instance, function, *args):
            return w.call(f"{name}:{function}", *args, instance=instance)[1]

        assert call(wire, one, "get_num_inputs") == 5
        assert call(wire, one, "get_input_index", "p1") == 2
        with pytest.raises(Failure, match="run was not called"):
            call(wire, one, "get_output", 0)
        call(wire, one, "set_input", "data", x)
        call(other, two, "set_input", 0, 0 * x)
        call(wire, one, "run")
        call(other, two, "run")
        assert ulps(call(wire, one, "get_output", 0), want) <= 2
        assert ulps(call(other, two, "get_output", 0), want) > 2
        assert call(wire, one, "get_input", "data").tobytes() == x.tobytes()
        with pytest.raises(Failure, match="no function nothing"):
            call(wire, one, "nothing")
        wire.ask("instance.free", one)
        with pytest.raises(Failure, match="STALE_HANDLE"):
            call(wire, one, "run")
        with pytest.raises(Failure, match="STALE_HANDLE"):
            wire.ask("instance.free", one)


def test_parameters_are_an_instances_own_once_set(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as wire:
        one = wire.ask("module.instance", name)
        two = wire.ask("module.instance", name)

        def call(instance, function, *args):
            return wire.call(f"{name}:{function}", *args, instance=instance)[1]

        call(one, "set_input", "p3", np.full((1, 10), 5, "f4"))
        call(one, "set_input", "p2", np.zeros((2, 32, 5), "f4"))
        for instance in (one, two):
            call(instance, "set_input", "data", x)
            call(instance, "run")
        assert np.allclose(call(one, "get_output", 0), 0.1)
        assert ulps(call(two, "get_output", 0), want) <= 2
        call(one, "load_params", (folder / "model.params").read_bytes())
        call(one, "run")
        assert ulps(call(one, "get_output", 0), want) <= 2
        resident = wire.ask("tensor.alloc", name, msgpack.ExtType(DTYPE, b"\2\x20\1\0"),
                            shape_ext(2, 16))
        call(two, "set_input_zero_copy", "data", resident)
        wire.ask("tensor.copy", x, resident)
        call(two, "run")
        assert ulps(call(two, "get_output", 0), want) <= 2


def test_results_may_land_in_tensors_of_the_caller(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as wire:
        one = Instance(wire, name)
        one.set_input("data", x)
        resident = wire.ask("tensor.alloc", name, FLOAT32, shape_ext(2, 10))
        one.set_output_zero_copy(0, resident)
        one.run()
        (got,) = one.get_output(0, out("f4", 2, 10))
        assert ulps(got, want) <= 2
        assert ulps(wire.ask("tensor.copy", resident, out("f4", 2, 10)), want) <= 2
        with pytest.raises(Failure, match="expected a resident tensor"):
            one.set_output_zero_copy(0, want)
        with pytest.raises(Failure, match=r"lost; if it fills argument 1, give out:float32\[2,10\]"):
            one.get_output(0, want)
        with pytest.raises(Failure, match="an out tensor, but set_input returns"):
            one.set_input("data", out("f4", 2, 16))
        (got,) = one.run_from_inputs(1, 0, "data", x)
        assert ulps(got, want) <= 2
        one.set_input("data", 0 * x, "p3", np.zeros((1, 10), "f4"))
        assert not one.get_input("data").any() and not one.get_input("p3").any()
        with pytest.raises(Failure, match="expected pairs of an input and its tensor; got 3"):
            one.set_input("data", x, "p3")


def test_a_name_that_the_model_lacks_is_refused(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x = np.load(folder / "in_data.npy")
    said = 'argument {}: the model has no input "dat"; its inputs are: data$'
    with Wire(daemon.host) as wire:
        one = Instance(wire, name)
        for how, args, at in (("set_input", ("dat", x), 0), ("set_input_zero_copy", ("dat", x), 0),
                              ("set_input", ("data", x, "dat", x), 2),
                              ("run_from_inputs", (1, 0, "dat", x), 2)):
            with pytest.raises(Failure, match=said.format(at)):
                getattr(one, how)(*args)
        with pytest.raises(Failure, match=r"the model has no input 99; its inputs are: 0 \(data\)$"):
            one.set_input(99, x)
        with pytest.raises(Failure, match="of its 1 parameters, other first, the model has none"):
            one.load_params(params_file(other=x))
        one.load_params(params_file(other=x, p3=np.zeros((1, 10), "f4")))
    words = ("set_input", "str:dat", f"@{folder / 'in_data.npy'}", "then", "run")
    assert 'no input "dat"' in daemon.modser("session", name, *words).err


def test_a_name_that_the_model_lacks_may_be_ignored_as_tvm_does(daemon, own_daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    library = need(folder, "mlp_llvm.so")
    x = np.load(folder / "in_data.npy")
    daemon.load("as_tvm", library, "--ignore-unknown-inputs")
    preloaded = own_daemon("--load", f"as_tvm={library},ignore-unknown-inputs=yes")
    preloaded.ok("wait", "as_tvm")
    for host in (daemon.host, preloaded.host):
        with Wire(host) as wire:
            one = Instance(wire, "as_tvm")
            one.set_input("dat", x)
            one.set_input_zero_copy("dat", x)
            one.load_params(params_file(other=x))
            assert not one.get_input("data").any() and one.get_input("dat") is None


@pytest.mark.parametrize("function, instead", [
    ("default", "`run` is the whole model in one call, and an instance is an executor"),
    ("debug_create", "`run` is the whole model in one call"),
    ("remove_params", "`modser pack --split-params` does before the library is loaded"),
])
def test_what_a_factory_has_in_tvm_says_what_is_in_its_place(daemon, fixtures, function, instead):
    name = loaded(daemon, need(fixtures / "tvm-0.8/mlp_llvm", "mlp_llvm.so"))
    said = daemon.modser("call", f"{name}:{function}")
    assert said.status == 4 and instead in said.err, said


def test_a_graph_says_what_it_takes(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_llvm"
    name = loaded(daemon, need(folder, "mlp_llvm.so"))
    x = np.load(folder / "in_data.npy")
    with Wire(daemon.host) as wire:
        one = Instance(wire, name)
        assert one.get_input_info() == [["data", shape_ext(2, 16), "float32"]]
        assert [v[1:] for v in one.get_output_info()] == [[shape_ext(2, 10), "float32"]]
        assert [one.get_input_name(i) for i in range(5)] == ["data", "p0", "p1", "p2", "p3"]
        assert one.get_input_index("nobody") == -1
        with pytest.raises(Failure, match='no input "nobody"; its inputs are: data'):
            one.get_input("nobody")
        for wrong, text in (
            (x.astype("f8"), r"Tensor\(\[2, 16\], float32\), got Tensor\(\[2, 16\], float64\)"),
            (x.reshape(16, 2), r"got Tensor\(\[16, 2\], float32\)"),
            (x.reshape(32), r"got Tensor\(\[32\], float32\)"),
            (1.5, "got float"),
            ([x], "got tuple"),
        ):
            with pytest.raises(Failure, match=rf"argument 1, for input 0 \(data\): .*{text}"):
                one.set_input("data", wrong)
        with pytest.raises(Failure, match=r"get_output: argument 0: the model has no output 1; its outputs are: 0 \("):
            one.get_output(1)


def test_an_ahead_of_time_compiled_model_has_instances(daemon):
    daemon.ok("load", "aot_state", harness.BUILD / "tests/runtime/graph/fixture_aot.so")
    with Wire(daemon.host) as wire:
        one = Instance(wire, "aot_state")
        one.set_input("x", np.arange(3, dtype="f4"))
        one.run()
        assert one.get_output(0).tolist() == [11, 22, 33]
        assert one.get_input_info() == [["x", shape_ext(3), "float32"]]
    daemon.ok("unload", "aot_state")


@pytest.fixture
def control(daemon, fixtures):
    """A Relax model of two inputs and two outputs: how instances of it are made, inputs, outputs."""
    name = loaded(daemon, need(fixtures, "tvm-0.27/ctrl.so"))
    data = np.load(fixtures / "tvm-0.27/ctrl.npz")
    with Wire(daemon.host) as wire:
        yield (lambda: Instance(wire, name)), [data["in0"], data["in1"]], [data["out0"], data["out1"]]


def test_a_relax_model_keeps_its_inputs(control):
    make, inputs, outputs = control
    one = make()
    one.vm_initialization(1, 0, 2)
    assert one.get_function_arity("main") == 2
    one.set_input("main", *inputs)
    for _ in range(2):
        one.invoke_stateful("main")
    assert one.get_output_arity("main") == 2 and one.get_output_arity("main", 0) == -1
    for i in range(2):
        assert one.get_output("main", i).tobytes() == outputs[i].tobytes()
    assert len(one.get_output("main")) == 2
    assert one.main(*inputs)[0].tobytes() == outputs[0].tobytes()


def test_a_relax_machine_tells_of_its_functions(control):
    one = control[0]()
    assert one.has_function("main") is True and one.has_function("absent") is False
    assert "Functions (#" in one.stats() and "main" in one.stats()


def test_instances_of_a_relax_model_know_nothing_of_each_other(control):
    make, inputs, _ = control
    one, two = make(), make()
    one.set_input("main", *inputs)
    two.set_input("main", inputs[0], np.zeros_like(inputs[1]))
    one.invoke_stateful("main")
    with pytest.raises(Failure, match="main was not invoked yet"):
        two.get_output("main", 0)


def test_a_relax_model_says_what_was_not_done_before(control):
    make, inputs, _ = control
    one = make()
    with pytest.raises(Failure, match="main was not invoked yet"):
        one.get_output("main")
    with pytest.raises(Failure, match=r"main: parameter 0 \(.*\) was not set"):
        one.invoke_stateful("main")
    one.set_input("main", *inputs)
    one.invoke_stateful("main")
    with pytest.raises(Failure, match="argument 1: expected the number of one of 2 outputs"):
        one.get_output("main", 2)
    with pytest.raises(Failure, match="argument 2: the output is no tuple but a tensor"):
        one.get_output("main", 0, 0)


def test_a_relax_model_names_wrong_inputs(control):
    make, inputs, _ = control
    one = make()
    with pytest.raises(Failure, match="argument 0: the model has no function mian"):
        one.set_input("mian", *inputs)
    with pytest.raises(Failure, match="set_input: main: expected 2 arguments, got 1"):
        one.set_input("main", inputs[0])
    with pytest.raises(Failure, match=r"set_input: main: argument 1 \(.*\): expected"):
        one.set_input("main", inputs[0], inputs[1].astype("f8"))


def test_a_relax_model_saves_functions(daemon, fixtures):
    name = loaded(daemon, need(fixtures, "tvm-0.27/ctrl.so"))
    data = np.load(fixtures / "tvm-0.27/ctrl.npz")
    first, last = data["in0"], data["in1"]
    with Wire(daemon.host) as wire:
        one, two = Instance(wire, name), Instance(wire, name)
        one.save_function("main", "half", 1, last)
        one.save_function("main", "quiet", False, first, last)
        assert one.half(first)[0].tobytes() == data["out0"].tobytes()
        assert one.quiet() is None
        one.save_function("main", "quiet", True, first, last)
        assert one.quiet()[1].tobytes() == data["out1"].tobytes()
        for called in (("half", first), ("main", first, last)):
            assert one.invoke_closure(*called)[0].tobytes() == data["out0"].tobytes()
        with pytest.raises(Failure, match="an instance has no function half"):
            two.half(first)
        for wrong, text in (
            (("mian", "x", 1), "argument 0: the model has no function mian"),
            (("main", "", 1), "argument 1: expected a name"),
            (("main", "x", "yes"), "argument 2: expected whether"),
            (("main", "x"), "expected at least 3 arguments, got 2"),
        ):
            with pytest.raises(Failure, match=text):
                one.save_function(*wrong)
        with pytest.raises(Failure, match="closures do not leave the daemon"):
            one.invoke_closure(first)
        with pytest.raises(Failure, match="neither the model nor the instance has a function x"):
            one.invoke_closure("x")
        with pytest.raises(Failure, match="set_instrument: .*time_evaluator"):
            one.set_instrument("f")


def test_a_relay_model_fills_the_outputs_that_are_set(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_vm"
    name = loaded(daemon, need(folder, "mlp_vm.so"))
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as wire:
        one = Instance(wire, name)
        there = wire.ask("tensor.alloc", name, FLOAT32, shape_ext(*want.shape))
        read = lambda: wire.ask("tensor.copy", there, out("f4", *want.shape))  # noqa: E731
        one.set_input("main", x)
        one.set_outputs("main", there)
        one.invoke_stateful("main")
        assert ulps(read(), want) <= 2 and ulps(one.get_output(0), want) <= 2
        wire.ask("tensor.fill", there, 7)
        one.invoke_stateful("main")
        assert (read() == 7).all(), "as in TVM they are set for one call"
        with pytest.raises(Failure, match="argument 1: expected a resident tensor"):
            one.set_outputs("main", want)
        one.set_outputs("main", there, there)
        with pytest.raises(Failure, match="main: it has 1 outputs; set_outputs gave 2 tensors"):
            one.invoke_stateful("main")
        other = wire.ask("tensor.alloc", name, FLOAT32, shape_ext(3))
        one.set_outputs("main", other)
        with pytest.raises(Failure, match=r"output 0 is .*; set_outputs gave Tensor\(\[3\], float32\)"):
            one.invoke_stateful("main")


def test_a_relay_model_keeps_its_inputs(daemon, fixtures):
    folder = fixtures / "tvm-0.8/mlp_vm"
    name = loaded(daemon, need(folder, "mlp_vm.so"))
    x, want = np.load(folder / "in_data.npy"), np.load(folder / "out_0.npy")
    with Wire(daemon.host) as wire:
        one, two = Instance(wire, name), Instance(wire, name)
        one.init(1, 0, 1)
        with pytest.raises(Failure, match="nothing was invoked yet"):
            one.get_output(0)
        with pytest.raises(Failure, match=r"main: parameter 0 \(data\) was not set"):
            one.invoke_stateful("main")
        one.set_input("main", x)
        two.set_one_input("main", "data", x)
        for instance in (one, two):
            instance.invoke_stateful("main")
            assert instance.get_num_outputs() == 1
            assert ulps(instance.get_output(0), want) <= 2
        assert ulps(one.invoke("main", x), want) <= 2
        assert one.get_input_index("data", "main") == 0
        assert one.get_input_index("nobody", "main") == -1
        assert one.get_function_param_name("main", 0) == "data"
        with pytest.raises(Failure, match=r"set_one_input: argument 1: main has no such parameter; it is main\(data"):
            one.set_one_input("main", "image", x)
        with pytest.raises(Failure, match=r"set_input: main: argument 0 \(data\): expected shape"):
            one.set_input("main", x.T)


def test_libraries_without_a_model_have_no_instances(daemon, fixtures):
    name = loaded(daemon, need(fixtures, "tvm-0.27/addone.so"))
    with Wire(daemon.host) as wire, pytest.raises(Failure, match="has no sessions"):
        wire.ask("module.instance", name)


def test_an_instance_of_the_command_line(daemon, fixtures, tmp_path):
    folder = fixtures / "tvm-0.8/convnet_llvm"
    name = loaded(daemon, need(folder, "convnet_llvm.so"))
    inputs = ("set_input", "str:data", f"@{folder / 'in_data.npy'}")
    y = tmp_path / "y.npy"
    outputs = ("get_output", "0", "then", "get_output", "1")
    said = daemon.ok("session", name, *inputs, "then", "run", "then", *outputs, "-o", y)
    assert ulps(np.load(y), np.load(folder / "out_0.npy")) <= 2
    assert len(json.loads(said.out)) == 4
    said = daemon.modser("session", name, *inputs, "then", *outputs)
    assert said.status == 1 and "run was not called" in said.err
    said = daemon.modser("session", name, "run", "-o", y)
    assert said.status == 2 and "1 file for 0 results" in said.err

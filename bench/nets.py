"""Models for bench/models: a small convolutional network and a ResNet-18 with random
weights, compiled by apache-tvm with a schedule that vectorises and runs in parallel (TVM's
default for a CPU does neither, and would hide every overhead behind its slowness).
"""
import numpy as np
import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.s_tir import Schedule

SPATIAL, REDUCTION = 0, 2
TARGET = {"kind": "llvm", "mcpu": "x86-64-v3"}


class Block(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2D(before, after, 3, stride=stride, padding=1, bias=True)
        self.second = nn.Conv2D(after, after, 3, padding=1, bias=True)
        self.skip = (
            nn.Conv2D(before, after, 1, stride=stride, bias=True)
            if stride != 1 or before != after
            else None
        )

    def forward(self, x):
        y = self.second(nn.op.relu(self.first(x)))
        return nn.op.relu(nn.op.add(y, self.skip(x) if self.skip is not None else x))


class Net(nn.Module):
    """A stem, stages of residual blocks, the mean over the image, one dense layer."""

    def __init__(self, widths, blocks, classes):
        super().__init__()
        self.stem = nn.Conv2D(3, widths[0], 3, stride=2, padding=1, bias=True)
        stages, before = [], widths[0]
        for stage, width in enumerate(widths):
            for i in range(blocks):
                stages.append(Block(before, width, 2 if stage > 0 and i == 0 else 1))
                before = width
        self.stages = nn.ModuleList(stages)
        self.head = nn.Linear(before, classes)

    def forward(self, x):
        x = nn.op.relu(self.stem(x))
        for block in self.stages:
            x = block(x)
        x = nn.op.wrap_nested(relax.op.mean(x._expr, axis=[2, 3]), "mean")
        return self.head(x)


def parallel(function):
    """The outer spatial loops fused and run in parallel, the innermost left to LLVM."""
    schedule = Schedule(tvm.IRModule({"main": function}))
    for block in schedule.get_child_blocks(schedule.get_sblock("root")):
        loops = schedule.get_loops(block)
        kinds = [int(v.iter_type) for v in schedule.get(block).iter_vars]
        spatial = [l for l, kind in zip(loops, kinds) if kind == SPATIAL]
        reduction = [l for l, kind in zip(loops, kinds) if kind == REDUCTION]
        if len(spatial) < 2:
            continue
        *outer, inner = spatial
        if reduction:
            schedule.reorder(*outer, *reduction, inner)
        schedule.parallel(schedule.fuse(*outer) if len(outer) > 1 else outer[0])
        if reduction:
            schedule.decompose_reduction(block, reduction[0])
    return schedule.mod["main"]


def scheduled(module):
    for step in (
        relax.transform.LegalizeOps(),
        relax.transform.AnnotateTIROpPattern(),
        relax.transform.FoldConstant(),
        relax.transform.FuseOps(),
        relax.transform.FuseTIR(),
    ):
        module = step(module)
    functions = {
        name: function if isinstance(function, relax.Function) else parallel(function)
        for name, function in module.functions_items()
    }
    return tvm.IRModule(functions)


def build(path, widths, blocks, classes, image):
    """Write the library to @path; returns the input."""
    random = np.random.default_rng(5)
    module, parameters = Net(widths, blocks, classes).export_tvm(
        {"forward": {"x": nn.spec.Tensor([1, 3, image, image], "float32")}}
    )
    weights = {}
    for name, parameter in parameters:
        shape = [int(n) for n in parameter.shape]
        fan = max(1, int(np.prod(shape[1:])))
        weights[name] = tvm.runtime.tensor(
            (random.standard_normal(shape) / fan**0.5).astype("float32")
        )
    module = relax.transform.BindParams("forward", weights)(module)
    tvm.compile(scheduled(module), target=tvm.target.Target(TARGET)).export_library(str(path))
    return random.standard_normal((1, 3, image, image)).astype("float32")


NETS = {
    "convnet": dict(widths=(8, 16, 32), blocks=1, classes=10, image=32),
    "resnet18": dict(widths=(64, 128, 256, 512), blocks=2, classes=1000, image=112),
}

"""make_mxnet.py zoo|varied FOLDER [PART OF A NAME...]

Needs Python 3.11, numpy 1.23.5 and mxnet 1.9.1. `zoo` writes networks of gluon's model zoo at their
real size with seeded weights; `varied` writes small models of many kinds."""

import cases
import mxnet as mx
import numpy as np
from mxnet.gluon.model_zoo import vision

ORACLE = "MXNet " + mx.__version__


def gluon(out, name, net, shapes, seed=1, rtol=1e-3, feeds=None, shape_words=False):
    """Export a block of gluon and run it. shapes: those of its inputs, data0, data1, ..."""
    if not out.wanted(name):
        return
    mx.random.seed(seed)
    np.random.seed(seed)
    rng = np.random.default_rng(seed)
    if feeds is None:
        feeds = [rng.normal(0, 1, shape).astype("float32") for shape in shapes]
    given = [mx.nd.array(feed, dtype=feed.dtype) for feed in feeds]
    net.initialize()
    net(*given)
    for key, parameter in net.collect_params().items():
        shape = parameter.shape
        value = cases.seeded(rng, key, shape, np.prod(shape[1:]))
        parameter.set_data(mx.nd.array(value))
    net.hybridize()
    got = net(*given)
    got = list(got) if isinstance(got, (list, tuple)) else [got]
    net.export(str(out.path / name), epoch=0)
    names = ["data"] if len(feeds) == 1 else [f"data{i}" for i in range(len(feeds))]
    words = []
    for key, feed in zip(names, feeds if shape_words else []):
        words += ["--input", f"{key}=float32[{','.join(map(str, feed.shape))}]"]
    out.add(name, [f"{name}-symbol.json", f"{name}-0000.params"], dict(zip(names, feeds)),
            [value.asnumpy() for value in got], rtol=rtol, oracle=ORACLE, load=words)


def zoo(out):
    for name in ("resnet18_v1", "resnet50_v1", "resnet50_v2", "mobilenet1.0", "mobilenetv2_1.0",
                 "densenet121", "squeezenet1.1", "vgg11_bn", "alexnet", "inceptionv3"):
        side = 299 if name == "inceptionv3" else 224
        gluon(out, name.replace(".", "_"), vision.get_model(name), [(1, 3, side, side)])


if __name__ == "__main__":
    import varied_mxnet

    cases.main({"zoo": zoo, "varied": varied_mxnet.varied}, __doc__)

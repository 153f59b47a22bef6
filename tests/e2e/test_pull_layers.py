"""Artifacts of other programs in registries: the layer with the model is found by its content. The
layouts are those of the OCI image and ModelPack specifications, written by hand."""
import gzip
import hashlib
import io
import json
import tarfile

import harness
import pytest
from bad_server import Server
from registry import MANIFEST, REGISTRY, DockerRegistry, descriptor, digest_of
from test_pull import FETCH, asked, store  # noqa: F401
from wire import Wire

ONNX = (harness.ROOT / "tests/corpus/onnx/accept_gemm.bin").read_bytes()
OTHER = (harness.ROOT / "tests/corpus/onnx/accept_conv.bin").read_bytes()
TAR = "application/vnd.oci.image.layer.v1.tar"
RAW = "application/vnd.cncf.model.weight.v1.raw"
TITLE = "org.opencontainers.image.title"
README = b"# A model\nIts words are no model.\n"

pytestmark = pytest.mark.skipif(
    not FETCH.exists(), reason="modserd-fetch is not built: libcurl was absent")


@pytest.fixture
def server():
    with Server() as s:
        yield s


@pytest.fixture
def puller(own_daemon, store):  # noqa: F811
    return own_daemon("--store", store, "--fetch-retry", "5ms")


def tar(*members, mode="w", form=tarfile.PAX_FORMAT):
    """Of pairs: path, bytes; or TarInfo alone."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as t:
        for member in members:
            info, data = member if isinstance(member, tuple) else (member, b"")
            if isinstance(info, str):
                info = tarfile.TarInfo(info)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def link(path, to, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, to
    return info


def folder_of(path):
    info = tarfile.TarInfo(path)
    info.type = tarfile.DIRTYPE
    return info


def layer(data, media=TAR, title=None, key=TITLE):
    return data, descriptor(data, media, **({"annotations": {key: title}} if title else {}))


def artifact(*layers):
    config = descriptor(b"{}", "application/vnd.oci.empty.v1+json")
    return json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "config": config,
                       "layers": [row for _, row in layers]}).encode()


def give(server, *layers, tag="v1"):
    server.give(f"/v2/m/manifests/{tag}", artifact(*layers))
    for data, row in layers:
        server.give(f"/v2/m/blobs/{row['digest']}", data)
    return f"oci://127.0.0.1:{server.http.server_port}/m:{tag}"


def is_gemm(daemon, name):
    return "Tensor([1, 3], float32)) -> (y: Tensor([1, 2], float32))" in daemon.ok(
        "funcs", name).out


def file_of(daemon, name):
    with Wire(daemon.host) as wire:
        return next(m["file"] for m in wire.ask("module.list") if m["name"] == name)


def test_what_oras_pushes_by_default_is_the_file_itself(puller, server):
    puller.ok("pull", "m", give(server, layer(ONNX, TAR, "model.onnx")))
    assert is_gemm(puller, "m") and file_of(puller, "m") == "model.onnx"


@pytest.mark.parametrize("media, mode", [
    (TAR + "+gzip", "w:gz"), (TAR, "w"), (TAR, "w:gz"),
    ("application/vnd.docker.image.rootfs.diff.tar.gzip", "w:gz"),
    ("application/vnd.kitops.modelkit.model.v1.tar+gzip", "w:gz"),
    ("application/vnd.cncf.model.weight.v1.tar", "w"),
    ("application/octet-stream", "w:gz")])
@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_a_model_in_an_archive_is_found(puller, server, media, mode, form):
    data = tar(folder_of("models"), ("models/README.md", README), ("models/model.onnx", ONNX),
               link("models/latest.onnx", "model.onnx"), mode=mode, form=form)
    puller.ok("pull", "m", give(server, layer(data, media)))
    assert is_gemm(puller, "m") and file_of(puller, "m") == "model.onnx"


def test_a_container_image_of_several_layers(puller, server):
    ours = harness.BIN / "modser"  # a program and libraries are not TVM's
    base = tar(("bin/sh", b"#!/bin/false\n"), ("lib/libz.so", b"\x7fELF" + bytes(12) + b"\3\0"),
               ("etc/passwd", b"root:x:0:0::/:/bin/sh\n"), ("bin/modser", ours.read_bytes()[:1000]),
               mode="w:gz")
    old, new = (tar(("models/1/model.onnx", data), mode="w:gz") for data in (OTHER, ONNX))
    uri = give(server, *(layer(data, TAR + "+gzip") for data in (base, old, new)))
    puller.ok("pull", "m", uri)  # a later layer replaces a file
    assert is_gemm(puller, "m")


def test_model_pack_names_its_files(puller, server):
    puller.ok("pull", "m", give(
        server, layer(README, "application/vnd.cncf.model.doc.v1.raw", "README.md",
                      "org.cncf.model.filepath"),
        layer(ONNX, RAW, "net/model.onnx", "org.cncf.model.filepath")))
    assert is_gemm(puller, "m") and file_of(puller, "m") == "model.onnx"


def test_several_models_are_refused_by_their_names(puller, server):
    uri = give(server, layer(OTHER, TAR, "b.onnx"), layer(README, TAR, "README.md"),
               layer(tar(("x/a.onnx", ONNX), mode="w:gz")))
    said = puller.modser("pull", "m", uri)
    assert said.status != 0 and "b.onnx, x/a.onnx" in said.err and "--file" in said.err
    for words in (["m", uri + "#x/a.onnx"], ["m", uri + "#a.onnx"], ["--file", "a.onnx", "m", uri]):
        puller.ok("pull", *words)
        assert is_gemm(puller, "m") and file_of(puller, "m") == "a.onnx"
    said = puller.modser("pull", "m", uri + "#c.onnx")
    assert said.status != 0 and "NOT_FOUND" in said.err and "c.onnx" in said.err


def test_only_the_named_layer_is_downloaded(puller, server):
    other = layer(OTHER, TAR, "b.onnx")
    uri = give(server, other, layer(ONNX, TAR, "a.onnx"))
    puller.ok("pull", "--file", "a.onnx", "m", uri)
    assert is_gemm(puller, "m") and not asked(server, f"/v2/m/blobs/{digest_of(other[0])}")


def test_layers_without_a_model_are_refused(puller, server):
    said = puller.modser("pull", "m", give(
        server, layer(README, TAR, "README.md"), layer(tar(("x", README)), TAR)))
    assert said.status != 0 and "none of its layers" in said.err


def test_a_layer_of_zstd_is_refused_by_that_name(puller, server):
    said = puller.modser("pull", "m", give(
        server, layer(b"\x28\xb5\x2f\xfd" + bytes(100), TAR + "+zstd")))
    assert said.status != 0 and "zstd" in said.err


def test_the_digest_of_the_file_is_checked(puller, server):
    uri = give(server, layer(tar(("model.onnx", ONNX), mode="w:gz"), TAR + "+gzip"))
    said = puller.modser("pull", "--sha256", 64 * "0", "m", uri)
    sha256 = hashlib.sha256(ONNX).hexdigest()
    assert said.status == 7 and sha256 in said.err
    puller.ok("pull", "--sha256", sha256, "m", uri)
    assert is_gemm(puller, "m")


@pytest.mark.parametrize("member", [
    "/models/model.onnx", "../model.onnx", "models/../../model.onnx",
    link("model.onnx", "/etc/shadow"), link("model.onnx", "other", tarfile.LNKTYPE)])
def test_links_and_members_outside_are_no_models(puller, server, member):
    data = tar((member, ONNX) if isinstance(member, str) else member, ("README", README))
    said = puller.modser("pull", "m", give(server, layer(data), layer(README, TAR, "README.md")))
    assert said.status != 0 and "none of its layers" in said.err


def test_an_archive_that_unpacks_to_too_much_is_refused(puller, server):
    data = gzip.compress(tar(("big", bytes(200 << 20)), ("model.onnx", ONNX)))
    said = puller.modser("pull", "m", give(server, layer(data, TAR + "+gzip")))
    assert said.status != 0 and "TOO_LARGE" in said.err


@pytest.mark.parametrize("pack, cut", [(bytes, 100), (bytes, 600), (bytes, 1600),
                                       (gzip.compress, 20), (gzip.compress, 300)])
def test_a_truncated_archive_is_refused(puller, server, pack, cut):
    data = pack(tar(("README", README), ("model.onnx", ONNX), ("noise", OTHER)))[:cut]
    said = puller.modser("pull", "m", give(server, layer(data), layer(README, TAR, "README.md")))
    assert said.status != 0 and ("damaged" in said.err or "none of its layers" in said.err), said


def test_a_source_that_has_not_changed_is_not_downloaded_again(own_daemon, store,  # noqa: F811
                                                              server, folder):
    blob = tar(("models/model.onnx", ONNX), ("models/b.onnx", OTHER), mode="w:gz")
    uri = give(server, layer(blob, TAR + "+gzip"))
    config = folder / "modserd.conf"
    config.write_text(f'module m {{ source = "{uri}#model.onnx" poll = "5s" }}\n')
    daemon = own_daemon("--store", store, "--config", config)
    daemon.ok("wait", "m")
    harness.until(lambda: len(asked(server, "/v2/m/manifests/v1")) >= 2, "it polls again")
    assert len(asked(server, f"/v2/m/blobs/{digest_of(blob)}")) == 1


def test_a_real_registry(puller, folder):
    if REGISTRY is None:
        pytest.skip("no docker-registry: a real registry is not tested")
    data = tar(("models/model.onnx", ONNX), mode="w:gz")
    with DockerRegistry(folder) as registry:
        registry.push("models/gemm", "1", data, artifact(layer(data, TAR + "+gzip")))
        puller.ok("pull", "m", f"oci://{registry.host}/models/gemm:1")
    assert is_gemm(puller, "m")

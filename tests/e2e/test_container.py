"""examples/fleet/container: the image is built of the packages, upon Debian's own files, and a
daemon in it serves a module to the command line outside."""
import json
import os
import pathlib
import shutil
import subprocess

import harness
import pytest

FOLDER = harness.ROOT / "examples/fleet/container"
MOST_BYTES = 30e6  # as registries keep it

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not (shutil.which("buildah") and shutil.which("mmdebstrap")),
    reason="no root, buildah or mmdebstrap: no image is made")


def done(*words, timeout=900, **more):
    said = harness.run(*words, timeout=timeout, **more)
    assert said.status == 0, said
    return said.out.strip()


def buildah(store, *words, **more):
    return done("buildah", "--root", store / "root", "--runroot", store / "run",
                "--storage-driver", "vfs", *words, **more)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """(the store, the image's name)"""
    store = tmp_path_factory.mktemp("image")
    done(harness.ROOT / "scripts" / "package", store / "build", timeout=1500)
    context = store / "context"
    context.mkdir()
    for path in [*FOLDER.iterdir(), *(store / "build" / "packages").glob("modser*_amd64.deb")]:
        shutil.copy(path, context)
    done("mmdebstrap", "--quiet", "--variant=minbase", "bookworm", store / "debian.tar")
    base = buildah(store, "from", "scratch")
    buildah(store, "add", "-q", base, store / "debian.tar", "/")
    buildah(store, "commit", "-q", base, "localhost/debian")
    buildah(store, "bud", "--isolation", "chroot", "--build-arg", "BASE=localhost/debian",
            "-t", "modserd", context)
    yield store, "localhost/modserd"
    shutil.rmtree(store)


@pytest.fixture(scope="module")
def container(image):
    store, name = image
    made = buildah(store, "from", name)
    return store, made, pathlib.Path(buildah(store, "mount", made))


def test_it_is_small_and_has_no_compiler(image, container):
    store, name = image
    buildah(store, "push", "-q", name, f"oci-archive:{store}/packed.tar")
    assert (store / "packed.tar").stat().st_size < MOST_BYTES
    _, _, root = container
    programs = {p.name for p in (root / "usr/bin").iterdir()}
    assert programs == {"modserd", "modser", "chown"}


def test_each_library_that_is_wanted_is_there(container):
    _, _, root = container
    libraries = {p.name for p in root.rglob("*.so*")}
    for path in root.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        told = done("readelf", "-d", path)
        wanted = {line.split("[")[1].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line}
        assert wanted <= libraries, path


def test_a_daemon_in_it_serves_as_its_own_user(container, folder):
    store, made, _ = container
    folder.chmod(0o777)
    shutil.copy(harness.ZOO / "results.so", folder)
    os.chmod(folder / "results.so", 0o644)
    command = ["buildah", "--root", store / "root", "--runroot", store / "run", "--storage-driver",
               "vfs", "run", "--isolation", "chroot", "-v", f"{folder}:/run/modserd", made, "--",
               "/usr/bin/modserd", "--socket-mode", "0666", "--listen", "unix:/run/modserd/m.sock",
               "--store", "/var/lib/modserd", "--load", "results=/run/modserd/results.so"]
    with open(store / "log", "wb") as log, \
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log) as daemon:
        try:
            assert b"listening" in daemon.stdout.readline()
            host = ("-H", f"unix:{folder}/m.sock")
            done(harness.BIN / "modser", *host, "wait", "results")
            assert done(harness.BIN / "modser", *host, "call", "results:int") == "-42"
            pid = json.loads(done(harness.BIN / "modser", *host, "--json", "info"))["pid"]
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
            assert "Uid:\t1500\t1500" in status
            os.kill(pid, 15)
            assert daemon.wait(harness.PATIENCE) == 0
        finally:
            daemon.kill()

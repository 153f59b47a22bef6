"""What a machine's devices decide: which one of an index comes, and what is refused."""
import harness
import pytest
from bad_server import Server
from registry import INDEX, REGISTRY, DockerRegistry, chosen, digest_of, manifest
from signing import ARCH
from signing import manifest as edition
from signing import row
from test_pull import BYTES, FETCH, asked, store, works  # noqa: F401

STUB = harness.BUILD / "tests/runtime/cuda/libcuda_stub.so"
RIGHT = manifest(BYTES)
WRONG = manifest(b"for another machine")

pytestmark = pytest.mark.skipif(
    not FETCH.exists() or not STUB.exists(), reason="no modserd-fetch or no stand-in driver")


@pytest.fixture(params=["cuda", "nothing"])
def machine(request, own_daemon, store):  # noqa: F811
    """A daemon on a machine with a device of CUDA, of 9.0 or so, or without one."""
    driver = STUB if request.param == "cuda" else "/nowhere/libcuda.so"
    daemon = own_daemon("--store", store, "--fetch-retry", "5ms",
                        env={"MODSERD_LIBCUDA": str(driver)})
    daemon.has_cuda = request.param == "cuda"
    return daemon


@pytest.fixture
def server():
    with Server() as s:
        yield s


def offers(machine):
    """One for a CPU, one for CUDA, one for a device that nobody has."""
    usual, cuda = (WRONG, RIGHT) if machine.has_cuda else (RIGHT, WRONG)
    return chosen((ARCH, "", "", usual), (ARCH, "cuda", "sm_999", WRONG),
                  (ARCH, "cuda", "sm_20", cuda))


def test_an_index_is_chosen_from_by_device_and_capability(machine, server):
    for body in (RIGHT, WRONG):
        server.give(f"/v2/m/manifests/{digest_of(body)}", body)
    server.give("/v2/m/manifests/1", offers(machine))
    server.give(f"/v2/m/blobs/{digest_of(BYTES)}", BYTES)
    machine.ok("pull", "one", f"oci://127.0.0.1:{server.http.server_port}/m:1")
    assert works(machine, "one")
    assert not asked(server, f"/v2/m/manifests/{digest_of(WRONG)}")


def test_a_real_registry_keeps_what_is_chosen_by(machine, folder):
    if REGISTRY is None:
        pytest.skip("no docker-registry: a real registry is not tested")
    with DockerRegistry(folder) as registry:
        for tag, data, body in (("a", BYTES, RIGHT), ("b", b"for another machine", WRONG)):
            registry.push("m", tag, data, body)
        registry.put("m/manifests/1", offers(machine), INDEX)
        machine.ok("pull", "one", f"oci://{registry.host}/m:1")
    assert works(machine, "one")


def test_a_manifest_for_another_device_is_refused_by_what_there_is(machine, server):
    platform = {"arch": ARCH, "device": "cuda", "capability": "sm_999"}
    server.give("/digits.so.json", edition(row("digits.so", BYTES), name="digits", platform=platform))
    said = machine.modser("pull", "digits", server.give("/digits.so", BYTES))
    assert said.status == 8 and "UNSUPPORTED" in said.err and "cuda sm_999" in said.err
    assert ("cuda 9." in said.err or "cuda 8." in said.err) == machine.has_cuda

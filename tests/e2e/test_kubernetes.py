"""examples/fleet/kubernetes, as far as it can be judged without a cluster."""
import http.client
import json
import shutil
import signal

import harness
import pytest
from test_http import http_of, start

FOLDER = harness.ROOT / "examples/fleet/kubernetes"
CORPUS = harness.ROOT / "tests/corpus/onnx"

pytestmark = pytest.mark.skipif(
    not shutil.which("kubectl"), reason="no kubectl: the manifests are not read")


def kubectl(*words):
    said = harness.run("kubectl", *words)
    assert said.status == 0, said
    return said.out


def read(name):
    """A manifest as it is written."""
    return json.loads(kubectl("label", "--local", "-f", FOLDER / name, "-o", "json", "a=b"))


def pod():
    return read("daemonset.yaml")["spec"]["template"]["spec"]


def daemon_of(spec):
    return next(c for c in spec["containers"] if c["name"] == "modserd")


def fields(value, at=""):
    """The paths of all that is in @value."""
    found = {at}
    rows = value.items() if isinstance(value, dict) else (
        enumerate(value) if isinstance(value, list) else ())
    for key, inner in rows:
        found |= fields(inner, f"{at}/{key}")
    return found


def ms(text):
    return float(text.removesuffix("s")) * 1000


def test_kubectl_builds_all_of_it():
    built = kubectl("kustomize", FOLDER)
    kinds = {line.partition(" ")[2] for line in built.splitlines() if line.startswith("kind:")}
    assert kinds == {"ConfigMap", "DaemonSet", "Service"}
    assert "name: modserd-" in built  # of the hash, where the DaemonSet names it, too


def test_no_field_is_unknown_to_kubectl():
    """It drops what its own types lack, where it has to read them."""
    typed = kubectl("set", "env", "--local", "-f", FOLDER / "daemonset.yaml", "-o", "json", "A=b")
    lost = fields(read("daemonset.yaml")) - fields(json.loads(typed)) - {"/metadata/labels/a",
                                                                          "/metadata/labels"}
    assert not lost


def test_ports_and_volumes_have_the_names_that_are_asked_for():
    spec = pod()
    container = daemon_of(spec)
    ports = {p["name"]: p["containerPort"] for p in container["ports"]}
    assert {p["targetPort"] for p in read("service.yaml")["spec"]["ports"]} == set(ports)
    assert all(container[probe]["httpGet"]["port"] in ports
               for probe in ("startupProbe", "readinessProbe", "livenessProbe"))
    assert {m["name"] for m in container["volumeMounts"]} == {v["name"] for v in spec["volumes"]}
    conf = (FOLDER / "modserd.conf").read_text()
    assert f":{ports['modser']}\"" in conf and f":{ports['http']}\"" in conf


def test_the_grace_period_is_longer_than_a_drain():
    conf = dict(line.split(" = ", 1) for line in (FOLDER / "modserd.conf").read_text().splitlines()
                if line.startswith("drain"))
    drain_ms = sum(ms(conf[key].strip('"')) for key in ("drain-delay", "drain"))
    assert pod()["terminationGracePeriodSeconds"] * 1000 >= drain_ms + 5000


def test_the_daemon_takes_the_configuration():
    said = harness.run(harness.BIN / "modserd", "--check-config", FOLDER / "modserd.conf")
    assert said.status == 0, said


def test_probes_are_answered_as_kubernetes_wants_them(folder):
    """By a daemon with that configuration, but for its addresses, folders and model."""
    if "--http" not in harness.run(harness.BIN / "modserd", "--help").out:
        pytest.skip("modserd was built without llhttp: no HTTP")
    text = (FOLDER / "modserd.conf").read_text()
    text = "".join(line + "\n" for line in text.splitlines() if not line.startswith(
        ("listen", "http", "store", "module", "drain-delay")))
    (folder / "m.conf").write_text(text + f"module digits {{ file = \"{harness.ZOO}/results.so\" }}\n")
    container = daemon_of(pod())
    paths = {probe: container[probe]["httpGet"]["path"]
             for probe in ("startupProbe", "readinessProbe", "livenessProbe")}
    with start("--config", folder / "m.conf", "--drain-delay", "1h") as daemon:

        def status(probe):
            asked = http.client.HTTPConnection(*http_of(daemon), timeout=harness.PATIENCE)
            asked.request("GET", paths[probe])
            said = asked.getresponse().status
            asked.close()
            return said

        harness.until(lambda: status("startupProbe") == 200, "the model is there")
        assert status("readinessProbe") == status("livenessProbe") == 200
        daemon.process.send_signal(signal.SIGTERM)
        harness.until(lambda: status("readinessProbe") == 503, "it says that it leaves")
        assert status("livenessProbe") == 200


def test_the_runtime_for_kserve_starts_a_daemon_that_answers_its_protocol(folder, tmp_path):
    """With its own arguments, but for the address, as KServe fills them in."""
    spec = read("kserve/runtime.yaml")["spec"]
    service = read("kserve/digits.yaml")
    model = service["spec"]["predictor"]["model"]
    assert model["modelFormat"]["name"] in {f["name"] for f in spec["supportedModelFormats"]}
    assert model["protocolVersion"] in spec["protocolVersions"]
    [container] = spec["containers"]
    assert container["name"] == "kserve-container"
    words = [word.replace("{{.Name}}", service["metadata"]["name"])
             .replace("/mnt/models/model.onnx", str(CORPUS / "accept_gemm.bin"))
             for word in container["args"]
             if not word.startswith(("--listen=", "--http=", "--drain-delay="))]
    with start(*(part for word in words for part in word.split("=", 1))) as daemon:
        asked = http.client.HTTPConnection(*http_of(daemon), timeout=harness.PATIENCE)

        def said(method, path, body=None):
            asked.request(method, path, body and json.dumps(body))
            answer = asked.getresponse()
            return answer.status, answer.read()

        for probe in ("readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            harness.until(lambda path=path: said("GET", path)[0] == 200, f"{path} is 200")
        assert said("GET", "/v2/health/ready")[0] == said("GET", "/v2/models/digits/ready")[0] == 200
        row = {"name": "x", "shape": [1, 3], "datatype": "FP32", "data": [1, 2, 3]}
        status, body = said("POST", "/v2/models/digits/infer", {"inputs": [row]})
        asked.close()
        assert status == 200 and json.loads(body)["outputs"][0]["shape"] == [1, 2]

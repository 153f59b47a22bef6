"""Clients of the Open Inference Protocol that others wrote, unchanged."""
import os
import subprocess
import sys

import numpy
import pytest

from test_http import http_of
from test_http_infer import called, daemon  # noqa: F401

CLIENT = """
import sys, numpy, tritonclient.http as triton
host, out = sys.argv[1:]
x = numpy.load(out + "/0.npy")
with triton.InferenceServerClient(host) as client:
    assert client.is_server_live() and client.is_model_ready("mlp")
    assert client.get_model_metadata("mlp")["inputs"][0]["name"] == "x"
    for binary in (True, False):
        given = triton.InferInput("x", list(x.shape), "FP32")
        given.set_data_from_numpy(x, binary_data=binary)
        wanted = triton.InferRequestedOutput("output0", binary_data=binary)
        result = client.infer("mlp", [given], outputs=[wanted], request_id="r")
        assert result.get_response()["id"] == "r"
        numpy.save(f"{out}/client{binary}.npy", result.as_numpy("output0"))
"""


KSERVE = """
import asyncio, sys, numpy, kserve
url, out = "http://" + sys.argv[1], sys.argv[2]
x = numpy.load(out + "/0.npy")
async def main():
    client = kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2", retries=0))
    assert await client.is_server_ready(url) and await client.is_model_ready(url, "mlp")
    for binary in (True, False):
        given = kserve.InferInput("x", list(x.shape), "FP32")
        given.set_data_from_numpy(x, binary_data=binary)
        asked = kserve.InferRequest("mlp", [given], parameters={"binary_data_output": binary})
        got = await client.infer(url, asked, model_name="mlp")
        numpy.save(f"{out}/client{binary}.npy", got.outputs[0].as_numpy().astype("float32"))
asyncio.run(main())
"""
CLIENTS = {"tritonclient.http": ("MODSERD_TRITONCLIENT", CLIENT),
           "kserve": ("MODSERD_KSERVE", KSERVE)}


@pytest.mark.parametrize("package", CLIENTS)
def test_a_strange_client_has_the_same_bits_as_a_frame(daemon, tmp_path, package):  # noqa: F811
    variable, script = CLIENTS[package]
    python = os.environ.get(variable, sys.executable)
    if subprocess.run([python, "-c", f"import {package}"], capture_output=True,
                      check=False).returncode != 0:
        pytest.skip(f"no {package} ({variable} names a Python that has it)")
    x = numpy.random.default_rng(7).standard_normal((5, 16)).astype("float32")
    host, port = http_of(daemon)
    expected = called(daemon, tmp_path, "mlp:main", x)
    subprocess.run([python, "-c", script, f"{host}:{port}", str(tmp_path)], check=True)
    for binary_data in (True, False):
        assert numpy.load(tmp_path / f"client{binary_data}.npy").tobytes() == expected


BFLOAT16 = """
import sys, ml_dtypes, numpy, tritonclient.http as triton
from tritonclient.utils import InferenceServerException
arrays = {name: numpy.linspace(-3, at, 37).astype(ml_dtypes.bfloat16) for name, at in (("A", 3), ("B", 9))}
given = [triton.InferInput(name, [37], "BF16") for name in arrays]
for it, array in zip(given, arrays.values()):
    it.set_data_from_numpy(array)
with triton.InferenceServerClient(sys.argv[1]) as client:
    for wanted in (None, [triton.InferRequestedOutput("C")]):
        got = client.infer("dtypes:f_bfloat16", given, outputs=wanted).as_numpy("C")
        assert got.dtype == ml_dtypes.bfloat16 and (got == arrays["A"] * arrays["B"]).all(), got
    try:
        client.infer("dtypes:f_bfloat16", given, outputs=[triton.InferRequestedOutput("C", binary_data=False)])
    except InferenceServerException as error:
        print(error)
"""


def test_tritonclient_s_bfloat16_goes_as_bytes_and_as_json_is_refused_with_what_to_ask_for(daemon):  # noqa: F811
    python = os.environ.get("MODSERD_TRITONCLIENT", sys.executable)
    if subprocess.run([python, "-c", "import ml_dtypes, tritonclient.http"], capture_output=True,
                      check=False).returncode != 0:
        pytest.skip("no tritonclient with ml_dtypes (MODSERD_TRITONCLIENT names a Python that has them)")
    host, port = http_of(daemon)
    said = subprocess.run([python, "-c", BFLOAT16, f"{host}:{port}"], check=True, capture_output=True, text=True)
    assert "JSON has no numbers of bfloat16: request binary_data" in said.stdout, said

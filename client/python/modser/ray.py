"""Ray Serve: replicas that call a modserd on their machine.

    from ray import serve
    import modser.ray
    handle = serve.run(modser.ray.app("digits.so", "main", num_replicas=2))
    y = handle.remote(x).result()

Ray starts the replicas, scales them, routes to them and joins calls. modserd runs the model in
its own processes, as long as the replica lives. ``pip install modser[ray]``.
"""
from __future__ import annotations

import asyncio
import inspect
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
from typing import Any, Optional

import numpy as np
from ray import serve

from . import _batching, aio
from ._client import connect
from ._errors import BadArgument, ConnectionLost, ProtocolError

START_TIMEOUT = 60.0  # seconds until the daemon must report that it listens
NAME = "model"  # the module's name in the replica's own daemon


class _OwnDaemon:
    """The replica's own daemon. It ends with the replica, also when that is killed."""

    def __init__(self, modserd: str) -> None:
        path = shutil.which(modserd)
        if path is None:
            raise FileNotFoundError(
                f"{modserd}: not found; pass its path (modserd=) or the address of a daemon (host=)"
            )
        self._folder = tempfile.TemporaryDirectory(prefix="modser-ray.")
        self.host = f"unix:{self._folder.name}/m.sock"
        config = pathlib.Path(self._folder.name, "empty.conf")
        config.touch()
        words = ["setpriv", "--pdeathsig", "TERM", path, "--listen", self.host]
        words += ["--config", str(config), "--store", f"{self._folder.name}/store"]
        self._process = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        if not select.select([output], [], [], START_TIMEOUT)[0] or not os.read(output, 4096):
            self.end()
            raise RuntimeError(f"{path}: did not start; read the replica's log")

    def end(self) -> None:
        self._process.terminate()
        self._process.wait()
        self._folder.cleanup()


class Model:
    """A replica: a function of a module; ``app()`` makes deployments of it."""

    def __init__(
        self,
        source: str,
        function: str,
        name: str = NAME,
        host: Optional[str] = None,
        modserd: str = "modserd",
        sha256: Optional[str] = None,
        batch: int = 0,
        within: float = 0.0,
    ) -> None:
        self._own = _OwnDaemon(modserd) if host is None else None
        self._host = host if self._own is None else self._own.host
        self._name, self._function = name, function
        self._client: Optional[aio.Client] = None
        self._connecting = asyncio.Lock()
        with connect(self._host) as client:
            if "://" in source:
                client.pull(name, source, sha256=sha256)
            else:
                client.load(name, source, replace=True)
            found = [f for f in client.functions(name) if f["name"] == function]
        if not found:
            raise BadArgument(f"{source} has no function {function}")
        self._params = found[0].get("params") or ()
        self._batch, self._joiner = batch, _batching.Batcher(self._call)
        if batch > 1:
            if not _batching.has_rows(self._params):
                raise BadArgument(
                    f"{function}: batch= joins calls by the first extent, which is not the same "
                    f"open one in all its tensors: {found[0].get('signature')}"
                )
            self._joined.set_max_batch_size(batch)  # type: ignore[attr-defined]
            self._joined.set_batch_wait_timeout_s(within)  # type: ignore[attr-defined]

    async def _call(self, *args: Any) -> Any:
        async with self._connecting:
            if self._client is None:
                self._client = await aio.connect(self._host)
        client = self._client
        try:
            return await client[self._name][self._function](*args)
        except (ConnectionLost, ProtocolError):
            if self._client is client:
                self._client = None  # the next call connects again, if the daemon is there
            raise

    @serve.batch
    async def _joined(self, calls: list[tuple[Any, ...]]) -> list[_batching.Outcome]:
        return await self._joiner.run(calls)

    async def predict(self, *args: Any) -> Any:
        """Call the function with numpy arrays and its other arguments."""
        if self._batch <= 1:
            return await self._call(*args)
        result, error = await self._joined(tuple(np.asarray(a) for a in args))
        if error is not None:
            raise error
        return result

    async def __call__(self, *args: Any) -> Any:
        """By a handle: the function itself. By HTTP: ``{"inputs": [...]}`` with arrays as nested
        lists; the answer is ``{"outputs": [...]}``."""
        if len(args) != 1 or not hasattr(args[0], "scope"):
            return await self.predict(*args)
        inputs = (await args[0].json())["inputs"]
        dtypes = [p.get("dtype") for p in self._params]
        if len(inputs) != len(dtypes):
            raise BadArgument(f"{self._function}: expected {len(dtypes)} inputs, got {len(inputs)}")
        y = await self.predict(*(np.asarray(x, dtype) for x, dtype in zip(inputs, dtypes)))
        parts = y if isinstance(y, tuple) else (y,)
        return {"outputs": [np.asarray(part).tolist() for part in parts]}

    def check_health(self) -> None:
        """For Ray: an exception here makes Ray replace the replica."""
        with connect(self._host, deadline=10) as client:
            state = client.describe(self._name)["state"]
        if state not in ("READY", "ASLEEP"):
            raise RuntimeError(f"{self._name} is {state}")

    def __del__(self) -> None:
        own = getattr(self, "_own", None)
        if own is not None:
            own.end()


#: The options of app() that Model gets; all others are Ray's.
_MODEL_OPTIONS = tuple(inspect.signature(Model).parameters)[2:]


def app(source: str, function: str, **options: Any) -> Any:
    """A Serve application: replicas that call ``function`` of the module at ``source``, a path on
    the replica's machine or a URI of ``modser pull``.

    Each replica starts its own daemon (``modserd=``), or uses the one at ``host=``, with the
    module name ``name``; ``sha256`` is the expected digest. ``batch``: Ray joins up to so many
    calls that arrive ``within`` seconds, for functions whose tensors all begin with an open
    extent. All other options are Ray's: ``num_replicas``, ``autoscaling_config``,
    ``max_ongoing_requests``, ...
    """
    own = {key: options.pop(key) for key in _MODEL_OPTIONS if key in options}
    deployment: Any = serve.deployment(Model, **options)
    return deployment.bind(source, function, **own)

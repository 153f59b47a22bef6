"""What the scripts here share: daemons that come back at their addresses, haproxy in front of them, and
clients that call through it."""
import ast
import contextlib
import http.client
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "etcd"))  # where haproxy.py is

from haproxy import rows  # noqa: E402

ROOT = HERE.parents[2]
BIN = pathlib.Path(os.environ.get("BIN", ROOT / "build/bin"))
DIGITS = [ROOT / "build/demo/digits.so", "main", f"@{ROOT}/build/demo/x.npy"]
PATIENCE = 120  # seconds: only what hangs takes so long


def fail(why):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {why}")


def until(holds, what):
    """Look again and again; that is how one follows haproxy's word."""
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            fail(f"waited {PATIENCE} s: {what}")
        time.sleep(0.05)


def words_of_run():
    """LIBRARY, FUNCTION and its arguments: of the command line, else the classifier of scripts/demo."""
    library, *words = sys.argv[1:] or DIGITS
    if shutil.which("haproxy") is None:
        fail("haproxy is not there: apt-get install haproxy")
    if not os.path.exists(library):
        fail(f"{library} is not there: run scripts/demo, or name another library")
    if not words:
        fail("expected LIBRARY FUNCTION ARGUMENT..., or no words at all")
    return library, words


class Daemon:
    """One that comes back at the addresses that it had."""

    def __init__(self, folder, name, modules):
        """@modules: {name: library}."""
        self.folder, self.name = folder, name
        self.local = f"unix:{folder}/{name}.sock"
        self.loads = [word for module, library in modules.items()
                      for word in ("--load", f"{module}={library}")]
        self.serves = self.web = self.agent = "127.0.0.1:0"
        self.n_before = 0  # calls that it had answered when it was ended
        self.start()

    def start(self):
        (self.folder / "empty.conf").touch()
        with open(self.folder / f"{self.name}.log", "ab") as log:
            self.process = subprocess.Popen(
                [BIN / "modserd", "--listen", f"tcp://{self.serves}", "--http", self.web,
                 "--agent-check", self.agent, "--listen", self.local, "--config",
                 self.folder / "empty.conf", "--drain-delay", "1m", *self.loads],
                stdout=subprocess.PIPE, stderr=log, bufsize=0, env=os.environ | {"MODSERD_STORE": "none"})
        said = dict(self._address() for _ in range(4))
        self.serves, self.web, self.agent = said["tcp"], said["http"], said["agent"]

    def _address(self):
        """(scheme, the rest) of the next address that it says it listens at."""
        if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
            fail("modserd said nothing")
        line = self.process.stdout.readline().decode().strip()
        if not line.startswith("listening "):
            fail(f"modserd did not start; {self.folder}/{self.name}.log says why")
        scheme, _, rest = line.removeprefix("listening ").partition(":")
        return scheme, rest.removeprefix("//")

    def is_serving(self):
        """It answers its agent check as one that takes calls."""
        host, _, port = self.agent.rpartition(":")
        with socket.create_connection((host, int(port)), PATIENCE) as s:
            return s.recv(64).startswith(b"up")

    def n_answered(self, module=""):
        """How many calls it has answered with a result since it was started, of @module or of all."""
        told = subprocess.run([BIN / "modser", "-H", self.local, "metrics"], capture_output=True,
                              text=True, timeout=PATIENCE, check=True).stdout
        return sum(int(line.rpartition(" ")[2]) for line in told.splitlines()
                   if line.startswith(f"modserd_calls_total{{module=\"{module}") and 'code="OK"' in line)

    def n_in_all(self):
        return self.n_before + self.n_answered()

    def say_end(self):
        self.process.send_signal(signal.SIGTERM)

    def wait(self):
        return self.process.wait(PATIENCE)


class Proxy:
    """haproxy, on sockets that were bound here: nobody else can have their ports."""

    def __init__(self, folder, daemons, templates, modules=("m",)):
        """@modules: who each have an address of their own in front."""
        self.folder, self.backends = folder, ["daemons", "web"]
        fronts = {m: socket.create_server(("127.0.0.1", 0), backlog=1024) for m in [*modules, "web"]}
        self.at = {m: "127.0.0.1:%d" % front.getsockname()[1] for m, front in fronts.items()}
        bound = {m: f"fd@{front.fileno()}" for m, front in fronts.items()}
        agents = {d.name: f"agent-port {d.agent.rpartition(':')[2]}" for d in daemons}
        fills = {"FOLDER": folder, "FRONT": bound[modules[0]], "WEB_FRONT": bound["web"],
                 "BINDS": "".join(f"  bind {bound[m]} name {m}\n" for m in modules),
                 "SERVERS": "".join(f"  server {d.name} {d.serves} {agents[d.name]}\n" for d in daemons),
                 "WEB_SERVERS": "".join(f"  server {d.name} {d.web} {agents[d.name]}\n" for d in daemons)}
        words = ["haproxy", "-db"]
        for template in templates:
            text = (HERE / template).read_text()
            for word, value in fills.items():
                text = text.replace(f"@{word}@", str(value))
            file = folder / template.removesuffix(".in")
            file.write_text(text)
            words += ["-f", file]
        with open(folder / "haproxy.log", "wb") as log:
            self.process = subprocess.Popen(words, stderr=log, stdout=log,
                                            pass_fds=[f.fileno() for f in fronts.values()])

    def states(self, name):
        """What it thinks of a daemon: (status, sessions now, sessions in all) of each backend."""
        try:
            found = rows(self.folder / "stats.sock", "show stat")
        except OSError:  # it starts yet
            return []
        return [(row["status"], int(row["scur"]), int(row["stot"])) for row in found
                if row["svname"] == name and row["pxname"] in self.backends]

    def wait_until_all(self, daemon, holds, what):
        until(lambda: len(found := self.states(daemon.name)) == len(self.backends) and
              all(holds(*state) for state in found), f"{daemon.name}: {what}")

    def wait_up(self, daemon):
        self.wait_until_all(daemon, lambda status, *_: status.startswith(("UP", "no check")), "is up")
        until(daemon.is_serving, f"{daemon.name} is ready")

    def wait_drained(self, daemon):
        """By HTTP its own check may have seen it first: it is DOWN for that."""
        self.wait_until_all(daemon, lambda status, now, _: status.startswith(("DRAIN", "DOWN")) and now == 0,
                            "drains, and nobody is there any more")


class Load:
    """Clients that call for as long as they may: @by_modser by modser, a connection for each call, and
    @by_http by HTTP, each on one connection."""

    def __init__(self, proxy, words, by_modser, by_http):
        self.words, self.web = words, proxy.at["web"]
        self.address = proxy.at[words[0].partition(":")[0]]
        self.n_answered, self.failed, self.ends = {"modser": 0, "HTTP": 0}, [], threading.Event()
        self.lock = threading.Lock()
        self.infer = infer_of(self.web, words) if by_http else None
        works = [self._work_by_modser] * by_modser + [self._work_by_http] * by_http
        self.threads = [threading.Thread(target=work) for work in works]
        for thread in self.threads:
            thread.start()

    def _note(self, kind, why):
        with self.lock:
            if why is None:
                self.n_answered[kind] += 1
            else:
                self.failed.append(f"{kind}: {why}")

    def _work_by_modser(self):
        command = [BIN / "modser", "-H", f"tcp://{self.address}", "call", *self.words]
        while not self.ends.is_set():
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
            self._note("modser", None if done.returncode == 0 else done.stderr.strip())

    def _work_by_http(self):
        to = http.client.HTTPConnection(self.web, timeout=PATIENCE)
        while not self.ends.is_set():
            try:
                to.request("POST", *self.infer)
                answer = to.getresponse()
                said = answer.read()
                self._note("HTTP", None if answer.status == 200 else f"{answer.status} {said[:200]}")
            except (OSError, http.client.HTTPException) as error:
                to.close()
                self._note("HTTP", repr(error))
        to.close()

    def n(self):
        return sum(self.n_answered.values())

    def wait_for_more(self):
        """Some calls more are answered: the load is there whatever else happens."""
        enough = self.n() + 5 * len(self.threads)
        until(lambda: self.n() + len(self.failed) >= enough, "calls go on")

    def end(self):
        self.ends.set()
        for thread in self.threads:
            thread.join()


def infer_of(address, words):
    """The path, the body and the fields of a request of the Open Inference Protocol that calls @words[0] with
    the arrays that the others (@FILE.npy each) name, as bytes behind the JSON."""
    path = f"/v2/models/{words[0].replace(':', '%3A')}"
    inputs, arrays = described(address, path)["inputs"], words[1:]
    if len(inputs) != len(arrays):
        fail(f"{words[0]}: expected {len(inputs)} arrays, got {len(arrays)}")
    rows, bulk = [], b""
    for row, word in zip(inputs, arrays):
        shape, data = array_of(word.removeprefix("@"))
        rows.append({"name": row["name"], "datatype": row["datatype"], "shape": shape,
                     "parameters": {"binary_data_size": len(data)}})
        bulk += data
    said = json.dumps({"inputs": rows}).encode()
    return f"{path}/infer", said + bulk, {"Inference-Header-Content-Length": str(len(said))}


def described(address, path):
    """What is said by HTTP of the model at @path."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=PATIENCE)) as to:
        try:
            to.request("GET", path)
            answer = to.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            fail(f"http://{address}{path}: {error!r}")
    if answer.status != 200:
        fail(f"http://{address}{path}: {answer.status} {said.decode(errors='replace')[:200]}")
    return json.loads(said)


def array_of(path):
    """(shape, bytes) of an .npy file."""
    with open(path, "rb") as file:
        head = file.read(10)
        said = ast.literal_eval(file.read(int.from_bytes(head[8:10], "little")).decode())
        if said["fortran_order"]:
            fail(f"{path}: expected rows one behind the other (C order)")
        return list(said["shape"]), file.read()

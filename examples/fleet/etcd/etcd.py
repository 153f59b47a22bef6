"""What the scripts here say to etcd and to a daemon: etcdctl and `modser --json`, nothing else.

Keys: modserd/daemons/NAME is what one daemon says of itself, for as long as its lease lives;
modserd/rollouts/MODULE is what the daemons are to serve under that name."""
import base64
import hashlib
import json
import os
import pathlib
import subprocess

BIN = pathlib.Path(os.environ.get("BIN", pathlib.Path(__file__).resolve().parents[3] / "build/bin"))
DAEMONS, ROLLOUTS = "modserd/daemons/", "modserd/rollouts/"
PATIENCE_S = 5  # for one word with etcd or with a daemon
NOBODY = 3  # modser's exit code when nobody is there


class Unreachable(Exception):
    """etcd does not answer, or refuses."""


class Silent(Exception):
    """The daemon is there, and gives no answer."""


def ctl(*words, text=None):
    """etcdctl's answer. It has a time-out of its own, which not all of its commands heed."""
    try:
        done = subprocess.run(["etcdctl", "-w", "json", *map(str, words)], input=text,
                              capture_output=True, text=True, timeout=PATIENCE_S,
                              env=os.environ | {"ETCDCTL_API": "3"})
    except subprocess.TimeoutExpired:
        raise Unreachable([f"etcd has not answered for {PATIENCE_S} s"]) from None
    if done.returncode != 0:
        raise Unreachable(done.stderr.strip().splitlines()[-1:] or ["etcdctl failed"])
    return json.loads(done.stdout) if done.stdout.startswith("{") else {}


def below(prefix):
    """The values of all keys that begin so, by the rest of their names."""
    said = ctl("get", "--prefix", prefix)
    found = {}
    for pair in said.get("kvs", []):
        name = base64.b64decode(pair["key"]).decode().removeprefix(prefix)
        found[name] = json.loads(base64.b64decode(pair.get("value", "")) or "null")
    return found


def entry(key):
    """(its value, its revision); (None, 0): there is none."""
    for pair in ctl("get", "--", key).get("kvs", []):
        return json.loads(base64.b64decode(pair["value"])), pair["mod_revision"]
    return None, 0


def replace(key, value, revision):
    """Write it, if it still is what it was at @revision; say its new revision, or None."""
    key = json.dumps(key)
    said = ctl("txn", text=f'mod({key}) = "{revision}"\n\nput {key} {json.dumps(json.dumps(value))}\n\n\n')
    return said["header"]["revision"] if said.get("succeeded") else None


def share(name):
    """The daemon's place among 100: it is in the first N percent when that is below N."""
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % 100


class Daemon:
    """One daemon, by modser."""

    def __init__(self, host):
        self.host = host

    def modser(self, *words, deadline=f"{PATIENCE_S}s"):
        return subprocess.run([BIN / "modser", "-H", self.host, "--json", "--deadline", deadline,
                               *map(str, words)], capture_output=True, text=True)

    def ask(self, *words):
        """What it says; None: it is not there."""
        done = self.modser(*words)
        if done.returncode not in (0, NOBODY):
            raise Silent(done.stderr.strip())
        return json.loads(done.stdout) if done.returncode == 0 else None

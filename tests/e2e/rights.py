"""What the tests of rights share: a second reading of docs/reference/rights.md, which shares no code with
the daemon, and requests for every method of the table."""
import fnmatch
import hashlib

import harness
import msgpack
from wire import RESIDENT, UPLOAD, Failure, Wire, tensor_ext

RIGHTS = ("lookup", "call", "load", "read", "admin")
STALE = msgpack.ExtType(UPLOAD, bytes(8))
TENSOR = tensor_ext(RESIDENT, "f4", [1])

# A request for each method that changes nothing where it is allowed; NAME stands for the module.
NAME = object()
REQUESTS = {
    "session.hello": [],
    "ping": [],
    "cancel": [1 << 40],
    "server.info": [],
    "server.metrics": [],
    "server.monitor": [],
    "server.slowlog": [],
    "server.reload": [],
    "client.list": [],
    "client.kill": [1 << 40],
    "acl.whoami": [],
    "acl.list": [],
    "acl.log": [],
    "acl.dry_run": ["anonymous", "ping"],
    "module.upload": ["abort", STALE],
    "module.load": [NAME, STALE],
    "module.pull": [NAME, "nothing:"],
    "module.read": [NAME],
    "module.rollback": [NAME],
    "module.sleep": [NAME, "one parameter too many"],
    "module.unload": [NAME, "one parameter too many"],
    "store.list": [],
    "store.verify": [],
    "store.collect": [],
    "store.pin": ["anything", True],
    "module.instance": [NAME, "one parameter too many"],
    "instance.free": [1],
    "object.free": [1],
    "object.describe": [1],
    "module.list": [],
    "module.describe": [NAME],
    "module.wait": [NAME],
    "module.logs": [NAME],
    "module.plan": [NAME],
    "module.profile": [NAME, 1],
    "function.list": [NAME],
    "function.get": [NAME, "echo"],
    "function.free": [1],
    "call": [NAME, 1],
    "tensor.alloc": [NAME],
    "tensor.copy": [TENSOR, TENSOR],
    "tensor.fill": [TENSOR, 1],
    "tensor.free": [1],
    "channel.open": [NAME, "one parameter too many"],
    "segment.add": ["no number"],
    "segment.remove": [1 << 15],
}

OF_FUNCTIONS = ("call", "module.profile")  # the first parameter is "module:function"


def methods():
    """{name: right} of what a client may ask for, as the daemon tells it."""
    api = harness.run(harness.BIN / "modserd", "--api").out.splitlines()
    rows = [line.split("\t") for line in api]
    return {name: right for name, where, right, *_ in rows if where != "L"}


def request(method, module):
    name = f"{module}:echo" if method in OF_FUNCTIONS else module
    return [name if p is NAME else p for p in REQUESTS[method]]


def token_of(user):
    return f"the token of {user}"


class User:
    """A line of the file: rights for names, shown by a token."""

    def __init__(self, name, rights, names=()):
        self.name, self.rights, self.names = name, set(rights), names

    def line(self, shown=None):
        """@shown: what it is known by; None: a token."""
        if shown is None:
            digest = hashlib.sha256(token_of(self.name).encode()).hexdigest()
            shown = "" if self.name == "anonymous" else f"token:sha256={digest}"
        rights = " ".join(f"+@{r}" for r in sorted(self.rights))
        return f"user {self.name} {shown} {rights} {' '.join(self.names or ['*/*'])}\n"

    def covers(self, method, right, module):
        if not self.names or NAME not in REQUESTS[method]:
            return True
        for pattern in self.names:
            of_module, of_function = pattern.split("/")
            if not fnmatch.fnmatchcase(module, of_module):
                continue
            if method in (*OF_FUNCTIONS, "function.get"):
                if fnmatch.fnmatchcase("echo", of_function):
                    return True
            elif right not in ("load", "read") or of_function == "*":
                return True
        return False

    def may(self, method, right, module, withheld=()):
        if right == "any":
            return True
        return right in self.rights - set(withheld) and self.covers(method, right, module)


def connect(daemon, user, host=None):
    """A connection that is @user's; anonymous shows nothing."""
    wire = Wire(host or daemon.host)
    if user != "anonymous":
        wire.ask("session.hello", {"token": token_of(user)})
    return wire


USERS = [
    User("nothing", []),
    *[User(f"only-{right}", [right]) for right in RIGHTS],
    User("all", RIGHTS),
    User("mine", RIGHTS, ["mine*/*"]),
    User("echo", RIGHTS, ["mine/ec*o", "absent/nothing"]),
    User("caller", ["lookup", "call"], ["m?ne/*", "theirs/none"]),
]
# There and not; the user "mine" may have to do with the first two.
MODULES = ("mine", "mine-absent", "theirs", "absent")


def whole(*lines):
    """A file of rights of these lines."""
    return "".join(lines) + "end\n"


def lines(users):
    return whole(*(u.line() for u in users))


def refused(wire, method, module):
    """Why it is refused; None: it is not, whatever else becomes of it."""
    try:
        wire.ask(method, *request(method, module))
    except Failure as failure:
        return failure.message if failure.name == "REFUSED" else None
    return None


def expect_rights(wire, user, withheld=()):
    """Each method for each module, by what the file says; and nobody learns what is there."""
    for method, right in methods().items():
        texts = set()
        for module in MODULES if NAME in REQUESTS[method] else MODULES[:1]:
            why = refused(wire, method, module)
            allowed = user.may(method, right, module, withheld)
            assert (why is None) == allowed, (user.name, method, module, why)
            if why is not None:
                texts.add(why.replace(f" {module}", " NAME"))
        assert len(texts) <= 1, texts

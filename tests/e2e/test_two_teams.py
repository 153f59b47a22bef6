"""docs/how-to/two-teams.md as it is written, and the certificates that `modser tls` makes."""
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys

import certs
import harness
import pytest
from wire import Wire

PAGE = harness.ROOT / "docs/how-to/two-teams.md"
BLOCK = re.compile(r"^```(python)?\n(.*?)^```$", re.S | re.M)
SAYS_CODE = re.compile(r"^(modser .*?) +# exit code (\d).*$", re.M)
UNIX, TLS = "unix:/run/modserd/modserd.sock", "tls://localhost:9443"


def run_here(folder, *words):
    env = harness.environment() | {
        "PATH": f"{harness.BIN}:{os.environ['PATH']}",
        "PYTHONPATH": str(harness.ROOT / "client" / "python"),
    }
    return harness.run(*words, cwd=folder, env=env)


def start(text, folder, own_daemon):
    """The page's daemon, elsewhere: (daemon, {address of the page: its own})."""
    words = shlex.split(text)[1:]
    options = dict(zip(words[::2], words[1::2]))
    listen = [w for option, w in zip(words[::2], words[1::2]) if option == "--listen"]
    assert listen == [UNIX, "tls://0.0.0.0:9443"], listen
    del options["--listen"]
    files = [w for o, name in options.items() for w in (o, folder / name)]
    own = [f"unix:{folder}/m.sock", "tls://127.0.0.1:0"]
    daemon = own_daemon(*files, listen=own)
    return daemon, {UNIX: own[0], TLS: daemon.hosts[1].replace("127.0.0.1", "localhost")}


def test_the_page_is_true(folder, models, own_daemon):
    shutil.copy(models / "shapes.so", folder / "addone.so")
    there, said = {}, []
    for language, text in BLOCK.findall(PAGE.read_text()):
        if text.startswith("modserd "):
            _, there = start(text, folder, own_daemon)
            continue
        for page, own in there.items():
            text = text.replace(page, own)
        text = SAYS_CODE.sub(r"code=0; \1 || code=$?; test $code = \2", text)
        words = (sys.executable, "-c") if language else ("bash", "-euc")
        done = run_here(folder, *words, text)
        assert done.status == 0, f"{text}\n{done}"
        said.append(done.out)
    assert there and "user\tvision" in "".join(said), said
    assert sum("[2. 3.]" in s or "[2.0,3.0]" in s.replace(" ", "") for s in said) == 3, said


@pytest.fixture
def made(folder):
    done = run_here(folder, "modser", "tls", "init", "pki")
    assert done.status == 0, done
    return folder / "pki"


def test_keys_are_their_owners_alone(made):
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in made.glob("*.key")}
    assert modes == {"ca.key": 0o600, "server.key": 0o600, "client.key": 0o600}


def test_nothing_is_written_over(made):
    before = {p.name: p.read_bytes() for p in made.iterdir()}
    assert run_here(made, "modser", "tls", "init", ".").status == 6
    (made / "ca.key").rename(made / "away.key")
    assert run_here(made, "modser", "tls", "init", ".").status == 6
    (made / "away.key").rename(made / "ca.key")
    assert run_here(made, "modser", "tls", "client", ".", "client").status == 6
    assert {p.name: p.read_bytes() for p in made.iterdir()} == before


def test_pythons_ssl_believes_and_shows_them(made, own_daemon):
    """Strictly: X.509 as RFC 5280 has it, for names and for numbers."""
    files = ("--tls-cert", made / "server.pem", "--tls-key", made / "server.key")
    daemon = own_daemon(*files, "--tls-ca", made / "ca.pem", listen=["tls://127.0.0.1:0"])
    context = certs.ssl.create_default_context(cafile=str(made / "ca.pem"))
    context.verify_flags |= certs.ssl.VERIFY_X509_STRICT
    context.load_cert_chain(str(made / "client.pem"), str(made / "client.key"))
    for name in ("localhost", "127.0.0.1"):
        with Wire(certs.connect(daemon.host, context, name)) as wire:
            assert wire.ask("module.list") == []


def test_openssl_holds_each_to_its_purpose(made):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command: purposes of certificates not tested")
    for name, good in (("server", "sslserver"), ("client", "sslclient")):
        for purpose in ("sslserver", "sslclient"):
            words = ("verify", "-x509_strict", "-purpose", purpose, "-CAfile", made / "ca.pem")
            done = subprocess.run(["openssl", *words, made / f"{name}.pem"], capture_output=True)
            assert (done.returncode == 0) == (purpose == good), (name, purpose, done)


@pytest.mark.parametrize(
    "words, code",
    [
        (("init", "new", "a,DNS:evil"), 2),
        (("init", "new", ""), 2),
        (("client", "pki", "../evil"), 2),
        (("client", "pki", "x" * 65), 2),
        (("client", "pki"), 2),
        (("dance", "pki"), 2),
        (("client", "none", "alice"), 4),
        (("server", "none"), 4),
    ],
)
def test_what_cannot_be_made_leaves_nothing(made, folder, words, code):
    before = sorted(p for p in folder.rglob("*"))
    assert run_here(folder, "modser", "tls", *words).status == code
    assert sorted(p for p in folder.rglob("*")) == before


def test_an_authority_that_is_none_signs_nothing(made):
    shutil.copy(made / "client.pem", made / "ca.pem")
    done = run_here(made, "modser", "tls", "client", ".", "alice")
    assert done.status == 2 and "is not the certificate of an authority" in done.err, done

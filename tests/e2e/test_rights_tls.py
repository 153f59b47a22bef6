"""Who may do what over TLS: every identity, method and module, by certificate and by token."""
import certs
import harness
import pytest
from rights import RIGHTS, USERS, User, expect_rights, lines, token_of, whole
from wire import Wire


@pytest.fixture
def start(folder, own_daemon, pki):
    """start(text): a daemon that speaks TLS, with these rights and two modules."""

    def run(text):
        acl = folder / "rights.acl"
        acl.write_text(text)
        acl.chmod(0o600)
        unix = f"unix:{folder}/s"
        daemon = own_daemon("--acl", acl, *pki.words(), listen=["tls://127.0.0.1:0", unix])
        for module in ("mine", "theirs"):
            daemon.load(module, harness.ZOO / "results.so", host=unix)
        return daemon

    return run


def test_every_identity_method_and_module_by_certificate(start, pki):
    daemon = start(whole(*(u.line(f"cert:cn={u.name}") for u in USERS)))
    for user in USERS:
        shown = certs.context(pki, pki.issue(user.name))
        with Wire(certs.connect(daemon.host, shown)) as wire:
            expect_rights(wire, user)
            assert wire.ask("acl.whoami")["user"] == user.name


def test_every_identity_method_and_module_by_token(start, pki):
    daemon = start(lines(USERS))
    for user in USERS:
        with Wire(certs.connect(daemon.host, certs.context(pki))) as wire:
            wire.ask("session.hello", {"token": token_of(user.name)})
            expect_rights(wire, user)


@pytest.mark.parametrize("rights, names", [((), ()), (RIGHTS, ()), (RIGHTS, ("mine*/*",))])
def test_every_method_and_module_of_who_shows_nothing(start, pki, rights, names):
    anonymous = User("anonymous", rights, names)
    daemon = start(whole(anonymous.line() if rights else ""))
    with Wire(certs.connect(daemon.host, certs.context(pki))) as wire:
        expect_rights(wire, anonymous)


def test_a_token_is_stronger_than_a_certificate(start, pki):
    strong, weak = User("strong", RIGHTS), User("weak", [])
    daemon = start(whole(strong.line(), weak.line("cert:cn=weak")))
    with Wire(certs.connect(daemon.host, certs.context(pki, pki.issue("weak")))) as wire:
        expect_rights(wire, weak)
        wire.ask("session.hello", {"token": token_of("strong")})
        expect_rights(wire, strong)


def test_a_certificate_of_another_authority_is_no_identity(start, pki):
    daemon = start(whole(User("all", RIGHTS).line("cert:cn=all")))
    shown = certs.context(pki, pki.other.issue("all"))
    with pytest.raises(certs.ssl.SSLError):
        with Wire(certs.connect(daemon.host, shown)) as wire:
            wire.ask("ping")

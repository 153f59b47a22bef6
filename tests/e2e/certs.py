"""Certificates for the tests, made by the openssl command, and Python's own ssl as a client."""
import shutil
import socket
import ssl
import subprocess

import pytest

from harness import PATIENCE



def key_on(curve):
    """What openssl-req(1) makes a key on @curve of."""
    return ("-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{curve}", "-nodes")


KEY = key_on("P-256")


class Authority:
    """A certificate authority in @folder that signs what it is told to."""

    def __init__(self, folder, name="ca"):
        if shutil.which("openssl") is None:
            pytest.skip("no openssl command: TLS not tested")
        self.folder = folder
        self.cert, self.key = folder / f"{name}.pem", folder / f"{name}.key"
        self._openssl(
            "req", "-x509", *KEY, "-keyout", self.key, "-out", self.cert, "-days", "2",
            "-subj", f"/CN={name}",
        )

    def _openssl(self, *words):
        subprocess.run(["openssl", *map(str, words)], check=True, stderr=subprocess.PIPE)

    def issue(self, name, names=(), days=2, subject=None, lines=(), key=KEY):
        """(certificate, key) of @name, with @names as `DNS:...` and `IP:...`, and @lines as
        x509v3_config(5) has extensions."""
        cert, key_file = self.folder / f"{name}.pem", self.folder / f"{name}.key"
        request, more = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        self._openssl(
            "req", *key, "-keyout", key_file, "-out", request, "-subj", subject or f"/CN={name}"
        )
        alternatives = [f"subjectAltName={','.join(names)}"] if names else []
        more.write_text("".join(f"{line}\n" for line in (*alternatives, *lines)))
        self._openssl(
            "x509", "-req", "-in", request, "-CA", self.cert, "-CAkey", self.key,
            "-CAcreateserial", "-out", cert, "-days", days, "-extfile", more,
        )
        return cert, key_file

    def issue_for(self, name, first, last, names=()):
        """(certificate, key) of @name that is good from @first to @last, as YYYYMMDDHHMMSSZ."""
        cert, key = self.issue(name, names)
        book = self.folder / f"{name}.ca"
        book.mkdir()
        (book / "index").touch()
        (book / "serial").write_text("01\n")
        (book / "conf").write_text(
            f"[ca]\ndefault_ca = own\n[own]\ndatabase = {book}/index\nserial = {book}/serial\n"
            f"new_certs_dir = {book}\ndefault_md = sha256\npolicy = any\n"
            "[any]\ncommonName = supplied\n")
        self._openssl(
            "ca", "-batch", "-notext", "-config", book / "conf", "-cert", self.cert, "-keyfile",
            self.key, "-in", self.folder / f"{name}.csr", "-out", cert, "-startdate", first,
            "-enddate", last, "-extfile", self.folder / f"{name}.ext",
        )
        return cert, key

    def revoke(self, *certs, days=2, until=None):
        """The path of the authority's list of revoked certificates, with @certs in it; it expires
        in @days, or at @until, as YYYYMMDDHHMMSSZ."""
        book = self.folder / f"{self.cert.stem}.revoked"
        book.mkdir(exist_ok=True)
        (book / "index").touch()
        (book / "conf").write_text(
            f"[ca]\ndefault_ca = own\n[own]\ndatabase = {book}/index\ndefault_md = sha256\n")
        of_ours = ("-config", book / "conf", "-cert", self.cert, "-keyfile", self.key)
        for cert in certs:
            self._openssl("ca", *of_ours, "-revoke", cert)
        when = ("-crl_nextupdate", until) if until else ("-crldays", days)
        if until:
            when += ("-crl_lastupdate", "20000101000000Z")
        self._openssl("ca", *of_ours, "-gencrl", *when, "-out", book / "list.pem")
        return book / "list.pem"


class Pki(Authority):
    """An authority with a server's certificate and @alice's, and one that nobody believes."""

    def __init__(self, folder):
        super().__init__(folder)
        self.server = self.issue("server", ("DNS:localhost",))
        self.alice = self.issue("alice", ("DNS:alice.example",))
        self.other = Authority(folder, "other")

    def words(self, *, ca=True):
        """What a daemon is told: its certificate, and that it asks for others'."""
        cert, key = self.server
        return ["--tls-cert", cert, "--tls-key", key] + (["--tls-ca", self.cert] if ca else [])


def context(authority, pair=None):
    """What a client believes, and shows."""
    made = ssl.create_default_context(cafile=str(authority.cert))
    if pair is not None:
        made.load_cert_chain(*map(str, pair))
    return made


def plain(address):
    """A connected socket without TLS."""
    host, port = address.partition("://")[2].rsplit(":", 1)
    return socket.create_connection((host.strip("[]"), int(port)), PATIENCE)


def connect(address, ctx, name="localhost"):
    return ctx.wrap_socket(plain(address), server_hostname=name)

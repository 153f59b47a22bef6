"""Manifests, and Debian's minisign to sign them with."""
import hashlib
import json
import platform
import shutil
import subprocess

MINISIGN = shutil.which("minisign")
ARCH = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def row(path, data, role="library"):
    return {"path": path, "sha256": hashlib.sha256(data).hexdigest(), "size": len(data),
            "role": role}


def manifest(*files, name="one", version=1, **more):
    """Its text; @files are rows."""
    fields = {"name": name, "version": version, "created": "2026-01-01T00:00:00Z",
              "platform": {"arch": ARCH}, "files": list(files)} | more
    return json.dumps(fields, indent=1).encode()


class Key:
    """A pair of keys without a password, in @folder."""

    def __init__(self, folder, name="key"):
        self.folder = folder
        self.public, self.secret = folder / f"{name}.pub", folder / f"{name}.key"
        subprocess.run([MINISIGN, "-G", "-W", "-p", self.public, "-s", self.secret],
                       check=True, stdout=subprocess.DEVNULL)
        # As modserd shows it: minisign leaves out zeros in front.
        self.id = self.public.read_text().split()[-2].zfill(16)

    def sign(self, text, *words):
        plain, signature = self.folder / "text", self.folder / "text.minisig"
        plain.write_bytes(text)
        subprocess.run([MINISIGN, "-S", "-s", self.secret, "-m", plain, "-x", signature,
                        *words], check=True, stdout=subprocess.DEVNULL)
        return signature.read_bytes()

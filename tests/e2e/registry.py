"""A registry (OCI distribution) on bad_server's Server, and Debian's docker-registry."""
import hashlib
import json
import shutil
import subprocess
import urllib.error
import urllib.request

import harness

REGISTRY = shutil.which("docker-registry")
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"


def digest_of(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def descriptor(data, media, **more):
    return {"mediaType": media, "digest": digest_of(data), "size": len(data)} | more


def manifest(data, media="application/octet-stream", title="digits.so"):
    config = descriptor(b"{}", "application/vnd.oci.empty.v1+json")
    layer = descriptor(data, media, annotations={"org.opencontainers.image.title": title})
    return json.dumps(
        {"schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer]}
    ).encode()


def index(*manifests):
    """Of pairs: architecture, manifest."""
    rows = [
        descriptor(m, MANIFEST, platform={"architecture": arch, "os": "linux"})
        for arch, m in manifests
    ]
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": rows}).encode()


def chosen(*manifests):
    """An index of rows: architecture, device, capability, manifest."""
    rows = [
        descriptor(m, MANIFEST, platform={"architecture": arch, "os": "linux"},
                   annotations={"modserd.device": device, "modserd.capability": capability})
        for arch, device, capability, m in manifests
    ]
    return json.dumps({"schemaVersion": 2, "mediaType": INDEX, "manifests": rows}).encode()


class DockerRegistry:
    """Debian's, with its files in @folder; with @users, of htpasswd, for these alone, whose
    basic header @basic is. @relative: it says where an upload goes on as seen from itself."""

    def __init__(self, folder, users=None, basic=None, relative=False):
        self.headers = {"Authorization": basic} if basic else {}
        auth = ""
        if users:
            (folder / "users").write_text(users)
            auth = "auth: {htpasswd: {realm: models, path: %s}}\n" % (folder / "users")
        (folder / "config.yml").write_text(
            "version: 0.1\nstorage: {filesystem: {rootdirectory: %s}}\n"
            "http: {addr: '127.0.0.1:0', relativeurls: %s}\nlog: {level: info}\n"
            % (folder / "registry", str(relative).lower()) + auth)
        self.log = folder / "registry.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [REGISTRY, "serve", folder / "config.yml"], stdout=log, stderr=log)
        self.host = harness.until(self.find_host, "the registry listens")

    def find_host(self):
        assert self.process.poll() is None, self.log.read_text()
        lines = self.log.read_text().splitlines(keepends=True)
        rest = [line.partition("listening on ")[2] for line in lines if line.endswith("\n")]
        return next((r.split('"')[0].strip("\\").split()[0] for r in rest if r), None)

    def put(self, path, data, media):
        request = urllib.request.Request(
            path if "://" in path else f"http://{self.host}/v2/{path}", data=data,
            method="PUT", headers={"Content-Type": media} | self.headers)
        with urllib.request.urlopen(request) as answer:
            assert answer.status == 201

    def push(self, repository, tag, data, body):
        for blob in (data, b"{}"):
            request = urllib.request.Request(
                f"http://{self.host}/v2/{repository}/blobs/uploads/", data=b"", method="POST",
                headers=self.headers)
            with urllib.request.urlopen(request) as answer:
                where = answer.headers["Location"]
            mark = "&" if "?" in where else "?"
            self.put(f"{where}{mark}digest={digest_of(blob)}", blob, "application/octet-stream")
        self.put(f"{repository}/manifests/{tag}", body, MANIFEST)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(harness.PATIENCE)

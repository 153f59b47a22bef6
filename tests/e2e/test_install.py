"""What `cmake --install` leaves works from there: programs, worker, library, package files."""
import os
import re
import signal
import subprocess

import harness
import pytest
from wire import Wire


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    path = tmp_path_factory.mktemp("prefix")
    said = harness.run("cmake", "--install", harness.BUILD, "--prefix", path)
    assert said.status == 0, said
    return path


def files(prefix):
    return {str(p.relative_to(prefix)) for p in prefix.rglob("*") if p.is_file()}


def test_programs_worker_header_and_manuals_are_there(prefix):
    have = files(prefix)
    for name in ("bin/modserd", "bin/modser", "libexec/modserd/modserd-worker", "include/modser.h"):
        assert name in have
    for end in ("modser.pc", "modserd.8", "modser.1"):
        assert any(name.endswith(end) for name in have), (end, sorted(have))


def test_documents_that_programs_name_and_examples_are_there(prefix):
    doc = prefix / "share/doc/modserd"
    named = set()
    for program in ("bin/modserd", "bin/modser", "libexec/modserd/modserd-worker"):
        named |= set(re.findall(rb"docs/[a-z/-]+\.md", (prefix / program).read_bytes()))
    assert len(named) > 5
    assert [name for name in named if not (doc / name.decode()).is_file()] == []
    for name in ("README.md", "examples/prometheus/dashboard.json", "examples/prometheus/rules.yml",
                 "examples/fleet/kubernetes/daemonset.yaml",
                 "examples/fleet/haproxy/haproxy.cfg.in"):
        assert (doc / name).is_file(), name


def test_the_installed_daemon_finds_its_worker_and_serves(prefix, folder):
    address = f"unix:{folder}/m.sock"
    process = subprocess.Popen(
        [prefix / "bin/modserd", "--listen", address],
        env=harness.environment(), stdout=subprocess.PIPE, start_new_session=True,
    )
    try:
        assert process.stdout.readline().decode().strip() == f"listening {address}"
        modser = [prefix / "bin/modser", "-H", address]
        assert harness.run(*modser, "load", "good", harness.ZOO / "results.so").status == 0
        assert harness.run(*modser, "call", "good:int").out.strip() == "-42"
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(harness.PATIENCE) == 0
        process.stdout.close()


@pytest.mark.skipif(harness.SANITIZED, reason="a program of others has no sanitizer")
def test_a_program_of_others_builds_with_pkg_config_and_with_cmake(prefix, tmp_path):
    (tmp_path / "main.c").write_text(
        '#include <modser.h>\n#include <stdio.h>\nint main(void) { puts(modser_version()); }\n'
    )
    (pc,) = prefix.rglob("modser.pc")
    env = harness.environment() | {"PKG_CONFIG_PATH": str(pc.parent)}
    flags = harness.run("pkg-config", "--cflags", "--libs", "modser", env=env)
    assert flags.status == 0, flags
    words = flags.out.split() + [f"-Wl,-rpath,{pc.parent.parent}"]
    said = harness.run("cc", tmp_path / "main.c", "-o", tmp_path / "main", *words)
    assert said.status == 0, said
    assert harness.run(tmp_path / "main").out.strip() == "0.1.0"
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(other C)\n"
        "find_package(modser REQUIRED)\nadd_executable(other main.c)\n"
        "target_link_libraries(other PRIVATE modser::modser)\n"
    )
    build = tmp_path / "build"
    for words in (["-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}"], ["--build", build]):
        said = harness.run("cmake", *words)
        assert said.status == 0, said
    assert harness.run(build / "other").out.strip() == "0.1.0"


def test_packages_that_a_build_lacks_are_named_all_at_once(tmp_path):
    env = harness.environment() | {"PKG_CONFIG_LIBDIR": str(tmp_path), "PKG_CONFIG_PATH": ""}
    said = harness.run("cmake", "-S", harness.ROOT, "-B", tmp_path / "b", env=env)
    assert said.status != 0
    wanted = re.search(r"apt-get install (.*)", said.err).group(1).split()
    listed = (harness.ROOT / "scripts/packages.txt").read_text().split("\n")
    assert {"libuv1-dev", "libmsgpack-dev", "libcriterion-dev"} <= set(wanted) <= set(listed)
    page = (harness.ROOT / "docs/start/install.md").read_text()
    assert [name for name in wanted if name not in page] == ["libcriterion-dev"]

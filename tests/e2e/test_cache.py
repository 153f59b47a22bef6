"""What `modser cache` says of built device code, and removes of it."""
import json
import os

import harness

MODSER = harness.BIN / "modser"


def modser(folder, *words):
    env = dict(os.environ, MODSERD_CACHE=str(folder))
    return harness.run(MODSER, *words, env=env)


def fill(folder, **used):
    """Entries of 100 bytes by their last use, and a file that is none."""
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    for name, at in used.items():
        path = folder / f"cuda-{name}.bin"
        path.write_bytes(bytes(100))
        os.utime(path, (at, at))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_entries_are_listed_by_their_last_use(tmp_path):
    folder = tmp_path / "cache"
    fill(folder, a=2000, b=3000, c=1000)
    said = modser(folder, "--json", "cache", "ls")
    assert said.status == 0, said
    assert [e["name"] for e in json.loads(said.out)] == [
        "cuda-b.bin", "cuda-a.bin", "cuda-c.bin"]
    assert modser(folder, "cache", "ls").out.count("100") == 3


def test_prune_removes_what_was_not_used_for_longest(tmp_path):
    folder = tmp_path / "cache"
    fill(folder, a=2000, b=3000, c=1000)
    said = modser(folder, "cache", "prune", "250")
    assert said.status == 0 and said.out == "removed: 100 bytes; kept: 200 bytes\n", said
    assert names(folder) == ["cuda-a.bin", "cuda-b.bin", "notes.txt"]
    assert modser(folder, "cache", "prune", "0").status == 0
    assert names(folder) == ["notes.txt"]


def test_no_folder_is_an_empty_cache(tmp_path):
    said = modser(tmp_path / "none", "cache", "ls")
    assert said.status == 0 and said.out == "", said


def test_a_size_that_is_none_is_a_usage_error(tmp_path):
    assert modser(tmp_path, "cache", "prune", "many").status == 2
    assert modser(tmp_path, "cache", "polish").status == 2

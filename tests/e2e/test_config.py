"""Configuration files of modserd: what they say is done, the command line wins."""
import harness
import pytest
from wire import Wire

TRIVIAL = harness.ZOO / "faults.so"
# One of minisign's.
PUBLIC_KEY = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\n"


def modserd(*words):
    return harness.run(harness.BIN / "modserd", *words)


def write(folder, text, modules=None):
    path = folder / "m.conf"
    path.write_text(text)
    for name, more in (modules or {}).items():
        (folder / "modules.d").mkdir(exist_ok=True)
        (folder / "modules.d" / name).write_text(more)
    return path


def test_a_file_says_where_to_listen_and_what_to_load(folder, own_daemon):
    conf = write(
        folder,
        f'# ours\nlisten = {{"unix:{folder}/c.sock"}}\nmodule one {{ file = "{TRIVIAL}" }}\n',
        {"two.conf": f"module two {{ file = {TRIVIAL} workers = 2 }}\n"},
    )
    daemon = own_daemon("--config", conf, listen=[])
    assert daemon.host == f"unix:{folder}/c.sock"
    with Wire(daemon.host) as wire:
        wire.ask("module.wait", "one")
        wire.ask("module.wait", "two")
        found = {m["name"]: m["workers"] for m in wire.ask("module.list")}
    assert found == {"one": 1, "two": 2}


def test_the_command_line_wins(folder, own_daemon):
    conf = write(folder, 'listen = {"unix:/nowhere/x.sock"}\nmax-upload-size = 1M\nmax-concurrent-uploads = 3\n')
    daemon = own_daemon("--config", conf, "--max-upload-size", "2M")
    with Wire(daemon.host) as wire:
        limits = wire.ask("server.info")["limits"]
    assert (limits["max-upload-size"], limits["max-concurrent-uploads"]) == (2 << 20, 3)


def test_print_config_tells_where_values_are_from(folder):
    conf = write(folder, f"\nmax-upload-size = 1M\nmodule m {{ file = {TRIVIAL} }}\n")
    said = modserd("--print-config", "--config", conf, "--threads", "3")
    assert said.status == 0, said
    lines = said.out.splitlines()
    assert f"max-upload-size = {1 << 20}  # {conf}:2" in lines
    assert "threads = 3  # command line" in lines
    assert "max-concurrent-uploads = 8  # default" in lines
    assert f"module m {{ file = '{TRIVIAL}' }}  # {conf}:3" in lines


def test_what_print_config_says_is_a_configuration(folder):
    conf = write(folder, f'listen = "unix:{folder}/x.sock"\nmodule m {{ file = {TRIVIAL} }}\n')
    first = modserd("--print-config", "--config", conf).out
    again = folder / "again.conf"
    again.write_text(first)
    assert modserd("--check-config", again).status == 0
    second = modserd("--print-config", "--config", again).out
    assert [l.partition("  #")[0] for l in first.splitlines()] == [
        l.partition("  #")[0] for l in second.splitlines()
    ]


def test_check_config_names_the_file_and_the_line_of_a_fault(folder):
    conf = write(folder, "threads = 2\n", {"a.conf": "\n\nmodule m { fil = x }\n"})
    said = modserd("--check-config", conf)
    assert said.status == 2 and said.out == "", said
    assert f"{folder}/modules.d/a.conf:3: no such option 'fil'" in said.err


@pytest.mark.parametrize(
    "line, told",
    [
        ('listen = {"tcp://0.0.0.0:0"}', "listen: tcp://0.0.0.0:0 is beyond loopback"),
        ('http = "0.0.0.0:0"', "http: tcp://0.0.0.0:0 is beyond loopback"),
        ('store = "THE_FILE"', "store: THE_FILE"),
        ('store = "FOLDER"', 'no file "version", so it is no store'),
        ("worker-user = no-such-user", "worker-user no-such-user: there is no such user"),
        ('policy = "signed"', 'so every pull would fail'),
        ('module m { source = "https://h/m.so" policy = "signed" }', "every pull would fail"),
        ('trust = {"KEY"}\ntrust-least = 2', "trust-least = 2, but trust names 1"),
        ('module m { source = "ftp://h/m.so" }', "source ftp://h/m.so: expected https://"),
        ('auth = "FOLDER/none"', "auth = FOLDER/none: No such file"),
        ('ca = "FOLDER/none"', "ca = FOLDER/none: No such file"),
        ('module m { source = "https://h/m.so" ca = "FOLDER/none" }', "ca = FOLDER/none"),
        ('listen = {"tls://127.0.0.1:0"}', "needs --tls-cert FILE"),
    ],
)
def test_check_config_refuses_what_a_start_would(folder, line, told):
    key = folder / "key.pub"
    key.write_text(PUBLIC_KEY)
    (folder / "file").write_text("")

    def filled(text):
        words = {"KEY": key, "THE_FILE": folder / "file", "FOLDER": folder}
        for word, path in words.items():
            text = text.replace(word, str(path))
        return text

    conf = write(folder, f"\n{filled(line)}\n")
    said = modserd("--check-config", conf)
    assert said.status == 2 and said.out == "", said
    assert filled(told) in said.err and f"{conf}:" in said.err, said


@pytest.mark.skipif(not (harness.BIN / "modserd-fetch").exists(),
                    reason="modserd-fetch is not built: it judges sources")
@pytest.mark.parametrize(
    "section, told",
    [
        ('source = "https://"', "is not a URI"),
        ('source = "http://h.example/m.so"', "use https, or set insecure"),
        ('source = "oci://h.example/m@sha256:12"', "expected oci://HOST/REPOSITORY:TAG or"),
        ('source = "modser://h.example/m"', "expected modser://HOST:PORT/MODULE"),
        ('source = "https://user:pw4@h.example/m.so"', "would appear in logs"),
        ('source = "oci://h.example/m:1" policy = "digest"', "no SHA-256 was given"),
    ],
)
def test_check_config_refuses_a_source_that_no_pull_takes(folder, section, told):
    said = modserd("--check-config", write(folder, f"\nmodule m {{ {section} }}\n"))
    assert said.status == 2 and "m.conf:2: source: " in said.err, said
    assert told in said.err and "pw4" not in said.err, said


@pytest.mark.skipif(not (harness.BIN / "modserd-fetch").exists(),
                    reason="modserd-fetch is not built: it judges sources")
def test_check_config_takes_each_kind_of_source(folder):
    digest = "ab" * 32
    sources = (
        "https://h.example/m.so", "http://127.0.0.1:1/m.so", "oci://h.example/a/m:1",
        "modser://h.example:1/m", f"file://{folder}/m.so",
        f'oci://h.example/m@sha256:{digest}" policy = "digest',
        'http://h.example/m.so" insecure = "yes',
    )
    text = "".join(f'module m{i} {{ source = "{s}" }}\n' for i, s in enumerate(sources))
    said = modserd("--check-config", write(folder, text))
    assert said.status == 0, said


def test_check_config_counts_workers(folder):
    text = f"max-workers = 3\nmodule m {{ file = {TRIVIAL} workers = 4 }}\n"
    said = modserd("--check-config", write(folder, text))
    assert said.status == 2, said
    assert "m.conf:2: workers = 4 is over the limit of 3 (max-workers)" in said.err


@pytest.mark.parametrize("text, told", [("threads = 2\nmax-upload =", "2: the file ends inside a section"),
                                        ("threads = 2\n\0", "2: not a text file: it contains a byte 0")])
def test_check_config_names_the_line_of_what_is_no_text_or_has_no_end(folder, text, told):
    said = modserd("--check-config", write(folder, text))
    assert said.status == 2 and f"m.conf:{told}" in said.err, said


def test_options_are_refused_in_files_of_modules(folder):
    conf = write(folder, "", {"a.conf": "threads = 2\n"})
    assert "a.conf:1: no such option 'threads'" in modserd("--check-config", conf).err


def test_a_module_of_two_files_is_refused(folder):
    one = f"module m {{ file = {TRIVIAL} }}\n"
    conf = write(folder, one, {"a.conf": one})
    assert f"module m: is already defined at {conf}:1" in modserd("--check-config", conf).err


def test_other_files_of_the_folder_are_not_read(folder):
    conf = write(folder, "", {"a.conf~": "}", ".b.conf": "}", "c.conf.dpkg-old": "}"})
    assert modserd("--check-config", conf).status == 0


def test_a_file_that_is_named_must_be_there_and_a_file(folder):
    assert "No such file" in modserd("--check-config", folder / "none").err
    assert "not a file" in modserd("--check-config", folder).err


def test_a_daemon_does_not_start_with_a_wrong_file(folder):
    conf = write(folder, f"listen = {{unix:{folder}/x.sock}}\nmodule m {{ file = x\n")
    said = modserd("--config", conf)
    assert said.status == 2 and "is not closed" in said.err, said
    assert not (folder / "x.sock").exists()


def test_a_word_that_is_a_model_file_is_served_on_the_usual_addresses(folder):
    said = modserd(TRIVIAL, "--print-config", "--config", "/dev/null")
    assert said.status == 0, said
    assert f"module faults {{ file = '{TRIVIAL}' }}" in said.out, said.out
    assert '127.0.0.1:8000' in said.out and 'modserd.sock' in said.out, said.out


def test_a_model_file_is_served_under_its_name(folder, own_daemon):
    daemon = own_daemon(TRIVIAL, "--http", "127.0.0.1:0")
    daemon.ok("wait", "faults")
    assert daemon.ok("call", "faults:ok").status == 0


def test_a_word_that_is_no_file_is_refused():
    said = modserd("no-such.onnx")
    assert said.status == 2 and "expected an option, a model file, or" in said.err, said

"""Completion of bash as people have it: a shell of its own in a terminal of tmux, whose keys are
pressed and whose screen is read. `@` and `:` end words there, which no other way shows."""
import contextlib
import re
import shlex
import shutil
import subprocess

import harness
import pytest

PROMPT = "ready> "

pytestmark = pytest.mark.skipif(
    not shutil.which("tmux") or not shutil.which("bash"), reason="no tmux: no terminal to type in")


class Terminal:
    """bash in tmux, with the completion sourced and @folder as its working directory."""

    def __init__(self, daemon, folder):
        self.server = str(daemon.folder / "tmux")
        env = {"MODSER_HOST": daemon.host, "TERM": "screen",
               "PATH": f"{harness.BIN}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        bash = shlex.join(["exec", "env", *(f"{key}={value}" for key, value in env.items()),
                           "bash", "--noprofile", "--norc", "-i"])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "240", "-y", "50",
                  "-c", folder, bash)
        self.wait("[#$]")
        self.type(f"PS1='{PROMPT}'; source <(modser completion bash); clear", "Enter")
        self.wait(rf"\A{re.escape(PROMPT.rstrip())}\Z")

    def tmux(self, *words):
        said = harness.run("tmux", "-S", self.server, *words)
        assert said.status == 0, said
        return said.out

    def type(self, text, *keys):
        self.tmux("send-keys", "-l", text)
        if keys:
            self.tmux("send-keys", *keys)

    def screen(self):
        return self.tmux("capture-pane", "-p").rstrip("\n")

    def shows(self, pattern):
        return re.search(pattern, self.screen())

    def wait(self, pattern):
        """Until the screen shows it; blanks at the end of a line do not."""
        try:
            harness.until(lambda: self.shows(pattern), pattern)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.screen()}") from None

    @contextlib.contextmanager
    def behind(self, typed):
        """@typed, a Tab and a # that shows where the cursor is; afterwards the line is empty."""
        self.type(typed, "Tab")
        self.type("#")
        yield
        self.tmux("send-keys", "C-u")
        self.wait(rf"(?m)^{re.escape(PROMPT.rstrip())}\Z")

    def close(self):
        subprocess.run(["tmux", "-S", self.server, "kill-server"], check=False)


@pytest.fixture(scope="module")
def terminal(served, tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    (folder / "input one.npy").touch()
    (folder / "weights").mkdir()
    (folder / "vector.npy").touch()
    (folder / "library.so").touch()
    shell = Terminal(served, folder)
    yield shell
    shell.close()


@pytest.mark.parametrize("typed, line", [
    ("modser cal", "modser call "),
    ("modser call shap", "modser call shapes:"),
    ("modser call shapes:addo", "modser call shapes:addone "),
    ("modser call shapes:addone @vec", "modser call shapes:addone @vector.npy "),
    ("modser call shapes:addone @vector.npy ou", "modser call shapes:addone @vector.npy out:"),
    ("modser call shapes:addone bytes:@vec", "modser call shapes:addone bytes:@vector.npy "),
    ("modser call shapes:addone A=@vec", "modser call shapes:addone A=@vector.npy "),
    ("modser show shap", "modser show shapes "),
    ("modser load lib lib", "modser load lib library.so "),
    ("modser load --repl", "modser load --replace "),
    ("modser -H unix:/none call shapes:ad", "modser -H unix:/none call shapes:ad"),
    ("modser call shapes:addone @wei", "modser call shapes:addone @weights/"),
    ("modser call shapes:addone x@y=@vec", "modser call shapes:addone x@y=@vec"),
    ("modser call shapes:addone @input\\ o", "modser call shapes:addone @input\\ one.npy "),
    ("modser call shapes:addone @in", "modser call shapes:addone @input\\ one.npy "),
])
def test_a_tab_writes_what_is_meant(terminal, typed, line):
    with terminal.behind(typed):
        wanted = rf"(?m)^{re.escape(PROMPT + line)}#$"
        harness.until(lambda: terminal.shows(wanted), f"{wanted} of {terminal.screen()}")

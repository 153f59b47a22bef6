"""Modules loaded again and unloaded by HTTP."""
import json
import shutil

from harness import until
from test_http import RIGHTS, TOKEN, ZOO, Visit, start, status


def change(visit, name, what, body=b"", fields=""):
    path = f"/v2/repository/models/{name}/{what}"
    return visit.ask(path, f"Content-Length: {len(body)}\r\n{fields}", "POST", body)[::2]


def test_what_the_command_line_names_is_unloaded_and_loaded_again():
    with start("--allow-load-tcp", "--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        d.ok("wait", "zoo")
        assert change(visit, "zoo", "unload") == (200, b"")
        assert visit.ask("/readyz/zoo")[0] == 404
        assert change(visit, "zoo", "load", b'{"parameters": {}}') == (200, b"")
        assert visit.ask("/readyz/zoo")[0] == 200
        assert change(visit, "zoo", "load") == (200, b""), "in place of what serves"
        d.ok("load", "other", ZOO)
        answered, said = change(visit, "other", "load")
        assert answered == 404 and b"--load" in said
        assert change(visit, "none", "unload")[0] == 404
        for what, body in (("load", b'{"parameters": {"config": "{}"}}'), ("load", b"[]"),
                           ("unload", b'{"parameters": {"unload_dependents": 1}}')):
            assert change(visit, "zoo", what, body)[0] == 400, body
        assert change(visit, "a:b", "load")[0] == 400
        assert change(visit, "zoo", "unload",
                      b'{"parameters": {"unload_dependents": false}}') == (200, b"")


def test_a_file_that_is_none_is_the_answer_of_its_load(tmp_path):
    path = tmp_path / "zoo.so"
    shutil.copy(ZOO, path)
    with start("--allow-load-tcp", "--load", f"zoo={path}") as d, Visit(d) as visit:
        d.ok("wait", "zoo")
        path.write_bytes(b"no library")
        answered, said = change(visit, "zoo", "load")
        assert answered == 400 and b"zoo" in json.loads(said)["error"].encode()
        assert visit.ask("/readyz/zoo")[0] == 200, "what serves goes on"


def test_the_store_has_what_is_loaded_again(tmp_path):
    with start("--allow-load-tcp", "--store", tmp_path / "store") as d, Visit(d) as visit:
        d.ok("load", "--keep", "zoo", ZOO)
        assert change(visit, "zoo", "load") == (200, b"")
        assert change(visit, "none", "load")[0] == 404
        assert change(visit, "zoo", "unload") == (200, b"")
        assert change(visit, "zoo", "load")[0] == 404


def test_changing_modules_needs_the_right_to_load_them(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path, "--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        until(lambda: status(d, "/readyz") == 200, "it is ready")
        assert change(visit, "zoo", "unload")[0] == 401
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        assert change(visit, "zoo", "unload", fields=bearer)[0] == 403
        assert change(visit, "zoo", "unload", fields="Authorization: Bearer no\r\n")[0] == 401
        [guess] = [x for x in d.ok("acl", "log").out.splitlines() if "anonymous" in x][-1:]
        assert "module.unload" in guess, guess
    with start("--load", f"zoo={ZOO}") as d, Visit(d) as visit:
        assert change(visit, "zoo", "load")[0] == 403, "--allow-load-tcp"

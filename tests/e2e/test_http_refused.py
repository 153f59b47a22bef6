"""What the HTTP front does not take, and whom it does not serve."""
import json

import pytest

import harness
from harness import until
from test_http import RIGHTS, TOKEN, ZOO, Visit, start, status
from wire import Wire


@pytest.fixture(scope="module")
def daemon():
    with start("--load", f"zoo={ZOO}") as d:
        d.ok("wait", "zoo")
        yield d


POST = "POST /none HTTP/1.1\r\nHost: x\r\n"
CHUNKS = POST + "Transfer-Encoding: chunked\r\n"
SMUGGLED = {
    "two_lengths": "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
    "length_and_chunks": "POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare_lf": "GET /livez HTTP/1.1\nHost: x\n\n",
    "space_before_colon": "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",
    "folded": "GET /livez HTTP/1.1\r\nHost: x\r\n y\r\n\r\n",
    "bare_lf_in_chunks": "POST /none HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "3\r\nabc\n",
    "overflow": "POST /none HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                "FFFFFFFFFFFFFFFFF\r\n",
    "chunked_twice": f"{CHUNKS}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a_tab_that_is_none": f"{POST}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    "the_same_length_twice": f"{POST}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "lengths_in_one_field": f"{POST}Content-Length: 3, 3\r\n\r\nabc",
    "a_length_with_a_sign": f"{POST}Content-Length: +3\r\n\r\nabc",
    "a_length_in_hex": f"{POST}Content-Length: 0x3\r\n\r\nabc",
    "a_length_of_nothing": f"{POST}Content-Length: \r\n\r\n",
    "a_length_that_overflows": f"{POST}Content-Length: 18446744073709551619\r\n\r\nabc",
    "a_length_in_two_words": f"{POST}Content-Length: 1 3\r\n\r\nabc",
    "a_chunk_with_a_sign": f"{CHUNKS}\r\n-1\r\nabc\r\n0\r\n\r\n",
    "a_chunk_in_hex_with_a_sign": f"{CHUNKS}\r\n0x3\r\nabc\r\n0\r\n\r\n",
    "a_space_behind_a_chunks_size": f"{CHUNKS}\r\n3 \r\nabc\r\n0\r\n\r\n",
    "a_bare_lf_behind_an_extension": f"{CHUNKS}\r\n3;a\nabc\r\n0\r\n\r\n",
    "a_chunk_longer_than_its_size": f"{CHUNKS}\r\n2\r\nabc\r\n0\r\n\r\n",
    "a_length_behind_the_chunks": f"{CHUNKS}\r\n0\r\nContent-Length: 5\r\n\r\n",
    "a_cr_in_a_value": "GET /livez HTTP/1.1\r\nHost: x\ry\r\n\r\n",
    "a_fold_at_once": "GET /livez HTTP/1.1\r\n Host: x\r\n\r\n",
    "chunks_of_old": "POST /none HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a_host_of_two_words": "GET /livez HTTP/1.1\r\nHost: x, y\r\n\r\n",
    "a_host_with_a_path": "GET /livez HTTP/1.1\r\nHost: x/y\r\n\r\n",
    "a_host_with_a_user": "GET /livez HTTP/1.1\r\nHost: u@x\r\n\r\n",
    "a_target_with_a_user": "GET http://u@x/livez HTTP/1.1\r\nHost: x\r\n\r\n",
    "a_length_behind_a_name_with_a_nul": f"{POST}Conten\0t-Length: 3\r\n\r\nabc",
    "an_extension_of_two_lines": f'{CHUNKS}\r\n3;a="x\r\ny"\r\nabc\r\n0\r\n\r\n',
    "a_chunk_with_an_underscore": f"{CHUNKS}\r\n1_0\r\nabc\r\n0\r\n\r\n",
    "a_negative_last_chunk": f"{CHUNKS}\r\n-0\r\n\r\n",
    "identity_behind_chunked": f"{POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "a_line_of_tabs": "GET\t/livez\tHTTP/1.1\r\nHost: x\r\n\r\n",
    "a_coding_with_a_nul": f"{POST}Transfer-Encoding: chunked\0\r\n\r\n0\r\n\r\n",
    "a_coding_behind_nothing": f"{POST}Transfer-Encoding: chunked,\r\n\r\n0\r\n\r\n",
    "a_tab_before_a_colon": f"{POST}Transfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n",
    "a_field_without_a_colon": "GET /livez HTTP/1.1\r\nHost: x\r\nabc\r\n\r\n",
    "a_field_without_a_name": "GET /livez HTTP/1.1\r\nHost: x\r\n: x\r\n\r\n",
    "a_value_with_a_delete": "GET /livez HTTP/1.1\r\nHost: x\r\nA: b\x7fc\r\n\r\n",
    "two_crs": "GET /livez HTTP/1.1\r\nHost: x\r\r\n\r\n",
    "no_host": "GET /livez HTTP/1.1\r\n\r\n",
    "two_hosts_by_case": "GET /livez HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n",
    "an_address_that_is_open": "GET /livez HTTP/1.1\r\nHost: [::1\r\n\r\n",
    "an_address_that_is_a_name": "GET /livez HTTP/1.1\r\nHost: [models.example.com]\r\n\r\n",
    "a_name_behind_an_address": "GET /livez HTTP/1.1\r\nHost: [::1].example.com\r\n\r\n",
    "a_port_of_letters": "GET /livez HTTP/1.1\r\nHost: x:http\r\n\r\n",
    "two_spaces": "GET  /livez HTTP/1.1\r\nHost: x\r\n\r\n",
    "a_space_behind_the_version": "GET /livez HTTP/1.1 \r\nHost: x\r\n\r\n",
    "lf_before_cr": "GET /livez HTTP/1.1\n\rHost: x\r\n\r\n",
    "two_crs_behind_a_chunks_size": f"{CHUNKS}\r\n3\r\r\nabc\r\n0\r\n\r\n",
    "the_last_chunk_with_an_lf": f"{CHUNKS}\r\n0\r\n\n",
    "a_chunk_without_a_size": f"{CHUNKS}\r\n;a\r\nabc\r\n0\r\n\r\n",
    "a_chunk_of_65_bits": f"{CHUNKS}\r\n10000000000000003\r\nabc\r\n0\r\n\r\n",
    "a_nul_in_an_extension": f"{CHUNKS}\r\n3;\0\r\nabc\r\n0\r\n\r\n",
    "a_length_that_is_a_fraction": f"{POST}Content-Length: 3.0\r\n\r\nabc",
    "a_length_with_an_exponent": f"{POST}Content-Length: 1e1\r\n\r\nabc",
    "a_length_in_quotes": f'{POST}Content-Length: "3"\r\n\r\nabc',
    "two_tokens": "GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\n"
                  "Authorization: Bearer b\r\n\r\n",
    "two_header_lengths": f"{POST}Inference-Header-Content-Length: 1\r\n"
                          "Inference-Header-Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
    "large_head": "GET /livez HTTP/1.1\r\nHost: x\r\nA: " + "x" * 20000,
}


@pytest.mark.parametrize("how", SMUGGLED)
def test_what_can_be_read_in_two_ways_is_refused_and_ends_it(daemon, how):
    with Visit(daemon) as visit:
        visit.say(SMUGGLED[how] + "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
        answered, fields, body = visit.answer()
        assert answered == (431 if how == "large_head" else 400), body
        assert fields["connection"] == "close" and "error" in json.loads(body)
        visit.expect_end()


def test_a_large_body_is_refused_on_its_head(daemon):
    with Visit(daemon) as visit:
        visit.say("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n")
        assert visit.answer()[0] == 413
        visit.expect_end()


def test_who_sends_on_behind_its_last_answer_is_closed(daemon):
    """After some MiB that nobody reads, and what sockets hold of them."""
    sent = 0
    with Visit(daemon) as visit:
        visit.say("POST /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1048577\r\n\r\n")
        assert visit.answer()[0] == 413
        with pytest.raises(OSError):
            while sent < 64 << 20:
                sent += visit.socket.send(bytes(65536))
    assert (8 << 20) - 65536 < sent < 64 << 20


def test_frames_of_the_protocol_are_refused(daemon):
    with Visit(daemon) as visit:
        visit.say(bytes.fromhex("906d7367") + bytes(12))
        assert visit.answer()[0] == 400
        visit.expect_end()


def test_beyond_loopback_it_must_be_allowed():
    said = harness.run(harness.BIN / "modserd", "--http", "0.0.0.0:0", "--listen",
                       f"unix:{harness.short_folder()}/m.sock")
    assert said.status == 1 and "--insecure-tcp" in said.err


def test_a_token_says_who_asks(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path, "--load", f"zoo={ZOO}") as d:
        until(lambda: status(d, "/readyz") == 200, "it is ready")
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        with Visit(d) as visit:
            assert visit.ask("/livez")[0] == 200
            answered, fields, _ = visit.ask("/readyz/zoo")
            assert (answered, fields["www-authenticate"]) == (401, "Bearer")
            assert visit.ask("/readyz/none")[0] == 401
            assert visit.ask("/readyz/zoo", bearer)[0] == 200
            assert visit.ask("/metrics")[0] == 401
            assert b'module="other"' not in visit.ask("/metrics", bearer)[2]
            assert visit.ask("/readyz/other", bearer)[0] == 403
            assert visit.ask("/readyz/zoo", "Authorization: Bearer x\r\n")[0] == 401


def test_who_was_refused_is_in_the_log_of_refusals(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path) as d, Visit(d) as visit, Wire(d.host) as operator:
        bearer = f"Authorization: Bearer {TOKEN}\r\n"
        assert visit.ask("/readyz/other", bearer)[0] == 403
        assert visit.ask("/readyz/zoo")[0] == 401
        assert visit.ask("/readyz/zoo")[0] == 401
        assert [
            (e["user"], e["method"], e["name"], e["times"]) for e in operator.ask("acl.log")
        ] == [
            ("alice", "module.describe", "other", 1),
            ("anonymous", "module.describe", "zoo", 2),
        ]
        assert operator.ask("server.info")["denied"] == 3
        d.expect_logged("event=request_denied", 3)


def test_who_guesses_tokens_waits(tmp_path):
    path = tmp_path / "acl"
    path.write_text(RIGHTS)
    path.chmod(0o600)
    with start("--acl", path) as d, Visit(d) as visit:
        wrong = "Authorization: Bearer x\r\n"
        assert visit.ask("/readyz/zoo", wrong)[0] == 401
        until(lambda: visit.ask("/readyz/zoo", wrong)[0] == 429, "it has to wait")
        assert visit.ask("/livez", wrong)[0] == 200


@pytest.mark.parametrize("host, fields, status", [
    ("localhost", "", 200),
    ("localhost", "Origin: http://localhost\r\n", 200),
    ("localhost", "Origin: http://example.com\r\n", 403),
    ("localhost", "Origin: null\r\n", 403),
    ("models.example.com", "", 403),
])
def test_a_page_of_another_site_gets_nothing(daemon, host, fields, status):
    visit = Visit(daemon)
    visit.say(f"GET /status HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n")
    assert visit.answer()[0] == status


WHOLE = {
    "http://x/livez": 200,
    "HTTP://x:80/livez?x": 200,
    "https://127.0.0.1/livez": 200,
    "http://x/nothing": 404,
    "http://models.example.com/livez": 403,
    "http://user@x/livez": 400,
    "http:///livez": 400,
    "http://:80/livez": 400,
    "ftp://x/livez": 400,
}


@pytest.mark.parametrize("target", WHOLE)
def test_a_whole_uri_is_asked_for_by_its_own_host(daemon, target):
    """What the field says of the host does not count then (RFC 9112, 3.2.2)."""
    with Visit(daemon) as visit:
        visit.say(f"GET {target} HTTP/1.1\r\nHost: y\r\n\r\n")
        assert visit.answer()[0] == WHOLE[target]


def test_the_page_of_a_whole_uri_is_that_of_its_host(daemon):
    with Visit(daemon) as visit:
        for target in ("http://localhost/status", "http://localhost"):
            visit.say(f"GET {target} HTTP/1.1\r\nHost: models.example.com\r\n"
                      "Origin: http://localhost\r\n\r\n")
            assert visit.answer()[0] == 200
            visit.say(f"GET {target} HTTP/1.1\r\nHost: models.example.com\r\n"
                      "Origin: http://models.example.com\r\n\r\n")
            assert visit.answer()[0] == 403

"""A web server that does what it is told, and remembers what it was asked.

    with Server() as server:
        server.give("/a.so", data, cut(100), whole)

The first request for /a.so is answered by cut(100), every later one by whole.
"""
import contextlib
import hashlib
import http.server
import socket
import ssl
import threading


def etag(data):
    return f'"{hashlib.sha256(data).hexdigest()[:16]}"'


def head(request, status, length, *more):
    request.send_response(status)
    request.send_header("Content-Length", str(length))
    for name, value in more:
        request.send_header(name, value)
    request.end_headers()


def range_of(request):
    """Where the asked for part begins, 0 for all of it."""
    asked = request.headers.get("Range")
    return int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0


def part(request, data, tag=None, stop=None):
    """A server as it should be, that ends the connection before byte @stop."""
    tag = tag or etag(data)
    start = range_of(request)
    if start and request.headers.get("If-Range", tag) != tag:
        start = 0
    more = [("ETag", tag)]
    if start:
        more.append(("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}"))
    head(request, 206 if start else 200, len(data) - start, *more)
    request.wfile.write(data[start:stop])
    if stop is not None:
        request.close_connection = True


def whole(request, data):
    part(request, data)


def same(request, data):
    """Brings nothing to who has it already."""
    if request.headers.get("If-None-Match") == etag(data):
        head(request, 304, 0, ("ETag", etag(data)))
    else:
        part(request, data)


def cut(stop):
    return lambda request, data: part(request, data, stop=stop)


def tagged(tag, stop=None):
    return lambda request, data: part(request, data, tag, stop)


def deaf(request, data):
    """Takes no notice of a Range."""
    head(request, 200, len(data), ("ETag", etag(data)))
    request.wfile.write(data)


def lying(request, data):
    """Says 206, and sends all from the beginning."""
    head(request, 206, len(data), ("Content-Range", f"bytes 0-{len(data) - 1}/{len(data)}"))
    request.wfile.write(data)


def slice_of(size, asked=True):
    """Sends a part of @size bytes and says so, @asked or not for a part."""

    def answer(request, data):
        start = range_of(request)
        if asked and not start:
            return part(request, data, stop=size)
        stop = min(start + size, len(data))
        where = "Content-Range", f"bytes {start}-{stop - 1}/{len(data)}"
        head(request, 206, stop - start, ("ETag", etag(data)), where)
        request.wfile.write(data[start:stop])
        return None

    return answer


def flipped(request, data):
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    part(request, bytes(changed))


def unannounced(request, data):
    """Does not say how much comes."""
    request.send_response(200)
    request.end_headers()
    request.wfile.write(data)
    request.close_connection = True


def status(code, *more):
    return lambda request, data: head(request, code, 0, *more)


def redirect(to):
    return status(302, ("Location", to))


def hold(request, data):
    """Begins, and goes on when the client ends the connection or the server ends."""
    head(request, 200, len(data), ("ETag", etag(data)))
    request.wfile.write(data[:1])
    request.wfile.flush()
    request.server.held.set()
    with contextlib.suppress(OSError):
        request.connection.recv(1)
    request.server.left.set()
    request.close_connection = True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.server.asked.append((self.path, dict(self.headers)))
        data, steps = self.server.files.get(path, (b"", [status(404)]))
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            step(self, data)

    def do_HEAD(self):
        head(self, 401, 0, ("WWW-Authenticate", self.server.challenge))

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # a client that hangs up in the midst of TLS


class Server:
    def __init__(self, certificate=None):
        self.http = Listener(("127.0.0.1", 0), Handler)
        self.http.files, self.http.asked = {}, []
        self.http.held, self.http.left = threading.Event(), threading.Event()
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            # Hands shakes in the connection's own thread, so that one does not stop all.
            self.http.socket = context.wrap_socket(
                self.http.socket, server_side=True, do_handshake_on_connect=False
            )
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,))

    @property
    def asked(self):
        return self.http.asked

    def give(self, path, data, *steps):
        self.http.files[path] = data, list(steps or (whole,))
        return self.uri(path)

    def refuse(self, challenge):
        """Answer each HEAD so."""
        self.http.challenge = challenge

    def uri(self, path):
        return f"{self.scheme}://127.0.0.1:{self.http.server_port}{path}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        with contextlib.suppress(OSError):
            self.http.socket.shutdown(socket.SHUT_RDWR)
        self.http.server_close()


def wants_token(token, realm, step=whole):
    """Answered to who has the token; others are told where it is to be had."""

    def answer(request, data):
        if request.headers.get("Authorization") == f"Bearer {token}":
            step(request, data)
        else:
            where = f'Bearer realm="{realm}",service="registry",scope="repository:m:pull"'
            head(request, 401, 0, ("WWW-Authenticate", where))

    return answer


def turn_away(token, realm):
    """No longer, with a token that was good before."""
    return wants_token(f"not {token}", realm)

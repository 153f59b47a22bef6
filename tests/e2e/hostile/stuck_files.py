"""A file system, served by this process, on which no close() ends: FUSE, whose flush is never
answered, or no write of what lies in the page cache. While the server lives nothing ends that sleep,
no signal either."""
import contextlib
import ctypes
import errno
import os
import pathlib
import struct
import threading

WRITE, FLUSH, FORGETS, STUCK_BYTES = 16, 25, (2, 36, 42), 1 << 18
WRITEBACK = 1 << 16  # FUSE_WRITEBACK_CACHE
LIBC = ctypes.CDLL(None, use_errno=True)
LAZILY = 2  # MNT_DETACH


class Denied(OSError):
    """It cannot be mounted here."""


def attributes(node):
    mode = 0o40755 if node == 1 else 0o100666
    return struct.pack("<6Q10I", node, 0, 0, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


ANSWERS = {
    1: lambda node: struct.pack("<4QII", 2, 0, 60, 60, 0, 0) + attributes(2),  # lookup
    3: lambda node: struct.pack("<QII", 60, 0, 0) + attributes(node),  # getattr
    4: lambda node: struct.pack("<QII", 60, 0, 0) + attributes(node),  # setattr
    14: lambda node: struct.pack("<QII", 1, 0, 0),  # open
    18: lambda node: b"",  # release
    25: lambda node: b"",  # flush
    26: lambda node: struct.pack("<IIIIHHI32x", 7, 31, 0, WRITEBACK, 12, 10, 1 << 16),
}


class Server:
    """Answers all but @stuck until release()."""

    def __init__(self, device, stuck):
        self.device, self.stuck, self.kept, self.is_released = device, stuck, [], False
        self.lock = threading.Lock()
        threading.Thread(target=self.serve, daemon=True).start()

    def say(self, unique, body=None):
        """Without a body: there is no such thing."""
        head = struct.pack("<IiQ", 16 + len(body or b""), 0 if body is not None else -errno.ENOSYS, unique)
        with contextlib.suppress(OSError):  # who asked is gone
            os.write(self.device, head + (body or b""))

    def keep(self, unique):
        with self.lock:
            if not self.is_released:
                self.kept.append(unique)
            return not self.is_released

    def serve(self):
        """To the end of the last who has something open there; only then its number is free."""
        while True:
            try:
                asked = os.read(self.device, STUCK_BYTES)
            except OSError:  # it is unmounted
                os.close(self.device)
                return
            _, method, unique, node = struct.unpack_from("<IIQQ", asked)
            if method in FORGETS or (method == self.stuck and self.keep(unique)):
                continue
            answer = ANSWERS.get(method)
            self.say(unique, answer and answer(node))

    def release(self):
        """Every close ends."""
        with self.lock:
            self.is_released = True
        for unique in self.kept:
            self.say(unique)


@contextlib.contextmanager
def stuck_folder(folder, stuck=FLUSH):
    """(an open file whose close() does not end before this does, the list of those closes); with
    @stuck WRITE the last close of the file, once something was written, and not each."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    try:
        device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise Denied(str(error)) from None
    how = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
    if LIBC.mount(b"stuck", bytes(folder), b"fuse.stuck", 0, how) != 0:
        os.close(device)
        raise Denied(os.strerror(ctypes.get_errno()))
    server = Server(device, stuck)
    file = os.open(folder / "file", os.O_RDWR | os.O_CLOEXEC)
    try:
        yield file, server.kept
    finally:
        server.release()
        os.close(file)
        LIBC.umount2(bytes(folder), LAZILY)

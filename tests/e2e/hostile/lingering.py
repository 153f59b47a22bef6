"""Descriptors whose close() sleeps as long as the one who passes them chose."""
import contextlib
import socket
import struct

# Far longer than a test has patience for: a loop that waits for such a close fails it.
LINGER_S = 3600


def lingering_socket(small=False):
    """(a TCP socket whose last close waits for bytes that nobody reads, what keeps it so); @small:
    few bytes, for thousands of them."""
    listener, ours = socket.socket(), socket.socket()
    if small:  # before they are connected
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    ours.connect(listener.getsockname())
    peer, _ = listener.accept()
    listener.close()
    with contextlib.suppress(BlockingIOError):
        while True:
            ours.send(bytes(1 << 16), socket.MSG_DONTWAIT)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, LINGER_S))
    return ours, peer


def pass_lingering(channel, data=b"\0", times=1):
    """Send @data with such a socket, which is then the receiver's alone to close."""
    ours, peer = lingering_socket()
    socket.send_fds(channel, [data], [ours.fileno()] * times)
    ours.close()
    return peer

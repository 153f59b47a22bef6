"""For stand-ins of modserd-worker that start the real one and stand between it and the supervisor:
what either says passes them, descriptors included."""
import os
import socket
import subprocess
import threading

CHANNEL, ARTIFACT = 3, 4  # as daemon/worker/CHANNEL.md has them
MOST_BYTES, MOST_FDS = 1 << 16, 64


def copy(source, to, look):
    """Until @source ends; look(data, descriptors) comes first, and the descriptors are closed after."""
    while True:
        data, fds, _, _ = socket.recv_fds(source, MOST_BYTES, MOST_FDS)
        if not data:
            break
        look(data, fds)
        sent = socket.send_fds(to, [data], fds) if fds else to.send(data)
        to.sendall(data[sent:])
        for fd in fds:
            os.close(fd)
    to.shutdown(socket.SHUT_WR)


def start(worker, words):
    """(the real one's process, the supervisor's end, the worker's)"""
    channel = socket.socket(fileno=os.dup(CHANNEL))
    ours, theirs = socket.socketpair()
    os.dup2(theirs.fileno(), CHANNEL)
    theirs.close()
    process = subprocess.Popen([worker, *words], pass_fds=(CHANNEL, ARTIFACT))
    os.close(CHANNEL)
    return process, channel, ours


def stand(process, channel, ours, look_down, look_up):
    """Copy both ways until the worker ends; returns its status."""
    threading.Thread(target=copy, args=(channel, ours, look_down), daemon=True).start()
    copy(ours, channel, look_up)
    return process.wait()

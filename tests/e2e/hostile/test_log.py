"""Whoever reads the daemon's standard error may stop to; clients do not wait for that."""
import fcntl
import os

from wire import Wire

PIPE_BYTES = 4096
CONNECTIONS = 400  # at `debug` each is more than 20 bytes of the log


def test_a_log_that_nobody_reads_holds_up_nobody(own_arena):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    arena = own_arena(env={"MODSERD_LOG": "debug"}, stderr=writer)
    os.close(writer)
    victim = arena.victim()
    for _ in range(CONNECTIONS):
        with Wire(arena.host) as wire:
            assert wire.ask("ping") is None
    assert victim.ask("ping") is None
    arena.connections.close()
    arena.daemon.stop()
    said = os.read(reader, PIPE_BYTES)
    assert b"event=connection_open" in said
    os.close(reader)

"""Nobody takes all instances and resident tensors that a worker may have, nor all their bytes."""
import socket

import harness
import msgpack
from arena import Attacker
from wire import DTYPE, Failure, shape_ext

MIB = 1 << 20
INSTANCES = 1024  # MSD_MAX_INSTANCES
FLOAT32 = msgpack.ExtType(DTYPE, bytes([2, 32, 1, 0]))


def made(wire, n, *request):
    """How many of @n the worker made, and what was said of the last that it did not."""
    asked = [wire.start(*request) for _ in range(n)]
    count, said = 0, None
    for id in asked:
        try:
            wire.finish(id)
            count += 1
        except Failure as failure:
            said = failure
    return count, said


def test_one_client_does_not_take_all_tensors_and_instances_of_a_worker(own_arena, models):
    words = ("--max-tensors", "100", "--max-executors", "10")
    arena = own_arena(*words, modules={"mlp": models / "mlp.so"})
    alloc = ("tensor.alloc", "mlp", FLOAT32, shape_ext(1))
    one, two, three = (arena.connect() for _ in range(3))
    for request, most, option in ((alloc, 100, "--max-tensors"),
                                  (("module.instance", "mlp"), 10, "--max-executors")):
        count, said = made(one, most + 5, *request)
        assert count == most and said.name == "BUSY" and option in str(said)
        assert made(two, most, *request)[0] == most
        assert made(three, 1, *request)[0] == 0, "the peer has all that it may"
    one.socket.close()
    harness.until(lambda: made(three, 1, *alloc)[0] == 1, "what a connection held is free again")


def test_two_peers_do_not_take_all_instances_of_a_worker(own_arena, folder, models):
    """512 each were all: of what others leave, a peer has the part that it has of all."""
    arena = own_arena(
        modules={"mlp": models / "mlp.so"}, listen=[f"unix:{folder}/m.sock", "tcp://127.0.0.1:0"])
    address = ("127.0.0.1", int(arena.daemon.hosts[1].rpartition(":")[2]))

    def connect(peer):
        wire = Attacker(socket.create_connection(address, source_address=(f"127.0.0.{peer}", 0)))
        return arena.connections.enter_context(wire)

    for peer, most in ((2, INSTANCES // 2), (3, INSTANCES // 4), (4, INSTANCES // 8)):
        count = sum(made(connect(peer), INSTANCES // 4, "module.instance", "mlp")[0] for _ in range(2))
        assert count == most, f"127.0.0.{peer}"


def test_one_client_does_not_take_all_bytes_of_resident_tensors(own_arena):
    """A megabyte is the limit of a connection, two of a peer, eight there are."""
    words = ("--max-memory", "8M", "--max-resident", "1M")
    arena = own_arena(*words, modules={"results": harness.ZOO / "results.so"})
    alloc = ("tensor.alloc", "results", FLOAT32, shape_ext(MIB // 16))
    one, two, three = (arena.connect() for _ in range(3))
    count, said = made(one, 6, *alloc)
    assert count == 4 and said.name == "BUSY" and "--max-resident" in str(said)
    assert made(two, 4, *alloc)[0] == 4
    assert made(three, 1, *alloc)[0] == 0, "the peer has all that it may"
    assert made(three, 1, "tensor.alloc", "results", FLOAT32, shape_ext(2**40))[0] == 0
    one.socket.close()
    harness.until(lambda: made(three, 1, *alloc)[0] == 1, "what a connection held is free again")

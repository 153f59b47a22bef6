"""A stand-in for modserd-worker: it starts the real one and copies what passes between that and
the supervisor, descriptors included, into two files.

    channel_tap.py WORKER FOLDER WORD...    the words are those that the supervisor gave
"""
import os
import pathlib
import sys

import between


def into(file):
    def look(data, _):
        file.write(data)
        file.flush()

    return look


def main(worker, folder, *words):
    if words[:1] != ("--name",):
        os.execv(worker, [worker, *words])
    process, channel, ours = between.start(worker, words)
    base = pathlib.Path(folder) / str(process.pid)
    with open(f"{base}.down", "wb") as down, open(f"{base}.up", "wb") as up:
        return between.stand(process, channel, ours, into(down), into(up))


sys.exit(main(*sys.argv[1:]))

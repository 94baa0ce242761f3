#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a large snapshot out of a recorded one, and times Python's own reader.

  make_snapshot.py make SOURCE.pickle.gz BYTES OUT   the recorded events again and again, byte by byte
                                                     as PyTorch wrote them, to BYTES; also OUT.gz
  make_snapshot.py load FILE                         what pickle.load costs, as JSON

Events refer back to texts and frames by number. In a copy these numbers mean what they meant in the
first: the result is as valid as the recording. FRAME opcodes are hints with lengths that would no
longer fit, and are left out.
"""
import gzip
import json
import pickle
import pickletools
import resource
import sys
import time
import zlib


def parts(data):
    """The bytes before the events of the first device, the events, and the bytes after."""
    frames = []
    start = end = previous = None
    lists = None  # opened since the key `device_traces`
    for opcode, argument, position in pickletools.genops(data):
        if opcode.name == "FRAME":
            frames.append(position)
            continue
        if argument == "device_traces":
            lists = 0
        elif argument == "allocator_settings":
            end = previous  # the APPEND of the only device
        elif lists is not None and start is None:
            lists += opcode.name == "EMPTY_LIST"
            if opcode.name == "MARK" and lists == 2:
                start = position
        previous = position

    def without_frames(first, last):
        pieces, at = [], first
        for frame in frames:
            if first <= frame < last:
                pieces.append(data[at:frame])
                at = frame + 9
        return b"".join(pieces) + data[at:last]

    return without_frames(0, start), without_frames(start, end), without_frames(end, len(data))


def make(source, size, target):
    with gzip.open(source) as file:
        head, events, tail = parts(file.read())
    copies = max(1, (int(size) - len(head) - len(tail) + len(events) - 1) // len(events))
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    with open(target, "wb") as plain, open(target + ".gz", "wb") as packed:
        for piece in [head] + [events] * copies + [tail]:
            plain.write(piece)
            packed.write(packer.compress(piece))
        packed.write(packer.flush())


def load(path):
    begin, spent = time.perf_counter(), time.process_time()
    with open(path, "rb") as file:
        value = pickle.load(file)
    seconds = time.perf_counter() - begin
    assert value["device_traces"]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "processor_seconds": time.process_time() - spent,
                      "peak": peak}))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    {"make": make, "load": load}[sys.argv[1]](*sys.argv[2:])

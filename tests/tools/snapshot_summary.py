#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what Python's pickle finds in snapshots, for tests/trace to compare with what Ebb finds.

  snapshot_summary.py FILE...    counts, sums and checksums, a block of lines per file

The checksums are CRC-32 over one line of text per event, block, segment or annotation; see
`put_...` below for the lines, which tests/trace/summary.cpp writes in the same way.
"""
import gzip
import io
import pickle
import sys
import zlib


class PlainUnpickler(pickle.Unpickler):
    """Builds lists, dicts, tuples, strings and numbers; refuses everything that names an object."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused global {module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("refused persistent id")


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return PlainUnpickler(io.BytesIO(data)).load()


def checksum(lines):
    return zlib.crc32("".join(line + "\n" for line in lines).encode("utf-8", "surrogatepass"))


class Stacks:
    """Checksums of stacks, each computed once."""

    def __init__(self):
        self.known = {}

    def of(self, frames):
        if not frames:
            return 0
        if id(frames) not in self.known:
            lines = [f"{f.get('name')}|{f.get('filename')}|{f.get('line', 0)}" for f in frames]
            self.known[id(frames)] = checksum(lines)
        return self.known[id(frames)]


def unsigned(value):
    return value & 0xFFFFFFFFFFFFFFFF


def event_line(event, stacks):
    pool = event.get("pool_id", (0, 0))
    address = event["device_free"] if event["action"] == "oom" else event["addr"]
    return (f"{event['action']} {unsigned(address)} {event['size']} {unsigned(event['stream'])} "
            f"{event.get('time_us', 0)} {pool[0]} {pool[1]} {stacks.of(event.get('frames'))} "
            f"{event.get('user_metadata', '')}")


def block_stack(block):
    if "frames" in block:
        return block["frames"]
    history = block.get("history", [])
    return history[0].get("frames") if history else None


def segment_lines(segment, stacks):
    pool = segment.get("segment_pool_id", (0, 0))
    yield (f"{segment['device']} {unsigned(segment['address'])} {segment['total_size']} "
           f"{unsigned(segment['stream'])} {segment['segment_type']} {pool[0]} {pool[1]} "
           f"{int(segment.get('is_expandable', False))} {stacks.of(segment.get('frames'))}")
    address = segment["address"]
    for block in segment["blocks"]:
        history = block.get("history", [])
        requested = block.get("requested_size", history[0]["real_size"] if history else block["size"])
        yield (f"{unsigned(block.get('address', address))} {block['size']} {requested} "
               f"{block['state']} {stacks.of(block_stack(block))}")
        address += block["size"]


def summary(snapshot):
    stacks = Stacks()
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    for trace in snapshot.get("device_traces", []):
        yield (f"trace {len(trace)} {sum(event['size'] for event in trace)} "
               f"{checksum(event_line(event, stacks) for event in trace)}")
    segments = sorted(snapshot.get("segments", []), key=lambda s: (s["device"], s["address"]))
    lines = [line for segment in segments for line in segment_lines(segment, stacks)]
    yield f"segments {len(segments)} {len(lines) - len(segments)} {checksum(lines)}"
    annotations = [f"{a['name']} {a['stage']} {a['device']} {a['time_us']}"
                   for a in snapshot.get("external_annotations", [])]
    yield f"annotations {len(annotations)} {checksum(annotations)}"
    settings = snapshot.get("allocator_settings")
    if settings is not None:
        yield (f"settings {settings['PYTORCH_CUDA_ALLOC_CONF']} {settings['max_split_size']} "
               f"{settings['garbage_collection_threshold']:.6f} "
               f"{int(settings['expandable_segments'])}")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        for text in summary(load(name)):
            print(text)

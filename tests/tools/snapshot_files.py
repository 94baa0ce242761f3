#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a recorded snapshot again in another of the shapes that PyTorch and its users write.

  snapshot_files.py protocol N IN OUT   as pickle.dump with that protocol
  snapshot_files.py embedder IN OUT     as PyTorch's C++ pickler: protocol 2, nothing batched
  snapshot_files.py old IN OUT          as PyTorch 2.0: a history in blocks, few fields, no times
  snapshot_files.py untraced IN OUT     without traces and annotations (include_traces=False)
  snapshot_files.py segments IN OUT     only the list that torch.cuda.memory_snapshot() returns
  snapshot_files.py reversed IN OUT     every dict in the opposite order, with keys nobody knows
"""
import pickle
import struct
import sys

from snapshot_summary import load


class EmbedderPickler:
    """Strings once each, containers always with a mark, those used twice put after their items."""

    def __init__(self):
        self.out = bytearray(b"\x80\x02")
        self.memo = {}

    def number(self, value):
        if 0 <= value <= 0xFF:
            self.out += b"K" + struct.pack("<B", value)
        elif 0 <= value <= 0xFFFF:
            self.out += b"M" + struct.pack("<H", value)
        elif -0x80000000 <= value <= 0x7FFFFFFF:
            self.out += b"J" + struct.pack("<i", value)
        else:
            signed = value - (1 << 64) if value >= 1 << 63 else value
            self.out += b"\x8a\x08" + struct.pack("<q", signed)

    def put(self, key):
        number = len(self.memo)
        self.memo[key] = number
        self.out += b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def got(self, key):
        if key not in self.memo:
            return False
        number = self.memo[key]
        self.out += b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)
        return True

    def value(self, value):
        if isinstance(value, bool):
            self.out += b"\x88" if value else b"\x89"
        elif isinstance(value, int):
            self.number(value)
        elif isinstance(value, float):
            self.out += b"G" + struct.pack(">d", value)
        elif isinstance(value, str):
            if not self.got(value):
                data = value.encode()
                self.out += b"X" + struct.pack("<I", len(data)) + data
                self.put(value)
        elif isinstance(value, tuple):
            self.value(value[0])
            self.value(value[1])
            self.out += b"\x86"
        elif not self.got(id(value)):
            self.out += b"}(" if isinstance(value, dict) else b"]("
            for item in value.items() if isinstance(value, dict) else value:
                for part in item if isinstance(value, dict) else [item]:
                    self.value(part)
            self.out += b"u" if isinstance(value, dict) else b"e"
            if "frames" not in value and not (value and isinstance(value, list)
                                              and "frames" in value[0]):
                self.put(id(value))

    def finish(self):
        return bytes(self.out) + b"."


def old(snapshot):
    for segment in snapshot["segments"]:
        for key in ("segment_pool_id", "is_expandable", "frames"):
            del segment[key]
        for block in segment["blocks"]:
            del block["address"]
            frames = block.pop("frames")
            requested = block.pop("requested_size")
            block["history"] = []
            if block["state"] != "inactive":
                block["history"] = [{"addr": 1, "real_size": requested, "frames": frames},
                                    {"addr": 1, "real_size": 7}]
    for trace in snapshot["device_traces"]:
        for event in trace:
            for key in ("time_us", "compile_context", "user_metadata"):
                del event[key]
    return {key: snapshot[key] for key in ("segments", "device_traces")}


def untraced(snapshot):
    snapshot["device_traces"] = [[] for _ in snapshot["device_traces"]]
    snapshot["external_annotations"] = []
    return snapshot


def backwards(value, done):
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, dict):
        made = {key: backwards(value[key], done) for key in reversed(value)}
        made["some day"] = {"action": "sing", "list": [1, 2.5, None, (), (1,), ("a", 2, True), []]}
        made["some text"] = "x" * 70000
    elif isinstance(value, list):
        made = [backwards(item, done) for item in value]
    else:
        return value
    done[id(value)] = made
    return made


def main(arguments):
    kind, (source, target) = arguments[0], arguments[-2:]
    snapshot = load(source)
    if kind == "embedder":
        pickler = EmbedderPickler()
        pickler.value(snapshot)
        data = pickler.finish()
    elif kind == "protocol":
        data = pickle.dumps(snapshot, protocol=int(arguments[1]))
    else:
        changed = {"old": old, "untraced": untraced, "segments": lambda s: s["segments"],
                   "reversed": lambda s: backwards(s, {})}[kind](snapshot)
        data = pickle.dumps(changed)
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(sys.argv[1:])

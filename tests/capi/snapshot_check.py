# SPDX-License-Identifier: Apache-2.0
"""Loads a snapshot as PyTorch's tools do, with nothing but plain values allowed, and prints a line
per segment and per device's history.

  snapshot_check.py FILE
"""
import pickle
import sys

TOP = {"segments", "device_traces", "allocator_settings"}
SEGMENT = {"device", "address", "total_size", "allocated_size", "active_size", "requested_size",
           "stream", "segment_type", "segment_pool_id", "is_expandable", "frames", "blocks"}
BLOCK = {"address", "size", "requested_size", "state", "frames"}
ENTRY = {"action", "size", "stream", "time_us"}


class PlainValues(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"{module}.{name}: expected plain values only")


def require(what, found, wanted):
    missing = wanted - set(found)
    if missing:
        sys.exit(f"{what} lacks {', '.join(sorted(missing))}")


def main(path):
    with open(path, "rb") as file:
        snapshot = PlainValues(file).load()
        if file.read(1):
            sys.exit("something follows the pickle")
    require("the snapshot", snapshot, TOP)
    for segment in snapshot["segments"]:
        require("a segment", segment, SEGMENT)
        at = segment["address"]
        for block in segment["blocks"]:
            require("a block", block, BLOCK)
            if block["address"] != at:
                sys.exit(f"a block at {block['address']}, expected {at}")
            at += block["size"]
        if at != segment["address"] + segment["total_size"]:
            sys.exit("the blocks do not fill their segment")
        states = ",".join(sorted({block["state"] for block in segment["blocks"]}, reverse=True))
        print("segment", segment["device"], segment["total_size"], segment["segment_type"], states)
    for device, entries in enumerate(snapshot["device_traces"]):
        for entry in entries:
            require("an entry", entry, ENTRY)
        print("trace", device, ",".join(entry["action"] for entry in entries))


if __name__ == "__main__":
    main(sys.argv[1])

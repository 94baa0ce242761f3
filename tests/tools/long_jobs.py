#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs recorded jobs of four passes into the small files that tests/replay/long_job.cpp reads.

  long_jobs.py FOLDER OUT    for each NAME in FOLDER, its trace (NAME.default.pickle.gz) and what was
                             measured (NAME.SETTING.json.gz) become OUT/NAME.json.gz

One JSON object a job, numbers in columns so that they pack well:
  kinds        one letter an operation: a allocate, f free, l free while another stream uses it,
               c that stream is done with it, e empty_cache
  sizes        each size once; size_of has an index into it for each allocation
  streams      each handle once, the default stream first; stream_of has an index for each allocation
  back         for each f, l and c, how many blocks were allocated since the one that it is about
  segments     [requests before, action, size, address]
  annotations  [events before, stage, name]
  passes       [operations, events, microseconds since the first event] until the end of each
  measured     by setting: its string, and [peak reserved, peak allocated] after each pass
"""
import gzip
import json
import sys
from pathlib import Path

from snapshot_summary import load

SEGMENT_ACTIONS = ("segment_alloc", "segment_free")


class Requests:
    """The operations in a trace that begins on an empty device which never ran out of memory."""

    def __init__(self, trace):
        self.kinds, self.sizes, self.streams = [], {}, {0: 0}
        self.size_of, self.stream_of, self.back, self.segments = [], [], [], []
        self.live, self.waiting = {}, {}
        self.requests = 0
        self.quiet = []  # [operations, events, time] wherever few blocks are live
        for i, event in enumerate(trace):
            following = trace[i + 1] if i + 1 < len(trace) else {"action": ""}
            self.take(event, following)
            if following["action"] not in ("free_requested", "free_completed"):
                self.quiet.append((len(self.live), len(self.kinds), i + 1, event["time_us"]))

    def take(self, event, following):
        action, address = event["action"], event.get("addr")
        if action == "alloc":
            self.live[address] = len(self.size_of)
            self.kinds.append("a")
            self.size_of.append(self.sizes.setdefault(event["size"], len(self.sizes)))
            self.stream_of.append(self.streams.setdefault(event["stream"], len(self.streams)))
            self.requests += 1
        elif action == "free_requested":
            at_once = following["action"] == "free_completed" and following["addr"] == address
            block = self.live.pop(address)
            self.about("f" if at_once else "l", block)
            if not at_once:
                self.waiting[address] = block
            self.requests += 1
        elif action == "free_completed":
            if address in self.waiting:
                self.about("c", self.waiting.pop(address))
        elif action in SEGMENT_ACTIONS:
            self.segments.append([self.requests, action, event["size"], address])
            if action == "segment_free" and following["action"] != "segment_free":
                self.kinds.append("e")
        else:
            sys.exit(f"a trace with '{action}', expected one of a job that never ran out of memory")

    def about(self, kind, block):
        self.kinds.append(kind)
        self.back.append(len(self.size_of) - 1 - block)


def pass_ends(requests, seconds, begin):
    """A pass ends where nothing is left but what the libraries keep, about `seconds` before the next."""
    kept = requests.quiet[-1][0]
    ends = [requests.quiet[-1]]
    for length in reversed(seconds[1:]):
        due = ends[0][3] - length * 1e6
        ends.insert(0, min((q for q in requests.quiet if q[0] <= kept), key=lambda q: abs(q[3] - due)))
    return [[operations, events, time - begin] for _, operations, events, time in ends]


def annotations_of(snapshot, trace):
    packed, at = [], 0
    for annotation in sorted(snapshot.get("external_annotations", []), key=lambda a: a["time_us"]):
        while at < len(trace) and trace[at]["time_us"] < annotation["time_us"]:
            at += 1
        packed.append([at, annotation["stage"], annotation["name"]])
    return packed


def measured_of(folder, name):
    measured = {}
    for path in sorted(folder.glob(f"{name}.*.json.gz")):
        with gzip.open(path) as file:
            record = json.load(file)
        measured[record["conf_name"]] = record
    return measured


def pack(folder, name, out):
    snapshot = load(folder / f"{name}.default.pickle.gz")
    trace = snapshot["device_traces"][0]
    requests = Requests(trace)
    measured = measured_of(folder, name)
    seconds = [one[2] for one in measured["default"]["passes"]]
    packed = {
        "torch": measured["default"]["torch"],
        "kinds": "".join(requests.kinds),
        "sizes": list(requests.sizes),
        "size_of": requests.size_of,
        "streams": list(requests.streams),
        "stream_of": requests.stream_of,
        "back": requests.back,
        "segments": requests.segments,
        "annotations": annotations_of(snapshot, trace),
        "passes": pass_ends(requests, seconds, trace[0]["time_us"]),
        "measured": {setting: {"conf": record["conf"],
                               "passes": [one[:2] for one in record["passes"]]}
                     for setting, record in measured.items()},
    }
    path = out / f"{name}.json.gz"
    text = json.dumps(packed, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{path}: {path.stat().st_size} bytes, passes end after {[p[0] for p in packed['passes']]}")


def main(folder, out):
    for path in sorted(folder.glob("*.default.pickle.gz")):
        pack(folder, path.name.split(".")[0], out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))

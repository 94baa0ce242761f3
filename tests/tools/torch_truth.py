#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns recorded PyTorch allocator histories into lines that tests/cache replays.

  torch_truth.py vector OPS.json.gz      an operation log with every counter after every operation
  torch_truth.py run RUN.json.gz         a recorded run; its trace is read from RUN.pickle.gz
  torch_truth.py same OURS.pickle FILE   whether a snapshot is the recorded one of either kind of
                                         file, but for times, ranges and free device
                                         memory

The first two write lines to stdout, words between blanks (`conf` and `message` run to the end of the line):
  total N | fraction F | conf TEXT | keys NAME...      the device, its limit, names of the counters
  address N                                            the next address that the driver gives out
  a BYTES STREAM ADDRESS|-1                            allocate; -1 is out of memory
  f ADDRESS STREAM...                                  free, after use on these streams
  e | s | pb A B NO_SPLIT | pe | pd A B                empty_cache, synchronise, pool made and
                                                       entered, left, destroyed
  c ADDRESS... | w ADDRESS...                          frees that complete at the start of the last
                                                       operation, or while it waits
  = INDEX VALUE ...                                    counters that the last operation changed
  message TEXT                                         the out-of-memory text Python saw last
  final NAME VALUE                                     memory_stats at the end
  event REQUESTS ACTION SIZE                           what happened to segments, and when
  t ACTION ADDRESS SIZE STREAM                         the trace
  S ADDRESS TOTAL ALLOCATED ACTIVE REQUESTED STREAM TYPE POOL_A POOL_B EXPANDABLE
  B ADDRESS SIZE REQUESTED STATE                       segments at the end, each with its blocks
"""
import gzip
import io
import json
import pickle
import sys

RELEASES = ("segment_free", "segment_unmap")


class PlainUnpickler(pickle.Unpickler):
    """Builds lists, dicts, tuples, strings and numbers; refuses everything that names an object."""

    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"refused global {module}.{name}")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("refused persistent id")


def scripted_addresses(trace, total):
    """Addresses of plain segments, and of the ranges that expandable segments reserve."""
    addresses = []
    ranges = {}
    for entry in trace:
        action, size = entry["action"], entry["size"]
        if action == "segment_alloc":
            addresses.append(entry["addr"])
        elif action in ("segment_map", "segment_unmap"):
            base = next((b for b in ranges if b <= entry["addr"] < b + total + total // 8), None)
            if base is None:
                base = entry["addr"]
                ranges[base] = 0
                addresses.append(base)
            ranges[base] += size if action == "segment_map" else -size
            if ranges[base] == 0:
                del ranges[base]
    return addresses


class Completions:
    """Hands out the completions that belong to each operation, walking along the trace."""

    def __init__(self, trace):
        self.trace = trace
        self.at = 0

    def _take(self, *stops):
        """Entries up to and including the first whose action is in `stops`."""
        start = self.at
        while self.trace[self.at]["action"] not in stops:
            self.at += 1
        self.at += 1
        return self.trace[start:self.at]

    def of_allocation(self):
        return [e["addr"] for e in self._take("alloc", "oom") if e["action"] == "free_completed"]

    def skip_free(self, streams):
        own = self._take("free_requested")[-1]["stream"]
        if all(stream == own for stream in streams):
            self._take("free_completed")

    def of_release(self):
        found = []
        while self.at < len(self.trace):
            action = self.trace[self.at]["action"]
            if action == "free_completed":
                found.append(self.trace[self.at]["addr"])
            elif action not in RELEASES:
                break
            self.at += 1
        return found


def put(*words):
    print(*words)


def put_end(stats, snapshot):
    for name in sorted(stats):
        put("final", name, stats[name])
    for e in snapshot["device_traces"][0]:
        put("t", e["action"], e.get("addr", 0), e["size"], e["stream"])
    for s in snapshot["segments"]:
        put("S", s["address"], s["total_size"], s["allocated_size"], s["active_size"],
            s["requested_size"], s["stream"], s["segment_type"], *s["segment_pool_id"],
            int(s["is_expandable"]))
        for b in s["blocks"]:
            put("B", b["address"], b["size"], b["requested_size"], b["state"])


def put_head(conf, total, limit, trace):
    put("total", total)
    put("fraction", repr(limit / total) if limit else 1.0)
    put("conf", conf)
    for address in scripted_addresses(trace, total):
        put("address", address)


def vector(path):
    with gzip.open(path) as file:
        log = json.load(file)
    snapshot = log["snap"]
    trace = snapshot["device_traces"][0]
    put_head(log["conf"], log["total"], log["lim"], trace)
    put("keys", *log["keys"])
    completions = Completions(trace)
    syncs = log["keys"].index("num_sync_all_streams")
    before = [0] * len(log["keys"])
    for op in log["log"]:
        kind, stats = op[0], op[-1]
        done = []
        if kind == "a":
            put("a", op[1], op[2], op[3])
            done = completions.of_allocation()
        elif kind == "f":
            put("f", op[1], *op[2])
            completions.skip_free(op[2])
        elif kind in ("e", "pd"):
            put(*op[:-1])
            done = completions.of_release()
        elif kind == "pb":
            put("pb", op[1], op[2], int(op[3]))
        else:
            put(kind)
        if done:
            put("w" if stats[syncs] != before[syncs] else "c", *done)
        changed = [word for i, (old, new) in enumerate(zip(before, stats)) if old != new
                   for word in (i, new)]
        put("=", *changed)
        before = stats
    put_end(log["final"], snapshot)


def explicit_releases(trace, count):
    """Where empty_cache was called: after the bursts of releases with the longest pause behind."""
    bursts = []
    for i, entry in enumerate(trace):
        last = i + 1 == len(trace) or trace[i + 1]["action"] not in RELEASES
        if entry["action"] in RELEASES and last:
            pause = trace[i + 1]["time_us"] - entry["time_us"] if i + 1 < len(trace) else 1 << 60
            bursts.append((pause, i))
    return {i for _, i in sorted(bursts, reverse=True)[:count]}


def load_pickle(data):
    return PlainUnpickler(io.BytesIO(data)).load()


def run_snapshot(path):
    with gzip.open(path.replace(".json.gz", ".pickle.gz")) as file:
        return load_pickle(file.read())


def run(path):
    with gzip.open(path) as file:
        record = json.load(file)
    snapshot = run_snapshot(path)
    trace = snapshot["device_traces"][0]
    stats = record["memory_stats"]
    put_head(record["conf"], record["device_total"], record["cap_bytes"], trace)
    releases = explicit_releases(trace, stats["num_sync_all_streams"] - stats["num_alloc_retries"])
    done, released = [], False
    for i, entry in enumerate(trace):
        action = entry["action"]
        if action == "free_completed":
            previous = trace[i - 1]
            if not (previous["action"] == "free_requested" and previous["addr"] == entry["addr"]):
                done.append(entry["addr"])
        elif action == "free_requested":
            following = trace[i + 1] if i + 1 < len(trace) else None
            at_once = following and following["action"] == "free_completed" \
                and following["addr"] == entry["addr"]
            put("f", entry["addr"], *([] if at_once else [entry["stream"] + 1]))
        elif action in ("alloc", "oom"):
            put("a", entry["size"], entry["stream"], entry["addr"] if action == "alloc" else -1)
            if done:
                put("w" if released or action == "oom" else "c", *done)
            done, released = [], False
        elif action in RELEASES:
            released = True
            if i in releases:
                put("e")
                if done:
                    put("w", *done)
                done, released = [], False
    if record["oom"]:
        put("message", record["oom"])
    for requests, action, size in record["segment_events"]:
        put("event", requests, action, size)
    put_end(stats, snapshot)


def comparable(snapshot):
    """Without what differs from run to run; PyTorch's order of releases among pools is no order."""
    snapshot["external_annotations"] = []
    for trace in snapshot["device_traces"]:
        start = 0
        for i, entry in enumerate(trace + [{"action": ""}]):
            entry.pop("time_us", None)
            entry.pop("device_free", None)
            if entry["action"] not in RELEASES:
                trace[start:i] = sorted(trace[start:i], key=lambda e: e["addr"])
                start = i + 1
    return snapshot


def first_difference(ours, theirs, where="snapshot"):
    if type(ours) is not type(theirs) and not {type(ours), type(theirs)} <= {list, tuple}:
        return f"{where}: {type(ours).__name__} instead of {type(theirs).__name__}"
    if isinstance(ours, dict):
        if list(ours) != list(theirs):
            return f"{where}: keys {list(ours)} instead of {list(theirs)}"
        pairs = [(key, ours[key], theirs[key]) for key in ours]
    elif isinstance(ours, (list, tuple)):
        if len(ours) != len(theirs):
            return f"{where}: {len(ours)} items instead of {len(theirs)}"
        pairs = [(i, a, b) for i, (a, b) in enumerate(zip(ours, theirs))]
    else:
        return None if ours == theirs else f"{where}: {ours!r} instead of {theirs!r}"
    return next(filter(None, (first_difference(a, b, f"{where}[{k!r}]") for k, a, b in pairs)),
                None)


def same(ours_path, path):
    with open(ours_path, "rb") as file:
        ours = load_pickle(file.read())
    with gzip.open(path) as file:
        record = json.load(file)
    theirs = record["snap"] if "snap" in record else run_snapshot(path)
    sys.exit(first_difference(comparable(ours), comparable(theirs)))


if __name__ == "__main__":
    commands = {"vector": vector, "run": run, "same": same}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of Python hold the memory of a server at its peak, copy by copy.

  ebb run --sites --interval 100ms --db RUN.db -- python examples/nvflare/job.py OUT --plain --clients 4
  copies.py RUN.db...

Of each record, its last run, and in it the process that had most at once: the moment when the sampled allocations came to
most. A line is the innermost of NVFlare's, Ebb's or the job's own; lines below 4 MiB are one row. Resident memory is the
reading nearest to that moment.
"""
import json
import sqlite3
import sys

LEAST = 4 << 20
OWN = ("/site-packages/nvflare/", "/site-packages/ebb/", "/examples/nvflare/")


def line_of(frames):
    """file:line function of the job's innermost call, "" where there is none."""
    for function, file, line, _ in frames:
        if any(part in file for part in OWN):
            return f"{file.rsplit('/', 1)[1]}:{line} {function.rsplit('.', 1)[-1]}"
    return ""


def holders(path):
    """(peak of resident memory, resident and sampled at the moment of most, {line: bytes})."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as record:
        run, = record.execute("SELECT max(id) FROM runs").fetchone()
        process, peak = record.execute("SELECT process, max(rss) AS most FROM samples WHERE run = ? GROUP BY process "
                                       "ORDER BY most DESC", (run,)).fetchone()
        moment, most = record.execute("SELECT ms, sum(bytes) AS held FROM sites WHERE run = ? AND process = ? GROUP BY "
                                      "ms ORDER BY held DESC", (run, process)).fetchone()
        resident, = record.execute("SELECT rss FROM samples WHERE run = ? AND process = ? ORDER BY abs(ms - ?)",
                                   (run, process, moment)).fetchone()
        found = {}
        for held, frames in record.execute(
                "SELECT bytes, frames FROM sites JOIN site_names USING (run, process, site) WHERE run = ? AND process = ? "
                "AND ms = ?", (run, process, moment)):
            line = line_of(json.loads(frames))
            found[line] = found.get(line, 0) + held
    return peak, resident, most, found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for path in sys.argv[1:]:
        peak, resident, most, found = holders(path)
        print(f"{path}: peak {peak >> 20} MiB; sampled at most {most >> 20} MiB, resident then {resident >> 20} MiB")
        small = sum(held for line, held in found.items() if held < LEAST or not line)
        for line, held in sorted(found.items(), key=lambda one: -one[1]):
            if held >= LEAST and line:
                print(f"  {held >> 20:6} MiB  {line}")
        print(f"  {small >> 20:6} MiB  everything else")


if __name__ == "__main__":
    main()

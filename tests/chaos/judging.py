# SPDX-License-Identifier: Apache-2.0
"""What must hold after a case, whatever happened in it."""
import json
import os
import signal
import subprocess

from running import processes_of


def differences(plain, managed):
    found = []
    if managed.status is not None and managed.status != plain.status:
        found.append(f"exit status {managed.status}, without Ebb {plain.status}")
    if managed.output != plain.output:
        found.append(f"{len(managed.output)} bytes of output, without Ebb {len(plain.output)}; they differ")
    if managed.said != plain.said:
        found.append(f"{len(managed.said)} lines on stderr, without Ebb {len(plain.said)}; they differ: "
                     f"{sorted({*managed.said} ^ {*plain.said})[:4]}")
    if managed.files != plain.files:
        changed = sorted(name for name in {*plain.files, *managed.files}
                         if plain.files.get(name) != managed.files.get(name))
        found.append(f"other files than without Ebb: {' '.join(changed)}")
    return found


def stopped(plain, managed):
    """Of a job that Ebb stops, as early as it can: it may have come to its end before."""
    if managed.status in (None, plain.status, -signal.SIGTERM, -signal.SIGKILL):
        return []
    return [f"exit status {managed.status}, without Ebb {plain.status}, and it was to be stopped"]


def asked(ebb, folder, *words):
    """Exit status, JSON (None where there is none) and stderr of a verb."""
    done = subprocess.run([ebb, *words], env=folder.environment(), stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=120)
    try:
        return done.returncode, json.loads(done.stdout), done.stderr.decode(errors="replace")
    except ValueError:
        return done.returncode, None, done.stderr.decode(errors="replace")


# For tables of sites it takes a second at most, which is little on a busy machine: those that follow go on.
MOST_COMMANDS = 20


def left_behind(ebb, folder):
    """After the next command of Ebb nothing is left."""
    for _ in range(MOST_COMMANDS):
        subprocess.run([ebb, "run", "--quiet", "--no-record", "--", "true"], env=folder.environment(),
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
        if not any(folder.path.glob("*/ebb-run-*/sites-*")):
            break
    found = [f"process {pid} is left" for pid in processes_of(folder.mark)]
    for name in ("runtime", "tmp", "home"):
        inside = folder.path / name
        found += [f"{name}/{left} is left" for left in (os.listdir(inside) if inside.exists() else [])]
    # The last where SQLite could not remove it.
    allowed = {"runs.db", "runs.db-wal", "runs.db-shm", "runs.db-journal"}
    record = folder.db.parent
    beside = set(os.listdir(record)) - allowed if record.exists() else ()
    found += [f"record/{left} is left" for left in beside]
    return found


def record_adds_up(ebb, folder, may_be_lost):
    """The record opens, and its parts agree with each other. `may_be_lost`: whether a fault could take it."""
    if not folder.db.exists():
        return [] if may_be_lost else ["there is no record"]
    status, runs, error = asked(ebb, folder, "runs", "--json", "--db", str(folder.db))
    if "no record of runs: the file is empty" in error:
        return [] if may_be_lost else ["the record is empty"]  # its first write failed
    if status != 0 or runs is None:
        return [f"runs: exit status {status}: {error.strip()}"]
    if not may_be_lost and [run["state"] for run in runs["runs"]] != ["ended"]:
        return [f"expected one run that has ended in the record: {runs['runs']}"]
    if not runs["runs"]:
        return []
    status, report, error = asked(ebb, folder, "report", "last", "--json", "--db", str(folder.db))
    if status != 0 or report is None:
        return [f"report: exit status {status}: {error.strip()}"]
    return sums_of(report)


PARTS = ("live", "retained", "private", "python", "pinned", "shared", "file", "stacks", "unexplained")


def sums_of(report):
    """What a report says of the whole that its processes do not say together."""
    run, processes, found = report["run"], report["processes"], []
    if run["processes"] != len(processes):
        found.append(f"{run['processes']} processes, {len(processes)} listed")
    for key in ("count", "returned_bytes"):
        whole, parts = report["cleanups"][key], sum(process["cleanups"][key] for process in processes)
        if whole != parts:
            found.append(f"cleanups: {key} {whole}, of all processes {parts}")
    for process in processes:
        # A control group's does not count what another group has read from disk, libraries for one.
        if (process["peak_rss_bytes"] or 0) > (run["peak_process_rss_bytes"] or 0):
            found.append(f"process {process['pid']}: a higher peak than the run's")
        ledger = process["ledger"] or {"total_bytes": None}
        parts = {part: ledger.get(f"{part}_bytes") or 0 for part in PARTS}
        if ledger["total_bytes"] is not None and ledger["total_bytes"] != sum(parts.values()):
            found.append(f"process {process['pid']}: {ledger['total_bytes']} bytes, in its ledger {parts}")
    return found

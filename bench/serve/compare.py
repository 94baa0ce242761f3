# SPDX-License-Identifier: Apache-2.0
"""What it costs to watch a comparison: `ebb serve` over an `ebb compare` that goes on, with clients that follow it.

  python3 bench/serve/compare.py [--ebb build/release/bin/ebb] [--methods 10] [--seeds 5] [--rounds 100] [--clients 20]

Each client gets the new document of the comparison whenever the server tells of one. Beside them one more client asks
in turns for that document and for a static file of the same size, which comes from Python's own server on the same
machine, until the comparison is over.
"""
import argparse
import http.client
import json
import multiprocessing
import subprocess
import tempfile
import time
from pathlib import Path

from pages import PAUSE, fetched, follow_all, p99, processor_seconds, resident_mib, row, started_server, static_files

PAGE = "/runs/compare-1/"
DOCUMENT = f"{PAGE}document?points=2000"
SMALL = ("--dataset", "synthetic", "--synthetic-train", "1000", "--synthetic-test", "100", "--clients", "100",
         "--per-round", "10", "--backend", "native", "--quiet")


def started_comparison(options, folder):
    listed = json.loads(subprocess.run([options.ebb, "simulate", "--list", "--json"], stdout=subprocess.PIPE,
                                       check=True).stdout)
    methods = [method["key"] for method in listed["methods"]][:options.methods]
    return subprocess.Popen([options.ebb, "compare", *SMALL, "--methods", ",".join(methods), "--seeds",
                             ",".join(map(str, range(1, options.seeds + 1))), "--rounds", str(options.rounds),
                             "--db", f"{folder}/runs.db", "--folder", f"{folder}/compared"],
                            stdout=subprocess.DEVNULL)


def measure(options, folder, comparison, server, port):
    ebb = http.client.HTTPConnection("127.0.0.1", port)
    while b'"title"' not in fetched(ebb, DOCUMENT)[1]:
        time.sleep(0.5)
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    followers = multiprocessing.Process(target=follow_all, args=(port, [PAGE] * options.clients, stop, results))
    followers.start()
    ours, files, size = [], [], 0
    files_server, static = static_files(folder, {"document": b""})
    memory, used, start = resident_mib(server.pid), processor_seconds(server.pid), time.monotonic()
    while comparison.poll() is None:
        time.sleep(PAUSE)
        seconds, body = fetched(ebb, DOCUMENT)
        if len(body) != size:
            size = len(body)
            Path(folder, "document").write_bytes(body)
        ours.append(seconds)
        files.append(fetched(static, "/document")[0])
    took = time.monotonic() - start
    stop.set()
    updates = [seconds for one in results.get() for seconds in one]
    followers.join()
    files_server.terminate()
    files_server.wait()
    share = (processor_seconds(server.pid) - used) / took
    print(f"{options.methods} methods, {options.seeds} seeds, {options.rounds} rounds in {took:.0f} s, "
          f"{options.clients} clients\n{'':<22} {'answers':>7} {'median, ms':>10} {'p99':>9} {'KiB':>8}")
    row("comparison", ours, size)
    row("  static file", files, size)
    row("updates", updates)
    print(f"p99 is {p99(ours) / p99(files):.1f} times that of the file\n"
          f"ebb serve: {100 * share:.0f} % of a core, {memory:.0f} MiB at the beginning, "
          f"{resident_mib(server.pid):.0f} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ebb", default="build/release/bin/ebb")
    parser.add_argument("--methods", type=int, default=10)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--clients", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        comparison = started_comparison(options, folder)
        server = None
        try:
            time.sleep(5)  # the record is there
            server, port = started_server(options, folder)
            measure(options, folder, comparison, server, port)
        finally:
            for one in filter(None, (server, comparison)):
                one.terminate()
                one.wait()


if __name__ == "__main__":
    main()

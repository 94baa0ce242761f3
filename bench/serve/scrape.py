# SPDX-License-Identifier: Apache-2.0
"""What a scrape costs: a job of many processes under `ebb run --metrics`, beside a static file of the same size.

  python3 bench/serve/scrape.py [--ebb build/release/bin/ebb] [--processes 200] [--scrapes 200]

The file comes from Python's own server, on the same machine and in turns with the scrapes.
"""
import argparse
import functools
import http.client
import http.server
import re
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

JOB = """
import os, sys, time
first = os.getpid()
for _ in range(int(sys.argv[1]) - 1):
    if os.fork() == 0:
        break
while first in (os.getpid(), os.getppid()):
    time.sleep(1)
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


def seconds_of(connection, path):
    """How long an answer takes, and how long it is."""
    start = time.perf_counter()
    connection.request("GET", path)
    body = connection.getresponse().read()
    return time.perf_counter() - start, body


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def row(name, seconds, size):
    print(f"{name:<12} {statistics.median(seconds) * 1e3:10.2f} {percentile(seconds, 0.99) * 1e3:8.2f} "
          f"{max(seconds) * 1e3:8.2f} {size / 1024:8.0f}")


def measure(options, folder):
    job = subprocess.Popen([options.ebb, "run", "--db", f"{folder}/runs.db", "--metrics", "127.0.0.1:0", "--", "python3",
                            "-c", JOB, str(options.processes)], stderr=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/metrics", job.stderr.readline())[1])
        ebb = http.client.HTTPConnection("127.0.0.1", port)
        while seconds_of(ebb, "/metrics")[1].count(b"ebb_process_resident_bytes{") < options.processes:
            time.sleep(1)
        text = seconds_of(ebb, "/metrics")[1]
        (Path(folder) / "metrics").write_bytes(text)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        static = http.client.HTTPConnection("127.0.0.1", server.server_port)
        scrapes, files = [], []
        for _ in range(options.scrapes):
            time.sleep(options.pause)
            scrapes.append(seconds_of(ebb, "/metrics")[0])
            files.append(seconds_of(static, "/metrics")[0])
        return scrapes, files, len(text)
    finally:
        job.terminate()
        job.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ebb", default="build/release/bin/ebb")
    parser.add_argument("--processes", type=int, default=200)
    parser.add_argument("--scrapes", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.2, help="seconds between two scrapes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scrapes, files, size = measure(options, folder)
    print(f"{options.processes} processes, {options.scrapes} scrapes\n"
          f"{'':<12} {'median, ms':>10} {'p99':>8} {'most':>8} {'KiB':>8}")
    row("scrape", scrapes, size)
    row("static file", files, size)
    print(f"ratio of the medians {statistics.median(scrapes) / statistics.median(files):.1f}")


if __name__ == "__main__":
    main()

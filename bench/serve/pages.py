# SPDX-License-Identifier: Apache-2.0
"""What live pages cost: `ebb serve` over many running jobs, with many clients that follow them.

  python3 bench/serve/pages.py [--ebb build/release/bin/ebb] [--runs 50] [--processes 4] [--clients 100] [--seconds 60]

Half of the clients follow the list, the others a run each: they get the new document whenever the server tells
of one. Beside them one more client asks in turns for the list, for a run, and for static files of the same sizes,
which come from Python's own server on the same machine.
"""
import argparse
import http.client
import json
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
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
held = []
while first in (os.getpid(), os.getppid()):
    held.append(bytearray(4096))
    time.sleep(0.5)
"""
POINTS = 2000
PAUSE = 0.05  # seconds between two questions of the client that measures


def fetched(connection, path):
    """How long an answer takes, and the answer."""
    start = time.perf_counter()
    connection.request("GET", path)
    body = connection.getresponse().read()
    return time.perf_counter() - start, body


def follow(port, page, times, stop):
    """Listens to a page and gets what is new."""
    events = http.client.HTTPConnection("127.0.0.1", port)
    events.request("GET", f"{page}events")
    answers = http.client.HTTPConnection("127.0.0.1", port)
    shown = None
    for line in events.getresponse():
        if stop.is_set():
            return
        if line.startswith(b"data: ") and line != shown:
            shown = line
            times.append(fetched(answers, f"{page}document?points={POINTS}")[0])


def follow_all(port, pages, stop, results):
    """In a process of its own: each page followed by a thread, until `stop`; then how long updates took."""
    times = [[] for _ in pages]
    for page, one in zip(pages, times):
        threading.Thread(target=follow, args=(port, page, one, stop), daemon=True).start()
    stop.wait()
    results.put(times)


def started_server(options, folder):
    server = subprocess.Popen([options.ebb, "serve", "--db", f"{folder}/runs.db", "--listen", "127.0.0.1:0"],
                              stderr=subprocess.PIPE, text=True)
    return server, int(re.search(r":(\d+)/", server.stderr.readline())[1])


def static_files(folder, bodies):
    """A server of files, and a connection to it."""
    for name, body in bodies.items():
        (Path(folder) / name).write_bytes(body)
    server = subprocess.Popen([sys.executable, "-u", "-m", "http.server", "--protocol", "HTTP/1.1", "--bind",
                               "127.0.0.1", "--directory", folder, "0"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True)
    port = int(re.search(r"port (\d+)", server.stdout.readline())[1])
    return server, http.client.HTTPConnection("127.0.0.1", port)


def resident_mib(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def p99(values):
    return sorted(values)[min(len(values) - 1, int(0.99 * len(values)))]


def row(name, seconds, size=None):
    print(f"{name:<22} {len(seconds):7} {statistics.median(seconds) * 1e3:10.2f} {p99(seconds) * 1e3:9.2f} "
          + (f"{size / 1024:8.0f}" if size else ""))


def measure(options, folder, server, port):
    ebb = http.client.HTTPConnection("127.0.0.1", port)
    while sum(run["state"] == "running" for run in json.loads(fetched(ebb, "/runs/json")[1])["runs"]) < options.runs:
        time.sleep(1)
    followed = ["/" if i % 2 else f"/runs/{1 + i // 2 % options.runs}/" for i in range(options.clients)]
    stop, results = multiprocessing.Event(), multiprocessing.Queue()
    followers = multiprocessing.Process(target=follow_all, args=(port, followed, stop, results))
    followers.start()
    time.sleep(5)
    pages = {"list": "/document", "run": f"/runs/{options.runs}/document?points={POINTS}"}
    bodies = {name: fetched(ebb, path)[1] for name, path in pages.items()}
    files_server, static = static_files(folder, bodies)
    times = {name: ([], []) for name in pages}
    memory, used = resident_mib(server.pid), processor_seconds(server.pid)
    start = time.monotonic()
    while time.monotonic() - start < options.seconds:
        for name, path in pages.items():
            time.sleep(PAUSE)
            times[name][0].append(fetched(ebb, path)[0])
            times[name][1].append(fetched(static, f"/{name}")[0])
    stop.set()
    updates = results.get()
    followers.join()
    files_server.terminate()
    files_server.wait()
    share = (processor_seconds(server.pid) - used) / (time.monotonic() - start)
    print(f"{options.runs} runs of {options.processes} processes, {options.clients} clients, {options.seconds} s\n"
          f"{'':<22} {'answers':>7} {'median, ms':>10} {'p99':>9} {'KiB':>8}")
    for name, (ours, files) in times.items():
        row(name, ours, len(bodies[name]))
        row("  static file", files, len(bodies[name]))
    for kind, some in (("the list", updates[1::2]), ("a run", updates[::2])):
        row(f"updates of {kind}", [seconds for one in some for seconds in one])
    for name, (ours, files) in times.items():
        print(f"{name}: p99 is {p99(ours) / p99(files):.1f} times that of the file")
    print(f"ebb serve: {100 * share:.0f} % of a core, {memory:.0f} MiB at the beginning, "
          f"{resident_mib(server.pid):.0f} at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ebb", default="build/release/bin/ebb")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        jobs = [subprocess.Popen([options.ebb, "run", "--quiet", "--db", f"{folder}/runs.db", "--", "python3", "-c", JOB,
                                  str(options.processes)]) for _ in range(options.runs)]
        server, port = started_server(options, folder)
        try:
            measure(options, folder, server, port)
        finally:
            for one in [server, *jobs]:
                one.terminate()
            for one in [server, *jobs]:
                one.wait()


if __name__ == "__main__":
    main()

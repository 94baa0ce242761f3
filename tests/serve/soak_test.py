# SPDX-License-Identifier: Apache-2.0
"""`ebb serve` for a long time: jobs that go on, clients that follow them and come and go. The program comes in
$EBB_PROGRAM, for how many seconds in $EBB_SOAK_SECONDS (3600)."""
import http.client
import os
import tempfile
import threading
import time
import unittest
from pathlib import Path
from urllib.parse import urlparse

from running import EBB, Program, fetched, until

SECONDS = float(os.environ.get("EBB_SOAK_SECONDS", "3600"))
JOBS = 5
FOLLOWERS = 20
# What pages that are kept for others may take (64 MiB) is reached long before; a leak would go on.
GROWTH = 8 << 20
JOB = "import time\nheld = []\nwhile True:\n    held.append(bytearray(4096))\n    time.sleep(0.5)\n"


def resident(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def follow(port, page, end):
    """Follows a page, and begins again after a minute as somebody who comes back does."""
    while time.monotonic() < end:
        events = http.client.HTTPConnection("127.0.0.1", port)
        events.request("GET", f"{page}events")
        answers = http.client.HTTPConnection("127.0.0.1", port)
        leaves = min(end, time.monotonic() + 60)
        for line in events.getresponse():
            if time.monotonic() > leaves:
                break
            if line.startswith(b"data: "):
                answers.request("GET", f"{page}document?points=2000")
                answers.getresponse().read()
        events.close()
        answers.close()


class Soak(unittest.TestCase):
    def test_memory_stays_flat(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        db = Path(folder.name) / "runs.db"
        for _ in range(JOBS):
            job = Program(EBB, "run", "--quiet", "--db", db, "--", "/usr/bin/python3", "-c", JOB)
            self.addCleanup(job.__exit__)
        server = Program(EBB, "serve", "--db", db, "--listen", "127.0.0.1:0")
        self.addCleanup(server.__exit__)
        address = server.found(r"serves \S+ at (http://\S+)")
        until(lambda: fetched(address + "runs/json")[2].count('"running"') >= JOBS)
        end = time.monotonic() + SECONDS
        port = urlparse(address).port
        threads = [threading.Thread(target=follow, args=(port, "/" if i % 2 else f"/runs/{1 + i // 2 % JOBS}/", end))
                   for i in range(FOLLOWERS)]
        for thread in threads:
            thread.start()
        readings = []
        while time.monotonic() < end:
            readings.append(resident(server.process.pid))
            time.sleep(SECONDS / 240)
        for thread in threads:
            thread.join()
        third = len(readings) // 3
        middle, last = (max(part) for part in (readings[third:2 * third], readings[2 * third:]))
        print(f"rss: {readings[0] >> 20} MiB at first, {middle >> 20} in the middle third at most, {last >> 20} in the last")
        self.assertLess(last - middle, GROWTH)


if __name__ == "__main__":
    unittest.main()

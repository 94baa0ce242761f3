# SPDX-License-Identifier: Apache-2.0
"""Programs that serve, for tests: `ebb` with the address that it says, and a Prometheus server."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import left_processes

left_processes.end_all_with_this_process()
EBB = os.environ.get("EBB_PROGRAM", "ebb")
PATIENCE = 600  # seconds until something that should happen counts as hanging, on the busiest machine too

# Holds 64 MiB, says so, and goes on until its input ends.
JOB = "import sys; kept = bytearray(64 << 20); print('ready', flush=True); sys.stdin.read()"


def until(condition):
    """What `condition` gives, as soon as it is true."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.05)
    return found


class Program:
    """A program that is running, with its output in files. Ends with the `with` block."""

    def __init__(self, *words, **variables):
        self.folder = tempfile.TemporaryDirectory()
        self.error_file = Path(self.folder.name) / "stderr"
        with open(self.error_file, "wb") as error:
            self.process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=error, env={**os.environ, **variables})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.end()
        self.folder.cleanup()

    def end(self):
        """Lets it end; its exit status."""
        try:
            self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode

    def line(self):
        return self.process.stdout.readline().decode().strip()

    def said(self):
        return self.error_file.read_text(encoding="utf-8", errors="replace")

    def found(self, pattern):
        """The first group of a pattern, once its stderr has it."""
        return until(lambda: re.search(pattern, self.said()))[1]


def job_under_ebb(folder, *options, job=JOB, **variables):
    """A job with metrics that is ready, and their address."""
    program = Program(EBB, "run", "--db", Path(folder) / "runs.db", "--metrics", "127.0.0.1:0", "--interval", "200ms",
                      *options, "--", "/usr/bin/python3", "-c", job, **variables)
    address = program.found(r"metrics at (http://[^/]+/metrics)")
    if job is JOB:
        assert program.line() == "ready"
    return program, address


def fetched(address, headers=None):
    """Status, headers and text of an answer."""
    request = urllib.request.Request(address, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.headers, refused.read().decode()


def series(text):
    """Values by their name with labels."""
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if line and not line.startswith("#")}


class Prometheus(Program):
    """A server that scrapes one address every second."""

    def __init__(self, target):
        self.data = tempfile.TemporaryDirectory()
        configuration = Path(self.data.name) / "prometheus.yml"
        host = urllib.parse.urlparse(target).netloc
        configuration.write_text("global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: ebb\n"
                                 f"    static_configs: [{{targets: ['{host}']}}]\n", encoding="utf-8")
        super().__init__("prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={self.data.name}/data",
                         "--web.listen-address=127.0.0.1:0", "--log.level=info")
        self.address = "http://" + self.found(r'msg="Listening on" address=(\S+)')
        until(lambda: fetched(f"{self.address}/-/ready")[0] == 200)  # it listens before it answers

    def __exit__(self, *arguments):
        super().__exit__(*arguments)
        self.data.cleanup()

    def query(self, expression):
        """The vector that an expression has now."""
        question = urllib.parse.urlencode({"query": expression})
        status, _, text = fetched(f"{self.address}/api/v1/query?{question}")
        if status != 200:
            raise AssertionError(f"{expression}: {text}")
        return json.loads(text)["data"]["result"]

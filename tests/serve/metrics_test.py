# SPDX-License-Identifier: Apache-2.0
"""`ebb run --metrics` beside real jobs, read by a real Prometheus. The program comes in $EBB_PROGRAM."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "checks"))
import deploy as deploy_check
from running import EBB, PATIENCE, Program, Prometheus, fetched, job_under_ebb, series, until

OPEN_METRICS = {"Accept": "application/openmetrics-text;version=1.0.0"}
RESIDENT = 'ebb_process_resident_bytes{run="1",process="1"}'


def resident_in_proc(pid):
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class Metrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def started(self, *options, **more):
        program, address = job_under_ebb(self.folder, *options, **more)
        self.enter(program)
        return program, address

    def enter(self, program):
        self.addCleanup(program.__exit__)
        return program

    def values(self, address, name):
        """All series, once `name` is among them."""
        return until(lambda: (found := series(fetched(address)[2])).get(name) is not None and found)

    def test_the_numbers_are_those_of_the_kernel(self):
        program, address = self.started("--role", "trainer")
        command = int(Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()[0])
        live = 'ebb_process_memory_bytes{run="1",process="1",part="live"}'

        def agree():
            found = self.values(address, live)
            is_same = abs(found[RESIDENT] - resident_in_proc(command)) <= 1 << 20
            return is_same and found[live] >= 64 << 20 and found

        found = until(agree)  # at the latest one sample after it has settled
        self.assertEqual(found['ebb_run_info{run="1",role="trainer"}'], 1)
        self.assertEqual(sum(value for name, value in found.items() if name.startswith("ebb_run_verdict{")), 1)
        parts = sum(value for name, value in found.items() if name.startswith('ebb_process_memory_bytes{run="1",'))
        self.assertLessEqual(abs(parts - found[RESIDENT] - found['ebb_process_swapped_bytes{run="1",process="1"}']),
                             4 << 20, "the parts add up")
        program.process.stdin.close()
        program.process.stdin = None
        self.assertEqual(program.end(), 0)

    def test_both_formats_have_the_same_series_and_promtool_finds_no_fault(self):
        _, address = self.started()
        self.values(address, RESIDENT)
        status, headers, text = fetched(address)
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        checked = subprocess.run(["promtool", "check", "metrics"], input=text, text=True, capture_output=True,
                                 timeout=PATIENCE, check=False)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, ""))
        _, headers, opened = fetched(address, OPEN_METRICS)
        self.assertEqual(headers["Content-Type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(opened.endswith("\n# EOF\n"))
        until(lambda: set(series(fetched(address, OPEN_METRICS)[2])) == set(series(fetched(address)[2])))
        self.assertEqual(fetched(address.replace("/metrics", "/"))[0], 404)

    def test_prometheus_scrapes_a_job_and_answers_queries(self):
        _, address = self.started()
        with Prometheus(address) as prometheus:
            # A job's first sample may be older than its 64 MiB.
            resident = until(lambda: prometheus.query(f"ebb_process_resident_bytes > {64 << 20}"))[0]
            self.assertEqual((resident["metric"]["run"], resident["metric"]["process"]), ("1", "1"))
            until(lambda: prometheus.query("up == 1"))
            verdict = until(lambda: prometheus.query("ebb_run_verdict == 1"))
            self.assertEqual(len(verdict), 1)
            until(lambda: prometheus.query('sum by (run) (ebb_process_memory_bytes{part=~"live|retained"})'))
            until(lambda: prometheus.query("ebb_memory_used_bytes / ebb_memory_limit_bytes"))

    def test_every_query_of_the_dashboard_returns_series(self):
        _, address = self.started(EBB_NVML=os.environ["EBB_FAKE_NVML"], FAKE_NVML_FREE_GIB="50")
        verdict = 'ebb_process_verdict{run="1",process="1",ebb_process_verdict="leak"}'
        self.values(address, verdict)
        self.values(address, 'ebb_device_used_bytes{run="1",device="1"}')
        dashboard = json.loads((deploy_check.ROOT / deploy_check.DASHBOARD).read_text(encoding="utf-8"))
        asked = [deploy_check.without_variables(text) for text in deploy_check.expressions(dashboard).values()]

        def known():
            """What this machine or this job does not have (a limited control group, forks, PyTorch) is absent."""
            there = {name.split("{")[0] for name in series(fetched(address)[2])}
            found = [text for text in asked if set(deploy_check.NAMED.findall(text)) <= there]
            return len(found) > len(asked) / 2 and found

        known = until(known)  # the agent's word comes later than the kernel's
        with Prometheus(address) as prometheus:
            for expression in known:
                self.assertTrue(until(lambda text=expression: prometheus.query(text)), expression)

    def test_without_a_record_nothing_is_left_behind(self):
        temporary = Path(self.folder) / "tmp"
        temporary.mkdir()
        variables = {"TMPDIR": str(temporary), "XDG_RUNTIME_DIR": ""}
        program = self.enter(Program(EBB, "run", "--no-record", "--metrics", "127.0.0.1:0", "--interval", "200ms", "--",
                                     "/usr/bin/python3", "-c", "import sys; sys.stdin.read()", **variables))
        self.values(program.found(r"metrics at (\S+)"), RESIDENT)
        program.process.stdin.close()
        program.process.stdin = None
        self.assertEqual(program.end(), 0)
        self.assertEqual(list(temporary.iterdir()), [])
        self.assertNotIn("ebb report", program.said())

    def test_a_port_that_is_taken_costs_the_metrics_not_the_job(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = subprocess.run([EBB, "run", "--no-record", "--metrics", str(port), "--", "sh", "-c", "exit 7"],
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 7)
        self.assertIn(f"ebb: no metrics: 127.0.0.1:{port}: cannot listen: Address already in use\n", done.stderr)

    def test_what_is_no_address_starts_nothing(self):
        for text in ("nowhere", "example.com:80", "127.0.0.1:70000"):
            for more in ([], ["--dry-run"]):
                done = subprocess.run([EBB, "run", "--no-record", *more, "--metrics", text, "--", "echo", "ran"],
                                      capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertIn(f"--metrics '{text}': expected ADDRESS:PORT", done.stderr)

    def test_the_job_does_not_inherit_the_port(self):
        program, address = self.started()
        command = int(Path(f"/proc/{program.process.pid}/task/{program.process.pid}/children").read_text().split()[0])
        self.values(address, RESIDENT)
        program.process.kill()
        program.process.wait(timeout=PATIENCE)
        self.addCleanup(os.kill, command, signal.SIGKILL)
        os.kill(command, 0)  # it goes on
        port = int(address.split(":")[2].split("/")[0])
        with socket.create_server(("127.0.0.1", port)):
            pass


if __name__ == "__main__":
    unittest.main()

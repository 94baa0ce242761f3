# SPDX-License-Identifier: Apache-2.0
"""`ebb serve` as a program: who may ask, what it says, how it ends. The program comes in $EBB_PROGRAM."""
import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from running import EBB, JOB, PATIENCE, Program, fetched, series, until


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.db = Path(folder.name) / "runs.db"

    def served(self, *options):
        program = Program(EBB, "serve", "--db", self.db, "--listen", "127.0.0.1:0", *options)
        self.addCleanup(program.__exit__)
        return program, program.found(r"serves \S+ at (http://\S+)")

    def job(self):
        program = Program(EBB, "run", "--db", self.db, "--interval", "200ms", "--", "/usr/bin/python3", "-c", JOB)
        self.addCleanup(program.__exit__)
        self.assertEqual(program.line(), "ready")

    def refused(self, *options):
        done = subprocess.run([EBB, "serve", "--db", str(self.db), *options], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        return done.stderr

    def test_metrics_are_those_of_all_live_jobs(self):
        self.job()
        self.job()
        _, address = self.served()
        names = [f'ebb_process_resident_bytes{{run="{run}",process="1"}}' for run in (1, 2)]
        until(lambda: (now := series(fetched(address + "metrics")[2])) and all(
            now.get(name, 0) >= 64 << 20 for name in names))  # a job's first sample may be older than its 64 MiB

    def test_metrics_alone_stand_at_another_address(self):
        self.job()
        program, pages = self.served("--metrics", "0.0.0.0:0")
        port = program.found(r"metrics at http://0\.0\.0\.0:(\d+)/metrics")
        address = f"http://127.0.0.1:{port}/"
        resident = 'ebb_process_resident_bytes{run="1",process="1"}'
        until(lambda: resident in series(fetched(address + "metrics", {"Host": "10.1.2.3"})[2]))
        for path in ("", "runs/json", "runs/1"):
            self.assertEqual(fetched(address + path)[0], 404, path)
            self.assertEqual(fetched(pages + path)[0], 200, path)

    def test_every_model_that_the_form_offers_is_a_plan(self):
        _, address = self.served()
        form = json.loads(fetched(address + "plan/document?kind=transformer&preset=gpt2")[2])["form"]
        offered = [field["choices"] for kind in form["kinds"] for group in kind["groups"] for field in group["fields"]
                   if field["name"] == "preset"]
        self.assertEqual(len(offered), 1)
        self.assertIn("mt-nlg-530b", offered[0])
        for preset in offered[0]:
            self.assertEqual(fetched(f"{address}plan/json?kind=transformer&preset={preset}")[0], 200, preset)

    def test_a_run_that_goes_on_is_in_the_list(self):
        _, address = self.served()
        self.assertEqual(json.loads(fetched(address + "runs/json")[2])["runs"], [])
        self.job()
        runs = until(lambda: json.loads(fetched(address + "runs/json")[2])["runs"])
        self.assertEqual([(run["id"], run["state"]) for run in runs], [(1, "running")])
        self.assertIn("verdict", json.loads(fetched(address + "runs/1/json")[2]))

    def test_names_that_lead_here_from_elsewhere_are_refused(self):
        _, address = self.served("--allow-host", "node7")
        for headers, status in (({"Host": "evil.example"}, 403), ({"Origin": "http://evil.example"}, 403),
                                ({"Host": "node7:80"}, 200), ({"Host": "localhost"}, 200)):
            answer, sent, text = fetched(address, headers)
            self.assertEqual(answer, status, (headers, text))
            self.assertNotIn("Access-Control-Allow-Origin", sent)

    def test_beyond_this_machine_it_asks_for_a_token(self):
        program = Program(EBB, "serve", "--db", self.db, "--listen", "0.0.0.0:0")
        self.addCleanup(program.__exit__)
        port, token = program.found(r"0\.0\.0\.0:(\d+)/\?token="), program.found(r"\?token=([0-9a-f]{32})")
        address = f"http://127.0.0.1:{port}/"
        for path in ("", "metrics", "runs/json", "?token=" + "0" * 32):
            self.assertEqual(fetched(address + path)[0], 401, path)
        self.assertEqual(fetched(address + "metrics", {"Authorization": f"Bearer {token}"})[0], 200)
        self.assertEqual(fetched(address, {"Cookie": f"ebb_token={token}"})[0], 200)

    def test_a_browser_is_opened_where_that_is_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = Path(folder) / "asked"
            opener = Path(folder) / "xdg-open"
            opener.write_text(f"#!/bin/sh\necho \"$1\" > '{asked}.part' && mv '{asked}.part' '{asked}'\n",
                              encoding="utf-8")
            opener.chmod(0o755)
            program = Program(EBB, "serve", "--db", self.db, "--listen", "127.0.0.1:0", "--open",
                              PATH=f"{folder}:{os.environ['PATH']}")
            self.addCleanup(program.__exit__)
            address = program.found(r"serves \S+ at (http://\S+)")
            until(asked.exists)
            self.assertEqual(asked.read_text(encoding="utf-8").strip(), address)
        program = Program(EBB, "serve", "--db", self.db, "--listen", "127.0.0.1:0", "--open", PATH="/nowhere")
        self.addCleanup(program.__exit__)
        program.found(r"(no browser is opened: xdg-open: No such file or directory)")
        self.assertEqual(fetched(program.found(r"serves \S+ at (http://\S+)"))[0], 200)

    def test_it_ends_when_it_is_told(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            program, _ = self.served()
            program.process.send_signal(number)
            self.assertEqual(program.end(), 0)

    def test_bad_options_start_nothing(self):
        self.assertIn("--listen 'here': expected ADDRESS:PORT", self.refused("--listen", "here"))
        self.assertIn("--port '70000': expected ADDRESS:PORT", self.refused("--port", "70000"))
        self.assertIn("expected one of them", self.refused("--port", "1", "--listen", "127.0.0.1:0"))
        self.assertIn("--metrics 'x': expected ADDRESS:PORT", self.refused("--port", "0", "--metrics", "x"))
        self.assertIn("--base 'x y': expected a path such as /ebb/", self.refused("--base", "x y"))
        self.assertIn("--base 'ebb': expected a path", self.refused("--base", "ebb"))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Leaks put into jobs as people write them: `ebb run --sites` names the process and the line."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import DEBIAN_PYTHON, long_test, simulate

HERE = Path(__file__).resolve().parent


def line_of(file, text):
    """The number of the only line of a file that holds the text."""
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


class Leaks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.db = str(self.folder / "runs.db")

    def under_run(self, *command):
        return [sys.executable, "-m", "ebb", "run", "--sites", "--quiet", "--interval", "250ms", "--db", self.db, "--",
                *command]

    def report(self):
        return json.loads(subprocess.run([sys.executable, "-m", "ebb", "report", "--json", "--db", self.db],
                                         check=True, stdout=subprocess.PIPE).stdout)

    def check(self, report, function, file, line):
        self.assertEqual(report["verdict"], "leak", report)
        self.assertIn(f"{file}:{line} {function}, ", report["headline"])
        growing = [site for site in report["sites"] if site["growth_bytes_per_second"]]
        frame = next(frame for frame in growing[0]["frames"] if frame["function"] == function)
        self.assertEqual((Path(frame["file"]).name, frame["line"]), (file, line))
        self.assertGreater(growing[0]["growth_share"], 0.8)

    @long_test
    def test_in_one_client_of_nvflare(self):
        status, said = simulate(self.under_run(sys.executable, str(HERE / "leaking_job.py"),
                                               str(self.folder / "workspace"), "40"))
        self.assertEqual(status, 0, said[-4000:])
        report = self.report()
        self.check(report, "Trainer.remember", "leaking_job.py", line_of("leaking_job.py", "self._history.append"))
        self.assertIn("site-2", report["headline"])

    @long_test
    def test_in_the_collate_function_of_a_data_loader(self):
        done = subprocess.run(self.under_run(DEBIAN_PYTHON, str(HERE / "leaking_loader.py"), "60"), check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.check(self.report(), "collate", "leaking_loader.py", line_of("leaking_loader.py", "seen.append"))


if __name__ == "__main__":
    unittest.main()

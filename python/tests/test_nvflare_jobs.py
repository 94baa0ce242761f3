# SPDX-License-Identifier: Apache-2.0
"""Whole jobs in NVFlare's simulator: with the widget, as a recipe, and under `ebb run`."""
import hashlib
import json
import shutil
import subprocess
import sys
import unittest

import nvflare
import numpy

import ebb.nvflare
from ebb.nvflare import EbbAggregator, EbbMemoryWidget
from support import ROOT, long_test, simulate

FOLDER = ROOT / "build" / "python" / "nvflare"


class Sent(unittest.TestCase):
    """A client that answers with 64 MiB, in NVFlare's simulator."""

    def held(self, *arguments):
        """[before it is sent, after], in MiB, for each round."""
        out = ROOT / "build" / "python" / "nvflare" / "sent"
        out.mkdir(parents=True, exist_ok=True)
        status, said = simulate([sys.executable, str(ROOT / "python" / "tests" / "sent_job.py"),
                                 str(out / "workspace"), str(out / "held.jsonl"), "64", "3", *arguments])
        self.assertEqual(status, 0, said[-4000:])
        rows = [json.loads(line) for line in (out / "held.jsonl").read_text(encoding="utf-8").splitlines()]
        return [[rows[at]["held"] >> 20, rows[at + 1]["held"] >> 20] for at in range(0, len(rows), 2)]

    def test_what_was_sent_is_no_longer_held(self):
        self.assertEqual(self.held(), [[64, 0]] * 3)
        self.assertEqual(self.held("keep"), [[64, 64]] * 3, "as without Ebb")


class Recipe(unittest.TestCase):
    def test_a_recipe_runs_with_the_aggregator_and_the_widget(self):
        out = ROOT / "build" / "python" / "nvflare" / "recipe"
        shutil.rmtree(out, ignore_errors=True)
        status, said = simulate([sys.executable, str(ROOT / "examples" / "nvflare" / "recipe.py"), str(out)])
        self.assertEqual(status, 0, said[-4000:])
        self.assertIn("Ebb before round 2", said, "on the simulator's console too")
        model, = out.rglob("server.npy")
        # Each round adds the mean of the two clients' steps, 1/4 and 2/4.
        numpy.testing.assert_array_equal(numpy.load(model), numpy.float64([[0, 1], [2, 3]]) + 9 / 8)
        self.assertEqual({path.parts[-3] for path in out.rglob("ebb-memory.jsonl")},
                         {"server", "site-1", "site-2"})

    def test_what_is_neither_a_job_nor_a_recipe_is_refused(self):
        with self.assertRaisesRegex(TypeError, "list: expected a FedJob or a recipe"):
            ebb.nvflare.keep([])

    def test_settings_of_the_server_stay_there(self):
        class Job:
            def to_server(self, component, id):
                self.server = component

            def to_clients(self, component, id):
                self.client = component

        job = ebb.nvflare.keep(Job(), at_once=True, share_broadcast=True, every=3)
        self.assertEqual([(widget.at_once, widget.share_broadcast, widget.every)
                          for widget in (job.server, job.client)], [(True, True, 3), (False, False, 3)])


def rows_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def model_of(out):
    """(the last round, the digest of the model after it)."""
    said = json.loads((out / "model.json").read_text(encoding="utf-8"))
    return said["round"], said["sha256"]


def digest_after(clients, rounds, mebibytes=64):
    """What examples/nvflare comes to: each round adds the mean of the clients' steps, 1/4, 2/4, …, and no sum
    rounds."""
    random = numpy.random.default_rng(7)
    step = numpy.float32(rounds * (clients + 1) / 8)
    digest = hashlib.sha256()
    for _ in range(mebibytes // 8):
        digest.update(random.integers(-1024, 1024, 1 << 21).astype(numpy.float32) / 1024 + step)
    return digest.hexdigest()


class UnderRun(unittest.TestCase):
    """The same job, which knows nothing of Ebb, under `ebb run` and `ebb run --nvflare`."""

    def test_the_server_gives_back_at_each_round(self):
        out = FOLDER / "run"
        database = out.with_suffix(".db")
        database.unlink(missing_ok=True)
        self.run_job(out, [sys.executable, "-m", "ebb", "run", "--nvflare", "--db", str(database), "--"], 2, 4)
        report = json.loads(subprocess.run([sys.executable, "-m", "ebb", "report", "--json", "--db",
                                            str(database)], check=True, stdout=subprocess.PIPE).stdout)
        self.assertLessEqual({"nvflare", "arenas"}, {event["kind"] for event in report["events"]})
        server = max(report["processes"], key=lambda process: process["peak_rss_bytes"])
        self.assertGreaterEqual(server["rounds"], 3)
        self.assertGreaterEqual(server["cleanups"]["count"], 2)
        self.assertEqual(model_of(out), (3, digest_after(clients=2, rounds=4)))

    @long_test
    def test_alone_it_keeps_the_servers_peak_low_and_changes_no_bit_of_the_model(self):
        peaks = {}
        for way, words in (("plain", []), ("alone", [sys.executable, "-m", "ebb", "run", "--no-record", "--"])):
            self.run_job(FOLDER / way, words, 4, 8)
            self.assertEqual(model_of(FOLDER / way), (7, digest_after(clients=4, rounds=8)), way)
            peaks[way] = max(row["peak"] for row in rows_of(FOLDER / way / "simulator_server.jsonl"))
        self.assertLessEqual(peaks["alone"], 0.6 * peaks["plain"], peaks)

    def run_job(self, out, words, clients, rounds):
        FOLDER.mkdir(parents=True, exist_ok=True)
        status, said = simulate([*words, sys.executable, str(ROOT / "examples" / "nvflare" / "job.py"), str(out),
                                 "--plain", "--clients", str(clients), "--rounds", str(rounds)])
        self.assertEqual(status, 0, said[-4000:])
        self.assertNotIn(" - ERROR - ", said)


class Page(unittest.TestCase):
    def test_names_the_version_and_the_classes_that_sites_have_to_allow(self):
        page = (ROOT / "docs" / "nvflare.md").read_text(encoding="utf-8")
        self.assertIn(nvflare.__version__, page)
        for component in (EbbAggregator, EbbMemoryWidget):
            self.assertIn(f'"{component.__module__}.{component.__qualname__}"', page, "the allow-list")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Whole Flower jobs: a SuperLink and SuperNodes, as Flower's guide starts them."""
import json
import re
import shutil
import subprocess
import sys
import unittest
from importlib import metadata

import flwr

from support import MIB, ROOT, long_test

sys.path.insert(0, str(ROOT / "examples" / "flower"))
from federation import Federation  # noqa: E402

EBB = ROOT / "build" / "release" / "bin" / "ebb"
PAGE = (ROOT / "docs" / "flower.md").read_text(encoding="utf-8")


def fresh(name):
    folder = ROOT / "build" / "python" / "flower" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def programs(folder):
    """Flower's programs for this Python: those that were downloaded are for another one."""
    for one in metadata.entry_points(group="console_scripts"):
        if one.dist.name == "flwr":
            path = folder / one.name
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!{sys.executable}\nimport sys\nfrom {one.module} import {one.attr} as run\n"
                            f"sys.exit(run())\n", encoding="utf-8")
            path.chmod(0o755)
    return folder


class Page(unittest.TestCase):
    def test_names_the_version(self):
        self.assertIn(f"flwr=={flwr.__version__}", PAGE)

    def test_its_job_runs_as_pasted_and_its_rounds_are_recognised(self):
        folder = fresh("page")
        for name, text in re.findall(r"```\w+\n# (\S+)\n(.*?)```", PAGE, re.DOTALL):
            path = folder / "app" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        record = folder / "record.db"
        with Federation(folder / "out", 2, [EBB, "run", "--db", record, "--name", "line", "--"],
                        programs(folder / "bin")) as federation:
            said = federation.run(app=folder / "app", rounds=2)
        answer = re.search(r"^slope and offset:.*$", PAGE, re.MULTILINE)[0]
        self.assertIn(answer, said)
        self.assertIn("Starting EbbFedAvg strategy", said)
        report = [EBB, "report", "--db", record, "line"]
        print(subprocess.run(report, check=True, text=True, capture_output=True).stdout, flush=True)
        story = json.loads(subprocess.run([*report, "--json"], check=True, capture_output=True).stdout)
        self.assertEqual([one["rounds"] for one in story["processes"] if one["rounds"]], [2],
                         "of the ServerApp, and of nobody else")


class Memory(unittest.TestCase):
    def run_job(self, name, clients, **config):
        folder = fresh(name)
        with Federation(folder / "out", clients, (), programs(folder / "bin")) as federation:
            federation.run(clients=clients, out=str(folder), **config)
        rows = [json.loads(line) for line in (folder / "memory.jsonl").read_text().splitlines()]
        print(name, [(round(row["rss"]), round(row["peak"])) for row in rows], flush=True)
        return rows[-1]["peak"] * MIB, json.loads((folder / "model.json").read_text(encoding="utf-8"))

    @long_test
    def test_a_kept_strategy_ends_with_the_same_model_in_less_memory(self):
        for strategy in ("FedAvg", "FedAvgM"):
            with self.subTest(strategy):
                options = {"strategy": strategy, "rounds": 3, "mib": 64}
                plain, theirs = self.run_job(f"{strategy}-plain", 4, ebb=False, **options)
                kept, ours = self.run_job(f"{strategy}-kept", 4, ebb=True, **options)
                self.assertEqual(ours, theirs, "the same model and metrics, bit for bit")
                # Of two rounds of 4 replies, one reply and the sums are left.
                self.assertLess(kept, plain - 4 * 64 * MIB)


if __name__ == "__main__":
    unittest.main()

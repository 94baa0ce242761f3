# SPDX-License-Identifier: Apache-2.0
"""Simulations from Python, with the real program, so small that one takes about a second."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import ebb
from support import SIMULATOR, needs_simulator, python

SMALL = {"dataset": "synthetic", "synthetic_train": 300, "synthetic_test": 100, "clients": 8, "per_round": 3,
         "rounds": 3, "batch": 16, "backend": "native", "no_folder": True, "no_record": True}
ENDLESS = {**SMALL, "rounds": 1_000_000}


def is_gone(pid):
    """Neither running nor a zombie of ours."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_until_ended(pid):
    """For the end of a process that is no child of ours, with two minutes' patience."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@needs_simulator
class Simulate(unittest.TestCase):
    def test_a_limit_that_is_too_low_is_an_error(self):
        # Libraries that cannot map what they need ask for it for ever: nothing may start.
        code = ("import resource, ebb\n"
                "resource.setrlimit(resource.RLIMIT_AS, (600 << 20, resource.RLIM_INFINITY))\n"
                f"try:\n    ebb.simulate({SMALL!r})\n"
                "except ebb.BadInput as error:\n    print(error)\n")
        told = python(code)
        self.assertIn("the address space is limited to 600.0 MiB (ulimit -v), ", told)

    def test_rounds_come_as_they_end_and_are_a_table(self):
        seen = []
        result = ebb.simulate(SMALL, on_round=seen.append)
        self.assertEqual([row["round"] for row in seen], [0, 1, 2])
        self.assertEqual(result["rounds"], seen)
        # As pandas.DataFrame takes it: the same columns in every row.
        self.assertEqual(len({tuple(row) for row in seen}), 1)
        self.assertEqual({(row["method"], row["seed"]) for row in seen}, {("heuristic.random", 42)})
        self.assertIs(result["stopped"], False)
        alone = subprocess.run(
            [SIMULATOR, "simulate", "--json", "--quiet", *(
                f"--{key.replace('_', '-')}" + ("" if value is True else f"={value}")
                for key, value in SMALL.items())], capture_output=True, check=True)
        self.assertEqual(json.loads(alone.stdout)["model_sha256"], result["model_sha256"])

    def test_a_configuration_is_a_dictionary_a_file_or_keywords(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "small.json"
            config = {key: value for key, value in SMALL.items() if not key.startswith("no_")}
            file.write_text(json.dumps({**config, "rounds": 7}))
            first = ebb.simulate(file, rounds=1, no_folder=True, no_record=True)
        self.assertEqual(len(first["rounds"]), 1)
        again = ebb.simulate(first["config"], no_folder=True, no_record=True)
        self.assertEqual(again["model_sha256"], first["model_sha256"])
        with self.assertRaisesRegex(ebb.BadInput, "expected a dictionary"):
            ebb.simulate(3)

    def test_methods_and_seeds_are_compared(self):
        methods = ["heuristic.random", "system_aware.oort"]
        result = ebb.compare(methods, SMALL, rounds=2, seeds=[1, 2])
        self.assertEqual([(row["method"], row["seed"], row["round"]) for row in result["rounds"]],
                         [(method, seed, number) for method in methods for seed in (1, 2)
                          for number in (0, 1)])
        self.assertEqual(len(result["ranking"]), 2)

    def test_plans_and_lists_come_at_once(self):
        self.assertIn("total_bytes", ebb.simulate(SMALL, dry_run=True)["plan"])
        self.assertIn("heuristic.random", [one["key"] for one in ebb.simulate(list=True)["methods"]])

    def test_false_stops_it_after_the_round(self):
        with tempfile.TemporaryDirectory() as folder:
            options = {**ENDLESS, "no_folder": False, "folder": Path(folder) / "run"}
            result = ebb.simulate(options, on_round=lambda done: done["round"] < 1)
            self.assertIs(result["stopped"], True)
            self.assertGreaterEqual(len(result["rounds"]), 2)
            count = len(result["rounds"])
            resumed = ebb.simulate(resume=result["folder"], rounds=count + 1, no_record=True)
        self.assertEqual([row["round"] for row in resumed["rounds"]], list(range(count + 1)))
        self.assertEqual(resumed["resumed_at"], count)

    def test_another_thread_stops_it(self):
        with ebb.Simulation(ENDLESS) as simulation:
            rounds = iter(simulation)
            next(rounds)
            stopper = threading.Thread(target=simulation.stop)
            stopper.start()
            result = simulation.result()
            stopper.join()
        self.assertIs(result["stopped"], True)
        self.assertGreaterEqual(len(result["rounds"]), 1)
        self.assertEqual(simulation.result(), result)

    def test_what_is_raised_meanwhile_ends_it_at_once(self):
        pids = []

        def fail(done):
            pids.extend(int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            ebb.simulate(ENDLESS, on_round=fail)
        self.assertTrue(pids)
        self.assertTrue(all(map(is_gone, pids)))

    def test_leaves_no_process_and_no_descriptor(self):
        before = len(os.listdir("/proc/self/fd"))
        with ebb.Simulation(ENDLESS) as simulation:
            next(iter(simulation))
        self.assertTrue(is_gone(simulation.pid))
        with self.assertRaisesRegex(ebb.BadInput, "closed"):
            simulation.result()
        forgotten = ebb.Simulation(ENDLESS)
        pid = forgotten.pid
        del forgotten
        self.assertTrue(is_gone(pid))
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_one_that_dies_half_way_raises_with_its_last_words(self):
        with ebb.Simulation(ENDLESS) as simulation, \
                self.assertRaisesRegex(ebb.SimulationFailed, "ended by signal 9 .* after [1-9]"):
            for _ in simulation:
                os.kill(simulation.pid, signal.SIGKILL)

    def test_options_that_it_refuses_are_named(self):
        for options, said in (({"rouns": 3}, "did you mean --rounds"), ({"seeds": [1, None]}, "seeds"),
                              ({"lr": float("nan")}, "options"), ({"method": object()}, "cannot be an option")):
            with self.subTest(options), self.assertRaisesRegex(ebb.BadInput, said):
                ebb.simulate({**SMALL, **options})

    def test_a_warning_is_one_of_pythons(self):
        if ebb.read_memory().percent < 2:
            self.skipTest("less than 2 % of this machine's memory is in use: nothing to warn of")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ebb.simulate(SMALL, rounds=1, warn=1.5)
        self.assertRegex(str(caught[0].message), "^heuristic.random, seed 42: memory at")
        self.assertIs(caught[0].category, RuntimeWarning)

    def test_a_forked_child_neither_follows_nor_ends_it(self):
        with ebb.Simulation(SMALL) as simulation:
            child = os.fork()
            if child == 0:
                try:
                    simulation.result()
                except ebb.Unavailable:
                    simulation.close()
                    os._exit(0)
                finally:
                    os._exit(1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(len(simulation.result()["rounds"]), 3)

    def test_a_program_that_reaps_all_children_gets_its_result(self):
        self.assertEqual(python(f"""
import signal, ebb
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
print(len(ebb.simulate({SMALL!r})["rounds"]))"""), "3")

    def test_it_ends_with_the_program_that_follows_it(self):
        # Who starts the tests in the background may have made SIGINT ignored.
        code = f"""
import os, signal, ebb
signal.signal(signal.SIGINT, signal.default_int_handler)
def first(done):
    print(simulation.pid, flush=True)
    ACT
simulation = ebb.Simulation({ENDLESS!r})
for done in simulation:
    first(done)"""
        # One that is gone without a word, and one that is interrupted, alone.
        for act, signals in (("os._exit(0)", False), ("pass", True)):
            with subprocess.Popen([sys.executable, "-c", code.replace("ACT", act)], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, start_new_session=True) as job:
                pid = int(job.stdout.readline())
                if signals:
                    os.kill(job.pid, signal.SIGINT)
                job.stdout.read()  # a pipe that breaks would be another reason to end
                self.assertEqual(job.wait(), -signal.SIGINT if signals else 0)
            self.assertTrue(wait_until_ended(pid), f"process {pid} goes on")


class WithoutTheProgram(unittest.TestCase):
    def said(self, **environment):
        """What is raised by a library that lies alone."""
        with tempfile.TemporaryDirectory() as folder:
            library = shutil.copy(ebb.library_path(), folder)
            for name, content in (("ebb-simulate", "echo 'ebb: from the path' >&2; exit 2"),
                                  ("chosen", "echo 'ebb: from the variable' >&2; exit 1")):
                file = Path(folder) / "bin" / name
                file.parent.mkdir(exist_ok=True)
                file.write_text(f"#!/bin/sh\n{content}\n")
                file.chmod(0o755)
            variables = {"EBB_SIMULATE": None, "PATH": "/nowhere",
                         **{name: value.format(bin=file.parent) for name, value in environment.items()}}
            return python("""
import ebb
try:
    ebb.simulate()
except ebb.Error as error:
    print(type(error).__name__, error)""", EBB_LIBRARY=library, **variables)

    def test_says_how_to_get_it(self):
        said = self.said()
        self.assertRegex(said, "^Unavailable simulations need the program ebb-simulate")
        for part in ("libtorch", "portable wheels", "EBB_SIMULATE", "PATH"):
            self.assertIn(part, said)
        self.assertRegex(self.said(EBB_SIMULATE="/nowhere/simulate"),
                         "^Unavailable EBB_SIMULATE '/nowhere/simulate'")

    def test_is_looked_for_where_it_is_named_then_on_the_path(self):
        self.assertEqual(self.said(PATH="{bin}:/bin"), "BadInput from the path")
        self.assertEqual(self.said(PATH="{bin}:/bin", EBB_SIMULATE="{bin}/chosen"),
                         "SimulationFailed from the variable")


if __name__ == "__main__":
    unittest.main()

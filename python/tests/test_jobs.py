# SPDX-License-Identifier: Apache-2.0
"""The verbs, the program and the live view."""
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ebb
import ebb.torch
from support import MIB, SNAPSHOTS, python

SMALL = SNAPSHOTS / "prefetch_streams.captight.pickle.gz"


class Verbs(unittest.TestCase):
    def test_tune_replay_and_doctor_answer_as_dictionaries(self):
        answer = ebb.tune(SMALL)
        self.assertIn("conf", answer["best"])
        self.assertTrue(any(row["is_recorded"] for row in answer["rows"]))
        rows = ebb.replay(str(SMALL), conf=["", "expandable_segments:True"])
        self.assertEqual(json.dumps(rows).count('"expandable_segments:True"') > 0, True)
        self.assertIn("verdict", ebb.doctor([SMALL], cap="64MiB"))

    def test_plan_and_env_answer(self):
        self.assertIn("MALLOC_ARENA_MAX",
                      [variable["name"] for variable in ebb.env("server")["variables"]])
        self.assertTrue(ebb.plan(transformer={"preset": "gpt2", "batch": 1}))
        table = ebb.plan(clients={"model": "ResNet18", "card": ["T4", "24GiB"]})
        fewer, more = (on["count"] for on in table["models"][0]["clients"])
        self.assertTrue(0 < fewer < more, table)

    def test_a_budget_is_the_formula_in_gigabytes(self):
        self.assertEqual(ebb.training_memory_budget(7e9, activation_gb=8), {
            "weights_gb": 14.0, "gradients_gb": 14.0, "master_weights_gb": 28.0, "optimizer_gb": 56.0,
            "activations_gb": 8.0, "overhead_gb": 18.0, "total_gb": 138.0, "per_gpu_gb": 138.0})
        gpt3 = ebb.training_memory_budget(175e9, gpus=8, overhead_percent=0)
        self.assertEqual((gpt3["total_gb"], gpt3["per_gpu_gb"]), (2800.0, 350.0))
        known = ebb.training_memory_budget(model="gpt2", precision="amp", batch=4)
        self.assertEqual(known["weights_gb"], 0.5)
        self.assertGreater(known["planned_gb"], known["per_gpu_gb"])
        with self.assertRaises(ebb.BadInput):
            ebb.training_memory_budget()
        with self.assertRaises(ebb.BadInput):
            ebb.training_memory_budget(7e9, overhead_percent=-1)

    def test_what_cannot_be_read_is_an_exception_of_its_kind(self):
        with self.assertRaises(ebb.Error) as caught:
            ebb.tune("/nowhere.pickle")
        self.assertIn("/nowhere.pickle", str(caught.exception))
        with self.assertRaises(ebb.BadInput):
            ebb.env("captain")
        with self.assertRaises(ebb.BadInput):
            ebb.doctor()
        with self.assertRaises(ebb.BadInput):
            ebb.doctor(stats={})
        with self.assertRaises(ebb.BadInput):
            ebb.call("dance")
        with self.assertRaises(ebb.BadInput):
            ebb.plan(transformer={"preset": {1, 2}})


class Program(unittest.TestCase):
    def test_python_m_ebb_is_the_program_or_says_what_to_install(self):
        done = subprocess.run([sys.executable, "-m", "ebb", "env", "--role", "server", "--json"],
                              text=True, capture_output=True, check=False)
        if (Path(ebb.__file__).parent / "_native" / "ebb").exists():
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout), ebb.env("server"))
        else:
            self.assertEqual(done.returncode, 3)
            self.assertIn("libcli11-dev", done.stderr)

    @unittest.skipUnless((Path(ebb.__file__).parent / "_native" / "ebb").exists(),
                         "the program was not built")
    def test_the_program_finds_the_agent_that_came_with_it(self):
        done = subprocess.run([sys.executable, "-m", "ebb", "run", "--no-record", "--dry-run", "--json",
                               "--", "true"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(Path(json.loads(done.stdout)["agent"]).is_file(), done.stdout)

    def test_without_the_program_it_says_what_to_install(self):
        done = subprocess.run([sys.executable, "-m", "ebb", "info"], text=True, capture_output=True,
                              check=False, env={**os.environ, "EBB_PROGRAM": "/nowhere/ebb"})
        self.assertEqual(done.returncode, 3)
        self.assertIn("/nowhere/ebb is not there", done.stderr)
        self.assertIn("libcli11-dev", done.stderr)


class LiveView(unittest.TestCase):
    def test_samples_until_stopped_and_shows_itself(self):
        with ebb.watch(interval=0.005) as watch:
            deadline = time.monotonic() + 120
            while len(watch.samples) < 5 and time.monotonic() < deadline:
                watch.sample()
            self.assertTrue(watch.running)
            self.assertIn("running: rss", repr(watch))
        self.assertFalse(watch.running)
        self.assertGreaterEqual(len(watch.samples), 5)
        self.assertIn("stopped: rss", repr(watch))
        page = watch._repr_html_()
        self.assertIn("<polyline", page)
        self.assertEqual(page.count("<div"), page.count("</div>"))

    def test_remembers_so_much_and_no_more(self):
        with ebb.watch(interval=60, history=3) as watch:
            for _ in range(10):
                watch.sample()
            self.assertEqual(len(watch.samples), 3)
            times = [when for when, _ in watch.samples]
            self.assertEqual(times, sorted(times))

    def test_a_notebook_gets_a_view_that_is_updated(self):
        said = python("""
import sys, threading, types
shown, updated = [], threading.Event()
class Handle:
    def update(self, watch):
        updated.set()
def display(watch, display_id):
    shown.append(watch)
    return Handle()
notebook = types.ModuleType("IPython")
notebook.get_ipython = lambda: object()
sys.modules["IPython"] = notebook
sys.modules["IPython.display"] = types.SimpleNamespace(display=display)
import ebb
watch = ebb.watch(interval=0.005)
print(updated.wait(120), shown == [watch])
watch.stop()
""")
        self.assertEqual(said, "True True")

    def test_refuses_what_it_cannot_use(self):
        with self.assertRaises(ebb.BadInput):
            ebb.watch(interval=0)
        with self.assertRaises(ebb.BadInput):
            ebb.watch(history=1)


class InsidePyTorch(unittest.TestCase):
    """Without PyTorch: the allocator serves host memory."""

    def test_statistics_recording_and_verdict_come_back(self):
        said = python("""
import ctypes, io, tempfile, ebb, ebb.torch
from pathlib import Path
from ebb._library import check, library
def use(size):
    memory = ctypes.c_void_p()
    check(library().ebb_torch_try_alloc(size, 0, None, ctypes.byref(memory)))
    return memory
folder = Path(tempfile.mkdtemp())
printed = io.StringIO()
with ebb.torch.record(folder / "step.pickle", out=printed) as recording:
    blocks = [use(3 << 20) for _ in range(8)]
print((folder / "step.pickle").stat().st_size > 0, recording.answer["best"] is not None)
print(printed.getvalue().strip() != "")
stats = ebb.torch.memory_stats()
print(stats["allocation.all.current"], ebb.torch.memory_allocated() >> 20)
print(ebb.torch.verdict()["verdict"], ebb.doctor(stats=stats)["evidence"]["allocated_bytes"] >> 20)
print("PyTorch CUDA memory summary" in ebb.torch.memory_summary())
for block in blocks:
    library().ebb_torch_free(block, 3 << 20, 0, None)
ebb.torch.reset_peak_memory_stats()
ebb.torch.empty_cache()
print(ebb.torch.memory_reserved(), ebb.torch.max_memory_allocated())
verdicts = io.StringIO()
try:
    with ebb.torch.dump_on_oom(folder / "oom.pickle", out=verdicts) as dump:
        kept = [use(20 << 20) for _ in range(9)]
except ebb.OutOfMemory as error:
    print(dump.verdict["verdict"], "snapshot: " in verdicts.getvalue())
try:
    with ebb.torch.dump_on_oom(folder / "other.pickle", out=verdicts) as dump:
        raise RuntimeError("no such file")
except RuntimeError as error:
    print(dump.verdict, (folder / "other.pickle").exists())
""", EBB_TORCH_DRIVER=f"mmap:{64 * MIB}", EBB_TORCH_VERSION="2.11")
        self.assertEqual(said.splitlines(), [
            "True True", "True", "8 24", "fragmentation 24", "True", "0 0", "capacity True", "None False"])

    def test_an_out_of_memory_that_ends_the_program_leaves_the_verdict(self):
        with tempfile.TemporaryDirectory() as folder:
            code = f"""
import ctypes, sys, ebb.torch
from ebb._library import check, library
ebb.torch.dump_on_oom({folder + '/oom.pickle'!r}).start()
memory = ctypes.c_void_p()
check(library().ebb_torch_try_alloc(1 << 20, 0, None, ctypes.byref(memory)))
raise RuntimeError("CUDA out of memory. Tried to allocate 1.00 GiB")
"""
            said = python(code, check=False, EBB_TORCH_DRIVER=f"mmap:{64 * MIB}",
                          EBB_TORCH_VERSION="2.11")
            self.assertIn("ebb: ", said)
            self.assertIn("RuntimeError: CUDA out of memory", said)
            self.assertTrue(Path(folder, "oom.pickle").exists())

    def test_tunes_text_is_ready_to_paste(self):
        text = ebb.torch.tune_text(ebb.tune(SNAPSHOTS / "prefetch_streams.round4.pickle.gz"))
        self.assertRegex(text, r"^(export PYTORCH_ALLOC_CONF=\S+\nsaves \d+\.\d MiB of "
                               r"\d+\.\d MiB reserved at the peak|ebb: the default settings .*)$")

    def test_without_cuda_recording_says_what_it_needs(self):
        said = python("""
import sys; sys.modules["torch"] = None
import ebb, ebb.torch
for call in (ebb.torch.record, ebb.torch.dump_on_oom, ebb.torch.memory_stats):
    try:
        call()
    except ebb.NeedsCuda as error:
        print(error)
""", EBB_TORCH_DRIVER=None)
        self.assertEqual(len(said.splitlines()), 3)
        self.assertTrue(all("needs PyTorch for CUDA" in line for line in said.splitlines()), said)



if __name__ == "__main__":
    unittest.main()

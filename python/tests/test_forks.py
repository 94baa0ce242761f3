# SPDX-License-Identifier: Apache-2.0
"""A child forked while another thread holds one of the package's locks goes on, or is told clearly."""
import re
import unittest
from pathlib import Path

import ebb
from support import python

PACKAGE = Path(ebb.__file__).parent

# What a thread holds while another forks, and what the child then does with it.
FORKS = """
import os, threading, types
import numpy
import ebb, ebb.sums, ebb.torch, ebb._library
from nvflare.apis.fl_context import FLContext
from nvflare.app_common.abstract.fl_model import FLModel
from ebb.nvflare import aggregator, broadcast, markers, patching, results, widget

ebb.rss()
watch = ebb.Watch(interval=3600)
total = ebb.sums.TensorSum()
total.add(numpy.ones(4), 2.0)
fedavg = aggregator.EbbAggregator()
fedavg.accept_model(FLModel(params={"w": numpy.ones(4)}))
sharing = broadcast.SharedBroadcast()
events = markers.EventMarkers()
keeper = widget.EbbMemoryWidget(record="")

def installs():
    try:
        ebb.torch.install()
    except ebb.errors.NeedsCuda:
        pass

def loads():
    ebb._library._loaded = None
    ebb._library.library()

def patches():
    patching.patch()
    patching.unpatch()

def starts_over():
    try:
        fedavg.accept_model(FLModel(params={"w": numpy.ones(4)}))
    except ebb.errors.Forked as refusal:
        assert "while another thread was changing these sums" in str(refusal), refusal
        fedavg.reset_stats()
        fedavg.accept_model(FLModel(params={"w": numpy.full(4, 3.0)}))
        assert fedavg.aggregate_model().params["w"][0] == 3.0
        raise

def forgets():
    done = threading.Event()
    results._timer.after(0, done.set)
    assert done.wait(60)

def stops():
    watch.sample()
    assert not watch.running
    watch.stop()

cases = {
    "library": (ebb._library._lock, loads),
    "torch": (ebb.torch._lock, installs),
    "watch": (watch._lock, stops),
    "event": (watch._stopped._cond, stops),
    "sum": (total._lock, total.mean),
    "patching": (patching._lock, patches),
    "aggregator": (fedavg._lock, starts_over),
    "markers": (events._lock, lambda: events.handle("_end_run", FLContext())),
    "broadcast": (sharing._lock, sharing.end),
    "widget": (keeper._lock, lambda: keeper._counted(FLContext(), "now")),
    "timer": (results._timer._changed, forgets),
    "nothing": (threading.Lock(), lambda: total.mean()[0] / (total.mean()[0] == 1.0)),
}
lock, use = cases[CASE]
held, done = threading.Event(), threading.Event()

def hold():
    with lock:
        held.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
child = os.fork()
if child == 0:
    try:
        use()
        print("went on", flush=True)
    except ebb.errors.Forked as refusal:
        print("refused:", refusal, flush=True)
    os._exit(0)
done.set()
_, status = os.waitpid(child, 0)
print("child ended with", status)
# The parent keeps what it had.
total.add(numpy.ones(4), 1.0)
print(total.mean()[0], total.additions)
"""
REFUSED = {"sum", "aggregator"}
CASES = ["library", "torch", "watch", "event", "sum", "patching", "aggregator", "markers", "broadcast", "widget",
         "timer", "nothing"]

# Forks from inside: what it holds there is its own, in the child as well.
HOLDS_AND_FORKS = """
import os
from ebb import _forks
lock = _forks.Lock("these figures")
with lock:
    child = os.fork()
if child == 0:
    with lock:
        os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
with lock:
    print("free")
"""


class Forking(unittest.TestCase):
    def test_a_child_forked_while_a_lock_is_held_goes_on_or_is_refused(self):
        for case in CASES:
            with self.subTest(case):
                said = python(f"CASE = {case!r}\n{FORKS}").splitlines()
                if case in REFUSED:
                    self.assertRegex(said[0], r"^refused: process \d+ was forked while another thread was changing "
                                              r"th(is sum|ese sums): expected a fork before or after that$")
                else:
                    self.assertEqual(said[0], "went on")
                self.assertEqual(said[1:], ["child ended with 0", "1.0 2"])

    def test_the_thread_that_forks_keeps_what_it_holds(self):
        self.assertEqual(python(HOLDS_AND_FORKS).splitlines(), ["7", "free"])

    def test_every_lock_of_the_package_is_one_of_these(self):
        makes = re.compile(r"\bthreading\.(Lock|RLock|Condition|Semaphore|BoundedSemaphore|Barrier)\(")
        others = [str(file.relative_to(PACKAGE)) for file in sorted(PACKAGE.rglob("*.py"))
                  if makes.search(file.read_text(encoding="utf-8"))]
        # The hook has to do without the package: its timer begins anew in a child by itself.
        self.assertEqual(others, ["_forks.py", "_native/agent/python/nvflare_results.py", "nvflare/results.py"])

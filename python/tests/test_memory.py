# SPDX-License-Identifier: Apache-2.0
"""Cleanups, readings, hooks and rounds."""
import asyncio
import dataclasses
import gc
import threading
import time
import unittest
import weakref

import ebb
from support import MIB, fragmented, preload, python

RETURNS_MEMORY = """
import ebb
from support import fragmented
kept = fragmented(200)
report = ebb.cleanup_memory()
print(report.allocator, report.returned_bytes >> 20, report.rss_after_bytes >> 20)
"""


class Cleanup(unittest.TestCase):
    def test_gives_back_what_was_freed_and_says_how_much(self):
        kept = fragmented()
        before = ebb.rss()
        report = ebb.cleanup_memory()
        self.assertGreater(report.returned_bytes, 40 * MIB)
        self.assertLess(ebb.rss(), before - 40 * MIB)
        self.assertEqual(report.returned_bytes, report.rss_before_bytes - report.rss_after_bytes)
        self.assertFalse(report.disabled or report.coalesced)
        self.assertIn("MiB", str(report))
        self.assertTrue(kept)

    def test_gives_back_on_every_allocator(self):
        tests = str(ebb_tests())
        for allocator, library in (("jemalloc", "jemalloc"), ("tcmalloc", "tcmalloc_minimal")):
            with self.subTest(allocator):
                name, returned, left = python(RETURNS_MEMORY, LD_PRELOAD=preload(library),
                                              PYTHONMALLOC="malloc", PYTHONPATH=tests).split()
                self.assertEqual(name, allocator)
                self.assertGreater(int(returned), 120)
                self.assertLess(int(left), 90)

    def test_collects_cycles(self):
        class Node:
            pass

        node = Node()
        node.itself = node
        gone = weakref.ref(node)
        del node
        report = ebb.cleanup_memory()
        self.assertIsNone(gone())
        self.assertIn("gc.collect", [step.name for step in report.steps])

    def test_runs_from_many_threads_at_once(self):
        reports, start = [], threading.Barrier(8)

        def clean():
            start.wait()
            for _ in range(10):
                reports.append(ebb.cleanup_memory(cuda_empty_cache=True))

        threads = [threading.Thread(target=clean) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(reports), 80)
        self.assertTrue(all(report.rss_after_bytes > 0 for report in reports))

    def test_called_from_inside_a_hook_does_nothing_and_says_so(self):
        inner = []
        hook = ebb.hooks.add("nested", lambda: inner.append(ebb.cleanup_memory()))
        try:
            ebb.cleanup_memory()
        finally:
            ebb.hooks.remove(hook)
        self.assertEqual(len(inner), 1)
        self.assertIn("called from inside a cleanup", inner[0].notes[0])

    def test_does_nothing_where_disabled(self):
        said = python("import ebb; print(ebb.cleanup_memory().disabled, ebb.cleanup_memory(), "
                      "ebb.try_malloc_trim())", EBB_DISABLE=1)
        self.assertEqual(said, "True nothing done: EBB_DISABLE is set None")

    def test_reports_are_values(self):
        report = ebb.cleanup_memory()
        with self.assertRaises(dataclasses.FrozenInstanceError):
            report.returned_bytes = 1


class Hooks(unittest.TestCase):
    def test_device_caches_are_emptied_only_when_asked(self):
        calls = []
        hook = ebb.hooks.add("device", lambda: calls.append(1), stage="device_cache")
        try:
            ebb.cleanup_memory()
            self.assertEqual(calls, [])
            ebb.cleanup_memory(cuda_empty_cache=True)
            self.assertEqual(calls, [1])
        finally:
            ebb.hooks.remove(hook)
        ebb.cleanup_memory(cuda_empty_cache=True)
        self.assertEqual(calls, [1])

    def test_what_a_hook_raises_is_a_failed_step(self):
        def fails():
            raise RuntimeError("no")

        hook = ebb.hooks.add("fails", fails)
        try:
            steps = {step.name: step.ok for step in ebb.cleanup_memory().steps}
        finally:
            ebb.hooks.remove(hook)
        self.assertEqual(steps["fails"], False)
        self.assertEqual(steps["gc.collect"], True)

    def test_counts_what_it_let_go_of(self):
        hook = ebb.hooks.add("count", lambda: 17, stage="collector")
        try:
            details = {step.name: step.detail for step in ebb.cleanup_memory().steps}
        finally:
            ebb.hooks.remove(hook)
        self.assertEqual(details["count"], "17")

    def test_an_unknown_stage_or_id_is_refused(self):
        with self.assertRaises(ebb.BadInput):
            ebb.hooks.add("x", lambda: 0, stage="later")
        with self.assertRaises(ebb.NotFound):
            ebb.hooks.remove(1 << 40)

    def test_none_runs_without_hooks(self):
        self.assertNotIn("gc.collect", [step.name for step in ebb.cleanup(hooks=False).steps])


class Readings(unittest.TestCase):
    def test_names_the_allocator(self):
        self.assertEqual(ebb.allocator(), "glibc")
        self.assertEqual(python("import ebb; print(ebb.allocator(), ebb.get_allocator_type())",
                                LD_PRELOAD=preload("tcmalloc_minimal")), "tcmalloc unknown")

    def test_reads_this_process(self):
        memory = ebb.read_memory()
        self.assertGreater(memory.rss_bytes, MIB)
        self.assertGreaterEqual(memory.hwm_bytes, memory.rss_bytes)
        self.assertGreater(memory.limit_bytes, memory.rss_bytes)
        self.assertEqual(ebb.info()["allocator"], memory.allocator)

    def test_cpu_use_is_since_the_previous_reading(self):
        ebb.read_memory()
        end = time.process_time() + 0.2
        while time.process_time() < end:
            pass
        memory = ebb.read_memory()
        self.assertGreater(memory.cpu_percent, 0)
        self.assertTrue(0 <= memory.machine_cpu_percent <= 100, memory)

    def test_levels_follow_the_thresholds(self):
        self.assertEqual(ebb.memory_level(99.0, 100.0), "normal")
        self.assertEqual(ebb.memory_level(0.001, 100.0), "warn")
        self.assertEqual(ebb.memory_level(0.001, 0.002), "critical")
        with self.assertRaises(ebb.BadInput):
            ebb.memory_level(95.0, 90.0)

    def test_guards_at_critical_only(self):
        self.assertEqual(ebb.guard(99.0, 100.0), ("normal", None))
        level, report = ebb.guard(0.001, 0.002)
        self.assertEqual(level, "critical")
        self.assertGreater(report.rss_before_bytes, 0)
        self.assertFalse(ebb.give_back_at_once(), "critical has turned it on already")
        self.assertTrue(ebb.give_back_at_once(False))

    def test_writes_nvflares_marker(self):
        self.assertRegex(ebb.rss_marker("CA", "site-1", 3, "recv"),
                         r"^\[RSS\] CA s=site-1 r=3 recv: \d+\.\d MB$")
        self.assertRegex(ebb.rss_marker("CJ", "site-1", 3, "relay", "train"), r" t=train ")
        self.assertRegex(ebb.rss_marker("CA", "site-1", None, "recv"), r" r=None recv: ")
        with self.assertRaises(ebb.BadInput):
            ebb.rss_marker("XX", "site-1", 3, "recv")

    def test_marks_for_those_who_are_asked(self):
        code = ("import ebb, logging; logging.basicConfig(level='INFO', format='%(name)s %(message)s'); "
                "print(*[(ebb.memory_profile(role), ebb.mark_rss('CA', 's', 1, 'recv', role=role) is not None) "
                "for role in ('trainer', 'server', None)])")
        nobody = dict.fromkeys(("EBB_MEMORY_PROFILE", "NVFLARE_CLIENT_MEMORY_PROFILE", "EBB_ROLE"))
        self.assertEqual(python(code, **nobody), " ".join(["(False, False)"] * 3))
        said = python(code, **{**nobody, "NVFLARE_CLIENT_MEMORY_PROFILE": 1}).splitlines()
        self.assertEqual(said[-1], "(True, True) (False, False) (True, True)")
        self.assertRegex(said[0], r"^ebb \[RSS\] CA s=s r=1 recv: \d+\.\d MB$")
        said = python(code, **{**nobody, "EBB_MEMORY_PROFILE": 1}).splitlines()
        self.assertEqual(said[-1], " ".join(["(True, True)"] * 3))


class Rounds(unittest.TestCase):
    def test_cleans_every_nth_round(self):
        keeper = ebb.RoundKeeper("server", every=5)
        cleaned = [keeper.round_done() is not None for _ in range(10)]
        self.assertEqual(cleaned, [False] * 4 + [True] + [False] * 4 + [True])

    def test_zero_is_off(self):
        keeper = ebb.RoundKeeper("server", every=0)
        self.assertEqual([keeper.round_done() for _ in range(5)], [None] * 5)

    def test_as_context_manager_a_block_is_a_round(self):
        keeper = ebb.RoundKeeper("client", every=2)
        seen = []
        for _ in range(4):
            with keeper:
                pass
            seen.append(keeper.last_report)
        self.assertIsNone(seen[0])
        self.assertIsNotNone(seen[1])
        self.assertIs(seen[1], seen[2])
        self.assertIsNot(seen[2], seen[3])

    def test_as_decorator_a_call_is_a_round_and_failures_count(self):
        keeper = ebb.RoundKeeper("trainer", every=1)

        @keeper
        def train(step):
            """One step."""
            if step == 1:
                raise ValueError(step)
            return step

        self.assertEqual(train(0), 0)
        first = keeper.last_report
        with self.assertRaises(ValueError):
            train(1)
        self.assertIsNot(keeper.last_report, first)
        self.assertEqual(train.__doc__, "One step.")

    def test_decorates_coroutines(self):
        keeper = ebb.RoundKeeper("trainer", every=1)

        @keeper
        async def train():
            await asyncio.sleep(0)
            self.assertIsNone(keeper.last_report)
            return 5

        self.assertEqual(asyncio.run(train()), 5)
        self.assertIsNotNone(keeper.last_report)

    def test_a_numbered_round_counts_once(self):
        keeper = ebb.RoundKeeper("server", every=1)
        self.assertIsNotNone(keeper.round_done(0))
        self.assertIsNone(keeper.round_done(0))
        self.assertIsNotNone(keeper.round_done(1))

    def test_refuses_what_it_cannot_use(self):
        for arguments in ({"role": "captain"}, {"every": -1}, {"every": 1.5}, {"every": True},
                          {"every": "often"}):
            with self.subTest(arguments), self.assertRaises(ebb.BadInput):
                ebb.RoundKeeper(**{"role": "client", **arguments})
        with self.assertRaises(ebb.BadInput):
            ebb.RoundKeeper("client").round_done(-1)

    def test_the_environment_decides_where_nothing_is_said(self):
        code = ("import ebb; keeper = ebb.RoundKeeper('client'); "
                "print([keeper.round_done() is not None for _ in range(3)])")
        self.assertEqual(python(code, EBB_MEMORY_GC_ROUNDS=3), "[False, False, True]")
        self.assertEqual(python(code, NVFLARE_CLIENT_MEMORY_GC_ROUNDS=0), "[False, False, False]")

    def test_the_environment_says_which_role_it_is(self):
        code = ("import ebb; keeper = ebb.RoundKeeper(); "
                "print(keeper.role, [keeper.round_done() is not None for _ in range(3)])")
        self.assertEqual(python(code, EBB_ROLE=None, NVFLARE_CLIENT_MEMORY_GC_ROUNDS=2),
                         "trainer [False, True, False]")
        self.assertEqual(python(code, EBB_ROLE="server", EBB_SERVER_MEMORY_GC_ROUNDS=3,
                                NVFLARE_CLIENT_MEMORY_GC_ROUNDS=1), "server [False, False, True]")

    def test_lets_go_of_the_native_keeper(self):
        keeper = ebb.RoundKeeper("client")
        gone = weakref.ref(keeper)
        del keeper
        gc.collect()
        self.assertIsNone(gone())


def ebb_tests():
    from pathlib import Path
    return Path(__file__).resolve().parent


if __name__ == "__main__":
    unittest.main()

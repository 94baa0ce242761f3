# SPDX-License-Identifier: Apache-2.0
"""What NVFlare's own tests of its memory utilities ask for, asked of Ebb's functions in their place.

NVFlare publishes no source distribution of its newest releases, so the tests are our own.
"""
import gc
import logging
import unittest
from unittest import mock

import ebb
from support import preload, python


class MemoryUtilities(unittest.TestCase):
    def test_trim_returns_an_int_on_glibc(self):
        self.assertIn(ebb.try_malloc_trim(), (0, 1))
        report = ebb.trim()
        self.assertIn(report.result, (0, 1))
        self.assertGreaterEqual(report.returned_bytes, 0)

    def test_cleanup_collects_exactly_once(self):
        with mock.patch.object(gc, "collect", return_value=0) as collect:
            ebb.cleanup_memory()
        self.assertEqual(collect.call_count, 1)

    def test_glibc_is_trimmed_exactly_once(self):
        steps = [step.detail for step in ebb.cleanup_memory().steps if "glibc" in step.name]
        self.assertEqual(steps, ["malloc_trim(0)"])

    def test_jemalloc_is_not_trimmed_by_malloc_trim(self):
        said = python("import ebb; print([step.detail for step in ebb.cleanup_memory().steps])",
                      LD_PRELOAD=preload("jemalloc"))
        self.assertNotIn("malloc_trim", said)
        self.assertIn("purge", said)

    def test_without_the_flag_no_torch_is_touched(self):
        touched = mock.MagicMock()
        with mock.patch.dict("sys.modules", {"torch": touched}):
            ebb.cleanup_memory(cuda_empty_cache=False)
            touched.cuda.empty_cache.assert_not_called()
            ebb.cleanup_memory(cuda_empty_cache=True)
            touched.cuda.empty_cache.assert_called_once_with()

    def test_the_flag_is_harmless_without_torch(self):
        with mock.patch.dict("sys.modules"):
            import sys
            sys.modules.pop("torch", None)
            ebb.cleanup_memory(cuda_empty_cache=True)

    def test_a_torch_that_fails_is_harmless(self):
        failing = mock.MagicMock()
        failing.cuda.empty_cache.side_effect = RuntimeError("no CUDA")
        with mock.patch.dict("sys.modules", {"torch": failing}):
            steps = {step.name: step.ok for step in ebb.cleanup_memory(cuda_empty_cache=True).steps}
        self.assertEqual(steps["torch.cuda.empty_cache"], False)

    def test_detection_is_cached(self):
        ebb.get_allocator_type.cache_clear()
        first = ebb.get_allocator_type()
        second = ebb.get_allocator_type()
        self.assertIs(first, second)
        self.assertEqual(ebb.get_allocator_type.cache_info().hits, 1)

    def test_detection_says_one_of_three_words_on_every_allocator(self):
        said = {"": ebb.get_allocator_type()}
        for library in ("jemalloc", "tcmalloc_minimal", "mimalloc"):
            said[library] = python("import ebb; print(ebb.get_allocator_type())",
                                   LD_PRELOAD=preload(library))
        self.assertEqual(said, {"": "glibc", "jemalloc": "jemalloc", "tcmalloc_minimal": "unknown",
                                "mimalloc": "unknown"})

    def test_cleanup_works_whatever_the_allocator(self):
        for library in ("jemalloc", "tcmalloc_minimal", "mimalloc"):
            with self.subTest(library):
                said = python("import ebb; print(type(ebb.cleanup_memory(True)).__name__)",
                              LD_PRELOAD=preload(library))
                self.assertEqual(said, "CleanupReport")

    def test_collected_objects_are_one_line_in_the_log(self):
        with mock.patch.object(gc, "collect", return_value=42), \
                self.assertLogs("ebb", logging.INFO) as logs:
            ebb.cleanup_memory()
        self.assertEqual([line for line in logs.output if "freed" in line],
                         ["INFO:ebb:gc.collect() freed 42 unreachable objects"])

    def test_nothing_collected_is_no_line_in_the_log(self):
        with mock.patch.object(gc, "collect", return_value=0), self.assertNoLogs("ebb", logging.INFO):
            ebb.cleanup_memory()


class Schedules(unittest.TestCase):
    def fires(self, every, rounds):
        keeper = ebb.RoundKeeper("server", every=every)
        return [number for number in range(rounds) if keeper.round_done(number) is not None]

    def test_every_five_is_after_rounds_four_and_nine(self):
        self.assertEqual(self.fires(5, 10), [4, 9])

    def test_every_one_is_each_round_and_zero_is_never(self):
        self.assertEqual(self.fires(1, 5), [0, 1, 2, 3, 4])
        self.assertEqual(self.fires(0, 5), [])

    def test_twos_and_threes(self):
        self.assertEqual(self.fires(2, 4), [1, 3])
        self.assertEqual(self.fires(3, 6), [2, 5])

    def test_the_flag_is_forwarded_both_ways(self):
        for flag in (True, False):
            called = []
            hook = ebb.hooks.add("flag", lambda: called.append(1), stage="device_cache")
            try:
                ebb.RoundKeeper("client", every=1, cuda_empty_cache=flag).round_done()
            finally:
                ebb.hooks.remove(hook)
            self.assertEqual(bool(called), flag)


if __name__ == "__main__":
    unittest.main()

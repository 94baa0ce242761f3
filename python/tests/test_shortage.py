# SPDX-License-Identifier: Apache-2.0
"""Why there was no memory, and another try: what needs no GPU. bench/gpu/full_card.py does the rest on one."""
import unittest

import ebb
import ebb.torch
from ebb.shortage import requested_bytes
from support import python

OUT_OF_MEMORY = "CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has a total capacity of 79.10 GiB"


class SafeAllocate(unittest.TestCase):
    def setUp(self):
        self.calls = 0

    def failing(self, times, text=OUT_OF_MEMORY):
        def allocate():
            self.calls += 1
            if self.calls <= times:
                raise RuntimeError(text)
            return "memory"
        return allocate

    def test_tries_once_more_after_a_cleanup(self):
        cleaned = []
        hook = ebb.hooks.add("see", lambda: cleaned.append(1), "device_cache")
        try:
            self.assertEqual(ebb.torch.safe_allocate(self.failing(0)), "memory")
            self.assertEqual((self.calls, cleaned), (1, []), "nothing was wrong")
            self.calls = 0
            self.assertEqual(ebb.torch.safe_allocate(self.failing(1)), "memory")
            self.assertEqual((self.calls, cleaned), (2, [1]))
        finally:
            ebb.hooks.remove(hook)

    def test_does_not_try_for_ever(self):
        with self.assertRaisesRegex(RuntimeError, "out of memory") as raised:
            ebb.torch.safe_allocate(self.failing(9))
        self.assertEqual(self.calls, 2)
        self.assertTrue(hasattr(raised.exception, "ebb_diagnostic"))

    def test_leaves_other_failures_alone(self):
        with self.assertRaisesRegex(RuntimeError, "shapes"):
            ebb.torch.safe_allocate(self.failing(9, "shapes differ"))
        self.assertEqual(self.calls, 1)


class Diagnostic(unittest.TestCase):
    def test_reads_how_much_was_asked_for(self):
        self.assertEqual(requested_bytes(RuntimeError(OUT_OF_MEMORY)), 5 << 29)
        self.assertIsNone(requested_bytes(RuntimeError("shapes differ")))

    def test_is_about_the_last_request_that_failed(self):
        self.assertEqual(python("""
import ctypes, ebb, ebb.torch
from ebb._library import library
try:
    ebb.torch.oom_diagnostic()
except ebb.NotFound:
    print("none")
memory = ctypes.c_void_p()
library().ebb_torch_try_alloc(1 << 30, 0, None, ctypes.byref(memory))
found = ebb.torch.oom_diagnostic()
print(found["verdict"], found["evidence"]["requested_bytes"] == 1 << 30)
""", EBB_TORCH_DRIVER="mmap:64MiB"), "none\ncapacity True")

    def test_asks_for_what_it_needs(self):
        self.assertIn("expected requested=BYTES", python("""
import ebb, ebb.torch
try:
    ebb.torch.oom_diagnostic()
except ebb.BadInput as error:
    print(error)
""", EBB_TORCH_DRIVER=None))


if __name__ == "__main__":
    unittest.main()

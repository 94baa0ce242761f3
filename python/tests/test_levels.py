# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the host's memory and of GPUs. A module plays PyTorch; the library is the real one."""
import unittest

import ebb
from support import python

# A card of 80 GiB, 20 of them in use and 59 cached, and one that is not in use.
FAKE_TORCH = """
import sys, types
G = 1 << 30
class cuda:
    reserved, emptied = 79 * G, 0
    is_available = is_initialized = staticmethod(lambda: True)
    device_count = staticmethod(lambda: 2)
    memory_reserved = staticmethod(lambda device: cuda.reserved if device == 0 else 0)
    @staticmethod
    def memory_stats(device):
        return {"reserved_bytes.all.current": cuda.memory_reserved(device),
                "active_bytes.all.current": 20 * G if device == 0 else 0}
    @staticmethod
    def mem_get_info(device):
        assert device == 0, "of a device that is not in use"
        return 80 * G - cuda.reserved, 80 * G
    @staticmethod
    def empty_cache():
        cuda.reserved, cuda.emptied = 20 * G, cuda.emptied + 1
sys.modules["torch"] = types.SimpleNamespace(cuda=cuda)
import ebb
"""
NO_NVML = {"EBB_NVML": "/no/such/library.so"}


def with_torch(code, **environment):
    return python(FAKE_TORCH + code, **{**NO_NVML, **environment})


class Levels(unittest.TestCase):
    def test_a_level_is_its_name_and_where_it_comes_from(self):
        said = with_torch("""
level = ebb.memory_level(99.0, 100.0)
print(level == "critical", level.ram_level, level.ram_percent > 0, level.gpu_trouble)
print(level.gpus)
print(ebb.memory_level(99.0, 100.0, gpu_warn_percent=98, gpu_critical_percent=99.9))
print(ebb.memory_level(99.0, 100.0, gpu_warn_percent=99, gpu_critical_percent=99.9))
""")
        self.assertEqual(said.splitlines(), [
            "True normal True None",
            "(GpuLevel(device=0, level='critical', percent=98.75, total_bytes=85899345920, free_bytes=1073741824, "
            "held_bytes=84825604096, cached_bytes=63350767616),)",
            "warn", "normal"])

    def test_a_gpu_that_is_not_known_is_no_number(self):
        said = python("import ebb; level = ebb.memory_level(99.0, 100.0); print(level, level.gpus, level.gpu_trouble)",
                      **NO_NVML)
        self.assertTrue(said.startswith("normal () no GPU readings: no NVIDIA driver ("), said)

    def test_bounds_are_in_order(self):
        for bad in ({"gpu_warn_percent": 98}, {"gpu_critical_percent": 101}, {"gpu_warn_percent": 0}):
            with self.assertRaisesRegex(ebb.BadInput, "GPU"):
                ebb.memory_level(**bad)
        for bad in ({"round": -1}, {"headroom": -1}):
            with self.assertRaises(ebb.BadInput):
                ebb.guard(**bad)


class Guarding(unittest.TestCase):
    def test_the_cache_is_emptied_at_the_end_of_a_round(self):
        said = with_torch("""
print(ebb.guard(99.0, 100.0)[1], cuda.emptied)
level, report = ebb.guard(99.0, 100.0, round=12)
print(level, report.device_returned_bytes // G, report.steps, cuda.emptied)
print(ebb.guard(99.0, 100.0, round=13)[1], cuda.emptied)
cuda.reserved = 79 * G
print(ebb.guard(99.0, 100.0, failed_allocation=True)[1].device_returned_bytes // G, cuda.emptied)
""", EBB_LOG="warning")
        logged = [line for line in said.splitlines() if "RAM" in line]
        self.assertEqual(len(logged), 2, said)
        for line in logged:
            self.assertRegex(line, r"RAM at \d+ %, GPU 0 at 99 %$")
        self.assertEqual([line for line in said.splitlines() if line not in logged],
                         ["None 0", "critical 59 () 1", "None 1", "59 2"])

    def test_the_line_names_the_round(self):
        said = with_torch("cuda.reserved = 74 * G; print(ebb.guard(99.0, 100.0, round=12)[0])")
        self.assertRegex(said, r"round 12: RAM at \d+ %, GPU 0 at 92 %\nwarn$")

    def test_what_was_taken_again_is_left_alone(self):
        said = with_torch("""
for round in range(4):
    cuda.reserved = 79 * G
    ebb.guard(99.0, 100.0, round=round)
print(cuda.emptied)
""", EBB_LOG="off")
        self.assertEqual(said, "1")

    def test_headroom_is_kept_in_every_round(self):
        said = with_torch("""
for round in range(3):
    cuda.reserved = 60 * G
    ebb.guard(99.0, 100.0, round=round, headroom=30 * G)
ebb.guard(99.0, 100.0, round=3, headroom=30 * G)
print(cuda.emptied)
""", EBB_LOG="off")
        self.assertEqual(said, "3")

    def test_nothing_is_done_with_ebb_disabled(self):
        said = with_torch("level, report = ebb.guard(99.0, 100.0, round=0); print(level, report.disabled, cuda.emptied)",
                          EBB_DISABLE=1)
        self.assertEqual(said, "critical True 0")


if __name__ == "__main__":
    unittest.main()

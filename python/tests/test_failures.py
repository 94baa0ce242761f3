# SPDX-License-Identifier: Apache-2.0
"""What is not there, does not fit or comes too late: a clear exception, never a crash."""
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import ebb
from support import MIB, python

SAYS = """
import ebb
try:
    {call}
except ebb.Error as error:
    print(type(error).__name__, isinstance(error, {base}), error)
"""

FAKE_TORCH = """
import sys, types
torch = types.ModuleType("torch")
torch.__version__ = "2.11.0+cu130"
torch.version = types.SimpleNamespace(cuda="13.0")
class Pluggable:
    def __init__(self, *a): pass
    def allocator(self):
        return types.SimpleNamespace(**{{name: (lambda address: None) for name in (
            "set_init_fn", "set_reset_fn", "set_memory_fraction_fn", "set_base_alloc_fn",
            "set_record_stream_fn")}})
def swap(allocator):
    {swap}
torch.cuda = types.SimpleNamespace(
    is_available=lambda: {available}, is_initialized=lambda: {initialized},
    memory=types.SimpleNamespace(CUDAPluggableAllocator=Pluggable, change_current_allocator=swap))
sys.modules["torch"] = torch
"""


def fake_torch(available=True, initialized=False, swap="pass"):
    return FAKE_TORCH.format(available=available, initialized=initialized, swap=swap)


class Library(unittest.TestCase):
    def says(self, library, base="ImportError"):
        return python(SAYS.format(call="ebb.cleanup_memory()", base=base), EBB_LIBRARY=library)

    def test_a_missing_library_is_named(self):
        said = self.says("/nowhere/libebb.so")
        self.assertTrue(said.startswith("LibraryMissing True /nowhere/libebb.so (in $EBB_LIBRARY) is not there"),
                        said)
        self.assertEqual(len(said.splitlines()), 1)

    def test_importing_needs_no_library(self):
        self.assertEqual(python("import ebb, ebb.torch; print(ebb.Error.__name__)",
                                EBB_LIBRARY="/nowhere"), "Error")

    def test_a_library_for_another_processor_is_told_apart(self):
        head = bytearray(Path(ebb.library_path()).read_bytes()[:4096])
        machine = struct.unpack("<H", head[18:20])[0]
        other = 183 if machine != 183 else 62
        head[18:20] = struct.pack("<H", other)
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "libebb.so"
            fake.write_bytes(bytes(head))
            said = self.says(fake)
            self.assertRegex(said, r"^WrongArchitecture True .* is for \S+ \(64 bit\): expected \S+ \(64 bit\)")
            head[4] = 1  # 32 bit
            fake.write_bytes(bytes(head))
            self.assertIn("(32 bit)", self.says(fake))

    def test_what_is_no_library_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "libebb.so"
            fake.write_text("not a library")
            self.assertIn("LibraryMissing True", self.says(fake))
            fake.write_bytes(Path(ebb.library_path()).read_bytes()[:4096])  # cut short
            self.assertIn("is cut short", self.says(fake))

    def test_a_library_without_our_functions_is_refused(self):
        libc = subprocess.run(["ldconfig", "-p"], text=True, capture_output=True, check=True,
                              env={**os.environ, "PATH": os.environ["PATH"] + ":/sbin"}).stdout
        path = next(line.split("=> ")[1] for line in libc.splitlines() if "libc.so.6 " in line)
        self.assertIn("has no ebb_version", self.says(path))

    def test_it_is_loaded_once_from_many_threads(self):
        said = python("""
import threading, ebb
start = threading.Barrier(16)
seen = []
def use():
    start.wait()
    seen.append(ebb.version())
    ebb.cleanup_memory()
threads = [threading.Thread(target=use) for _ in range(16)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(seen), len(set(seen)), sum(step.name == "gc.collect" for step in ebb.cleanup_memory().steps))
""")
        self.assertEqual(said, "16 1 1")

    def test_a_variable_that_cannot_be_used_is_named(self):
        said = python(SAYS.format(call="ebb.RoundKeeper('client')", base="ValueError"),
                      EBB_MEMORY_GC_ROUNDS="often")
        self.assertIn("BadInput True", said)
        self.assertIn("EBB_MEMORY_GC_ROUNDS", said)


class Installing(unittest.TestCase):
    def says(self, torch, call="ebb.torch.install()"):
        return python(torch + "import ebb.torch" + SAYS.format(call=call, base="ebb.Unavailable"))

    def test_after_the_first_use_of_cuda_is_too_late(self):
        said = self.says(fake_torch(initialized=True))
        self.assertTrue(said.startswith("TooLate True install(): CUDA is in use already"), said)

    def test_what_pytorch_refuses_is_too_late(self):
        refusal = "raise RuntimeError(\"Can't swap an already initialized allocator\")"
        self.assertIn("TooLate True install(): Can't swap", self.says(fake_torch(swap=refusal)))

    def test_without_a_gpu_it_says_so(self):
        self.assertIn("NeedsCuda True install() needs a GPU", self.says(fake_torch(available=False)))

    def test_without_pytorch_it_says_so(self):
        missing = "import sys; sys.modules['torch'] = None\n"
        self.assertIn("NeedsCuda True install() needs PyTorch", self.says(missing))

    def test_twice_is_once(self):
        said = python(fake_torch() + "import ebb.torch; ebb.torch.install(); ebb.torch.install(); "
                      "import os; print(ebb.torch.installed(), os.environ['EBB_TORCH_VERSION'])")
        self.assertEqual(said, "True 2.11.0+cu130")

    def test_a_forked_child_is_refused(self):
        said = python(fake_torch() + """
import os, sys, ebb, ebb.torch
ebb.torch.install()
sys.stdout.flush()
child = os.fork()
if child == 0:
    for call in (ebb.torch.memory_stats, ebb.torch.install, ebb.torch.empty_cache):
        try:
            call()
        except ebb.Forked as error:
            print(type(error).__name__, "spawn" in str(error))
    os._exit(sys.stdout.flush() or 0)
print(os.waitpid(child, 0)[1])
""")
        self.assertEqual(said, "Forked True\nForked True\nForked True\n0")


class Forking(unittest.TestCase):
    def test_device_memory_in_use_is_refused_to_a_child(self):
        said = python("""
import ctypes, os, sys, ebb, ebb.torch
from ebb._library import check, library
memory = ctypes.c_void_p()
check(library().ebb_torch_try_alloc(1 << 20, 0, None, ctypes.byref(memory)))
child = os.fork()
if child == 0:
    try:
        check(library().ebb_torch_try_alloc(1 << 20, 0, None, ctypes.byref(memory)))
    except ebb.Unavailable as error:
        print(type(error).__name__, "forked" in str(error), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
""", EBB_TORCH_DRIVER=f"mmap:{64 * MIB}")
        self.assertEqual(said, "Unavailable True\n0")

    def test_a_child_of_a_busy_parent_cleans_up_by_itself(self):
        said = python("""
import os, threading, ebb
done = threading.Event()
def clean():
    while not done.is_set():
        ebb.cleanup_memory()
cleaners = [threading.Thread(target=clean) for _ in range(3)]
[cleaner.start() for cleaner in cleaners]
statuses = []
for _ in range(40):
    child = os.fork()
    if child == 0:
        report = ebb.cleanup_memory()
        keeper = ebb.RoundKeeper("client", every=1)
        os._exit(0 if report.rss_after_bytes and keeper.round_done() else 1)
    statuses.append(os.waitpid(child, 0)[1])
done.set()
[cleaner.join() for cleaner in cleaners]
print(sum(statuses), len(statuses))
""")
        self.assertEqual(said.splitlines()[-1], "0 40")  # newer Pythons warn of fork

    def test_the_end_of_the_interpreter_is_quiet(self):
        said = python("""
import threading, ebb
threading.Thread(target=lambda: [ebb.cleanup_memory() for _ in range(2000)], daemon=True).start()
ebb.cleanup_memory()
""")
        self.assertEqual(said, "")


if __name__ == "__main__":
    unittest.main()

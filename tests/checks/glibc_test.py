# SPDX-License-Identifier: Apache-2.0
"""Links small libraries that call what glibc has only lately. The C++ compiler comes in $CXX."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import glibc

CODE = """#include <pthread.h>
#include <unistd.h>
extern "C" long x() { %s }
"""


class Glibc(unittest.TestCase):
    def violations(self, call):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "x.cpp").write_text(CODE % call, encoding="utf-8")
            subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", folder / "libx.so",
                            folder / "x.cpp"], check=True)
            return glibc.check([folder / "libx.so"])

    def test_a_call_that_came_later(self):
        self.assertEqual(self.violations("return gettid();"),
                         ["libx.so calls gettid, which came with glibc 2.30; expected nothing beyond 2.28"])

    def test_one_that_was_always_there(self):
        self.assertEqual(self.violations("return getpid();"), [])

    def test_one_that_has_moved_to_another_library(self):
        self.assertEqual(self.violations("return pthread_detach(pthread_self());"), [])


if __name__ == "__main__":
    unittest.main()

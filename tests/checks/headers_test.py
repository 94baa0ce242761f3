# SPDX-License-Identifier: Apache-2.0
"""A project whose second header leans on the first; its C++ compiler comes in $CXX."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import headers

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
add_library(planted INTERFACE)
target_sources(planted PUBLIC FILE_SET HEADERS FILES first.h second.h)
set_target_properties(planted PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
"""


class Headers(unittest.TestCase):
    def violations(self, second):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
            (folder / "first.h").write_text("#include <string>\n", encoding="utf-8")
            (folder / "second.h").write_text(second, encoding="utf-8")
            subprocess.run(["cmake", "-S", folder, "-B", folder / "build"], check=True,
                           stdout=subprocess.DEVNULL)
            return headers.check(folder / "build")

    def test_headers_that_stand_alone_pass(self):
        self.assertEqual(self.violations('#include "first.h"\nstd::string name();\n'), [])

    def test_a_header_that_leans_on_another(self):
        found = self.violations("std::string name();\n")
        self.assertEqual(len(found), 1)
        self.assertIn("second.h:1", found[0])


if __name__ == "__main__":
    unittest.main()

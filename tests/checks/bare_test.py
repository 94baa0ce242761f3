# SPDX-License-Identifier: Apache-2.0
"""Asks the bare machine for what it must not have."""
import tempfile
import unittest
from pathlib import Path

import bare

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(planted LANGUAGES CXX)
find_package(GTest REQUIRED)
"""


class Bare(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        bare.require_debian()
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.machine = bare.BareMachine(Path(scratch.name))

    def test_a_program_of_the_standard_library_compiles(self):
        done = self.machine.compile("#include <string>\nint main() { return std::string().size(); }\n")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_header_of_a_development_package_is_not_found(self):
        done = self.machine.compile("#include <gtest/gtest.h>\nint main() {}\n")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("'gtest/gtest.h' file not found", done.stdout)

    def test_a_library_of_a_development_package_is_not_found(self):
        done = self.machine.compile("int main() {}\n", "-lgtest")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cannot find -lgtest", done.stdout)

    def test_a_package_is_not_found_by_cmake(self):
        project = self.machine.folder / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")
        done = self.machine.run("cmake", "-S", project, "-B", project / "build",
                                "-G", "Unix Makefiles", "--toolchain", self.machine.toolchain)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Could NOT find GTest", done.stdout)

    def test_a_program_outside_of_the_list_is_not_found(self):
        self.assertNotEqual(self.machine.run("sh", "-c", "ninja --version").returncode, 0)


if __name__ == "__main__":
    unittest.main()

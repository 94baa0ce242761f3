# SPDX-License-Identifier: Apache-2.0
"""Asks the compiler for what musl does not have, and plants programs that answer otherwise."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import musl
from packing import toolchain


class Compiler(unittest.TestCase):
    def compile(self, code):
        with tempfile.TemporaryDirectory() as folder:
            tools = toolchain.write_tools(Path(folder) / "tools", musl.target())
            source, program = Path(folder) / "probe.c", Path(folder) / "probe"
            source.write_text(code, encoding="utf-8")
            built = subprocess.run([tools / "cc", source, "-o", program], stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, check=False)
            return built.stdout if built.returncode else subprocess.run([program], check=False).returncode

    def test_a_plain_program_runs(self):
        self.assertEqual(self.compile("#include <stdlib.h>\nint main(void) { return malloc(1) ? 7 : 1; }\n"), 7)

    def test_what_is_glibcs_alone_is_not_there(self):
        self.assertIn("malloc_trim", str(self.compile("int malloc_trim(unsigned long);\n"
                                                      "int main(void) { return malloc_trim(0); }\n")))
        self.assertIn("gnu/libc-version.h", str(self.compile("#include <gnu/libc-version.h>\nint main(void) {}\n")))


class Answers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def program(self, name, script):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def test_the_same_answer_passes(self):
        one, other = self.program("one", "echo '{\"a\": 1}'"), self.program("other", "echo '{\"a\":1}'")
        self.assertEqual(musl.other_answers(one, other, self.folder, [("plan",)]), [])

    def test_another_answer_and_none_are_named(self):
        one, other = self.program("one", "echo '{\"a\": 1}'"), self.program("other", "echo '{\"a\": 2}'")
        fails = self.program("fails", "echo no such thing >&2; exit 2")
        found, = musl.other_answers(one, other, self.folder, [("plan", "model")])
        self.assertEqual(found, "ebb plan model: on musl {'a': 1}, expected {'a': 2}")
        found, = musl.other_answers(fails, fails, self.folder, [("plan",)])
        self.assertIn("on musl exit 2: no such thing", found)

    def test_another_allocator_and_a_silent_run_are_named(self):
        program = self.program("ebb", 'case $1 in info) echo \'{"allocator": "glibc", "rss_bytes": 1}\';; '
                                      'run) echo out; exit 7;; esac')
        info, job = musl.own_answers(program, self.folder)
        self.assertIn("expected the allocator musl", info)
        self.assertIn("one line that there is no agent", job)


if __name__ == "__main__":
    unittest.main()

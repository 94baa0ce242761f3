# SPDX-License-Identifier: Apache-2.0
"""Builds that are planted as lists of commands. The C++ compiler comes in $CXX."""
import json
import os
import tempfile
import unittest
from pathlib import Path

import contraction

COMPILER = os.environ.get("CXX", "c++")
SAFE = "-O2 -ffp-contract=off"


class Contraction(unittest.TestCase):
    def violations(self, **options):
        with tempfile.TemporaryDirectory() as name:
            commands = [{"file": f"/tree/src/{layer}/x.cpp", "directory": name,
                         "command": f"{COMPILER} -DX {flags} -o src/{layer}/CMakeFiles/x.cpp.o -c x.cpp"}
                        for layer, flags in options.items()]
            Path(name, "compile_commands.json").write_text(json.dumps(commands), encoding="utf-8")
            return contraction.check(Path(name))

    def expect(self, words, **options):
        found = self.violations(**options)
        self.assertTrue(any(words in violation for violation in found), found)

    def test_what_is_compiled_without_passes(self):
        self.assertEqual(self.violations(fl=SAFE, sum=SAFE, show="-O2"), [])

    def test_the_compilers_own_default(self):
        self.expect("src/fl/x.cpp: a * b + c is one instruction", fl="-O2", sum=SAFE)

    def test_an_option_that_allows_it_again(self):
        self.expect("src/sum/x.cpp", fl=SAFE, sum=SAFE + " -ffast-math -ffp-contract=fast")

    def test_a_folder_that_is_gone(self):
        self.expect("compiles nothing of src/sum", fl=SAFE)


if __name__ == "__main__":
    unittest.main()

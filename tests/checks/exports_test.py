# SPDX-License-Identifier: Apache-2.0
"""Links small libraries that each break one rule. The C++ compiler comes in $CXX."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import exports

MAP = "EBB_0 { global: ebb_*; local: *; };\n"
SOUND = """#include <string>
extern "C" int ebb_size(const char* text) { return int(std::string(text).size()); }
"""
STATIC_RUNTIME = ("-static-libstdc++", "-static-libgcc")


class Exports(unittest.TestCase):
    def violations(self, code=SOUND, listed="ebb_size@@EBB_0\n", version_map=MAP,
                   options=STATIC_RUNTIME):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "x.cpp").write_text(code, encoding="utf-8")
            (folder / "x.map").write_text(version_map, encoding="utf-8")
            (folder / "exports.txt").write_text(listed, encoding="utf-8")
            subprocess.run([os.environ.get("CXX", "c++"), "-shared", "-fPIC", "-o", folder / "libx.so",
                            folder / "x.cpp", f"-Wl,--version-script={folder / 'x.map'}", *options],
                           check=True)
            return exports.check(folder / "libx.so", folder / "exports.txt")

    def expect(self, words, **planted):
        found = self.violations(**planted)
        self.assertTrue(any(words in violation for violation in found), found)

    def test_a_sound_library_passes(self):
        self.assertEqual(self.violations(), [])

    def test_a_symbol_that_is_not_listed(self):
        self.expect("exports ebb_extra@@EBB_0, which is not in exports.txt",
                    code=SOUND + 'extern "C" void ebb_extra() {}\n')

    def test_a_listed_symbol_that_is_gone(self):
        self.expect("does not export ebb_gone@@EBB_0", listed="ebb_gone@@EBB_0\nebb_size@@EBB_0\n")

    def test_a_symbol_that_moved_to_another_version(self):
        self.expect("does not export ebb_size@@EBB_0", version_map=MAP.replace("EBB_0", "EBB_1"))

    def test_a_library_without_its_symbol_map(self):
        self.expect("a C++ symbol", code=SOUND + "int leaked(int x) { return x; }\n",
                    version_map="EBB_0 { global: *; };\n")

    def test_a_dependency_beyond_the_c_library(self):
        self.expect("needs libstdc++.so.6, expected nothing beyond the C library",
                    options=("-Wl,--no-as-needed",))

    def test_a_list_out_of_order(self):
        self.expect("expected sorted lines", listed="ebb_size@@EBB_0\nebb_size@@EBB_0\n")


if __name__ == "__main__":
    unittest.main()

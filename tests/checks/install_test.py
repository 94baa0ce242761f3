# SPDX-License-Identifier: Apache-2.0
"""Spoils an installed tree and expects the check to notice. $EBB_SOURCE and $EBB_BUILD say which."""
import os
import tempfile
import unittest
from pathlib import Path

import install


class Install(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.build = install.Build(Path(os.environ["EBB_SOURCE"]), Path(os.environ["EBB_BUILD"]))
        self.prefix = self.build.install(self.folder)

    def test_a_file_too_many(self):
        (self.prefix / "include/ebb/private.h").touch()
        self.assertEqual(install.compare_files(self.build, self.prefix),
                         ["installed but not in files.txt: include/ebb/private.h"])

    def test_a_file_too_few(self):
        (self.prefix / "include/ebb/ebb.h").unlink()
        self.assertEqual(install.compare_files(self.build, self.prefix),
                         ["in files.txt but not installed: include/ebb/ebb.h"])

    def test_a_consumer_that_wants_another_major_version(self):
        with self.assertRaisesRegex(install.Failed, "not accepted"):
            install.by_find_package(self.build, self.prefix, "c", self.folder / "c",
                                    "-DEBB_WANTED=99.0")

    def test_a_consumer_of_headers_that_are_not_installed(self):
        main = self.folder / "main.cpp"
        main.write_text('#include <base/result.h>\nint main() {}\n', encoding="utf-8")
        with self.assertRaisesRegex(install.Failed, "base/result.h"):
            install.by_pkg_config(self.build, self.prefix, self.build.cxx, main, self.folder / "cpp")

    def test_a_tree_without_its_library(self):
        for path in (self.prefix / self.build.libdir).glob("libebb.so*"):
            path.unlink()
        with self.assertRaisesRegex(install.Failed, "libebb"):
            install.by_find_package(self.build, self.prefix, "cpp", self.folder / "cpp")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Plants includes through the wrong door and expects the check to name them."""
import tempfile
import unittest
from pathlib import Path

import doors

DOORS = doors.read_doors(Path(__file__).with_name("doors.txt"))


class Doors(unittest.TestCase):
    def violations(self, name, content):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            path.parent.mkdir(parents=True)
            path.write_text(content, encoding="utf-8")
            (Path(folder) / "src").mkdir(exist_ok=True)
            return doors.check(Path(folder), DOORS)

    def expect_one(self, name, content, words):
        found = self.violations(name, content)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_what_is_allowed_passes(self):
        self.assertEqual(self.violations(
            "src/cli/program.cpp", "#include <CLI/CLI.hpp>\n#include <vector>\n"
            '#include <sys/mman.h>\n#include "cli/verbs.h"\n#include "ebb/ebb.h"\n'), [])
        self.assertEqual(self.violations("src/fl/torch/model.cpp", "#include <torch/torch.h>\n"), [])

    def test_a_library_through_another_door(self):
        self.expect_one("src/heap/x.cpp", "#include <vector>\n#include <sqlite3.h>\n",
                        "src/heap/x.cpp:2: sqlite3.h may be included from: src/record")
        self.expect_one("src/fl/x.cpp", "#include <torch/torch.h>\n", "src/fl/torch")
        self.expect_one("src/record2/x.cpp", "#include <sqlite3.h>\n", "src/record")
        self.expect_one("include/ebb/x.hpp", "#include <sqlite3.h>\n", "src/record")

    def test_a_header_without_a_door(self):
        self.expect_one("src/base/x.cpp", "#include <nlohmann/json.hpp>\n", "has no line in doors.txt")
        self.expect_one("src/base/x.cpp", '#include "absl/types/any.h"\n', "has no line in doors.txt")

    def test_what_may_be_included_nowhere(self):
        self.expect_one("src/cli/x.cpp", "#include <Python.h>\n", "may be included from: nowhere")
        self.expect_one("src/device/x.cpp", "#include <cuda.h>\n", "nowhere")
        self.expect_one("src/heap/x.cpp", "#include <jemalloc/jemalloc.h>\n", "nowhere")


if __name__ == "__main__":
    unittest.main()

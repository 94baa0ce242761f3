# SPDX-License-Identifier: Apache-2.0
"""Plants one violation of each kind and expects the layer check to name it."""
import tempfile
import unittest
from pathlib import Path

import layers

SOUND = {
    "src/layers.txt": "# bottom-up\nbase:\nsense: base\nterm: base\ncapi: base sense\n",
    "src/README.md": "```\nrank 2   capi\nrank 1   sense    term\nrank 0   base\n```\n\n**base** is.\n\n"
                     "**sense** reads.\n\n**term** draws.\n\n**capi** is. **The core** is.\n",
    "src/base/text.h": "#include <string>\n",
    "src/sense/cgroup.cpp": '#include "sense/cgroup.h"\n#include "base/text.h"\n#include <vector>\n',
    "src/term/table.h": '#include "base/text.h"\n',
    "src/capi/cleanup.cpp": '#include "ebb/ebb.h"\n#include "base/text.h"\n'
                            '#include "sense/cgroup.h"\n',
    "include/ebb/ebb.h": "#include <stdint.h>\n",
    "include/ebb/ebb.hpp": '#include "ebb/ebb.h"\n#include <string>\n',
}


class Layers(unittest.TestCase):
    def violations(self, planted, check=layers.check):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {**SOUND, **planted}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            return check(Path(folder))

    def expect_one(self, planted, words):
        found = self.violations(planted)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_sound_tree_passes(self):
        self.assertEqual(self.violations({}), [])

    def test_upward_include(self):
        self.expect_one({"src/base/bad.cpp": '#include "base/text.h"\n#include "sense/cgroup.h"\n'},
                        'src/base/bad.cpp:2: base may not include "sense/cgroup.h"')

    def test_sideways_include(self):
        self.expect_one({"src/term/bad.h": '#  include "sense/cgroup.h"\n'},
                        'src/term/bad.h:1: term may not include "sense/cgroup.h"')

    def test_upward_include_in_angle_brackets(self):
        self.expect_one({"src/base/bad.h": "#include <sense/cgroup.h>\n"},
                        "base may not include")

    def test_include_that_is_not_from_the_source_root(self):
        self.expect_one({"src/sense/bad.h": '#include "cgroup.h"\n'}, "not a path from src/")
        self.expect_one({"src/sense/bad.h": '#include "sense/../term/table.h"\n'},
                        "not a path from src/")

    def test_public_header_below_the_face(self):
        self.expect_one({"src/sense/bad.h": '#include "ebb/ebb.h"\n'}, "sense may not include")

    def test_edge_that_nobody_uses(self):
        self.expect_one({"src/term/table.h": "#include <string>\n"},
                        "layers.txt: term may include base and never does")

    def test_folder_that_is_not_listed(self):
        self.expect_one({"src/extra/x.h": "\n"}, "src/extra: not listed")

    def test_listed_folder_that_does_not_exist(self):
        self.expect_one({"src/layers.txt": SOUND["src/layers.txt"] + "gone:\n"},
                        "lists gone, which does not exist")

    def test_order_of_the_list(self):
        self.expect_one({"src/layers.txt": "base:\nterm: base sense\nsense: base\ncapi: base sense\n",
                         "src/term/plot.h": '#include "sense/cgroup.h"\n'},
                        "layers.txt:2: term names sense, which does not stand above it")
        self.expect_one({"src/layers.txt": "base:\nsense: base sense\nterm: base\ncapi: base sense\n"},
                        "layers.txt:2: sense names sense")

    def test_folder_listed_twice(self):
        self.expect_one({"src/layers.txt": SOUND["src/layers.txt"] + "term: base\n"}, "listed twice")

    def test_line_that_is_no_rule(self):
        self.expect_one({"src/layers.txt": SOUND["src/layers.txt"] + "what is this\n"},
                        "layers.txt:6: expected 'folder:")

    def test_readme_against_the_list(self):
        readme = SOUND["src/README.md"]
        self.assertEqual(self.violations({}, layers.check_readme), [])
        for text, words in (
                (readme.replace("**sense** reads.\n\n", "") + "\n**sense** reads.\n",
                 "README.md: paragraph 2 is of term, expected sense as in layers.txt"),
                (readme.replace("**capi** is. ", ""), "README.md: paragraph 4 is of none, expected capi"),
                (readme.replace("sense    term", "term"), "the drawing and layers.txt differ in sense")):
            found = self.violations({"src/README.md": text}, layers.check_readme)
            self.assertEqual(len(found), 1, found)
            self.assertIn(words, found[0])

    def test_public_header_that_includes_the_source(self):
        self.expect_one({"include/ebb/bad.hpp": '#include "base/text.h"\n'},
                        'include/ebb/bad.hpp:1: a public header includes "base/text.h"')
        self.expect_one({"include/ebb/bad.hpp": "#include <base/text.h>\n"}, "a public header")


if __name__ == "__main__":
    unittest.main()

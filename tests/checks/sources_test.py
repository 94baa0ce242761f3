# SPDX-License-Identifier: Apache-2.0
"""Plants files without a licence and files that are too long."""
import contextlib
import io
import tempfile
import unittest
from pathlib import Path

import sources

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


class Sources(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")

    def test_licensed_and_short_files_pass(self):
        self.plant("src/base/text.h", LICENCE + "\n" * 299)
        self.plant("include/ebb/ebb.h", "/* SPDX-License-Identifier: Apache-2.0 */\n")
        self.plant("scripts/run", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n")
        self.plant("tests/data/foreign.py", "print()\n")
        self.plant("src/layers.txt", "base:\n")
        self.assertEqual(sources.missing_licences(self.root), [])
        self.assertEqual(sources.long_files(self.root), [])

    def test_files_without_a_licence(self):
        self.plant("src/base/text.cpp", "#include <string>\n" + LICENCE)
        self.plant("tests/checks/x.py", '"""A script."""\n')
        self.plant("scripts/run", "#!/bin/sh\necho\n")
        self.plant("web/src/page.css", "body {}\n")
        self.assertEqual([line.split(": ")[0] for line in sources.missing_licences(self.root)],
                         ["scripts/run:2", "src/base/text.cpp:1", "tests/checks/x.py:1",
                          "web/src/page.css:1"])

    def test_a_file_that_is_too_long(self):
        self.plant("src/base/long.cpp", LICENCE + "\n" * 300)
        self.plant("src/base/too_long.cpp", LICENCE + "\n" * 400)
        with contextlib.redirect_stdout(io.StringIO()) as warned:
            self.assertEqual(sources.long_files(self.root),
                             ["src/base/too_long.cpp: 401 lines, expected at most 400"])
        self.assertIn("src/base/long.cpp: 301 lines", warned.getvalue())

    def test_a_folder_that_is_more_than_verbs(self):
        for i in range(10):
            self.plant(f"src/cli/verb{i}.cpp", LICENCE + "\n" * 299)
        self.plant("src/cli/CMakeLists.txt", "\n" * 500)
        self.plant("src/serve/pages.cpp", LICENCE + "\n" * 299)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(sources.crowded_folders(self.root), [])
        self.assertIn("src/cli: 3000 of 3000 lines", said.getvalue())
        self.plant("src/cli/simulate/verb.h", LICENCE)
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual([line.split(": move")[0] for line in sources.crowded_folders(self.root)],
                             ["src/cli: 3001 lines, expected at most 3000"])

    def test_folders_that_are_read_in_another_way(self):
        self.plant("src/base/text.cpp", LICENCE + "read_folder(path);\n")
        self.assertEqual(sources.folder_iterators(self.root), [])
        self.plant("src/run/a.cpp", LICENCE + "\nfor (fs::recursive_directory_iterator entry(path), end;;)\n")
        self.assertEqual([line.split(": ")[0] for line in sources.folder_iterators(self.root)], ["src/run/a.cpp:3"])

    def test_walks(self):
        row = "| {} | `src/base/text.cpp` | reads |\n"
        page = "# How\n\n## First\n\n" + "".join(row.format(i) for i in range(1, 13)) + "\n## Second\n\n" + row
        self.plant("src/base/text.cpp", LICENCE)
        self.plant(sources.WALKS, page)
        self.assertEqual(sources.walks(self.root), [])
        self.plant(sources.WALKS, page.replace("## Second", row.format(13) + "\n## Second") + "`src/base/gone.h`\n")
        self.assertEqual(sources.walks(self.root),
                         [f"{sources.WALKS}: the first walk has 13 stations, expected at most 12",
                          f"{sources.WALKS}: names src/base/gone.h, which is not there"])
        self.plant(sources.WALKS, page + "\n" * 60)
        self.assertIn("lines, expected at most 60", sources.walks(self.root)[0])


if __name__ == "__main__":
    unittest.main()

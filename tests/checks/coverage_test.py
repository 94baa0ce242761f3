# SPDX-License-Identifier: Apache-2.0
"""Plants rows that name tests which are not there, in full or in short, or none at all."""
import tempfile
import unittest
from pathlib import Path

import coverage

SOUND = {
    "tests/keep/a_test.cpp": "TEST(Keeper, Counts) {}\nTEST_F(KeeperTest,\n       Fires) {}\n"
                             "TEST_P(Each, Holds) {}\nTYPED_TEST(Kind, Works) {}\n"
                             "// TEST(Keeper, Sleeps) {}\nTEST(Keeper, DISABLED_Waits) {}\n",
    "tests/keep/CMakeLists.txt": "add_test(NAME cli.page COMMAND node)\n"
                                 "foreach(part options keys)\n  add_test(NAME interface.${part} COMMAND x)\n"
                                 "endforeach()\nebb_check(layers ARGUMENTS x)\n"
                                 'under_allocator(glibc glibc "")\nebb_chaos_test(chaos.known ARGUMENTS x)\n'
                                 "ebb_fuzzer(json_fuzz)\nset(pages serve live)\nlist(APPEND pages compare)\n"
                                 "foreach(page IN LISTS pages)\n  add_test(NAME serve.${page} COMMAND x)\n"
                                 "endforeach()\nforeach(one IN ITEMS kills)\n  add_test(NAME machine.${one} x)\n",
    "python/tests/test_rounds.py": "class Rounds:\n    def test_cleans(self):\n        pass\n"
                                   "    def helper(self):\n        pass\n",
}
HEAD = "# Coverage\n\n| feature | in Ebb | test |\n|---|---|---|\n"
SHORT = "# Robustness\n\n| fault | what happens | tests |\n|---|---|---|\n"


class Coverage(unittest.TestCase):
    def violations(self, page, name="docs/coverage.md"):
        pages = {other: HEAD + "| rounds | | `Keeper.Counts` |\n" for other in coverage.PAGES}
        with tempfile.TemporaryDirectory() as folder:
            for name, content in {**SOUND, **pages, name: page}.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            return coverage.check(Path(folder))

    def expect_one(self, page, words, name="docs/coverage.md"):
        found = self.violations(page, name)
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_tests_of_every_kind_are_found(self):
        self.assertEqual(self.violations(
            HEAD + "| rounds | a keeper | `Keeper.Counts`, `KeeperTest.Fires` |\n"
            "| every | `--all` | `Each.Holds`, `Kind.Works` |\n"
            "| more | | `test_rounds.Rounds.test_cleans` `cli.page` `interface.keys` |\n"
            "| lists | | `serve.live` `serve.compare` `machine.kills` |\n"
            "| checks | | `check.layers`, `check.layers.planted`, `stress.allocator.glibc` |\n"
            "| distillation | | not there: out of scope, `--fd` is refused |\n"
            "\n| other | table |\n|---|---|\n| `Keeper.Gone` | `Gone.Too` |\n"), [])

    def test_a_test_that_does_not_exist(self):
        self.expect_one(HEAD + "| rounds | | `Keeper.Counts`, `Keeper.Sums` |\n",
                        "docs/coverage.md:5: there is no test Keeper.Sums")
        for name in ("Keeper.Sleeps", "Keeper.Waits", "test_rounds.Rounds.helper", "test_rounds.Rounds.test_gone",
                     "interface.structs", "check.doors", "serve.IN", "serve.pages", "interface.${part}"):
            self.expect_one(HEAD + f"| rounds | | `{name}` |\n", f"there is no test {name}")

    def test_short_names(self):
        self.assertEqual(self.violations(
            SHORT + "| a | | `Keeper.Cou…`, `KeeperTest.…`, `Fires`, `chaos.known`, `json_fuzz` |\n"
            "| c | | `Each.Ho…`, `Holds` |\n"
            "| b | | the listing: `test_rounds.Rounds.test_…` |\n", "docs/robustness.md"), [])

    def test_a_short_name_of_no_test(self):
        for names, missing in (("`Keeper.Sum…`", "Keeper.Sum…"), ("`Keeper.Coun`", "Keeper.Coun"),
                               ("`Keeper.Counts`, `Fires`", "Keeper.Fires"), ("`Counts`", ".Counts"),
                               ("`Keeper.Counts`, `KeeperTest.…`, `Cou…`", "KeeperTest.Cou…"), ("`chaos`", "chaos")):
            self.expect_one(SHORT + f"| a | | {names} |\n", f"docs/robustness.md:5: there is no test {missing}",
                            "docs/robustness.md")
        self.expect_one(SHORT + "| a | | tested |\n", "docs/record.md:5: expected the name of a test", "docs/record.md")

    def test_names_of_one_test_are_not_short(self):
        self.expect_one(HEAD + "| rounds | | `Keeper.Cou…` |\n", "there is no test Keeper.Cou…")
        self.expect_one(HEAD + "| rounds | | `KeeperTest.Fires`, `Fires` |\n", "there is no test Fires")

    def test_a_row_without_a_test(self):
        self.expect_one(HEAD + "| rounds | a keeper | |\n", "docs/coverage.md:5: expected the name of a test")
        self.expect_one(HEAD + "| rounds | a keeper | tested |\n", "expected the name of a test")

    def test_a_page_without_such_a_table(self):
        self.expect_one("# Coverage\n\n| feature | proof |\n|---|---|\n| rounds | `Keeper.Counts` |\n",
                        'expected a table whose last column is headed "test" or "tests"')


if __name__ == "__main__":
    unittest.main()

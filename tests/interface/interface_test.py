# SPDX-License-Identifier: Apache-2.0
"""Plants changes of the interface and expects each to be found. The program comes in $EBB_PROGRAM."""
import copy
import json
import os
import shutil
import sqlite3
import tempfile
import unittest
from pathlib import Path

import json_keys
import options
import recordings
import schema
import shapes
import statuses
import structs
import written_before
from programs import Programs
from recordings import Recording

INCLUDE = recordings.HERE.parent.parent / "include"
DATA = recordings.HERE.parent / "data/interface"


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.programs = Programs(Path(os.environ["EBB_PROGRAM"]), self.folder)

    def expect(self, words, violations):
        self.assertTrue(any(words in violation for violation in violations), violations)


class Structs(Planted):
    def violations(self, before, after):
        header = (INCLUDE / "ebb/ebb.h").read_text(encoding="utf-8")
        self.assertIn(before, header)
        shutil.copytree(INCLUDE / "ebb", self.folder / "ebb")
        (self.folder / "ebb/ebb.h").write_text(header.replace(before, after, 1), encoding="utf-8")
        return structs.check(recordings.read("structs.txt"), self.folder).violations

    def test_a_struct_of_another_size(self):
        self.expect("sizeof(ebb_sum_report) was 40 and has become 48",
                    self.violations("} ebb_sum_report;", "uint64_t more;\n} ebb_sum_report;"))

    def test_a_field_that_moved(self):
        self.expect("offsetof(ebb_sum_report, additions) was 16, 8 bytes and has become 24, 8 bytes",
                    self.violations("  uint64_t additions;", "  uint64_t x;\n  uint64_t additions;"))

    def test_a_constant_with_another_value(self):
        self.expect("EBB_UNAVAILABLE was 4 and has become 9",
                    self.violations("EBB_UNAVAILABLE = 4", "EBB_UNAVAILABLE = 9"))

    def test_a_function_with_another_argument(self):
        self.expect("ebb_hook_remove was declared as",
                    self.violations("ebb_hook_remove(uint64_t id)", "ebb_hook_remove(uint32_t id)"))

    def test_a_function_that_is_gone(self):
        self.expect("ebb_trim is no longer declared",
                    self.violations("EBB_API int ebb_trim(void);", ""))

    def test_another_name_of_an_argument_is_no_change(self):
        self.assertEqual(self.violations("ebb_hook_remove(uint64_t id)",
                                         "ebb_hook_remove(uint64_t number)"), [])


class Options(Planted):
    HELP = ("Usage: ebb env [OPTIONS]\n\nOptions:\n  -h,--help                   Print\n"
            "  --role TEXT REQUIRED        server\n  --allocator TEXT=glibc      glibc\n"
            "  --kv-heads UINT:NONNEGATIVE Heads\n  --conf TEXT ...             A string\n"
            "  --synthetic-channels UINT:NONNEGATIVE=1\n                              Of a picture\n"
            "  --json                      One JSON object\n")

    def violations(self, before, after):
        recording = Recording([], {"ebb env": [one.line() for one in
                                               options.parse_help(self.HELP).options]})
        self.assertIn(before, self.HELP)
        page = options.parse_help(self.HELP.replace(before, after))
        found = {"ebb env": {option.names: option for option in page.options}}
        return options.compare(recording, found, self.programs).violations

    def test_help_is_read(self):
        self.assertEqual([one.line() for one in options.parse_help(self.HELP).options],
                         ["-h, --help", "--role VALUE required", "--allocator VALUE = glibc",
                          "--kv-heads VALUE", "--conf VALUE...", "--synthetic-channels VALUE = 1",
                          "--json"])

    def test_other_words_are_no_change(self):
        self.assertEqual(self.violations("server\n", "client, too (7)\n"), [])

    def test_a_renamed_option(self):
        self.expect("ebb env: --allocator is gone", self.violations("--allocator", "--malloc"))

    def test_an_option_that_takes_no_value_any_more(self):
        self.expect("'--conf VALUE...' has become '--conf'",
                    self.violations("--conf TEXT ...", "--conf"))

    def test_another_default_in_the_help(self):
        self.expect("'--allocator VALUE = glibc' has become '--allocator VALUE = jemalloc'",
                    self.violations("TEXT=glibc", "TEXT=jemalloc"))

    def test_an_option_that_becomes_required(self):
        self.expect("'--kv-heads VALUE' has become '--kv-heads VALUE required'",
                    self.violations("UINT:NONNEGATIVE Heads", "UINT REQUIRED    Heads"))

    def test_a_default_that_the_program_does_not_have(self):
        defaults = options.Defaults(self.programs)
        self.assertEqual(defaults.of("ebb plan model", "--batch", "32", None), "32")
        self.assertIn("no longer 33", defaults.of("ebb plan model", "--batch", "33", None))


class Statuses(Planted):
    def test_another_status(self):
        recording = Recording([], {"": ["0  ebb --version", "1  ebb nonsense"]})
        self.assertEqual(statuses.check(recording, self.programs).violations,
                         ["ebb nonsense: ended with 1, and now with 2"])


class Keys(Planted):
    BEFORE = {"name": "x", "rows": [{"bytes": 1, "failure": None}, {"bytes": 2}], "details": {"a": 1}}

    def violations(self, after, fold=False):
        recorded = shapes.shape_of(self.BEFORE)
        if fold:
            recorded["details.{}"] = recorded.pop("details.a")
        recorded = json_keys.from_lines(shapes.lines_of(recorded))
        return json_keys.compare("ebb", recorded, {"": shapes.shape_of(after)}).violations

    def test_the_same_and_more_passes(self):
        rows = [{"bytes": 7, "more": 1, "failure": "y"}]
        self.assertEqual(self.violations({**self.BEFORE, "rows": rows, "new": True}), [])

    def test_a_removed_key(self):
        after = copy.deepcopy(self.BEFORE)
        del after["name"]
        self.assertEqual(self.violations(after), ["ebb: name is gone"])

    def test_a_key_of_another_type(self):
        self.assertEqual(self.violations({**self.BEFORE, "name": 1}),
                         ["ebb: name was string and has become number"])

    def test_a_key_that_some_elements_lack(self):
        after = copy.deepcopy(self.BEFORE)
        del after["rows"][1]["bytes"]
        self.assertEqual(self.violations(after), ["ebb: rows[].bytes was always there and now is not"])

    def test_a_list_that_is_empty(self):
        recorded = json_keys.from_lines(shapes.lines_of(shapes.shape_of(
            {"notes": ["a"], "rows": [{"bytes": 1}]})))
        found = {"": shapes.shape_of({"notes": [], "rows": []})}
        self.assertEqual(json_keys.compare("ebb", recorded, found).violations,
                         ["ebb: rows[] is gone", "ebb: rows[].bytes is gone"])

    def test_keys_that_are_taken_together(self):
        self.assertEqual(self.violations({**self.BEFORE, "details": {"b": 1}}, fold=True), [])
        self.assertEqual(self.violations({**self.BEFORE, "details": {"b": "1"}}, fold=True),
                         ["ebb: details.{} was number and has become string"])

    def test_a_recorded_key_that_the_program_does_not_print(self):
        recording = Recording([], {"ebb env --role server --json": ["role: string", "roll: string"]})
        part = json_keys.PRINTED.check(recording, self.programs)
        self.assertEqual(part.violations, ["ebb env --role server --json: roll is gone"])
        self.assertIn("ebb env --role server --json: allocator", part.additions)

    def test_an_update_adds_and_keeps(self):
        line = "ebb env --role server --json"
        updated = json_keys.PRINTED.update(Recording([], {line: ["roll: string"]}), self.programs)
        self.assertIn("roll: string", updated.sections[line])
        self.assertIn("role: string", updated.sections[line])

    def test_a_file_that_is_gone(self):
        recorded = json_keys.from_lines(["checkpoint", "config.json > alpha: number"])
        self.assertEqual(json_keys.compare("run", recorded, {"config.json": {}}).violations,
                         ["run: the file checkpoint is gone", "run: config.json: alpha is gone"])


class Schema(Planted):
    def found(self, statement):
        file = self.folder / "x.db"
        database = sqlite3.connect(str(file))
        database.executescript("CREATE TABLE runs(id INTEGER PRIMARY KEY, name TEXT NOT NULL);"
                               f"PRAGMA user_version = 3; {statement}")
        database.close()
        return schema.read(file)

    RECORDED = {"user_version": "3", "runs.id": "INTEGER key 1", "runs.name": "TEXT not null"}

    def test_a_column_more_and_a_higher_version_pass(self):
        found = self.found("ALTER TABLE runs ADD COLUMN more INTEGER; PRAGMA user_version = 4;")
        self.assertEqual(schema.compare(self.RECORDED, found).violations, [])

    def test_a_renamed_column(self):
        found = self.found("ALTER TABLE runs RENAME COLUMN name TO title;")
        self.expect("runs.name is gone", schema.compare(self.RECORDED, found).violations)

    def test_a_lower_version(self):
        found = self.found("PRAGMA user_version = 2;")
        self.expect("user_version was '3'", schema.compare(self.RECORDED, found).violations)


class Earlier(Planted):
    def whole(self):
        return json.loads((DATA / "simulation-whole.json").read_text(encoding="utf-8"))

    def test_a_report_with_another_value(self):
        before = json.loads((DATA / "report.json").read_text(encoding="utf-8"))
        now = copy.deepcopy(before)
        now["headline"] = "other words"
        self.assertEqual(written_before.differences(before, now), [])
        now["processes"][0]["rounds"] += 1
        self.expect("processes[0].rounds was 24 and now is 25",
                    written_before.differences(before, now))

    def test_a_simulation_that_comes_to_something_else(self):
        before = self.whole()
        resumed = {**self.whole(), "resumed_at": 3}
        self.assertEqual(written_before.simulation_violations(before, resumed, before), [])
        resumed["rounds"][4]["cohort"] = [0, 1, 2]
        resumed["rounds"][5]["loss"] *= 1.1
        resumed["model_sha256"] = "0"
        found = written_before.simulation_violations(before, resumed, before)
        for words in ("round 4: cohort[", "round 5: loss was", "resumed: the model is 0"):
            self.expect(words, found)

    def test_a_simulation_that_begins_anew(self):
        before = self.whole()
        self.expect("expected to go on after round 3",
                    written_before.simulation_violations(before, before, before))


if __name__ == "__main__":
    unittest.main()

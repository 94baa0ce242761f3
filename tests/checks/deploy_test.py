# SPDX-License-Identifier: Apache-2.0
"""Plants what must not be in deploy/, in the catalogue of metrics and on their page: metrics that are not there, names
against the rules, panels without units, alerts without tests."""
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import deploy


class Deploy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        shutil.copytree(deploy.ROOT / "deploy", self.root / "deploy")
        for name in (deploy.CATALOGUE, deploy.PAGE):
            (self.root / name).parent.mkdir(parents=True)
            shutil.copy(deploy.ROOT / name, self.root / name)

    def replace(self, name, old, new, count=-1):
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, count), encoding="utf-8")

    def change_panel(self, change):
        path = self.root / deploy.DASHBOARD
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        panels = [panel for panel in dashboard["panels"] if panel["type"] == "timeseries"]
        change(panels)
        path.write_text(json.dumps(dashboard), encoding="utf-8")

    def expect(self, one_check, words):
        found = one_check(self.root).violations
        self.assertTrue(any(words in violation for violation in found), found)

    def test_names_are_those_that_are_exposed(self):
        self.assertEqual(deploy.metrics('constexpr Metric kA{"ebb_a", Kind::counter, "", "A."};\n'
                                       'constexpr Metric kB{\n    "ebb_b", Kind::info, "", "B."};\n'
                                       'constexpr Metric kC{"ebb_c_bytes", Kind::gauge, "bytes", "C."};\n'
                                       'constexpr Metric kD{"ebb_d", Kind::state_set, "", "D."};\n'),
                         {"ebb_a_total", "ebb_b_info", "ebb_c_bytes", "ebb_d"})

    def test_a_help_of_several_literals_is_one(self):
        found = list(deploy.declared('// A.\nconstexpr Metric kA{\n    "ebb_a_bytes", Kind::gauge, "bytes",\n'
                                     '    "One; "\n    "it\'s \\"two\\"."};\n'))
        self.assertEqual(found, [deploy.Metric(2, "ebb_a_bytes", "gauge", "bytes", 'One; it\'s \\"two\\".')])

    def test_metrics_against_the_rules(self):
        right = "namespace ebb::metrics"
        self.assertEqual(deploy.check_catalogue(self.root).violations, [])
        for declaration, words in (
                ('{"ebb_run", Kind::info, "", "A."}', "ebb_run is there already, in line"),
                ('{"ebbs_a", Kind::gauge, "", "A."}', "ebbs_a begins otherwise, expected ebb_"),
                ('{"ebb_A", Kind::gauge, "", "A."}', "ebb_A has other characters"),
                ('{"ebb-a", Kind::gauge, "", "A."}', "ebb-a has other characters"),
                ('{"ebb_a", Kind::gauge, "bytes", "A."}', "ebb_a is in bytes, expected a name that ends in _bytes"),
                ('{"ebb_bytes_a", Kind::counter, "bytes", "A."}', "ebb_bytes_a is in bytes"),
                *((f'{{"ebb_a{suffix}", Kind::gauge, "", "A."}}', f"ebb_a{suffix} ends in {suffix}")
                  for suffix in ("_total", "_info", "_count", "_sum", "_bucket", "_created")),
                ('{"ebb_a", Kind::gauge, "", "A"}', "ebb_a: the help ends otherwise"),
                ('{"ebb_a", Kind::gauge, "", "A. "\n "B"}', "ebb_a: the help ends otherwise"),
                *((f'{{"ebb_a", Kind::gauge, "", "A{escape}" "b."}}', "ebb_a: the help has an escape")
                  for escape in ('\\"', "\\\\", "\\n")),
                ('{kName, Kind::gauge, "", "A."}', "kPlanted cannot be read"),
                ('{"ebb_a", Kind::gauge, "", R"(A.)"}', "kPlanted cannot be read")):
            with self.subTest(declaration):
                planted = f"inline constexpr Metric kPlanted{declaration};\n}}  // {right}"
                self.replace(deploy.CATALOGUE, f"}}  // {right}", planted)
                self.expect(deploy.check_catalogue, words)
                self.replace(deploy.CATALOGUE, planted, f"}}  // {right}")

    def test_a_page_that_lists_other_metrics(self):
        self.replace(deploy.PAGE, "| `ebb_run_processes` |", "| processes |")
        self.expect(deploy.check_catalogue, "no table lists ebb_run_processes")
        self.replace(deploy.PAGE, "| `ebb_run_rounds_total` |", "| `ebb_run_rounds` |")
        self.expect(deploy.check_catalogue, "no table lists ebb_run_rounds_total")
        self.expect(deploy.check_catalogue, "there is no metric ebb_run_rounds in")

    def test_queries_of_the_page(self):
        self.replace(deploy.PAGE, "_total[5m])", "_total)")
        self.expect(deploy.check_queries, "query_4")
        self.replace(deploy.PAGE, "## Queries", "## Questions")
        self.expect(deploy.check_queries, "no query")

    def test_a_metric_that_does_not_exist(self):
        self.replace(deploy.RULES, "ebb_run_record_lost_total", "ebb_run_record_lost")
        self.expect(deploy.check_alerts, "there is no metric ebb_run_record_lost in")
        self.replace(deploy.DASHBOARD, "ebb_memory_pressure_ratio", "ebb_memory_pressure_percent")
        self.expect(deploy.check_dashboard, "there is no metric ebb_memory_pressure_percent in")

    def test_an_alert_that_is_not_tested_or_explained(self):
        self.replace(deploy.RULES, "- alert: EbbLeak", "- alert: EbbLeaks")
        self.expect(deploy.check_alerts, "no test expects EbbLeaks")
        self.expect(deploy.check_alerts, "no test expects that there is no EbbLeaks")
        self.replace(deploy.RULES, "severity: critical", "level: critical", 1)
        self.expect(deploy.check_alerts, "EbbLimitWithinAnHour has no severity")

    def test_an_alert_that_no_longer_does_what_its_test_says(self):
        self.replace(deploy.RULES, "> 0.9", "> 0.96")
        self.expect(deploy.check_prometheus, "promtool test rules")

    def test_a_configuration_that_prometheus_would_refuse(self):
        self.replace("deploy/prometheus/prometheus.yml", "scrape_interval", "scraping_interval")
        self.expect(deploy.check_prometheus, "prometheus.yml")
        self.replace("deploy/prometheus/prometheus-kubernetes.yml", "action: keep", "action: kept")
        self.expect(deploy.check_prometheus, "prometheus-kubernetes.yml")

    def test_panels(self):
        self.change_panel(lambda panels: panels[0]["fieldConfig"]["defaults"].pop("unit"))
        self.expect(deploy.check_dashboard, "has no unit")
        self.change_panel(lambda panels: panels[1].update(datasource={"type": "prometheus", "uid": "mine"}))
        self.expect(deploy.check_dashboard, "the data source is mine")
        self.change_panel(lambda panels: panels[2].update(id=panels[3]["id"]))
        self.expect(deploy.check_dashboard, "2 panels have the id")
        self.change_panel(lambda panels: panels[4]["targets"][0].update(expr="sum(ebb_run_info"))
        self.expect(deploy.check_dashboard, "promtool check rules")
        self.change_panel(lambda panels: panels[5]["targets"][0].update(expr='ebb_run_info{run="$runs"}'))
        self.expect(deploy.check_dashboard, "there is no variable runs")

    def test_an_option_that_systemd_does_not_know(self):
        self.replace("deploy/systemd/ebb-serve.service", "LockPersonality=", "LockPersonalities=")
        self.expect(deploy.check_units, "LockPersonalities")

    def test_a_tool_that_is_not_there(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            for one_check, tool in ((deploy.check_queries, "promtool"), (deploy.check_units, "systemd-analyze")):
                self.expect(one_check, f"{tool} is not there; expected after: scripts/setup test")

    def test_a_prolog_that_says_something_else(self):
        self.replace("deploy/slurm/task_prolog.sh", 'echo "export XDG', 'echo "XDG')
        self.expect(deploy.check_slurm, "task_prolog.sh in a job")

    def test_a_file_that_the_page_does_not_name(self):
        (self.root / "deploy/slurm/epilog.sh").write_text("#!/bin/sh\n", encoding="utf-8")
        self.expect(deploy.check_readme, "does not name slurm/epilog.sh")


if __name__ == "__main__":
    unittest.main()

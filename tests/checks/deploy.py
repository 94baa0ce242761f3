# SPDX-License-Identifier: Apache-2.0
"""Holds deploy/ and docs/metrics.md against the tools that they are for, and against the metrics that there are.

  deploy.py ROOT

Prometheus' files and the page's queries are checked by promtool, the dashboard by what is said here, the unit by
systemd-analyze, the script for Slurm by shellcheck and by running it. Every metric that is named exists in
src/metrics/catalogue.h, whose names follow the rules of Prometheus; the page lists all of them. Prints what was
checked, and what is wrong.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Set, Union

from common import finish

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = "src/metrics/catalogue.h"
PAGE = "docs/metrics.md"
DASHBOARD = "deploy/grafana/ebb.json"
RULES = "deploy/prometheus/ebb.rules.yml"
RULE_TESTS = "deploy/prometheus/ebb.rules.test.yml"
SUFFIXES = {"counter": "_total", "info": "_info"}
# What the formats add to names.
RESERVED = ("_total", "_info", "_count", "_sum", "_bucket", "_created")
# What stands for Grafana's variables where promtool reads an expression.
VARIABLES = {"$__rate_interval": "5m", "$__interval": "1m", "$__range": "1h"}

_LITERAL = r'"(?:[^"\\\n]|\\.)*"'
_DECLARED = re.compile(r"\bMetric\s+(k\w+)")
_METRIC = re.compile(rf"\s*\{{\s*({_LITERAL})\s*,\s*Kind::(\w+)\s*,\s*({_LITERAL})\s*,"
                     rf"\s*({_LITERAL}(?:\s*{_LITERAL})*)\s*\}}\s*;")
NAMED = re.compile(r"\bebb_[a-z0-9_]+")
_LISTED = re.compile(r"^\|([^|]*)\|", re.MULTILINE)  # first cells of tables
_QUERIES = re.compile(r"^## Queries\n+```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ALERT = re.compile(r"^ *- alert: (\w+)$", re.MULTILINE)
_EXPECTED = re.compile(r"^ *alertname: (\w+)\n *exp_alerts:( \[\])?$", re.MULTILINE)
_KUBERNETES = re.compile(r"^( *)kubernetes_sd_configs:\n *- role: pod$", re.MULTILINE)


class Checked(NamedTuple):
    what: str
    violations: List[str]


class Metric(NamedTuple):
    line: int
    name: str
    kind: str
    unit: str
    help: str  # as it is written, escapes included

    @property
    def exposed(self) -> str:
        return self.name + SUFFIXES.get(self.kind, "")


def run(*command, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **options)


def complaints(*command, may_speak=True, **options) -> List[str]:
    """What a tool has to say, where it fails or is not there; or, unless it may speak, says anything."""
    if shutil.which(command[0]) is None:
        return [f"{command[0]} is not there; expected after: scripts/setup test"]
    done = run(*command, **options)
    if done.returncode == 0 and (may_speak or not done.stdout.strip()):
        return []
    return [f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}"]


def declared(catalogue: str) -> Iterator[Union[Metric, str]]:
    """Metrics; where one cannot be read, what is wrong with it."""
    for found in _DECLARED.finditer(catalogue):
        line = catalogue.count("\n", 0, found.start()) + 1
        parts = _METRIC.match(catalogue, found.end())
        if parts is None:
            yield f'{CATALOGUE}:{line}: {found[1]} cannot be read, expected {{"name", Kind::kind, "unit", "help"}};'
            continue
        text = "".join(literal[1:-1] for literal in re.findall(_LITERAL, parts[4]))
        yield Metric(line, parts[1][1:-1], parts[2], parts[3][1:-1], text)


def metrics(catalogue: str) -> Set[str]:
    """Names as they are exposed."""
    return {metric.exposed for metric in declared(catalogue) if isinstance(metric, Metric)}


def invalid_expressions(name: str, asked: Dict[str, str]) -> List[str]:
    """What promtool says of expressions in the file `name`, each as a rule under its key."""
    rules = [{"record": key, "expr": expression} for key, expression in asked.items()]
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch) / "expressions.yml"  # JSON is YAML
        copy.write_text(json.dumps({"groups": [{"name": name, "rules": rules}]}), encoding="utf-8")
        return [f"{name}: {complaint}" for complaint in complaints("promtool", "check", "rules", copy)]


def unknown_metrics(root: Path, name: str, text: str) -> List[str]:
    there = metrics((root / CATALOGUE).read_text(encoding="utf-8"))
    return [f"{name}: there is no metric {metric} in {CATALOGUE}"
            for metric in sorted(set(NAMED.findall(text)) - there)]


def metric_violations(metric: Metric) -> List[str]:
    name = f"{CATALOGUE}:{metric.line}: {metric.name}"
    violations = []
    if not metric.name.startswith("ebb_"):
        violations.append(f"{name} begins otherwise, expected ebb_")
    if not re.fullmatch("[a-z0-9_]*", metric.name):
        violations.append(f"{name} has other characters, expected a to z, 0 to 9 and _")
    if metric.unit and not metric.name.endswith(f"_{metric.unit}"):
        violations.append(f"{name} is in {metric.unit}, expected a name that ends in _{metric.unit}")
    violations += [f"{name} ends in {suffix}, which the formats add; expected a name without it"
                   for suffix in RESERVED if metric.name.endswith(suffix)]
    if not metric.help.endswith("."):
        violations.append(f"{name}: the help ends otherwise, expected a full stop")
    if "\\" in metric.help:
        violations.append(f"{name}: the help has an escape, expected no quote, backslash or newline")
    return violations


def check_catalogue(root: Path) -> Checked:
    """Names follow the rules of Prometheus, and the page lists each as it is exposed, and no other."""
    catalogue = (root / CATALOGUE).read_text(encoding="utf-8")
    page = (root / PAGE).read_text(encoding="utf-8")
    violations = []
    first: Dict[str, Metric] = {}
    for metric in declared(catalogue):
        if isinstance(metric, str):
            violations.append(metric)
            continue
        violations += metric_violations(metric)
        if first.setdefault(metric.name, metric) is not metric:
            violations.append(f"{CATALOGUE}:{metric.line}: {metric.name} is there already, "
                              f"in line {first[metric.name].line}; expected names that are unique")
    listed = {name for cell in _LISTED.findall(page) for name in NAMED.findall(cell)}
    violations += [f"{PAGE}: no table lists {metric.exposed}, expected it in a first column"
                   for metric in first.values() if metric.exposed not in listed]
    violations += unknown_metrics(root, PAGE, page)
    return Checked(f"{CATALOGUE}: {len(first)} metrics, all in {PAGE}",
                   violations if first else [f"{CATALOGUE}: no metric"])


def check_queries(root: Path) -> Checked:
    """Those of the page: one a line, with a comment as PromQL has them."""
    found = _QUERIES.search((root / PAGE).read_text(encoding="utf-8"))
    queries = [line for line in found[1].splitlines() if line] if found else []
    violations = invalid_expressions(PAGE, {f"query_{i}": query for i, query in enumerate(queries, 1)})
    return Checked(f"{PAGE}: {len(queries)} queries",
                   violations if queries else [f"{PAGE}: no query, expected a block of them below ## Queries"])


def check_alerts(root: Path) -> Checked:
    """Every alert says how bad it is and what to do, and has a test in which it fires and one in which it does not."""
    rules = (root / RULES).read_text(encoding="utf-8")
    tests = (root / RULE_TESTS).read_text(encoding="utf-8")
    expected = _EXPECTED.findall(tests)
    alerts = _ALERT.findall(rules)
    violations = unknown_metrics(root, RULES, rules) + unknown_metrics(root, RULE_TESTS, tests)
    for name, text in zip(alerts, _ALERT.split(rules)[2::2]):
        violations += [f"{RULES}: {name} has no {key}" for key in ("severity", "summary", "description")
                       if not re.search(rf"^ +{key}: ", text, re.MULTILINE)]
        if "`ebb " not in text:
            violations.append(f"{RULES}: the description of {name} names no command of ebb")
        if (name, "") not in expected:
            violations.append(f"{RULE_TESTS}: no test expects {name}")
        if (name, " []") not in expected:
            violations.append(f"{RULE_TESTS}: no test expects that there is no {name}")
    return Checked(f"{RULES}: {len(alerts)} alerts, each with tests in which it fires and does not",
                   violations if alerts else [f"{RULES}: no alert"])


def check_prometheus(root: Path) -> Checked:
    folder = root / "deploy/prometheus"
    violations = complaints("promtool", "check", "rules", folder / "ebb.rules.yml")
    violations += complaints("promtool", "test", "rules", "ebb.rules.test.yml", cwd=folder)
    violations += complaints("promtool", "check", "config", folder / "prometheus.yml")
    # Debian's Prometheus cannot look for pods: what it would do with them is checked all the same.
    with tempfile.TemporaryDirectory() as scratch:
        text = (folder / "prometheus-kubernetes.yml").read_text(encoding="utf-8")
        text, replaced = _KUBERNETES.subn(r"\1static_configs:\n\1  - targets: ['localhost:7322']", text)
        copy = Path(scratch) / "prometheus-kubernetes.yml"
        copy.write_text(text, encoding="utf-8")
        shutil.copy(folder / "ebb.rules.yml", scratch)
        violations += complaints("promtool", "check", "config", copy)
        if replaced != 1:
            violations.append(f"{folder}/prometheus-kubernetes.yml: expected kubernetes_sd_configs with the role pod")
    return Checked("deploy/prometheus: promtool check rules, test rules, check config", violations)


def all_panels(dashboard: Dict) -> Iterator[Dict]:
    for panel in dashboard["panels"]:
        yield panel
        yield from panel.get("panels", [])


def expressions(dashboard: Dict) -> Dict[str, str]:
    """Those of panels, each under a name of its own."""
    return {f"panel_{panel['id']}_{target['refId']}": target["expr"]
            for panel in all_panels(dashboard) for target in panel.get("targets", [])}


def without_variables(expression: str) -> str:
    for name, value in VARIABLES.items():
        expression = expression.replace(name, value)
    return re.sub(r"\$\w+", ".+", expression)


def panel_violations(panel: Dict, sources: Set[str]) -> List[str]:
    """Of one that is not a row."""
    name = f"{DASHBOARD}: panel {panel['id']} ({panel['title']})"
    violations = []
    if not panel.get("fieldConfig", {}).get("defaults", {}).get("unit"):
        violations.append(f"{name} has no unit")
    if not panel.get("targets"):
        violations.append(f"{name} asks for nothing")
    for part in [panel, *panel.get("targets", [])]:
        source = part.get("datasource", {}).get("uid", "none")
        if source not in sources:
            violations.append(f"{name}: the data source is {source}, expected one of: {' '.join(sorted(sources))}")
    return violations


def check_dashboard(root: Path) -> Checked:
    text = (root / DASHBOARD).read_text(encoding="utf-8")
    dashboard = json.loads(text)
    inputs = {entry["name"] for entry in dashboard.get("__inputs", []) if entry.get("pluginId") == "prometheus"}
    variables = {variable["name"]: variable for variable in dashboard["templating"]["list"]}
    sources = {f"${{{name}}}" for name, variable in variables.items() if variable["type"] == "datasource"}
    panels = list(all_panels(dashboard))
    shown = [panel for panel in panels if panel["type"] != "row"]
    violations = [] if inputs else [f"{DASHBOARD}: expected Prometheus in __inputs"]
    kinds = {entry["id"] for entry in dashboard.get("__requires", []) if entry["type"] == "panel"}
    violations += [f"{DASHBOARD}: __requires has no panel {kind}"
                   for kind in sorted({panel["type"] for panel in shown} - kinds)]
    violations += [f"{DASHBOARD}: no variable {name}" for name in ("run", "process") if name not in variables]
    ids = [panel["id"] for panel in panels]
    violations += [f"{DASHBOARD}: {ids.count(one)} panels have the id {one}"
                   for one in sorted(set(ids)) if ids.count(one) > 1]
    for panel in shown:
        violations += panel_violations(panel, sources)
    named = [*expressions(dashboard).values(), *(str(variable["query"]) for variable in variables.values())]
    violations += unknown_metrics(root, DASHBOARD, "\n".join(named))
    used = set(re.findall(r"\$(\w+)", "\n".join(named))) - {name[1:] for name in VARIABLES}
    violations += [f"{DASHBOARD}: there is no variable {name}" for name in sorted(used - set(variables))]
    asked = {name: without_variables(expression) for name, expression in expressions(dashboard).items()}
    return Checked(f"{DASHBOARD}: {len(shown)} panels, {len(asked)} expressions",
                   violations + invalid_expressions(DASHBOARD, asked))


def check_units(root: Path) -> Checked:
    """As a service of a user and, with system.conf, of the system. The program need not be installed here."""
    violations = []
    with tempfile.TemporaryDirectory() as scratch:
        unit = Path(scratch) / "ebb-serve.service"
        text = (root / "deploy/systemd/ebb-serve.service").read_text(encoding="utf-8")
        unit.write_text(text.replace("/usr/local/bin/ebb", "/bin/true"), encoding="utf-8")
        environment = {**os.environ, "XDG_RUNTIME_DIR": scratch}
        ways = [("--user", "verify", unit), ("verify", unit)]
        for way in ways:
            if way == ways[-1]:
                (Path(scratch) / f"{unit.name}.d").mkdir()
                shutil.copy(root / "deploy/systemd/system.conf", Path(scratch) / f"{unit.name}.d")
            # What it does not understand it says, and succeeds.
            violations += complaints("systemd-analyze", *way, may_speak=False, env=environment)
    return Checked("deploy/systemd: systemd-analyze verify", violations)


def prolog_violations(script: Path) -> List[str]:
    """What Slurm would take over from it."""
    with tempfile.TemporaryDirectory() as scratch:
        here = {"PATH": os.environ["PATH"], "HOME": scratch, "TMPDIR": scratch}
        job = {**here, "SLURM_JOB_ID": "42", "SLURM_SUBMIT_DIR": scratch}
        places = "|".join(re.escape(f"{scratch}{folder}") for folder in ("", "/.local/state"))
        cases = (("in a job", job, rf"(export XDG_STATE_HOME=({places})/ebb-job-42\n)?"),
                 ("without a folder", {**job, "SLURM_SUBMIT_DIR": "", "HOME": "/nowhere"},
                  rf"(export XDG_STATE_HOME={re.escape(scratch)}/ebb-job-42\n)?"),
                 ("where the user chose a place", {**job, "XDG_STATE_HOME": "/elsewhere"}, ""),
                 ("outside a job", here, ""))
        violations = []
        for name, environment, expected in cases:
            done = run("bash", script, env=environment)
            if done.returncode != 0 or re.fullmatch(expected, done.stdout) is None:
                violations.append(f"{script.name} {name}: exit {done.returncode}, {done.stdout!r}, "
                                  f"expected {expected!r}")
    return violations


def check_slurm(root: Path) -> Checked:
    script = root / "deploy/slurm/task_prolog.sh"
    return Checked("deploy/slurm: shellcheck, and what it prints",
                   complaints("shellcheck", script) + prolog_violations(script))


def check_readme(root: Path) -> Checked:
    """Nothing lies there that the page does not name, by its path or its folder's."""
    deploy = root / "deploy"
    page = (deploy / "README.md").read_text(encoding="utf-8")
    files = sorted(path.relative_to(deploy) for path in deploy.rglob("*") if path.is_file())
    unnamed = [path for path in files if path.name != "README.md" and path.as_posix() not in page
               and f"{path.parent.as_posix()}/`" not in page]
    return Checked(f"deploy/README.md: names {len(files) - 1} files",
                   [f"deploy/README.md does not name {path.as_posix()}" for path in unnamed])


CHECKS = (check_catalogue, check_queries, check_alerts, check_prometheus, check_dashboard, check_units, check_slurm,
          check_readme)


def check(root: Path) -> List[str]:
    violations = []
    for one in CHECKS:
        checked = one(root)
        print(f"{'FAILED' if checked.violations else 'ok'}  {checked.what}")
        violations += checked.violations
    return violations


if __name__ == "__main__":
    finish(check(Path(sys.argv[1])))

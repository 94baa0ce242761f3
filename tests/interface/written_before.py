# SPDX-License-Identifier: Apache-2.0
"""What an earlier Ebb wrote, opened by this one.

tests/data/interface holds a record of three short runs (`runs.db`) with what was reported of the
first one then (`report.json`), and a simulation that was stopped after three of six rounds
(`simulation`), with the result of the same one left alone (`simulation-whole.json`).
"""
import json
import math
from pathlib import Path
from typing import Any, Dict, List

from programs import Programs
from recordings import Part

# Words for people; everything else of a report is compared by value.
PROSE = ("headline", "findings", "text", "outcome")
# Statistics may round differently elsewhere.
CLOSE = 1e-6
# On another processor a simulation rounds differently (docs/simulate.md), and training goes on from
# there: far below what another seed, cohort or order of samples would change.
CLOSE_LOSS = 0.01
CLOSE_ACCURACY = 0.03
EXACT = ("round", "cohort", "took_part", "aggregator", "gini", "entropy", "participation_variance",
         "communicated_bytes", "flops", "epsilon")


def differences(before: Any, now: Any, path: str = "", close: float = CLOSE) -> List[str]:
    """Where `now` lacks or changes something of `before`; what it has beyond that is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        found = []
        for key, value in before.items():
            where = f"{path}.{key}" if path else key
            if key in PROSE:
                continue
            found += differences(value, now[key], where, close) if key in now else [f"{where} is gone"]
        return found
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [line for i, (one, other) in enumerate(zip(before, now))
                for line in differences(one, other, f"{path}[{i}]", close)]
    numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool)
                  for value in (before, now))
    same = math.isclose(before, now, rel_tol=close, abs_tol=close) if numbers else before == now
    return [] if same else [f"{path} was {before!r} and now is {now!r}"]


def _json(programs: Programs, line: str) -> Any:
    finished = programs.run(line)
    if finished.status != 0:
        raise RuntimeError(f"{line}: exit {finished.status}: {finished.error.strip()}")
    return json.loads(finished.output)


def check_record(programs: Programs) -> Part:
    before = json.loads((programs.data / "interface/report.json").read_text(encoding="utf-8"))
    violations = [f"ebb report: {line}" for line in
                  differences(before, _json(programs, "ebb report rounds --db {db} --json"))]
    diagnosis = _json(programs, "ebb doctor rounds --db {db} --json")
    expected = {key: before[key] for key in ("run", "process", "verdict", "also", "confidence",
                                             "evidence", "fix")}
    violations += [f"ebb doctor: {line}" for line in differences(expected, diagnosis)]
    # A newer Ebb goes on in it, and what was there stays.
    folder = programs.fresh()
    database = folder / "runs.db"
    database.write_bytes((programs.data / "interface/runs.db").read_bytes())
    finished = programs.run(f"ebb run --quiet --name later --db {database} -- true")
    if finished.status != 0 or finished.error:
        violations.append(f"ebb run --db: exit {finished.status}: {finished.error.strip()}")
    names = [run["name"] for run in _json(programs, f"ebb runs --db {database} --json")["runs"]]
    if names != ["later", "killed", "failed", "rounds"]:
        violations.append(f"ebb runs: expected the earlier runs and a later one, found {names}")
    again = _json(programs, f"ebb report rounds --db {database} --json")
    violations += [f"ebb report, once written to: {line}" for line in differences(before, again)]
    return Part(violations, [], [])


def round_differences(before: Dict[str, Any], now: Dict[str, Any]) -> List[str]:
    where = f"round {before['round']}: "
    found = differences({key: before[key] for key in EXACT}, now)
    for key, close in (("loss", CLOSE_LOSS * before["loss"]), ("accuracy", CLOSE_ACCURACY)):
        if abs(now[key] - before[key]) > close:
            found.append(f"{key} was {before[key]} and now is {now[key]}")
    return [where + line for line in found]


def check_simulation(programs: Programs) -> Part:
    if not programs.has_simulator:
        return Part([], [], ["ebb simulate --resume"])
    text = (programs.data / "interface/simulation-whole.json").read_text(encoding="utf-8")
    before = json.loads(text)
    resumed = _json(programs, "ebb simulate --resume {simulation} --no-record --quiet --json")
    # Left alone, here and now: the bits to be had on this machine.
    configuration = Path("{simulation}") / "config.json"
    whole = _json(programs, f"ebb simulate --config {configuration} --no-folder --no-record --quiet "
                            "--json")
    return Part(simulation_violations(before, resumed, whole), [], [])


def simulation_violations(before: Dict[str, Any], resumed: Dict[str, Any],
                          whole: Dict[str, Any]) -> List[str]:
    violations = []
    if resumed["resumed_at"] != 3 or resumed["stopped"]:
        violations.append(f"expected to go on after round 3 and to end, found resumed_at "
                          f"{resumed['resumed_at']}, stopped {resumed['stopped']}")
    for name, now in (("resumed", resumed), ("left alone", whole)):
        found = differences(before["config"], now["config"], "config", 0)
        if len(now["rounds"]) != len(before["rounds"]):
            found.append(f"{len(before['rounds'])} rounds have become {len(now['rounds'])}")
        for one, other in zip(before["rounds"], now["rounds"]):
            found += round_differences(one, other)
        violations += [f"{name}: {line}" for line in found]
    # Where the machine computes as the one that recorded did, there is no excuse.
    if whole["model_sha256"] == before["model_sha256"] != resumed["model_sha256"]:
        violations.append(f"resumed: the model is {resumed['model_sha256']}, left alone it is "
                          f"{before['model_sha256']}")
    return violations

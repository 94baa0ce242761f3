# SPDX-License-Identifier: Apache-2.0
"""Simulations that are killed, or whose disk is full, at a call that changes their files, and go on afterwards."""
import concurrent.futures
import errno
import json
import random
import re
import subprocess
from dataclasses import dataclass

import running
from trial import Trial

PATIENCE = 600  # guards against hanging: a simulation takes about a second

# As small as they come: two clients of each round are trained on a handful of pictures.
COMMON = ("--dataset", "synthetic", "--synthetic-train", "60", "--synthetic-test", "20", "--clients", "4", "--per-round",
          "2", "--rounds", "3", "--batch", "16", "--backend", "native", "--threads", "1")
SIMULATIONS = {
    "simulate": ("simulate", *COMMON),
    "rare checkpoints": ("simulate", *COMMON, "--checkpoint-every", "2"),
    "spilled updates": ("simulate", *COMMON, "--rule", "median"),
    "compare": ("compare", "--methods", "heuristic.random,heuristic.round_robin", *COMMON),
}


@dataclass(frozen=True)
class DiskFault:
    """The simulator's n-th call that changes a file in its folder: the process is killed there, or the disk is full from
    then on. A torn one writes half of what it should, where it is a write."""

    number: int
    kills: bool
    torn: bool

    def order(self, report, folder):
        # None fails that is the last of all and fails once: a disk that is full stays so.
        error, times = (0, 1) if self.kills else (errno.ENOSPC, 0)
        return (f"in=ebb-simulate call=disk errno={error} from={self.number} times={times} report={report} "
                f"under={folder} torn={int(self.torn)}")

    def word(self):
        return f"{self.number}{'k' if self.kills else 'd'}{'t' if self.torn else ''}"

    def __str__(self):
        return f"{'killed' if self.kills else 'disk full'} at change no. {self.number}{' (torn)' if self.torn else ''}"


@dataclass(frozen=True)
class SimulationCase:
    """One fault for each start of the simulation; the one after the last has none."""

    seed: int
    simulation: str
    faults: tuple

    def number_of_faults(self):
        return len(self.faults)

    def __str__(self):
        return (f"--swept '{self.simulation}: {' '.join(fault.word() for fault in self.faults)}': seed {self.seed}; "
                f"{', then '.join(map(str, self.faults))}")


def again(words):
    """The case of a sweep, as it has told it."""
    simulation, _, rest = words.partition(": ")
    faults = [re.fullmatch(r"(\d+)([kd])(t?)", word) for word in rest.split()]
    if simulation not in SIMULATIONS or not faults or None in faults:
        raise ValueError(f"'{words}': expected SIMULATION: FAULT ..., as a sweep tells it")
    return SimulationCase(0, simulation, tuple(DiskFault(int(number), kind == "k", bool(torn))
                                               for number, kind, torn in map(re.Match.groups, faults)))


# Those that did not hold once: what had no checkpoint yet lost its configuration when it began again, and what was
# written half stayed.
KNOWN = tuple(SimulationCase(0, "simulate", faults) for faults in (
    (DiskFault(8, True, False), DiskFault(2, True, False)), (DiskFault(8, True, False), DiskFault(2, False, False)),
    (DiskFault(3, True, True),), (DiskFault(13, True, True),), (DiskFault(31, True, True),)))


def draw_case(seed):
    rng = random.Random(f"{seed} simulation")
    simulation = rng.choice(tuple(SIMULATIONS))
    calls = 60 if simulation == "compare" else 30
    return SimulationCase(seed, simulation,
                          tuple(DiskFault(rng.randrange(1, calls if start == 0 else 12), rng.random() < 0.6,
                                          rng.random() < 0.5) for start in range(rng.choice((1, 1, 2)))))


# Of a round, what it came to; not how long it took on this machine, or in how much memory.
RESULTS = ("round", "accuracy", "loss", "cohort", "took_part", "train_loss", "communicated_bytes", "flops",
           "simulated_seconds", "energy_joules")


def outcome_of(result):
    """What a simulation came to, from its JSON."""
    methods = result.get("methods", [result])
    return [(one["config"]["method"] if "config" in one else one["method"], one["model_sha256"],
             [{key: line.get(key) for key in RESULTS} for line in one["rounds"]]) for one in methods]


def has_begun(run):
    """Whether there is something to go on with; else the simulation begins as it did the first time."""
    return any((run / name).exists() for name in ("config.json", "comparison.json"))


def names_in(folder):
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*"))


class SimulationTrial(Trial):
    """Simulations that go on, compared with those that were left alone."""

    def __init__(self, programs, folder):
        super().__init__(programs, folder)
        self.undisturbed = {}

    def start(self, case, folder, fault=None):
        """One process: the simulation from its beginning, or on from where it is."""
        run = folder.path / "files" / "run"
        words = SIMULATIONS[case.simulation]
        words = (words[0], "--resume", run) if has_begun(run) else (*words, "--folder", run)
        environment = folder.environment()
        folder.report.unlink(missing_ok=True)
        if fault is not None:
            environment["LD_PRELOAD"] = self.programs.shim
            environment["EBB_FAULT"] = fault.order(folder.report, run)
        return subprocess.run([self.programs.ebb, *words, "--no-record", "--quiet", "--json"], env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)

    def left_alone(self, case):
        if case.simulation not in self.undisturbed:
            folder = running.Folder(self.next_folder())
            done = self.start(case, folder)
            if done.returncode != 0:
                raise RuntimeError(f"without a fault: exit status {done.returncode}: {done.stderr.decode()}")
            self.undisturbed[case.simulation] = (outcome_of(json.loads(done.stdout)),
                                                 names_in(folder.path / "files" / "run"))
            folder.remove()
        return self.undisturbed[case.simulation]

    def judge(self, case, tells):
        """What did not hold in this case."""
        outcome, names = self.left_alone(case)
        folder, found = running.Folder(self.next_folder()), []
        run = folder.path / "files" / "run"
        for fault in case.faults:
            begun = has_begun(run)
            done = self.start(case, folder, fault)
            if begun and not has_begun(run):
                found.append("its configuration is lost")
            if tells:
                print(done.returncode, done.stderr.decode(errors="replace"), end="")
            found += self.ended_as_it_should(fault, done, outcome, folder.report)
        done = self.start(case, folder)
        if done.returncode != 0:
            found.append(f"does not go on: exit status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        elif outcome_of(json.loads(done.stdout)) != outcome:
            found.append("came to something else than without the fault")
        elif names_in(run) != names:
            found.append(f"files {names_in(run)}, without the fault {names}")
        folder.remove()
        return found

    def changes(self, simulation, before):
        """The calls that change files in a start without a fault, after those with the faults `before`."""
        folder, case = running.Folder(self.next_folder()), SimulationCase(0, simulation, before)
        for fault in (*before, DiskFault(0, True, False)):
            self.start(case, folder, fault)
        calls = [line.split()[2] for line in folder.report.read_text().splitlines() if line.startswith("call")]
        folder.remove()
        return calls

    def ended_as_it_should(self, fault, done, outcome, report):
        self.note_sites(report)
        calls = [line.split()[2] for line in (report.read_text().splitlines() if report.exists() else [])
                 if line.startswith("fault")]
        if not calls and fault.number > 0:
            self.note_not_given("the simulation had made all its changes before")
        said = done.stderr.decode(errors="replace")
        # What cannot be cleared away is left for the next start. The last change is the sync of a folder in which the file
        # has its name: nothing is lost but what a power failure may take.
        harmless = not calls or (not fault.kills and (set(calls) == {"unlink"} or calls == ["sync"]))
        if harmless:
            if done.returncode != 0 or outcome_of(json.loads(done.stdout)) != outcome:
                return [f"exit status {done.returncode}, without a fault that matters: {said.strip()}"]
            return []
        if fault.kills:
            return [] if done.returncode == -9 else [f"exit status {done.returncode}, expected to be killed"]
        if done.returncode != 1 or done.stdout or said.count("\n") != 1 or not said.startswith("ebb: "):
            return [f"exit status {done.returncode}, expected 1 and one line: {said.strip()}"]
        return []


def at_every_change(trial, simulation, before):
    """Kills and full disks at every change that a start makes, after the faults `before`."""
    for number, call in enumerate(trial.changes(simulation, before), start=1):
        for kills in (True, False):
            for torn in (False, True) if call == "write" else (False,):
                yield SimulationCase(number, simulation, (*before, DiskFault(number, kills, torn)))


def swept(trial, shard, side_by_side):
    """Each change that each simulation makes, from its beginning, and when it goes on: from before its first checkpoint
    and from between a line and its checkpoint. Of these every `shard[1]`th, and how many there are in all."""
    starts = [(simulation, before) for simulation in SIMULATIONS
              for before in ((), (DiskFault(6, True, False),), (DiskFault(16, True, True),))]
    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        cases = [case for found in pool.map(lambda start: list(at_every_change(trial, *start)), starts) for case in found]
    return cases[shard[0] - 1::shard[1]], len(cases)

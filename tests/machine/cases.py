# SPDX-License-Identifier: Apache-2.0
"""What cases inside the virtual machine are written with."""
import json
import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

GROUPS = Path("/sys/fs/cgroup")
PATIENCE = 300  # seconds: a guard against hanging, never a bound on what is measured


class Failed(Exception):
    """What was expected, and what was there."""


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable  # gives (name, result, what was said) of what it tried

    @classmethod
    def of(cls, function, *arguments):
        """A case that passes if the function raises nothing; what it returns is said."""
        name = function.__name__.replace("_", " ")
        return cls(name, lambda: [(name, "passed", function(*arguments) or "")])


def expect(holds, what):
    if not holds:
        raise Failed(what)


def wait_for(what, holds):
    """`what`: in words, or what finds the words once it was in vain."""
    until = time.monotonic() + PATIENCE
    while True:
        found = holds()
        if found:
            return found
        expect(time.monotonic() < until, f"not within {PATIENCE} s: {what() if callable(what) else what}")
        time.sleep(0.02)


class Record:
    """The runs of one case; `ebb` as the case calls it."""

    def __init__(self, settings, name):
        self.folder = Path("/var/tmp/ebb") / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o777)
        self.bin = Path(settings["build"]) / "bin"
        self.db = self.folder / "runs.db"

    def run(self, job, *options):
        """The command line of `ebb run` for this job. Where looks are slow, they are asked for more often."""
        if "EBB_TEST_SLOWER" in os.environ and "--interval" not in options:
            options = (*options, "--interval", "20ms")
        return [str(self.bin / "ebb"), "run", "--db", str(self.db), *map(str, options), "--", *map(str, job)]

    def dies(self, *words):
        return [str(self.bin / "dies"), *map(str, words)]

    def ask(self, *words):
        done = subprocess.run([str(self.bin / "ebb"), *map(str, words)], capture_output=True, text=True,
                              timeout=PATIENCE)
        expect(done.returncode == 0, f"ebb {' '.join(map(str, words))}: status {done.returncode}: {done.stderr}")
        return done.stdout

    def doctor(self):
        return json.loads(self.ask("doctor", "last", "--db", self.db, "--json"))

    def text(self):
        return self.ask("doctor", "last", "--db", self.db)


def call(command, patience=PATIENCE):
    """Runs it to its end; its status and what it said."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=patience)
    return done.returncode, done.stdout + done.stderr


def unit(name, command, *properties, scope=False):
    """The command line that runs a command as a unit of systemd of that name, and waits for its end."""
    slower = [f"--setenv=EBB_TEST_SLOWER={os.environ['EBB_TEST_SLOWER']}"] if "EBB_TEST_SLOWER" in os.environ else []
    how = ["--scope"] if scope else ["--wait", "--pipe", "--collect", *slower]
    return ["systemd-run", "--quiet", *how, f"--unit={name}", *(f"--property={one}" for one in properties), "--",
            *map(str, command)]


def death_of(told):
    death = told["run"]["death"]
    expect(death is not None, f"no cause of death: {json.dumps(told['run'])}")
    return death


def mebibytes(count):
    return f"{count / (1 << 20):.1f} MiB"


def adds_up(told, limit=None):
    """The parts against what the group held, within 1 % or what the kernel itself keeps uncounted. It was looked at
    when it held more than half of its `limit`."""
    memory = told["memory"] if "memory" in told else told
    expect(memory is not None, "no memory in it")
    together = sum(value or 0 for value in memory["parts"].values())
    bound = max(memory["usage_bytes"] / 100, 64 * 4096 * (os.cpu_count() or 1))
    expect(abs(together - memory["usage_bytes"]) <= bound, f"parts {together}, usage {memory['usage_bytes']}")
    age = memory.get("age_seconds")
    when = "" if age is None else f", {age * 1000:.0f} ms before the end"
    if limit is not None:
        expect(memory["usage_bytes"] > limit / 2, f"the last look was long before: {json.dumps(told)}")
    return f"usage {mebibytes(memory['usage_bytes'])}, parts {mebibytes(together)}{when}"

# SPDX-License-Identifier: Apache-2.0
"""Runs inside the virtual machine: the cases of a suite, one after the other, each told to the host in one line."""
import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import chaos_cases
import kill_cases
import program_cases
import unit_cases
from cases import Failed

PORT = Path("/dev/virtio-ports/ebb")
SUITES = {"programs": program_cases, "units": unit_cases, "kills": kill_cases, "chaos": chaos_cases}


def put_in_place(settings):
    """The programs, at the paths that were compiled into them; this process in the root group."""
    for folder in ("source", "build"):
        place, held = Path(settings[folder]), Path("/ebb/tree") / Path(settings[folder]).relative_to("/")
        place.mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", held, place], check=True)
    # Where no group's rule forbids it to have groups beside its own processes, and none limits it: in the root group.
    Path("/sys/fs/cgroup/cgroup.procs").write_text("0\n")


    # For jobs that are to be looked at while they run.
    os.environ["HOME"] = "/root"
    if settings["slower"] > 1:
        os.environ["EBB_TEST_SLOWER"] = str(settings["slower"])


def outcomes(suite, settings):
    """(name, result, what was said) of each case."""
    for case in suite.cases(settings):
        if settings["words"] not in case.name:
            continue
        began = time.monotonic()
        try:
            found = case.run()
        except Failed as failure:
            found = [(case.name, "failed", str(failure))]
        except Exception:  # a case that cannot be judged has failed
            found = [(case.name, "failed", traceback.format_exc())]
        for name, result, said in found:
            yield {"case": name, "result": result, "said": said, "seconds": round(time.monotonic() - began, 1)}


def main():
    settings = json.loads(Path("/ebb/settings.json").read_text())
    with PORT.open("w", buffering=1) as port:
        def tell(**what):
            port.write(json.dumps(what) + "\n")

        try:
            put_in_place(settings)
            tell(began=" ".join(Path("/proc/version").read_text().split()[:3]))
            for outcome in outcomes(SUITES[settings["suite"]], settings):
                tell(**outcome)
            tell(ended=True)
        except Exception:
            tell(case="the machine", result="failed", said=traceback.format_exc(), seconds=0)
    subprocess.run(["systemctl", "poweroff"], check=False)


if __name__ == "__main__":
    sys.exit(main())

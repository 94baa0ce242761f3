# SPDX-License-Identifier: Apache-2.0
"""The suite `chaos`: the faults of scripts/chaos that the kernel gives by control groups and full disks."""
import sys
from pathlib import Path

from cases import Case, Failed, call, expect

PER_FAULT = 12  # where it is emulated, as many fewer as that is slower
SEEDS = range(1, 4000)
SECONDS = 3600  # for one case, which knows itself what hangs


def seeds_of(drawing, many):
    """The first seeds that draw each fault."""
    found = {what: [] for what in drawing.KERNELS}
    for seed in SEEDS:
        what = getattr(drawing.draw_case(seed).fault, "what", None)
        if what in found and len(found[what]) < many:
            found[what].append(seed)
    return found


def run_seeds(settings, what, seeds):
    name = f"chaos: {what.replace('_', ' ')}"
    late = 0
    for seed in seeds:
        status, said = call([Path(settings["source"]) / "scripts/chaos", "--build", settings["build"], "--case", seed],
                            SECONDS)
        if status != 0:
            raise Failed(said)
        refused = [line for line in said.splitlines() if "control group for" in line or "tmpfs:" in line]
        expect(not refused, "; ".join(refused))
        late += "more were not given" in said
    return [(name, "passed", f"{len(seeds)} cases, {len(seeds) - late} faults given (seeds {seeds})")]


def cases(settings):
    sys.path.insert(0, str(Path(settings["source"]) / "tests/chaos"))
    import drawing
    return [Case(f"chaos: {what}", lambda what=what, seeds=seeds: run_seeds(settings, what, seeds))
            for what, seeds in seeds_of(drawing, PER_FAULT // settings["slower"]).items()]

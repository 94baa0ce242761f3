# SPDX-License-Identifier: Apache-2.0
"""What server_memory.py measured, as a table: one line for each number of clients and way."""
import json

HEAD = ["| clients | way | runs | peak | of plain | floor | per round | CPU, s | of plain | system, s | server's CPU, s | "
        "faults, M | server's, M | wall, s | model |", "|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"]


def read(paths):
    """The runs in files of JSON lines, one for each run."""
    return [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]


def cpu(run):
    return run["user"] + run["system"]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def slope(values):
    """Least squares, per step."""
    middle = (len(values) - 1) / 2
    spread = sum((index - middle) ** 2 for index in range(len(values)))
    return sum((index - middle) * value for index, value in enumerate(values)) / spread if spread else 0.0


def line(some, plain):
    """Of the runs of one way, beside those of the way to compare with."""
    def of(key):
        return mean(run[key] for run in some)

    took = [cpu(run) for run in some]
    floors = [floor for run in some for floor in run["floors"]]
    spread = f" ({min(took):.1f} to {max(took):.1f})" if len(some) > 1 else ""
    peak = max(run["peak"] for run in some)
    cells = [some[0]["clients"], some[0]["way"], len(some), f"{peak:.0f}",
             f"{peak / max(run['peak'] for run in plain):.2f}", f"{min(floors):.0f} to {max(floors):.0f}",
             f"{mean(slope(run['floors']) for run in some):+.1f}", f"{mean(took):.1f}{spread}",
             f"{mean(took) / mean(map(cpu, plain)):.2f}", f"{of('system'):.1f}", f"{of('server_cpu'):.1f}",
             f"{of('faults') / 1e6:.2f}", f"{of('server_faults') / 1e6:.2f}", f"{of('wall'):.0f}",
             some[0]["sha256"][:8]]
    return f"| {' | '.join(map(str, cells))} |"


def lines(runs):
    """The table; "of plain" compares with the first way of each number of clients."""
    found = {}
    for run in runs:
        found.setdefault(run["clients"], {}).setdefault(run["way"], []).append(run)
    return HEAD + [line(some, next(iter(ways.values())))
                   for _, ways in sorted(found.items()) for some in ways.values()]


def same_models(runs):
    """True where all runs with the same number of clients ended with the same model."""
    models = {}
    for run in runs:
        models.setdefault((run["clients"], run["rounds"], run["mib"]), set()).add(run["sha256"])
    return all(len(digests) == 1 for digests in models.values())

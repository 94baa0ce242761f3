#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory of Flower's ServerApp with and without ebb.flower, as a table.

  server_memory.py OUT [--clients 2 8] [--rounds 3] [--mib 64] [--strategy FedAvg]

Runs examples/flower on a SuperLink of its own, with each number of clients twice; a client takes about 600 MiB
while it trains. Needs flwr, NumPy and ebb in this Python. Exit 1: the two did not end with the same model.
"""
import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent.parent / "examples" / "flower" / "federation.py"


def measured(folder, *options):
    """Resident memory after each round, the peak, and the digest of the model."""
    said = subprocess.run([sys.executable, EXAMPLE, folder, *options], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    rows = [json.loads(line) for line in (folder / "memory.jsonl").read_text().splitlines()]
    superlink = next(line for line in said.splitlines() if line.startswith("SuperLink")).split()[2]
    return ([row["rss"] for row in rows[1:]], rows[-1]["peak"], superlink,
            json.loads((folder / "model.json").read_text())["sha256"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--clients", type=int, nargs="+", default=[2, 8])
    parser.add_argument("--rounds", default="3")
    parser.add_argument("--mib", default="64")
    parser.add_argument("--strategy", default="FedAvg")
    options = parser.parse_args()
    import flwr
    print(f"flwr {flwr.__version__}, Python {platform.python_version()}, {options.strategy}, model of "
          f"{options.mib} MiB; MiB resident\n")
    print("| clients | strategy | peak | after each round | SuperLink's peak | model |")
    print("|--:|---|--:|---|--:|---|")
    digests = set()
    for clients in options.clients:
        for name, more in ((options.strategy, ()), (f"keep({options.strategy})", ("--ebb",))):
            after, peak, superlink, digest = measured(
                options.out / f"{clients}{''.join(more)}", "--clients", str(clients), "--rounds",
                options.rounds, "--mib", options.mib, "--strategy", options.strategy, *more)
            digests.add((clients, digest))
            print(f"| {clients} | {name} | {peak:.0f} | {', '.join(f'{value:.0f}' for value in after)} | "
                  f"{superlink} | {digest[:8]} |", flush=True)
    return int(len(digests) != len(options.clients))


if __name__ == "__main__":
    sys.exit(main())

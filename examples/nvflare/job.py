# SPDX-License-Identifier: Apache-2.0
"""FedAvg in NVFlare's simulator, before and after Ebb.

  job.py OUT              with what NVFlare recommends: a cleanup every 5 rounds on the server, every
                          round on clients (set MALLOC_ARENA_MAX=4 as well)
  job.py OUT --plain      with no cleanup at all, as NVFlare does by default
  job.py OUT --ebb        with Ebb's widget and aggregator (set MALLOC_ARENA_MAX=1 as well);
                          --at-once: what the server frees goes back at once, --clients-too: what clients free,
                          --copy-broadcast: the global model is copied before it is sent, as without Ebb,
                          --trim-growth SHARE: by how much the server grows until a result is worth a trim; or "never"

  --clients 2  --rounds 6  --mib 64

Needs NVFlare and NumPy; prints resident memory at the start of each round, and the high water.
"""
import argparse
import json
import os
import shutil
import sys
from pathlib import Path

from nvflare.job_config.api import FedJob
from nvflare.job_config.script_runner import FrameworkType, ScriptRunner

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from fedavg import Meter, SizedFedAvg  # noqa: E402


def make_job(options, folder):
    job = FedJob(name="fedavg")
    aggregator = None
    nvflares_own = not (options.ebb or options.plain)
    if options.ebb:
        from ebb.nvflare import EbbAggregator, EbbMemoryWidget
        aggregator = EbbAggregator()
        trims = {"per_result": False} if options.trim_growth == "never" else \
            {"trim_growth": float(options.trim_growth)} if options.trim_growth else {}
        # FedAvg changes no array of the global model in place.
        job.to_server(EbbMemoryWidget(share_broadcast=not options.copy_broadcast, at_once=options.at_once, **trims),
                      id="ebb")
    job.to_server(SizedFedAvg(mebibytes=options.mib, folder=folder, num_clients=options.clients,
                              num_rounds=options.rounds, aggregator=aggregator,
                              memory_gc_rounds=5 if nvflares_own else 0))
    job.to_server(Meter(folder), id="meter")
    job.to_clients(ScriptRunner(script="client.py", framework=FrameworkType.NUMPY,
                                memory_gc_rounds=1 if nvflares_own else 0))
    if options.ebb:
        job.to_clients(EbbMemoryWidget(at_once=options.clients_too), id="ebb")
    job.to_clients(Meter(folder), id="meter")
    return job


def figures(folder):
    """What the meters wrote: by site, resident MiB at each round (a client's: task) and the peak."""
    sites = {}
    for path in sorted(Path(folder).glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        sites[path.stem] = {"rss": [round(row["rss"], 1) for row in rows if row["event"] != "_end_run"],
                            "peak": max(row["peak"] for row in rows)}
    return sites


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--ebb", action="store_true")
    parser.add_argument("--at-once", action="store_true")
    parser.add_argument("--clients-too", action="store_true")
    parser.add_argument("--copy-broadcast", action="store_true")
    parser.add_argument("--trim-growth")
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--mib", type=int, default=64, help="of the model, a multiple of 8")
    options = parser.parse_args()
    folder = options.out.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(HERE)  # where the simulator looks for client.py
    make_job(options, str(folder)).simulator_run(str(folder / "workspace"), n_clients=options.clients,
                                                 threads=options.clients)
    for site, seen in figures(folder).items():
        print(f"{site:18} peak {seen['peak']:6.0f} MiB; before each round",
              " ".join(f"{value:.0f}" for value in seen["rss"]))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds from one round to the next on a card, with their parts; each workload twice for its bits.

  rounds.py --build build/gpu --out FOLDER [--before OTHER/ebb-simulate] [--backend cuda] [--tiny] [--only MODEL]

Rounds are timed from outside, by when their lines arrive. Writes rounds.md and rounds.json. Exit 1 where the same
command came to another SHA-256, also without kernels of Ebb's own, or sums on the card to other bits than the host's.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

COMMON = ["--dataset", "synthetic", "--partition", "iid", "--no-folder", "--no-record", "--quiet",
          "--json", "--stream"]
PICTURES = ["--synthetic-channels", "3", "--synthetic-height", "32", "--synthetic-width", "32"]
# Options, rounds, and how many of them warm up.
WORKLOADS = {
    "CNN-MNIST, 50 of 100": (["--clients", "100", "--per-round", "50"], 12, 2),
    "CNN-MNIST, 200 of 400": (["--synthetic-train", "240000", "--clients", "400", "--per-round", "200"], 12, 2),
    # pfl-research's benchmark; its pictures are CIFAR-10's.
    "CNN-Dropout, 50 of 1000": (["--model", "cnn-dropout", *PICTURES, "--synthetic-train", "50000", "--clients", "1000",
                                 "--per-round", "50", "--batch", "10", "--lr", "0.1", "--weighting", "none",
                                 "--eval-every", "10"], 34, 3),
    "ResNet18, 32 of 64": (["--model", "resnet18", *PICTURES, "--synthetic-train", "16384", "--synthetic-test", "2000",
                            "--clients", "64", "--per-round", "32"], 5, 1),
}
TINY = ["--synthetic-train", "64", "--synthetic-test", "100", "--clients", "8", "--per-round", "2"]
PARTS = ("training", "sums", "evaluation", "selection", "cleanup", "writing", "other")


def simulate(binary, options, rounds, warm_up, backend, **variables):
    """Medians over the rounds that count, and what the whole run came to."""
    command = [binary, "simulate", *COMMON, *options, "--rounds", str(rounds), "--backend", backend]
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", **variables)
    arrived, said, result = [], [], None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as run:
        for line in run.stdout:
            now = time.perf_counter()
            value = json.loads(line)
            if value.get("event") == "round":
                arrived.append(now)
            elif "event" in value:
                said.append(value["message"])
            else:
                result = value
    if run.returncode != 0 or result is None:
        raise SystemExit(f"rounds.py: exit status {run.returncode} of {' '.join(command)}")
    laps = [later - earlier for earlier, later in zip(arrived, arrived[1:])][warm_up - 1:]
    counted = result["rounds"][warm_up:]
    cards = [one["card"] for one in result["rounds"] if one.get("card")]
    # The last round is always evaluated: without it, these are whole tens of those that are every tenth time.
    return {"seconds": statistics.median(laps), "mean": statistics.fmean(laps[:-1] or laps), "laps": laps,
            "parts": {part: statistics.median(one[f"{part}_seconds"] for one in counted)
                      for part in PARTS if f"{part}_seconds" in counted[0]},
            "accuracy": result["rounds"][-1]["accuracy"], "sha256": result["model_sha256"],
            "rss": result["peak_rss_bytes"], "planned": result["plan"]["card_bytes"], "items": result["plan"]["items"],
            "card": max((card["total_bytes"] - card["free_bytes"] for card in cards), default=None), "said": said}


def row(name, one):
    def bytes_text(count):
        return "-" if count is None else f"{count / (1 << 30):.2f} GiB"
    parts = " | ".join(f"{one['parts'][part]:.4f}" if part in one["parts"] else "-" for part in PARTS)
    return (f"| {name} | {one['seconds']:.4f} | {one['mean']:.4f} | {parts} | {one['accuracy']:.4f} | {bytes_text(one['planned'])} | "
            f"{bytes_text(one['card'])} | {bytes_text(one['rss'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--before", help="an earlier ebb-simulate, for comparison")
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try this without a card")
    parser.add_argument("--only", default="", help="workloads whose name begins with this")
    options = parser.parse_args()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    failed, raw = [], {}
    lines = ["# Rounds on a card", "", "Median seconds from one round to the next, their mean, and medians of their parts.", "",
             f"| workload | round | mean | {' | '.join(PARTS)} | accuracy | planned on the card | card in use | peak rss |",
             "|---|" + "--:|" * (len(PARTS) + 6)]
    for name, (words, rounds, warm_up) in WORKLOADS.items():
        if not name.startswith(options.only):
            continue
        if options.tiny:
            words = [*words, *TINY]
        if options.before:
            raw[f"{name}, before"] = simulate(options.before, words, rounds, warm_up, options.backend)
            lines.append(row(f"{name}, before", raw[f"{name}, before"]))
        binary = os.path.join(options.build, "bin", "ebb-simulate")
        once, again = (simulate(binary, words, rounds, warm_up, options.backend) for _ in range(2))
        bare = simulate(binary, words, rounds, warm_up, options.backend, EBB_CARD_KERNELS="0")
        raw.update({name: once, f"{name}, again": again, f"{name}, without kernels of its own": bare})
        for label in (name, f"{name}, without kernels of its own"):
            lines.append(row(label, raw[label]))
            print(lines[-1], flush=True)
        for other in (again, bare):
            if once["sha256"] != other["sha256"]:
                failed.append(f"{name}: {once['sha256']} and then {other['sha256']}")
        failed += [f"{name}: {line}" for line in once["said"] + again["said"] + bare["said"]]
    together = subprocess.run([os.path.join(options.build, "bench", "gpu", "fl-together"), options.backend],
                              stdout=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
    lines += ["", together.stdout, "Every claim holds." if not failed and together.returncode == 0 else "Failed:"]
    if together.returncode != 0:
        failed.append(f"fl-together: exit status {together.returncode}")
    lines += [f"- {line}" for line in failed]
    (out / "rounds.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "rounds.json").write_text(json.dumps(raw), encoding="utf-8")
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

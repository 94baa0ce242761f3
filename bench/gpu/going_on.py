#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges what `tune` says of jobs that go on: each job is recorded for some steps, tuned on them, and then run ten
times as long with PyTorch's default settings, with plain expandable segments and under the answer.

  going_on.py --library build/bare/lib/libebb.so --out FOLDER

Every step draws sizes of its own, from a generator that goes on: the first steps of the long run are the recorded
ones. Writes going_on.md. Exit 1 where an answer held more than 1.01 times the better of the two others.
"""
import argparse
import json
import os
import random
import subprocess
import sys
from pathlib import Path

from tuning import VARIABLES, Library, gib

TIMES = 10


def gpt2_lengths(torch, steps, draw):
    """A small GPT-2 on sequences of any length."""
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(n_layer=6, n_embd=768, n_head=12, n_positions=1024, resid_pdrop=0.0, embd_pdrop=0.0,
                        attn_pdrop=0.0)
    model = GPT2LMHeadModel(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(steps):
        tokens = torch.randint(0, config.vocab_size, (8, draw.randint(64, 1024)), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def resnet50_sizes(torch, steps, draw):
    """ResNet-50 on batches of any size and images of any size."""
    import torchvision
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(steps):
        count, side = draw.randint(8, 32), 32 * draw.randint(4, 10)
        images = torch.randn(count, 3, side, side, device="cuda")
        loss = torch.nn.functional.cross_entropy(model(images), torch.randint(0, 1000, (count,), device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


def actor_and_critic(torch, steps, draw):
    """Two networks that learn in turn, from episodes of any length."""
    def network(width):
        layers = []
        for _ in range(6):
            layers += [torch.nn.Linear(width, width), torch.nn.GELU()]
        return torch.nn.Sequential(*layers).cuda()
    actor, critic = network(2048), network(1536)
    optimizers = [torch.optim.Adam(net.parameters()) for net in (actor, critic)]
    for _ in range(steps):
        length = draw.randint(500, 12000)
        for net, optimizer, width in ((actor, optimizers[0], 2048), (critic, optimizers[1], 1536)):
            loss = net(torch.randn(length, width, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)


JOBS = {"gpt2_lengths": (gpt2_lengths, 24), "resnet50_sizes": (resnet50_sizes, 24),
        "actor_and_critic": (actor_and_critic, 24)}


def run_job(name, steps, snapshot):
    """In a process of its own: runs the job and prints its peaks as JSON."""
    import torch
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")
    JOBS[name][0](torch, steps, random.Random(5))
    torch.cuda.synchronize()
    if snapshot:
        torch.cuda.memory._dump_snapshot(snapshot)
    print(json.dumps({"reserved": torch.cuda.max_memory_reserved(), "live": torch.cuda.max_memory_allocated()}))


def measured(name, conf, steps, snapshot=""):
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    if conf:
        environment[VARIABLES[0]] = conf
    command = [sys.executable, __file__, "--job", name, "--steps", str(steps), "--snapshot", snapshot]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name} under '{conf}': {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def judge(library, name, steps, snapshot, lines):
    recorded = measured(name, "", steps, snapshot)
    answer = library.call("tune", snapshot=snapshot)
    conf, later, by_default = answer["best"]["conf"], answer["later"], answer["later_by_default"]
    longer = {setting: measured(name, setting, TIMES * steps)
              for setting in {"", "expandable_segments:True", conf}}
    real = longer[conf]
    best = min(longer[setting]["reserved"] for setting in ("", "expandable_segments:True"))

    def times_live(run):
        return run["reserved"] / run["live"]
    lines.append(
        f"| {name} | {gib(recorded['reserved'])} | {gib(longer['']['reserved'])} | "
        f"{gib(longer['expandable_segments:True']['reserved'])} | `{conf or 'default'}` | {gib(real['reserved'])} | "
        f"{times_live(real):.3f} | {later['over_live']:.3f} | {times_live(longer['']):.2f} | "
        f"{by_default['over_live']:.2f} | {', '.join(answer['futures']['source'])} |")
    print(lines[-1], flush=True)
    return real["reserved"] <= 1.01 * best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--job")
    parser.add_argument("--steps", type=int)
    parser.add_argument("--snapshot", default="")
    options = parser.parse_args()
    if options.job:
        return run_job(options.job, options.steps, options.snapshot)
    library = Library(options.library)
    lines = ["GiB reserved at the peak, and the peak as a multiple of what was live, real and foretold at the worst:", "",
             f"| job | recorded, default | {TIMES} times as long, default | expandable | answer | reached | times live |"
             " foretold | default, times live | foretold | futures |", "|---|--:|--:|--:|---|--:|--:|--:|--:|--:|---|"]
    good = True
    for name, (_, steps) in JOBS.items():
        snapshot = str(options.out / f"{name}.pickle")
        good &= judge(library, name, steps, snapshot, lines)
        os.remove(snapshot)
    lines += ["", f"Never more than 1.01 times the better of the two others: {'yes' if good else 'NO'}."]
    (options.out / "going_on.md").write_text("\n".join(lines) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

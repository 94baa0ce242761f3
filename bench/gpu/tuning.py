#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs jobs on a GPU under the settings that `tune` computes from their own history.

  tuning.py --library build/bare/lib/libebb.so --out FOLDER [--limit SECONDS]

Each job runs once with PyTorch's default settings and its history recorded; the library's `tune`
answers with a settings string and the peak of reserved memory to expect; the job runs again under
that string. Writes tuning.md. Exit 1 where a real peak is more than 2 % off the predicted one, or
where the proposed string holds more than the default.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import time
from pathlib import Path

MOST_ERROR = 2.0  # percent
VARIABLES = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF")


def gpt2_lengths(torch, step):
    """A small GPT-2 on sequences of a different length in every step."""
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(n_layer=8, n_embd=768, n_head=12, n_positions=1024, resid_pdrop=0.0,
                        embd_pdrop=0.0, attn_pdrop=0.0)
    model = GPT2LMHeadModel(config).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    lengths = [128, 512, 256, 896, 192, 640, 1024, 320, 768, 448]
    for i in range(30):
        tokens = torch.randint(0, config.vocab_size, (8, lengths[i % len(lengths)]), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step()


def resnet50_sizes(torch, step):
    """ResNet-50 on images of a different size in every step."""
    import torchvision
    model = torchvision.models.resnet50().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    sides = [160, 224, 192, 288, 128, 256, 208, 320]
    for i in range(32):
        side = sides[i % len(sides)]
        images = torch.randn(24, 3, side, side, device="cuda")
        loss = torch.nn.functional.cross_entropy(
            model(images), torch.randint(0, 1000, (24,), device="cuda"))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        step()


def growing_cache(torch, step):
    """Keys and values of a decoder, grown by concatenation, for one prompt after another."""
    layers, heads, width = 16, 16, 64
    for prompt in (512, 1536, 768, 2048):
        caches = [torch.randn(2, 4, heads, prompt, width, device="cuda") for _ in range(layers)]
        for _ in range(40):
            for i, cache in enumerate(caches):
                token = torch.randn(2, 4, heads, 1, width, device="cuda")
                caches[i] = torch.cat([cache, token], dim=3)
                scores = torch.matmul(caches[i][0], caches[i][0].transpose(-1, -2)[..., -1:])
                del scores
        step()


JOBS = {job.__name__: job for job in (gpt2_lengths, resnet50_sizes, growing_cache)}


def run_job(name, snapshot):
    """In a process of its own: runs the job and prints its peaks as JSON."""
    import torch
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    if snapshot:
        torch.cuda.memory._record_memory_history(max_entries=10_000_000, stacks="python")
    began = time.perf_counter()
    JOBS[name](torch, lambda: None)
    torch.cuda.synchronize()
    seconds = time.perf_counter() - began
    if snapshot:
        torch.cuda.memory._dump_snapshot(snapshot)
    print(json.dumps({"reserved": torch.cuda.max_memory_reserved(),
                      "allocated": torch.cuda.max_memory_allocated(), "seconds": seconds}))


def measured(name, conf, snapshot):
    environment = {k: v for k, v in os.environ.items() if k not in VARIABLES}
    if conf:
        environment[VARIABLES[0]] = conf
    command = [sys.executable, __file__, "--job", name, "--snapshot", snapshot]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name} under '{conf}': {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.ebb_last_error.restype = ctypes.c_char_p

    def call(self, verb, **arguments):
        result = ctypes.c_char_p()
        status = self.library.ebb_call(verb.encode(), json.dumps(arguments).encode(),
                                       ctypes.byref(result))
        if status != 0:
            sys.exit(f"{verb}: {self.library.ebb_last_error().decode()}")
        return json.loads(result.value)


def gib(count):
    return f"{count / 2**30:.3f}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--limit", type=float, default=1e9)
    parser.add_argument("--job")
    parser.add_argument("--snapshot", default="")
    options = parser.parse_args()
    if options.job:
        return run_job(options.job, options.snapshot)
    library = Library(options.library)
    began = time.monotonic()
    lines = ["# Settings computed from a job's own history, and what they really do", "",
             "GiB reserved at the peak. `default` is measured, `predicted` is what `tune` says of the "
             "string, `real` is the job run under it.", "",
             "| job | requests | default | replay of default | string | predicted | real | error % |"
             " above the bound % | tuned in s |", "|---|--:|--:|--:|---|--:|--:|--:|--:|--:|"]
    good = True
    for name in JOBS:
        if time.monotonic() - began > options.limit:
            lines.append(f"\nNo time left for {name}.")
            good = False
            continue
        snapshot = str(options.out / f"{name}.pickle")
        default = measured(name, "", snapshot)
        started = time.perf_counter()
        answer = library.call("tune", snapshot=snapshot)
        seconds = time.perf_counter() - started
        best = answer["best"]
        again = measured(name, best["conf"], "")
        predicted, real = best["peak_reserved_bytes"], again["reserved"]
        error = 100 * (real / predicted - 1)
        good &= abs(error) <= MOST_ERROR and real <= default["reserved"]
        above = 100 * (predicted / answer["lower_bound_bytes"] - 1)
        lines.append(f"| {name} | {answer['trace']['requests']} | {gib(default['reserved'])} | "
                     f"{gib(answer['recorded']['peak_reserved_bytes'])} ({answer['recorded']['check']}) | "
                     f"`{best['conf'] or 'default'}` | {gib(predicted)} | {gib(real)} | {error:+.2f} | "
                     f"{above:.1f} | {seconds:.1f} |")
        os.remove(snapshot)
    lines += ["", f"Within {MOST_ERROR:g} % and never above the default: {'yes' if good else 'NO'}."]
    (options.out / "tuning.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

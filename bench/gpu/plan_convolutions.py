#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what cuDNN takes while a convolution runs, for docs/plan.md.

  plan_convolutions.py --out FILE [--limit SECONDS]

For the convolutions of the simulator's networks: bytes beyond inputs and results that the forward
pass, the gradient of the input and the gradient of the weight need at their peak.
"""
import argparse
import itertools
import json
import sys
import time

import torch

# inputs, outputs, size, kernel, stride, padding
SHAPES = [
    (3, 64, 32, 5, 1, 0), (64, 64, 14, 5, 1, 0), (1, 64, 28, 5, 1, 0), (64, 64, 12, 5, 1, 0),
    (1, 10, 28, 5, 1, 0), (10, 20, 12, 5, 1, 0), (3, 10, 32, 5, 1, 0), (10, 20, 14, 5, 1, 0),
    (1, 32, 28, 5, 1, 2), (32, 64, 14, 5, 1, 2), (3, 32, 32, 5, 1, 2), (32, 64, 16, 5, 1, 2),
    (3, 64, 32, 3, 1, 1), (64, 64, 32, 3, 1, 1), (64, 128, 32, 3, 2, 1), (128, 128, 16, 3, 1, 1),
    (64, 128, 32, 1, 2, 0), (128, 256, 16, 3, 2, 1), (256, 256, 8, 3, 1, 1),
    (128, 256, 16, 1, 2, 0), (256, 512, 8, 3, 2, 1), (512, 512, 4, 3, 1, 1), (256, 512, 8, 1, 2, 0),
]
BATCHES = (512, 128, 32, 256, 64, 1024, 16)
KINDS = (torch.float32, torch.bfloat16)


def beyond(run):
    """Bytes at the peak of `run` beyond what it returns."""
    run()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    made = run()
    peak = torch.cuda.max_memory_allocated() - before
    kept = torch.cuda.memory_allocated() - before
    del made
    return peak - kept


def measure(kind, batch, shape):
    inputs, outputs, size, kernel, stride, padding = shape
    x = torch.rand(batch, inputs, size, size, device="cuda", dtype=kind)
    w = torch.rand(outputs, inputs, kernel, kernel, device="cuda", dtype=kind)
    forward = lambda: torch.nn.functional.conv2d(x, w, None, stride, padding)
    y = forward()
    backward = lambda mask: torch.ops.aten.convolution_backward(
        y, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, mask)
    return dict(kind=str(kind).split(".")[-1], batch=batch, shape=shape,
                x=x.numel() * x.element_size(), y=y.numel() * y.element_size(),
                w=w.numel() * w.element_size(), forward=beyond(forward),
                input=beyond(lambda: backward([True, False, False])),
                weight=beyond(lambda: backward([False, True, False])))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--limit", type=float, default=120)
    options = arguments.parse_args()
    started = time.monotonic()
    rows = []
    for batch, shape, kind in itertools.product(BATCHES, SHAPES, KINDS):
        if time.monotonic() - started > options.limit:
            break
        rows.append(measure(kind, batch, shape))
        torch.cuda.empty_cache()
    with open(options.out, "w", encoding="utf-8") as file:
        file.write(json.dumps(dict(torch=torch.__version__, cudnn=torch.backends.cudnn.version(),
                                   device=torch.cuda.get_device_name()))[:-1] + ', "rows": [\n' +
                   ",\n".join(json.dumps(row) for row in rows) + "\n]}\n")
    print(len(rows), "convolutions in", round(time.monotonic() - started), "s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the convolutions of 32 ResNet18, side by side, take of a training step: grouped, and as products of matrices.

  grouped_convolutions.py [--clients 32] [--batch 32] [--device cuda]

Milliseconds forward and backward, TF32, median of several runs; pictures of 32 x 32 with 3 channels.
"""
import argparse
import statistics
import time

import torch

# Inputs, outputs, size, stride, kernel; and how many of them a ResNet18 has.
SHAPES = {
    (3, 64, 32, 1, 3): 1, (64, 64, 32, 1, 3): 4,
    (64, 128, 32, 2, 3): 1, (64, 128, 32, 2, 1): 1, (128, 128, 16, 1, 3): 3,
    (128, 256, 16, 2, 3): 1, (128, 256, 16, 2, 1): 1, (256, 256, 8, 1, 3): 3,
    (256, 512, 8, 2, 3): 1, (256, 512, 8, 2, 1): 1, (512, 512, 4, 1, 3): 3,
}
RUNS = 10


def grouped(flow, weight, stride):
    return torch.conv2d(flow, weight.flatten(0, 1).contiguous(memory_format=torch.channels_last), None, stride,
                        weight.shape[3] // 2, 1, weight.shape[0])


def multiplied(flow, weight, stride):
    """Of single pixels alone."""
    clients, outputs, inputs = weight.shape[:3]
    seen = flow[:, :, ::stride, ::stride]
    pixels = seen.unflatten(1, (clients, inputs)).permute(1, 2, 0, 3, 4).flatten(2)
    mixed = torch.bmm(weight.flatten(2), pixels)
    return mixed.unflatten(2, (len(flow), *seen.shape[2:])).permute(2, 0, 1, 3, 4).reshape(
        len(flow), clients * outputs, *seen.shape[2:])


def milliseconds(way, flow, weight, stride):
    def synchronise():
        if flow.is_cuda:
            torch.cuda.synchronize()
    pull = torch.ones_like(way(flow, weight, stride))
    laps = []
    for _ in range(RUNS + 2):
        synchronise()
        start = time.perf_counter()
        way(flow, weight, stride).backward(pull)
        synchronise()
        laps.append((time.perf_counter() - start) * 1e3)
        flow.grad = weight.grad = None
    return statistics.median(laps[2:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    print("| inputs | outputs | size | stride | kernel | of a step | grouped | product |\n|" + "--:|" * 8)
    total = 0
    for (inputs, outputs, size, stride, kernel), count in SHAPES.items():
        flow = torch.randn(options.batch, options.clients * inputs, size, size, device=options.device)
        weight = torch.randn(options.clients, outputs, inputs, kernel, kernel, device=options.device,
                             requires_grad=True)
        # As it comes from a normalisation; pictures themselves need no gradient.
        product = "-" if kernel > 1 else f"{milliseconds(multiplied, flow.requires_grad_(), weight, stride):.2f}"
        last = flow.detach().contiguous(memory_format=torch.channels_last).requires_grad_(inputs > 3)
        one = milliseconds(grouped, last, weight, stride)
        total += count * one
        print(f"| {inputs} | {outputs} | {size} | {stride} | {kernel} | {count} | {one:.2f} | {product} |", flush=True)
    print(f"\nall of a step, grouped: {total:.1f} ms")


if __name__ == "__main__":
    main()

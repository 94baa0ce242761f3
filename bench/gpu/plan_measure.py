#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of training steps, for the tests of `ebb plan`.

  plan_measure.py --out FILE [--limit SECONDS] [--only TEXT] [--device cuda|cpu] [--tiny]
                  [--record FOLDER]

Every configuration is built with random weights and trained for three steps; the third one is
reported: allocated bytes at its phases and its peaks. With --record the allocator's history of
four more steps is left in a snapshot of each. Needs PyTorch and transformers; takes less
than 150 s and less than 100 GB on an H200. `--device cpu --tiny` only shows that everything runs:
its bytes are all 0.
"""
import argparse
import contextlib
import gc
import json
import sys
import time

import torch
from torch import nn
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, Qwen2Config,
                          Qwen2ForCausalLM)

try:
    from transformers.initialization import no_init_weights
except ImportError:
    no_init_weights = contextlib.nullcontext

STEPS = 3
RECORDED_STEPS = 4

GPT2 = dict(kind="transformer", arch="gpt2", layers=12, d_model=768, heads=12, kv_heads=12, d_ff=3072,
            vocab=50257, positions=1024, tied=True, seq=1024, batch=2, precision="amp", opt="adamw",
            checkpoint=False, attn="sdpa", dropout=0.1, lora=0)
LLAMA = dict(kind="transformer", arch="llama", layers=12, d_model=1024, heads=16, kv_heads=16,
             d_ff=2816, vocab=32000, positions=0, tied=False, seq=1024, batch=2, precision="bf16",
             opt="adamw", checkpoint=False, attn="sdpa", dropout=0.0, lora=0)
QWEN2 = dict(LLAMA, arch="qwen2", layers=14, d_model=896, heads=14, kv_heads=2, d_ff=4864, tied=True,
             vocab=151936)
NETWORK = dict(kind="network", channels=1, size=28, classes=10, batch=32, precision="fp32",
               opt="sgd")
COLOUR = dict(NETWORK, channels=3, size=32)

CASES = [
    dict(GPT2, dropout=0.0),
    dict(GPT2, seq=777, batch=3, precision="fp32", dropout=0.0),
    dict(GPT2, seq=512, batch=8, precision="bf16"),
    dict(GPT2, seq=512, batch=8, precision="amp", attn="eager"),
    dict(GPT2, seq=384, batch=6, precision="fp32", attn="eager"),
    dict(GPT2, batch=8, precision="fp32", checkpoint=True, opt="adam"),
    dict(GPT2, batch=8, precision="bf16", checkpoint=True, opt="sgdm"),
    dict(GPT2, precision="amp", attn="eager", checkpoint=True, batch=4),
    dict(GPT2, tied=False, opt="sgd", precision="fp32"),
    dict(GPT2, layers=36, d_model=1280, heads=20, kv_heads=20, d_ff=5120, batch=1, seq=512,
         precision="bf16", dropout=0.0),
    dict(GPT2, layers=24, d_model=1024, heads=16, kv_heads=16, d_ff=4096, batch=1, seq=128,
         precision="fp32"),
    dict(GPT2, layers=6, d_model=512, heads=8, kv_heads=8, d_ff=1024, vocab=8192, batch=32, seq=256,
         opt="sgdm"),
    dict(GPT2, layers=4, d_model=640, heads=10, kv_heads=10, d_ff=2560, vocab=256, seq=1000, batch=5,
         precision="bf16", attn="eager", dropout=0.0, opt="adafactor"),
    dict(LLAMA),
    dict(LLAMA, precision="amp", kv_heads=4),
    dict(LLAMA, precision="amp", attn="eager", kv_heads=8, batch=1),
    dict(LLAMA, precision="fp32", attn="eager", kv_heads=2, seq=600, opt="sgd"),
    dict(LLAMA, precision="fp32"),
    dict(LLAMA, precision="fp32", kv_heads=8, seq=768, opt="adam"),
    dict(LLAMA, precision="bf16", kv_heads=4, checkpoint=True, batch=8, seq=2048),
    dict(LLAMA, precision="amp", checkpoint=True, batch=4, opt="sgdm"),
    dict(LLAMA, precision="bf16", attn="eager", checkpoint=True, kv_heads=4, batch=4),
    dict(LLAMA, tied=True, precision="bf16", vocab=128256, layers=4, kv_heads=4, seq=512, batch=4),
    dict(LLAMA, layers=16, d_model=2048, heads=32, kv_heads=8, d_ff=5632, batch=1, seq=2048,
         opt="adafactor"),
    dict(LLAMA, layers=20, d_model=2048, heads=16, kv_heads=16, d_ff=5504, batch=1, seq=256),
    dict(LLAMA, layers=8, d_model=960, heads=15, kv_heads=5, d_ff=2560, vocab=49152, seq=1500,
         batch=3, precision="amp", attn="sdpa", tied=True),
    dict(LLAMA, layers=8, attn="eager", dropout=0.1, kv_heads=16, seq=512, batch=4),
    dict(LLAMA, precision="bf16", lora=16, kv_heads=4),
    dict(GPT2, precision="fp32", lora=8, dropout=0.0, opt="adam"),
    dict(QWEN2),
    dict(QWEN2, precision="amp", attn="eager", batch=1),
    dict(QWEN2, precision="fp32", checkpoint=True, batch=4, opt="sgdm"),
    dict(GPT2, accumulate=2),
    dict(GPT2, accumulate=3, precision="bf16", opt="sgdm", dropout=0.0),
    dict(LLAMA, accumulate=2, precision="fp32", kv_heads=4, checkpoint=True),
    dict(LLAMA, accumulate=2, lora=8),
    dict(NETWORK, model="CNN-MNIST"),
    dict(NETWORK, model="CNN-MNIST", channels=3, size=32, batch=1024, opt="adam"),
    dict(NETWORK, model="CNN-MNIST (FedAvg)", batch=256, opt="sgdm"),
    dict(NETWORK, model="LightCNN", channels=3, size=32, batch=512),
    dict(NETWORK, model="LightCNN", channels=3, size=32, batch=512, precision="amp"),
    dict(NETWORK, model="ResNet18", channels=3, size=32, batch=32),
    dict(NETWORK, model="ResNet18", channels=3, size=32, batch=128, opt="adamw"),
    dict(NETWORK, model="ResNet18", channels=3, size=32, batch=256, precision="amp", opt="sgdm"),
    dict(NETWORK, model="CNN-MNIST", batch=64, opt="sgdm"),
    dict(NETWORK, model="CNN-MNIST", batch=512, precision="amp"),
    dict(COLOUR, model="CNN-MNIST", classes=100, batch=128),
    dict(NETWORK, model="CNN-MNIST (FedAvg)"),
    dict(NETWORK, model="CNN-MNIST (FedAvg)", batch=64, opt="adam"),
    dict(COLOUR, model="CNN-MNIST (FedAvg)", batch=128, precision="amp"),
    dict(COLOUR, model="CNN-MNIST (FedAvg)", batch=1024),
    dict(COLOUR, model="LightCNN", opt="sgdm"),
    dict(COLOUR, model="LightCNN", batch=128, opt="adamw"),
    dict(COLOUR, model="LightCNN", classes=100, batch=256),
    dict(NETWORK, model="LightCNN", batch=64),
    dict(NETWORK, model="LightCNN", batch=1024, opt="adam"),
    dict(COLOUR, model="LightCNN", batch=200, precision="amp", opt="sgdm"),
    dict(COLOUR, model="ResNet18", classes=100, batch=16, opt="sgdm"),
    dict(COLOUR, model="ResNet18", batch=64, opt="adam"),
    dict(COLOUR, model="ResNet18", batch=512),
    dict(COLOUR, model="ResNet18", batch=100, precision="amp"),
    dict(NETWORK, model="ResNet18", batch=64, opt="sgdm"),
    dict(NETWORK, model="ResNet18", channels=3, size=64, batch=48, opt="adamw"),
    dict(NETWORK, model="CNN-MNIST", batch=10),
    dict(NETWORK, model="CNN-MNIST", batch=256, opt="adam"),
    dict(COLOUR, model="CNN-MNIST", batch=48),
    dict(NETWORK, model="CNN-MNIST (FedAvg)", batch=10),
    dict(NETWORK, model="CNN-MNIST (FedAvg)", batch=128, opt="adam"),
    dict(NETWORK, model="CNN-MNIST (FedAvg)", batch=48, opt="adamw"),
    dict(COLOUR, model="CNN-MNIST (FedAvg)", batch=100),
    dict(COLOUR, model="CNN-MNIST (FedAvg)", batch=384, opt="sgdm"),
    dict(COLOUR, model="CNN-MNIST (FedAvg)", batch=64, precision="amp"),
    dict(COLOUR, model="LightCNN", batch=20),
    dict(COLOUR, model="LightCNN", batch=64, opt="adam"),
    dict(COLOUR, model="LightCNN", batch=96, opt="sgdm"),
    dict(COLOUR, model="LightCNN", batch=384),
    dict(COLOUR, model="LightCNN", batch=768),
    dict(NETWORK, model="LightCNN", batch=192),
    dict(COLOUR, model="LightCNN", batch=48, precision="amp"),
    dict(COLOUR, model="ResNet18", batch=24),
    dict(COLOUR, model="ResNet18", batch=96, opt="sgdm"),
    dict(COLOUR, model="ResNet18", batch=200, opt="adam"),
    dict(NETWORK, model="ResNet18", batch=10),
    dict(NETWORK, model="ResNet18", batch=128, precision="amp", opt="adamw"),
    dict(COLOUR, model="ResNet18", classes=100, batch=384),
]


class Adapted(nn.Module):
    """A frozen linear layer and a trained one of low rank beside it."""

    def __init__(self, layer, inputs, outputs, rank):
        super().__init__()
        self.layer = layer
        kind = next(layer.parameters()).dtype
        self.down = nn.Linear(inputs, rank, bias=False, dtype=kind)
        self.up = nn.Linear(rank, outputs, bias=False, dtype=kind)

    def forward(self, x):
        return self.layer(x) + self.up(self.down(x)) * 2.0


def adapt(model, rank):
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear) and name != "lm_head":
                made = Adapted(child, child.in_features, child.out_features, rank)
            elif type(child).__name__ == "Conv1D":
                made = Adapted(child, child.weight.shape[0], child.weight.shape[1], rank)
            else:
                continue
            setattr(parent, name, made)


def transformer(case):
    with no_init_weights():
        if case["arch"] == "gpt2":
            model = GPT2LMHeadModel(GPT2Config(
                n_layer=case["layers"], n_embd=case["d_model"], n_head=case["heads"],
                n_inner=case["d_ff"], n_positions=case["positions"], vocab_size=case["vocab"],
                resid_pdrop=case["dropout"], embd_pdrop=case["dropout"],
                attn_pdrop=case["dropout"], tie_word_embeddings=case["tied"],
                attn_implementation=case["attn"]))
        else:
            config, kind = ((Qwen2Config, Qwen2ForCausalLM) if case["arch"] == "qwen2" else
                            (LlamaConfig, LlamaForCausalLM))
            model = kind(config(
                num_hidden_layers=case["layers"], hidden_size=case["d_model"],
                num_attention_heads=case["heads"], num_key_value_heads=case["kv_heads"],
                intermediate_size=case["d_ff"], vocab_size=case["vocab"],
                attention_dropout=case["dropout"], tie_word_embeddings=case["tied"],
                attn_implementation=case["attn"]))
    if case["tied"]:
        model.tie_weights()  # left out above, with the initialisation
    if case["precision"] == "bf16":
        model = model.to(torch.bfloat16)
    if case["lora"]:
        adapt(model, case["lora"])
    if case["checkpoint"]:
        model.gradient_checkpointing_enable()
    return model


class Block(nn.Module):
    """Two convolutions and the way around them."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(8, outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(8, outputs)
        self.relu = nn.ReLU(inplace=True)
        self.around = None
        if stride != 1 or inputs != outputs:
            self.around = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                        nn.GroupNorm(8, outputs))

    def forward(self, x):
        out = self.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        beside = x if self.around is None else self.around(x)
        out += beside
        return self.relu(out)


def network(case):
    channels, size, classes = case["channels"], case["size"], case["classes"]
    if case["model"] == "CNN-MNIST":
        flat = 20 * (((size - 4) // 2 - 4) // 2) ** 2
        return nn.Sequential(
            nn.Conv2d(channels, 10, 5), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
            nn.Linear(flat, 50), nn.ReLU(), nn.Linear(50, classes))
    if case["model"] == "CNN-MNIST (FedAvg)":
        flat = 64 * (size // 4) ** 2
        return nn.Sequential(
            nn.Conv2d(channels, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(flat, 512, bias=False), nn.ReLU(), nn.Linear(512, classes))
    if case["model"] == "LightCNN":
        flat = 64 * (((size - 4) // 2 - 4) // 2) ** 2
        return nn.Sequential(
            nn.Conv2d(channels, 64, 5), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(64, 64, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(flat, 256), nn.ReLU(), nn.Linear(256, classes))
    layers = [nn.Conv2d(channels, 64, 3, 1, 1, bias=False), nn.GroupNorm(8, 64),
              nn.ReLU(inplace=True)]
    inputs = 64
    for outputs, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(inputs, outputs, stride), Block(outputs, outputs, 1)]
        inputs = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, classes))


def optimizer(name, parameters):
    return {
        "adamw": lambda p: torch.optim.AdamW(p),
        "adam": lambda p: torch.optim.Adam(p),
        "sgd": lambda p: torch.optim.SGD(p, lr=0.01),
        "sgdm": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9),
        "adafactor": lambda p: torch.optim.Adafactor(p),
    }[name](parameters)


class Meter:
    """The allocator's counters; zeros where there is no GPU."""

    def __init__(self, device):
        self.cuda = device == "cuda"

    def allocated(self):
        return torch.cuda.memory_allocated() if self.cuda else 0

    def peak(self):
        return torch.cuda.max_memory_allocated() if self.cuda else 0

    def peak_reserved(self):
        return torch.cuda.max_memory_reserved() if self.cuda else 0

    def reset_peak(self):
        if self.cuda:
            torch.cuda.reset_peak_memory_stats()

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize()

    def empty(self):
        gc.collect()
        if self.cuda:
            torch.cuda.empty_cache()


def element_bytes(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def loss_of(case, model, inputs):
    if case["kind"] == "transformer":
        return model(input_ids=inputs[0], labels=inputs[0], use_cache=False).loss
    return nn.functional.cross_entropy(model(inputs[0]), inputs[1])


def inputs_of(case, device):
    if case["kind"] == "transformer":
        return [torch.randint(0, case["vocab"], (case["batch"], case["seq"]), device=device)]
    size = case["size"]
    return [torch.rand(case["batch"], case["channels"], size, size, device=device),
            torch.randint(0, case["classes"], (case["batch"],), device=device)]


class Recorder:
    """The allocator's history, without stacks."""

    def __init__(self, path):
        self.path = path

    def start(self):
        torch.cuda.memory._record_memory_history(context=None, max_entries=100000)

    def stop(self):
        torch.cuda.memory._dump_snapshot(self.path)
        torch.cuda.memory._record_memory_history(enabled=None)


def measure(case, device, meter, record=None):
    meter.empty()
    meter.reset_peak()
    base = meter.allocated()
    model = (transformer if case["kind"] == "transformer" else network)(case).to(device)
    model.train()
    row = dict(case)
    row["params"] = sum(p.numel() for p in model.parameters())
    row["trainable"] = sum(p.numel() for p in model.parameters() if p.requires_grad)
    row["weights"] = meter.allocated() - base
    steps = optimizer(case["opt"], [p for p in model.parameters() if p.requires_grad])
    inputs = inputs_of(case, device)
    recorder = Recorder(record) if record else None
    for number in range(STEPS + (RECORDED_STEPS if record else 0)):
        if number == STEPS:
            recorder.start()
        meter.reset_peak()
        for _ in range(case.get("accumulate", 1)):
            before = meter.allocated()
            with torch.autocast(device, dtype=torch.bfloat16, enabled=case["precision"] == "amp"):
                loss = loss_of(case, model, inputs)
            after_forward = meter.allocated()
            peak_forward = meter.peak()
            loss.backward()
        after_backward = meter.allocated()
        peak_forward_backward = meter.peak()
        meter.reset_peak()
        steps.step()
        meter.wait()
        peak_step = meter.peak()
        row.update(before=before - base, after_forward=after_forward - base,
                   after_backward=after_backward - base, after_step=meter.allocated() - base,
                   peak_forward=peak_forward - base, peak_fwd_bwd=peak_forward_backward - base,
                   peak_step=peak_step - base,
                   peak=max(peak_forward_backward, peak_step) - base)
        row["grads"] = element_bytes(p.grad for p in model.parameters() if p.grad is not None)
        del loss
        steps.zero_grad(set_to_none=True)
    if recorder:
        recorder.stop()
    states = [v for state in steps.state.values() for v in state.values() if torch.is_tensor(v)]
    row["optimizer"] = element_bytes(v for v in states if v.is_cuda)
    row["reserved_peak"] = meter.peak_reserved()
    return row


def warm_up(device, meter):
    """Lets the libraries take what they keep, in both threads; returns how much that is."""
    for kind in (torch.float32, torch.bfloat16):
        layer = nn.Linear(256, 256, device=device, dtype=kind)
        layer(torch.rand(64, 256, device=device, dtype=kind, requires_grad=True)).sum().backward()
        del layer
    meter.empty()
    return meter.allocated()


def tiny(case):
    small = dict(case, batch=min(case["batch"], 2))
    if case["kind"] == "transformer":
        heads = 4
        small.update(layers=2, d_model=64, heads=heads, d_ff=128, vocab=256, seq=48, positions=64,
                     kv_heads=heads if case["kv_heads"] == case["heads"] else 2,
                     lora=4 if case["lora"] else 0)
    return small


def text_of(case):
    return " ".join(f"{k}={v}" for k, v in case.items() if k != "kind")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--out", required=True)
    arguments.add_argument("--limit", type=float, default=140)
    arguments.add_argument("--only", default="")
    arguments.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    arguments.add_argument("--tiny", action="store_true")
    arguments.add_argument("--record", default="")
    options = arguments.parse_args()
    started = time.monotonic()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("plan_measure.py: no CUDA device here", file=sys.stderr)
        return 3
    import transformers
    meter = Meter(options.device)
    result = dict(
        torch=torch.__version__, transformers=transformers.__version__,
        device=torch.cuda.get_device_name() if options.device == "cuda" else "cpu",
        workspace=warm_up(options.device, meter), rows=[])
    failed = 0
    for case in CASES:
        if options.only and options.only not in text_of(case):
            continue
        if time.monotonic() - started > options.limit:
            print("plan_measure.py: out of time; the rest was not measured", file=sys.stderr)
            failed += 1
            break
        try:
            record = None
            if options.record:
                record = f"{options.record}/{len(result['rows'])}.pickle"
            row = measure(tiny(case) if options.tiny else case, options.device, meter, record)
        except Exception as trouble:  # one configuration must not cost the others
            failed += 1
            print("FAILED", text_of(case), type(trouble).__name__, str(trouble)[:300], flush=True)
            continue
        result["rows"].append(row)
        print(f"{time.monotonic() - started:6.1f} s  peak {row['peak'] / 1e9:7.3f} GB ", text_of(case),
              flush=True)
        with open(options.out, "w", encoding="utf-8") as file:
            rows = ",\n".join("  " + json.dumps(row) for row in result["rows"])
            head = json.dumps({k: v for k, v in result.items() if k != "rows"})
            file.write(head[:-1] + ', "rows": [\n' + rows + "\n]}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

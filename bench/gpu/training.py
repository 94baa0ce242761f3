#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same training under PyTorch's own allocator and under Ebb as its pluggable allocator.

  training.py --library libebb.so --out FOLDER [--steps 200] [--limit SECONDS]

Each run is a process of its own with the same seeds. Writes training.md and training.json; exit 1
where losses differ, reserved memory grows after warm-up, or a check fails.
"""
import argparse
import ctypes
import hashlib
import importlib.metadata
import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WARM_UP = 50
SHARE_OF_CARD = 0.5
MIB = 1 << 20
MODELS = ("resnet18", "gpt2")
# The first shape is the largest; the others come in an order that fits none into its neighbour.
BATCHES = (64, 24, 56, 8, 40, 16, 48, 32)
LENGTHS = (512, 160, 448, 96, 352, 224, 480, 288)
SETTERS = {
    "set_init_fn": "ebb_torch_init",
    "set_reset_fn": "ebb_torch_reset",
    "set_memory_fraction_fn": "ebb_torch_memory_fraction",
    "set_base_alloc_fn": "ebb_torch_base_alloc",
    "set_record_stream_fn": "ebb_torch_record_stream",
}


class Ebb:
    """libebb.so as PyTorch's allocator; statistics through its C interface."""

    def __init__(self, path):
        import torch
        self.library = ctypes.CDLL(path)
        self.library.ebb_last_error.restype = ctypes.c_char_p
        self.library.ebb_free.argtypes = [ctypes.c_void_p]
        self.allocator = torch.cuda.memory.CUDAPluggableAllocator(
            path, "ebb_torch_alloc", "ebb_torch_free")
        for setter, function in SETTERS.items():
            address = ctypes.cast(getattr(self.library, function), ctypes.c_void_p).value
            getattr(self.allocator.allocator(), setter)(address)
        torch.cuda.memory.change_current_allocator(self.allocator)

    def check(self, code):
        if code != 0:
            raise RuntimeError(self.library.ebb_last_error().decode())

    def stats(self):
        text = ctypes.c_void_p()
        self.check(self.library.ebb_torch_stats(0, ctypes.byref(text)))
        stats = json.loads(ctypes.string_at(text.value))
        self.library.ebb_free(text)
        return stats


class Native:
    def stats(self):
        import torch
        return dict(torch.cuda.memory_stats())


def resnet18():
    import torch
    from torch import nn
    try:
        import torchvision
        return torchvision.models.resnet18(num_classes=10), "torchvision"
    except (ImportError, RuntimeError):
        pass

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs),
                nn.ReLU(), nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False),
                nn.BatchNorm2d(outputs))
            self.way = nn.Identity() if stride == 1 and inputs == outputs else nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            return torch.relu(self.body(x) + self.way(x))

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
              nn.MaxPool2d(3, 2, 1)]
    width = 64
    for outputs in (64, 128, 256, 512):
        layers += [Block(width, outputs, 1 if outputs == width else 2), Block(outputs, outputs, 1)]
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)), "own"


def gpt2():
    import torch
    from torch import nn
    try:
        from transformers import GPT2Config, GPT2LMHeadModel
        config = GPT2Config(use_cache=False, attn_implementation="eager")
        return GPT2LMHeadModel(config), "transformers"
    except (ImportError, RuntimeError):
        pass

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
            self.attention = nn.MultiheadAttention(width, heads, 0.1, batch_first=True)
            self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                      nn.Linear(4 * width, width), nn.Dropout(0.1))

        def forward(self, x):
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
            y = self.norms[0](x)
            x = x + self.attention(y, y, y, attn_mask=mask, need_weights=True)[0]
            return x + self.feed(self.norms[1](x))

    class Model(nn.Module):
        def __init__(self, words=50257, positions=1024, width=768, heads=12, depth=12):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(positions, width)
            self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, input_ids, labels):
            places = torch.arange(input_ids.shape[1], device=input_ids.device)
            x = self.norm(self.blocks(self.words(input_ids) + self.places(places)))
            logits = self.head(x)[:, :-1].flatten(0, 1)
            return {"loss": nn.functional.cross_entropy(logits, labels[:, 1:].flatten())}

    return Model(), "own"


def train(model_name, memory, steps):
    """Losses bit by bit, reserved bytes and seconds of every step."""
    import torch
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(1)
    torch.cuda.set_per_process_memory_fraction(SHARE_OF_CARD)
    model, source = resnet18() if model_name == "resnet18" else gpt2()
    model = model.cuda().train()
    optimizer = (torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
                 if model_name == "resnet18" else torch.optim.AdamW(model.parameters(), 3e-4))
    data = torch.Generator().manual_seed(2)
    result = {"source": source, "losses": [], "reserved": [], "seconds": []}
    for step in range(steps):
        if model_name == "resnet18":
            batch = BATCHES[step % len(BATCHES)]
            images = torch.randn(batch, 3, 128, 128, generator=data)
            labels = torch.randint(10, (batch,), generator=data)
        else:
            words = torch.randint(50257, (4, LENGTHS[step % len(LENGTHS)]), generator=data)
        started = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        if model_name == "resnet18":
            loss = torch.nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
        else:
            words = words.cuda()
            loss = model(input_ids=words, labels=words)["loss"]
        loss.backward()
        optimizer.step()
        result["losses"].append(loss.item().hex())
        result["seconds"].append(time.perf_counter() - started)
        result["reserved"].append(memory.stats()["reserved_bytes.all.current"])
    digest = hashlib.sha256()
    for value in model.state_dict().values():
        digest.update(value.detach().cpu().contiguous().numpy().tobytes())
    result["weights"] = digest.hexdigest()
    result["stats"] = memory.stats()
    return result


def out_of_memory_raises_runtime_error(_):
    import torch
    torch.cuda.set_per_process_memory_fraction(0.05)
    try:
        tensor = torch.empty(64 << 30, dtype=torch.uint8, device="cuda")
        return f"a tensor at {tensor.data_ptr():#x}"
    except RuntimeError as error:
        text = str(error)
        wanted = text.startswith("CUDA out of memory. Tried to allocate 64.00 GiB")
        print("message:", text)
        return "" if wanted and " Ebb: " in text else text


def memory_is_served_again_after_that(_):
    import torch
    total = torch.ones(MIB, device="cuda").sum().item()
    return "" if total == MIB else f"the sum of {MIB} ones is {total}"


def memory_in_use_on_another_stream_is_not_reused(_):
    import torch
    side = torch.cuda.Stream()
    # Kernels are loaded when first used, and loading waits for the device: not while it counts.
    (torch.ones(MIB, device="cuda") * 2 + torch.zeros(MIB, device="cuda")).sum().item()
    torch.cuda._sleep(1)
    torch.cuda.synchronize()
    tensor = torch.ones(4 * MIB, device="cuda")
    with torch.cuda.stream(side):
        side.wait_stream(torch.cuda.default_stream())
        torch.cuda._sleep(2_000_000_000)
        double = tensor * 2
        tensor.record_stream(side)
    held = tensor.data_ptr()
    del tensor
    other = torch.zeros(4 * MIB, device="cuda")
    if side.query():
        return "the other stream ended too early to tell"
    if other.data_ptr() == held:
        return "reused at once"
    side.synchronize()
    return "" if double.sum().item() == 8 * MIB else "overwritten"


def pytorchs_tools_read_the_snapshot(ebb):
    import torch
    import torch.cuda._memory_viz as viz
    ebb.check(ebb.library.ebb_torch_record_history(1, ctypes.c_uint64(0)))
    kept = [torch.empty(size, dtype=torch.uint8, device="cuda") for size in (1000, 3 * MIB)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "snapshot.pickle")
        ebb.check(ebb.library.ebb_torch_snapshot(path.encode()))
        with open(path, "rb") as file:
            snapshot = pickle.load(file)
    actions = [entry["action"] for entry in snapshot["device_traces"][0]]
    if actions.count("alloc") != len(kept):
        return f"{actions}, expected {len(kept)} allocations"
    return "" if "Summary of segments" in viz.segsum(snapshot) else "no summary"


def empty_cache_gives_memory_back(ebb):
    import torch
    before = ebb.stats()["reserved_bytes.all.current"]
    torch.cuda.empty_cache()
    after = ebb.stats()["reserved_bytes.all.current"]
    return "" if after < before else f"{before} bytes before, {after} after"


def check_pluggable(ebb):
    """What must hold under Ebb besides training; name -> finding, empty where it holds."""
    findings = {}
    for check in (out_of_memory_raises_runtime_error, memory_is_served_again_after_that,
                  memory_in_use_on_another_stream_is_not_reused, pytorchs_tools_read_the_snapshot,
                  empty_cache_gives_memory_back):
        try:
            findings[check.__name__.replace("_", " ")] = check(ebb)
        except Exception as error:  # one broken check must not hide the others
            findings[check.__name__.replace("_", " ")] = f"{type(error).__name__}: {error}"
    return findings


def check_mem_pool(path):
    """Segments from Ebb under PyTorch's own caching."""
    import torch
    torch.cuda.set_per_process_memory_fraction(SHARE_OF_CARD)
    source = torch.cuda.memory.CUDAPluggableAllocator(
        path, "ebb_torch_segment_alloc", "ebb_torch_segment_free")
    pool = torch.cuda.MemPool(source.allocator())
    with torch.cuda.use_mem_pool(pool):
        tensor = torch.ones(3 * MIB, device="cuda")
    reserved = torch.cuda.memory_reserved()
    total = tensor.sum().item()
    segments = [segment["total_size"] for segment in pool.snapshot()]
    del tensor, pool
    torch.cuda.empty_cache()
    good = total == 3 * MIB and segments == [12 * MIB] and torch.cuda.memory_reserved() < reserved
    return {"a MemPool takes its segments from Ebb":
            "" if good else f"sum {total}, segments {segments}"}


def child(options):
    if options.child == "mem_pool":
        result = check_mem_pool(options.library)
    else:
        memory = Ebb(options.library) if options.child != "native" else Native()
        result = (check_pluggable(memory) if options.child == "checks"
                  else train(options.model, memory, options.steps))
    Path(options.result).write_text(json.dumps(result), encoding="utf-8")


def run_child(kind, model, options, deadline):
    """The child's result, or a text that says why there is none."""
    environment = dict(os.environ, CUBLAS_WORKSPACE_CONFIG=":4096:8",
                       EBB_TORCH_VERSION=importlib.metadata.version("torch"),
                       PYTHONWARNINGS="ignore", TRANSFORMERS_VERBOSITY="error", HF_HUB_OFFLINE="1")
    for name in ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"):
        environment.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, "result.json")
        command = [sys.executable, __file__, "--child", kind, "--model", model, "--library",
                   options.library, "--steps", str(options.steps), "--result", result]
        try:
            done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True,
                                  stderr=subprocess.STDOUT, check=False,
                                  timeout=max(1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            return f"{kind} {model}: out of time"
        if done.returncode != 0 or not os.path.exists(result):
            last = " | ".join(done.stdout.strip().splitlines()[-12:])
            return f"{kind} {model}: exit status {done.returncode}: {last}"
        answer = json.loads(Path(result).read_text(encoding="utf-8"))
        answer["said"] = done.stdout.strip()
        return answer


def growth(reserved):
    return max(reserved[WARM_UP:]) - max(reserved[:WARM_UP])


def compare(name, native, ebb, lines):
    """Adds the comparison of one model; the claims that fail."""
    failed = []
    equal = sum(a == b for a, b in zip(native["losses"], ebb["losses"]))
    steps = len(native["losses"])
    if equal != steps:
        failed.append(f"{name}: {steps - equal} of {steps} losses differ")
    if native["weights"] != ebb["weights"]:
        failed.append(f"{name}: final weights differ")
    if growth(ebb["reserved"]) > 0:
        failed.append(f"{name}: reserved memory grew by {growth(ebb['reserved']) / MIB:.1f} MiB "
                      f"after step {WARM_UP}")
    rows = [("PyTorch", native), ("Ebb", ebb)]
    lines += [f"## {name} ({native['source']}), {steps} steps", "",
              "| allocator | median step ms | peak allocated MiB | peak reserved MiB | "
              f"growth after step {WARM_UP} MiB | last loss |", "|---|---|---|---|---|---|"]
    for label, run in rows:
        stats = run["stats"]
        lines.append(f"| {label} | {1000 * statistics.median(run['seconds'][WARM_UP:]):.2f} "
                     f"| {stats['allocated_bytes.all.peak'] / MIB:.1f} "
                     f"| {stats['reserved_bytes.all.peak'] / MIB:.1f} "
                     f"| {growth(run['reserved']) / MIB:.1f} "
                     f"| {float.fromhex(run['losses'][-1]):.6f} |")
    shared = sorted(set(native["stats"]) & set(ebb["stats"]))
    other = [key for key in shared if native["stats"][key] != ebb["stats"][key]]
    lines += ["", f"Losses equal bit for bit: {equal} of {steps}; final weights "
              f"{'equal' if native['weights'] == ebb['weights'] else 'DIFFERENT'}. Statistics equal: "
              f"{len(shared) - len(other)} of {len(shared)}"
              + ("." if not other else ", not: " + ", ".join(
                  f"{key} {native['stats'][key]}/{ebb['stats'][key]}" for key in other[:8])), ""]
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--out")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--limit", type=float, default=230)
    parser.add_argument("--child", choices=("native", "ebb", "checks", "mem_pool"))
    parser.add_argument("--model", choices=MODELS, default=MODELS[0])
    parser.add_argument("--result")
    options = parser.parse_args()
    options.library = os.path.realpath(options.library)
    if options.child:
        return child(options)
    if options.steps <= WARM_UP:
        parser.error(f"--steps: expected more than {WARM_UP}")

    deadline = time.monotonic() + options.limit
    lines, failed, raw = ["# Training under Ebb as PyTorch's allocator", ""], [], {}
    lines += ["fp32, the same seeds, batch sizes and sequence lengths that change with every step.", ""]
    for model in MODELS:
        runs = {kind: run_child(kind, model, options, deadline) for kind in ("native", "ebb")}
        broken = [run for run in runs.values() if isinstance(run, str)]
        if broken:
            failed += broken
            continue
        failed += compare(model, runs["native"], runs["ebb"], lines)
        raw[model] = {kind: {key: run[key] for key in ("losses", "reserved", "weights")}
                      for kind, run in runs.items()}
    lines += ["## Checks", ""]
    for kind in ("checks", "mem_pool"):
        result = run_child(kind, MODELS[0], options, deadline)
        if isinstance(result, str):
            failed.append(result)
            continue
        said = result.pop("said")
        for name, finding in result.items():
            lines.append(f"- {name}: {'yes' if not finding else 'NO: ' + finding}")
            if finding:
                failed.append(f"{name}: {finding}")
        lines += [f"- {line}" for line in said.splitlines() if line.startswith("message: ")]
    lines += ["", "Every claim holds." if not failed else "Failed:"] + [f"- {line}" for line in failed]
    out = Path(options.out or ".")
    (out / "training.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (out / "training.json").write_text(json.dumps(raw), encoding="utf-8")
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

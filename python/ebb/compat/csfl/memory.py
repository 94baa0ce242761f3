# SPDX-License-Identifier: Apache-2.0
"""The memory functions of CSFL-simulator, answered by Ebb.

Percentages are of the tightest limit that this process runs under, such as a container's, not of the whole
host. CPU use is the machine's since the last call, the first time since it booted. Nothing sleeps, psutil is not
needed, and PyTorch is asked only if it is already in use.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from ...jobs import info
from ...memory import CleanupReport, cleanup_memory as _cleanup_memory

_GIB = float(1 << 30)


def get_memory_info() -> dict[str, Any]:
    """timestamp, cpu_percent, ram_used_gb, ram_available_gb, ram_percent; with a GPU also gpu_free_gb,
    gpu_total_gb, gpu_used_gb, gpu_percent, and with PyTorch gpu_allocated_gb, gpu_reserved_gb. A GB is
    2^30 bytes."""
    now = info()
    limit = float(now["limit_bytes"])
    used = limit * now["percent"] / 100.0
    memory: dict[str, Any] = {
        "timestamp": time.time(), "cpu_percent": now["machine_cpu_percent"] or 0.0,
        "ram_used_gb": used / _GIB, "ram_available_gb": max(0.0, limit - used) / _GIB, "ram_percent": now["percent"],
        "process_rss_gb": now["rss_bytes"] / _GIB,
    }
    memory.update(_gpu())
    return memory


def _gpu() -> dict[str, float]:
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return {}
    from ... import torch as inside
    free, total = torch.cuda.mem_get_info()
    return {
        "gpu_allocated_gb": inside.memory_allocated() / _GIB,
        "gpu_reserved_gb": inside.memory_reserved() / _GIB,
        "gpu_free_gb": free / _GIB, "gpu_total_gb": total / _GIB, "gpu_used_gb": (total - free) / _GIB,
        "gpu_percent": 100.0 * (total - free) / total if total else 0.0,
    }


def check_memory_critical(threshold_percent: float = 90.0) -> tuple[bool, str]:
    """Whether main memory or GPU memory is above the threshold, and a line that says which."""
    memory = get_memory_info()
    above = [f"{name} at {memory[key]:.1f}%"
             for name, key in (("RAM", "ram_percent"), ("GPU", "gpu_percent"))
             if memory.get(key, 0.0) > threshold_percent]
    return bool(above), ", ".join(above) if above else "Memory OK"


def cleanup_memory(force_cuda_empty: bool = True, verbose: bool = False) -> CleanupReport:
    """Cleans up; `verbose` prints a line before and one after, with what came back of this process's memory."""
    before = get_memory_info() if verbose else {}
    report = _cleanup_memory(cuda_empty_cache=force_cuda_empty)
    if verbose:
        after = get_memory_info()
        freed = max(0.0, before.get("gpu_allocated_gb", 0.0) - after.get("gpu_allocated_gb", 0.0))
        print(f"[Memory] Before cleanup: {_used(before)}")
        print(f"[Memory] After cleanup: {_used(after, report.returned_bytes / _GIB, freed)}")
    return report


def _used(memory: dict[str, Any], freed: float | None = None, gpu_freed: float = 0.0) -> str:
    """RAM and, if one is in use, GPU; with what was freed of either."""
    line = f"RAM {memory['ram_percent']:.1f}% ({memory['ram_used_gb']:.2f} GB)"
    if freed is not None:
        line += f" - freed {freed:.2f} GB"
    if "gpu_allocated_gb" in memory:
        line += f", GPU {memory['gpu_allocated_gb']:.2f} GB"
        if freed is not None:
            line += f" - freed {gpu_freed:.2f} GB"
    return line

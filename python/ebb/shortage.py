# SPDX-License-Identifier: Apache-2.0
"""Why PyTorch found no memory on a GPU, and another try after a cleanup: two functions of `ebb.torch`."""

from __future__ import annotations

import ctypes
import json
import re
from typing import Any, Callable, TypeVar

from . import errors
from ._library import check, library, take_text
from .memory import call, cleanup_memory

_T = TypeVar("_T")
_UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_TRIED = re.compile(r"[Tt]ried to allocate ([0-9.]+) (bytes|KiB|MiB|GiB)")


def oom_diagnostic(device: int = 0, *, requested: int | None = None,
                   error: BaseException | None = None) -> dict[str, Any]:
    """Why there is no memory for `requested` bytes on a device: `verdict` (fragmentation, capacity, self_limit,
    other_process, or healthy if there is), `headline`, `fix` and the numbers in `evidence`.

    `error` is PyTorch's out-of-memory error, whose text says how much was asked for. Without either, and with Ebb
    as PyTorch's allocator, it is about the last request that failed; NotFound if none has.
    """
    from . import torch as ebb_torch
    if requested is None and error is not None:
        requested = requested_bytes(error)
    if requested is None:
        if not ebb_torch._ebb_answers():
            raise errors.BadInput("oom_diagnostic(): expected requested=BYTES, or error=PyTorch's out-of-memory error")
        place = ctypes.c_void_p()
        check(library().ebb_torch_oom_diagnostic(device, ctypes.byref(place)))
        answer: dict[str, Any] = json.loads(take_text(place))
        return answer
    torch = ebb_torch._torch_with_cuda("oom_diagnostic()")
    stats = ebb_torch.memory_stats(device)
    free, total = torch.cuda.mem_get_info(device)
    return call("shortage", {
        "requested_bytes": requested, "device_total_bytes": total, "device_free_bytes": free,
        "reserved_bytes": stats.get("reserved_bytes.all.current", 0),
        "in_use_bytes": stats.get("active_bytes.all.current", 0), "limit_bytes": _limit(torch, device, total)})


def safe_allocate(fn: Callable[[], _T], *, device: int = 0) -> _T:
    """Calls `fn`. If PyTorch runs out of memory in it, cleans up (garbage, hooks, caches of GPUs) and calls it once
    more. What it then raises has the diagnosis of the first failure as `ebb_diagnostic`."""
    from . import torch as ebb_torch
    try:
        return fn()
    except RuntimeError as failure:
        if not ebb_torch.is_out_of_memory(failure):
            raise
        diagnostic = _diagnostic(device, failure)
        # Frames of the traceback hold what `fn` had made by then.
        failure.__traceback__ = None
    cleanup_memory(True)
    try:
        return fn()
    except RuntimeError as failure:
        if ebb_torch.is_out_of_memory(failure):
            failure.ebb_diagnostic = diagnostic  # type: ignore[attr-defined]
        raise


def requested_bytes(error: BaseException) -> int | None:
    """How much PyTorch's message says was asked for."""
    found = _TRIED.search(str(error))
    return int(float(found[1]) * _UNITS[found[2]]) if found else None


def _diagnostic(device: int, failure: BaseException) -> dict[str, Any] | None:
    try:
        return oom_diagnostic(device, error=failure)
    except errors.Error:  # the failure itself matters more
        return None


def _limit(torch: Any, device: int, total: int) -> int | None:
    """What torch.cuda.set_per_process_memory_fraction leaves; None if this PyTorch does not tell, or nothing is set."""
    tell = getattr(torch.cuda, "get_per_process_memory_fraction", None)
    fraction = tell(device) if tell is not None else 1.0
    return int(fraction * total) if fraction < 1.0 else None

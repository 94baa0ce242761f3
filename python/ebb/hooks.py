# SPDX-License-Identifier: Apache-2.0
"""What every cleanup runs before the allocator gives memory back: Python's garbage collector and
PyTorch's CUDA cache, and what is added here.

Those two are registered when the library is loaded. A hook runs on the thread that cleans up, which may
be one that Python did not start.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import logging
import sys
from typing import Any, Callable

from . import _abi, errors

log = logging.getLogger("ebb")
_stages = {"collector": _abi.STAGE_COLLECTOR, "cache": _abi.STAGE_CACHE,
           "device_cache": _abi.STAGE_DEVICE_CACHE}
# The library holds their addresses.
_registered: dict[int, Any] = {}


def add(name: str, release: Callable[[], int | None], stage: str = "cache") -> int:
    """Makes every cleanup call `release`, which may return how much it freed.

    `stage` is "collector", "cache" or "device_cache"; hooks of the last run only if a cleanup asks for
    device caches. If `release` raises, the exception is logged and the report shows a failed step.
    Returns the number for `remove`. Thread-safe.
    """
    from ._library import library
    if stage not in _stages:
        raise errors.BadInput(f"stage '{stage}': expected {', '.join(_stages)}")
    return _add(library(), name, release, _stages[stage])


def remove(hook: int) -> None:
    """Removes a hook. When this returns, no call of it is under way."""
    from ._library import check, library
    check(library().ebb_hook_remove(hook))
    _registered.pop(hook, None)


def _add(made: ctypes.CDLL, name: str, release: Callable[[], int | None], stage: int) -> int:
    def call(_context: int | None, count: Any) -> int:
        try:
            count[0] = max(0, int(release() or 0))
            return 0
        except BaseException as failure:  # must not propagate into C
            log.debug("the hook '%s' failed: %s", name, failure)
            return 1

    function = _abi.Hook(call)
    identity = ctypes.c_uint64()
    code = made.ebb_hook_add(name.encode(), stage, function, None, ctypes.byref(identity))
    if code != 0:
        raise errors.BY_CODE.get(code, errors.Error)(made.ebb_last_error().decode())
    _registered[identity.value] = function
    return identity.value


def collect_garbage() -> int:
    freed = gc.collect()
    if freed > 0:
        log.info("gc.collect() freed %d unreachable objects", freed)
    return freed


def uses_cuda() -> bool:
    """Whether PyTorch was imported here and has touched CUDA."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()


def empty_cuda_cache() -> None:
    if not uses_cuda():
        return
    torch = sys.modules["torch"]
    before = _reserved(torch)
    torch.cuda.empty_cache()
    from ._library import library
    for device, (had, has) in enumerate(zip(before, _reserved(torch))):
        if had > 0:
            library().ebb_hook_device(device, had, has)


def _reserved(torch: Any) -> list[int]:
    """What PyTorch holds of each device. None where Ebb's allocator is in its place, which tells by itself."""
    try:
        return [int(torch.cuda.memory_reserved(device)) for device in range(torch.cuda.device_count())]
    except RuntimeError:
        return []


def tell_cuda_memory() -> None:
    """Tells what PyTorch holds of GPUs. Ebb's allocator in its place tells by itself."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available() or not torch.cuda.is_initialized():
        return
    from ._library import library
    for device in range(torch.cuda.device_count()):
        try:
            stats = torch.cuda.memory_stats(device)
        except RuntimeError:
            return
        reserved = int(stats.get("reserved_bytes.all.current", 0))
        # Asking for the memory of a device that is not in use would begin to use it.
        if reserved > 0:
            free, total = torch.cuda.mem_get_info(device)
            cached = max(0, reserved - int(stats["active_bytes.all.current"]))
            library().ebb_hook_device_memory(device, total, free, reserved, cached)


def register_defaults(made: ctypes.CDLL) -> None:
    """Called once, when the library is loaded."""
    _add(made, "gc.collect", lambda: collect_garbage(), _abi.STAGE_COLLECTOR)
    _add(made, "torch.cuda.empty_cache", lambda: empty_cuda_cache(), _abi.STAGE_DEVICE_CACHE)
    _add(made, "torch.cuda.memory_stats", lambda: tell_cuda_memory(), _abi.STAGE_DEVICE_READING)

    def remove_all() -> None:
        # A thread of the library must not call into an interpreter that is gone.
        for hook in list(_registered):
            made.ebb_hook_remove(hook)

    atexit.register(remove_all)

# SPDX-License-Identifier: Apache-2.0
"""Makes NVFlare's own cleanups work on every allocator, and its RSS markers appear where they are asked for."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any

from .._forks import Lock
from ..memory import cleanup
from . import markers
from .results import STREAMS, held_once

_lock = Lock()
_originals: dict[tuple[Any, str], Any] = {}  # by owner, a module or a class, and name


@functools.lru_cache(maxsize=1)
def get_allocator_type() -> str:
    """The word for which NVFlare's cleanup_memory calls try_malloc_trim, whatever serves malloc."""
    return "glibc"


def try_malloc_trim() -> int | None:
    """Ebb's cleanup in place of malloc_trim, without hooks: NVFlare has just collected garbage."""
    report = cleanup(hooks=False)
    return None if report.disabled else int(report.returned_bytes > 0)


def patch() -> None:
    """Replaces the two functions of nvflare.fuel.utils.memory_utils that its cleanup_memory looks up at
    each call, so that modules which imported cleanup_memory earlier use Ebb as well. If EBB_MEMORY_PROFILE or
    NVFLARE_CLIENT_MEMORY_PROFILE asks for them, NVFlare writes its RSS markers from now on, in external trainers
    too. A second call does nothing."""
    memory_utils = importlib.import_module("nvflare.fuel.utils.memory_utils")
    with _lock:
        _rebind(memory_utils, "get_allocator_type", get_allocator_type)
        _rebind(memory_utils, "try_malloc_trim", try_malloc_trim)
        for owner, name, ours in markers.rebindings():
            _rebind(owner, name, ours)


def release_transfers() -> None:
    """Makes decoded messages hold each array once (`results.held_once`), lets go of what was sent when it is
    (`results.parted`) and forgets what was received from one thread (`results.forgotten_by_one_thread`). Leaves alone
    what this NVFlare does differently; a second call does nothing."""
    cell = importlib.import_module("nvflare.fuel.f3.cellnet.cell")
    with _lock:
        decode = getattr(cell, "decode_payload", None)
        if decode is not None:
            _rebind(cell, "decode_payload", held_once(decode))
        for module, name, method, around in STREAMS:
            owner = getattr(sys.modules.get(module), name, None)
            if hasattr(owner, method):
                _rebind(owner, method, around(getattr(owner, method)))


def unpatch() -> None:
    """Undoes `patch` and `release_transfers`."""
    with _lock:
        for (owner, name), original in _originals.items():
            setattr(owner, name, original)
        _originals.clear()


def _rebind(owner: Any, name: str, ours: Any) -> None:
    if (owner, name) not in _originals:
        _originals[owner, name] = getattr(owner, name)
        setattr(owner, name, ours)

# SPDX-License-Identifier: Apache-2.0
"""Ebb as PyTorch's CUDA allocator, and the statistics that PyTorch lacks once its own is replaced.

  import torch, ebb.torch
  ebb.torch.install()                     # before the first use of CUDA
  …
  print(ebb.torch.memory_summary())

`record()`, `dump_on_oom()`, `safe_allocate()` and `oom_diagnostic()` also work without `install()`, on PyTorch's own
allocator.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from types import TracebackType
from typing import Any, TextIO

from . import errors
from ._forks import Lock
from ._library import check, library, path as library_path, take_text
from .jobs import doctor, tune
from .shortage import oom_diagnostic, safe_allocate

__all__ = [
    "doctor_text", "dump_on_oom", "empty_cache", "install", "installed", "is_out_of_memory",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "memory_summary", "oom_diagnostic", "OomDump", "record", "record_history", "Recording",
    "reset_peak_memory_stats", "safe_allocate", "snapshot", "tune_text", "verdict",
]

_SETTERS = {
    "set_init_fn": "ebb_torch_init",
    "set_reset_fn": "ebb_torch_reset",
    "set_memory_fraction_fn": "ebb_torch_memory_fraction",
    "set_base_alloc_fn": "ebb_torch_base_alloc",
    "set_record_stream_fn": "ebb_torch_record_stream",
}
# What refuses private pools, by the name that this PyTorch has for it: 2.3 and later, 2.0 to 2.2.
_POOL_SETTERS = ("set_begin_allocate_to_pool", "set_begin_allocate_stream_to_pool")
_lock = Lock()
_allocator: Any = None  # PyTorch keeps a bare pointer to it
_installed_in = 0
_MIB = 1 << 20


def installed() -> bool:
    """Whether Ebb is PyTorch's allocator in this process, or was in the one it was forked from."""
    return _allocator is not None


def install() -> None:
    """Makes Ebb PyTorch's CUDA allocator for the life of the process. A second call does nothing.

    Call it before the first use of CUDA; later it raises TooLate. Raises NeedsCuda if PyTorch is missing,
    built without CUDA, or finds no GPU. Settings are read from PYTORCH_CUDA_ALLOC_CONF and
    PYTORCH_ALLOC_CONF; the rules are those of the installed PyTorch. Capturing a CUDA graph and using a
    MemPool raise RuntimeError from then on: Ebb cannot keep their memory apart yet.
    """
    global _allocator, _installed_in
    with _lock:
        if _allocator is not None:
            _refuse_in_child()
            return
        torch = _torch_with_cuda("install()")
        if torch.cuda.is_initialized():
            raise errors.TooLate("install(): CUDA is in use already: expected a call before the first "
                                 "tensor on a GPU")
        os.environ.setdefault("EBB_TORCH_VERSION", str(torch.__version__))
        made = library()
        allocator = torch.cuda.memory.CUDAPluggableAllocator(
            str(library_path()), "ebb_torch_alloc", "ebb_torch_free")
        for setter, function in _SETTERS.items():
            address = ctypes.cast(getattr(made, function), ctypes.c_void_p).value
            getattr(allocator.allocator(), setter)(address)
        refuse = ctypes.cast(made.ebb_torch_begin_pool, ctypes.c_void_p).value
        for setter in _POOL_SETTERS:
            if hasattr(allocator.allocator(), setter):
                getattr(allocator.allocator(), setter)(refuse)
        try:
            torch.cuda.memory.change_current_allocator(allocator)
        except RuntimeError as failure:
            raise errors.TooLate(f"install(): {failure}: expected a call before the first tensor on a "
                                 f"GPU") from None
        _allocator, _installed_in = allocator, os.getpid()


def memory_stats(device: int = 0) -> dict[str, Any]:
    """torch.cuda.memory_stats(device), with its keys."""
    if not _ebb_answers():
        return dict(_torch_with_cuda("memory_stats()").cuda.memory_stats(device))
    place = ctypes.c_void_p()
    check(library().ebb_torch_stats(device, ctypes.byref(place)))
    stats: dict[str, Any] = json.loads(take_text(place))
    return stats


def memory_summary(device: int = 0) -> str:
    """torch.cuda.memory_summary(device)."""
    if not _ebb_answers():
        return str(_torch_with_cuda("memory_summary()").cuda.memory_summary(device))
    place = ctypes.c_void_p()
    check(library().ebb_torch_summary(device, ctypes.byref(place)))
    return take_text(place)


def verdict(device: int = 0) -> dict[str, Any]:
    """What memory_stats(device) says of this process now: the answer of `ebb doctor stats.json`."""
    return doctor(stats=memory_stats(device))


def memory_allocated(device: int = 0) -> int:
    return int(memory_stats(device).get("allocated_bytes.all.current", 0))


def max_memory_allocated(device: int = 0) -> int:
    return int(memory_stats(device).get("allocated_bytes.all.peak", 0))


def memory_reserved(device: int = 0) -> int:
    return int(memory_stats(device).get("reserved_bytes.all.current", 0))


def max_memory_reserved(device: int = 0) -> int:
    return int(memory_stats(device).get("reserved_bytes.all.peak", 0))


def reset_peak_memory_stats(device: int = 0) -> None:
    """torch.cuda.reset_peak_memory_stats(device)."""
    if _ebb_answers():
        check(library().ebb_torch_reset_peak_stats(device))
    else:
        _torch_with_cuda("reset_peak_memory_stats()").cuda.reset_peak_memory_stats(device)


def snapshot(path: str | os.PathLike[str]) -> None:
    """torch.cuda.memory._dump_snapshot(path): for PyTorch's memory_viz, and for replay, tune, doctor."""
    if _ebb_answers():
        check(library().ebb_torch_snapshot(os.fsencode(path)))
    else:
        _torch_with_cuda("snapshot()").cuda.memory._dump_snapshot(os.fspath(path))


def record_history(enabled: bool = True, max_entries: int = 0) -> None:
    """torch.cuda.memory._record_memory_history(): the last `max_entries` events, 0 for all."""
    if _ebb_answers():
        check(library().ebb_torch_record_history(int(enabled), max_entries))
        return
    start = _torch_with_cuda("record_history()").cuda.memory._record_memory_history
    start(**({"max_entries": max_entries or sys.maxsize} if enabled else {"enabled": None}))


def empty_cache() -> None:
    """Gives back the unused memory of all devices."""
    if _ebb_answers():
        check(library().ebb_torch_empty_cache())
    else:
        _torch_with_cuda("empty_cache()").cuda.empty_cache()


class Recording:
    """What `record()` returns: the file and, after the block, the answer of `tune`."""

    def __init__(self, path: str, max_entries: int, out: TextIO | None) -> None:
        self.path = path
        self.answer: dict[str, Any] | None = None
        self._max_entries = max_entries
        self._out = out

    def __enter__(self) -> Recording:
        record_history(True, self._max_entries)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        try:
            snapshot(self.path)
        finally:
            record_history(False)
        if error is None:
            self.answer = tune(self.path)
            if self._out is not None:
                print(tune_text(self.answer), file=self._out)


def record(path: str | os.PathLike[str] = "ebb-snapshot.pickle", *, max_entries: int = 0,
           out: TextIO | None = sys.stdout) -> Recording:
    """For a training step: `with ebb.torch.record("step.pickle"):` around it writes a snapshot and prints
    the settings that `tune` finds for it. `out=None` prints nothing."""
    _can_record("record()")
    return Recording(os.fspath(path), max_entries, out)


class OomDump:
    """What `dump_on_oom()` returns: a context manager. Afterwards `verdict` is the doctor's answer."""

    def __init__(self, path: str, max_entries: int, out: TextIO | None) -> None:
        self.path = path
        self.verdict: dict[str, Any] | None = None
        self._max_entries = max_entries
        self._out = out
        self._hook: Any = None

    def start(self) -> OomDump:
        """Records from now on. An out-of-memory error that ends the program leaves the snapshot behind."""
        record_history(True, self._max_entries)
        self._hook = sys.excepthook
        sys.excepthook = self._last_words
        return self

    def stop(self) -> None:
        if self._hook is not None:
            sys.excepthook = self._hook
            self._hook = None
            record_history(False)

    def dump(self) -> dict[str, Any]:
        """Writes the snapshot now and returns the doctor's answer."""
        snapshot(self.path)
        self.verdict = doctor(self.path)
        if self._out is not None:
            print(doctor_text(self.verdict, self.path), file=self._out)
        return self.verdict

    def _last_words(self, kind: type[BaseException], error: BaseException,
                    trace: TracebackType | None) -> None:
        before = self._hook or sys.__excepthook__
        if is_out_of_memory(error) and self.verdict is None:
            self._dump_or_say()
        before(kind, error, trace)

    def _dump_or_say(self) -> None:
        # What went wrong first must not be hidden by what goes wrong here.
        try:
            self.dump()
        except errors.Error as failure:
            print(f"ebb: no snapshot at {self.path}: {failure}", file=self._out or sys.stderr)

    def __enter__(self) -> OomDump:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        # The frames of the block still hold their tensors here, as at the failure.
        if error is not None and is_out_of_memory(error):
            self._dump_or_say()
        self.stop()


def dump_on_oom(path: str | os.PathLike[str] = "ebb-oom.pickle", *, max_entries: int = 0,
                out: TextIO | None = sys.stderr) -> OomDump:
    """Writes a snapshot and the doctor's verdict when PyTorch runs out of GPU memory.

    `with ebb.torch.dump_on_oom():` for a block; `ebb.torch.dump_on_oom().start()` for the rest of the
    program.
    """
    _can_record("dump_on_oom()")
    return OomDump(os.fspath(path), max_entries, out)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether it is PyTorch's own OutOfMemoryError, the RuntimeError that a pluggable allocator has to
    raise instead, or Ebb's."""
    return (type(error).__name__ == "OutOfMemoryError" or isinstance(error, errors.OutOfMemory) or
            isinstance(error, RuntimeError) and "CUDA out of memory" in str(error))


def tune_text(answer: dict[str, Any]) -> str:
    """The answer of `tune` in two lines: what to export, and what it saves."""
    best, recorded = answer["best"], next((row for row in answer["rows"] if row["is_recorded"]), None)
    if not best["conf"]:
        return "ebb: the default settings suit this job best"
    line = f"export {answer['variable']}={best['conf']}"
    if recorded is None:
        return line
    saved = recorded["peak_reserved_bytes"] - best["peak_reserved_bytes"]
    return (f"{line}\nsaves {saved / _MIB:.1f} MiB of {recorded['peak_reserved_bytes'] / _MIB:.1f} MiB "
            f"reserved at the peak")


def doctor_text(verdict: dict[str, Any], path: str) -> str:
    """The doctor's verdict, headline and fix."""
    lines = [f"ebb: {verdict['verdict']} (confidence {verdict['confidence']}): {verdict['headline']}"]
    if verdict["fix"]["text"]:
        lines.append(f"fix: {verdict['fix']['text']}")
    lines.append(f"snapshot: {path}")
    return "\n".join(lines)


def _ebb_answers() -> bool:
    """Whether figures come from Ebb and not from PyTorch: if Ebb is the allocator, or if EBB_TORCH_DRIVER
    makes it serve memory without PyTorch."""
    _refuse_in_child()
    return installed() or "EBB_TORCH_DRIVER" in os.environ


def _refuse_in_child() -> None:
    if _installed_in not in (0, os.getpid()):
        raise errors.Forked(
            f"process {os.getpid()} was forked from {_installed_in}, whose CUDA memory it cannot use: "
            f"expected a fresh process (the 'spawn' start method)")


def _can_record(what: str) -> None:
    if not _ebb_answers():
        _torch_with_cuda(what)


def _torch_with_cuda(what: str) -> Any:
    try:
        import torch
    except ImportError as failure:
        raise errors.NeedsCuda(f"{what} needs PyTorch for CUDA: {failure}") from None
    version = str(torch.__version__)
    if torch.version.cuda is None:
        raise errors.NeedsCuda(f"{what} needs PyTorch for CUDA: this is PyTorch {version}, built without "
                               f"it; cleanups and everything else of Ebb work")
    if not hasattr(torch.cuda.memory, "CUDAPluggableAllocator"):
        raise errors.NeedsCuda(f"{what} needs PyTorch 2.0 or later: this is {version}")
    if not torch.cuda.is_available():
        raise errors.NeedsCuda(f"{what} needs a GPU: PyTorch {version} for CUDA {torch.version.cuda} "
                               f"finds none")
    return torch

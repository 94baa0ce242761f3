# SPDX-License-Identifier: Apache-2.0
"""Cleanups, readings and thresholds."""

from __future__ import annotations

import ctypes
import json
import logging
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from . import _abi, errors
from ._library import check, library, take_text

_MIB = 1 << 20
_Number = TypeVar("_Number", int, float)
_logger = logging.getLogger("ebb")


@dataclass(frozen=True)
class Step:
    """One thing that a cleanup did."""

    name: str
    ok: bool
    returned_bytes: int
    seconds: float
    detail: str


@dataclass(frozen=True)
class DeviceChange:
    """What this process held of a device's memory before and after a cleanup."""

    device: int
    before_bytes: int
    after_bytes: int
    returned_bytes: int


@dataclass(frozen=True)
class CleanupReport:
    """What a cleanup did. `None` stands for a figure that this allocator cannot tell."""

    allocator: str
    rss_before_bytes: int
    rss_after_bytes: int
    live_before_bytes: int | None
    live_after_bytes: int | None
    retained_before_bytes: int | None
    retained_after_bytes: int | None
    returned_bytes: int  # measured: resident before minus after, 0 if it grew
    seconds: float
    deep: bool
    coalesced: bool  # another thread's cleanup was under way: this is its report
    disabled: bool  # EBB_DISABLE kept it from doing anything
    steps: tuple[Step, ...] = ()
    notes: tuple[str, ...] = ()
    device_returned_bytes: int = 0  # by device caches, of all devices together
    devices: tuple[DeviceChange, ...] = ()  # those of `cleanup` and `cleanup_memory`

    def __str__(self) -> str:
        if self.disabled:
            return "nothing done: EBB_DISABLE is set"
        devices = (f" and {self.device_returned_bytes / _MIB:.1f} MiB of device memory"
                   if self.device_returned_bytes else "")
        return (f"returned {self.returned_bytes / _MIB:.1f} MiB{devices} in {self.seconds * 1e3:.0f} ms: rss "
                f"{self.rss_before_bytes / _MIB:.1f} MiB -> {self.rss_after_bytes / _MIB:.1f} MiB "
                f"({self.allocator}, {'deep' if self.deep else 'light'})")


@dataclass(frozen=True)
class TrimReport:
    """What the allocator's own call to give memory back did. `result`: 1 if something went back, 0 if
    nothing did, None if this allocator has no such call."""

    result: int | None
    allocator: str
    rss_before_bytes: int
    rss_after_bytes: int

    @property
    def returned_bytes(self) -> int:
        return max(0, self.rss_before_bytes - self.rss_after_bytes)


@dataclass(frozen=True)
class MemoryInfo:
    """This process and the limit that it runs under. `None` stands for what nobody can tell here. CPU use is
    since the previous reading in this process; the first time since it started and since the machine booted."""

    allocator: str
    rss_bytes: int
    hwm_bytes: int
    live_bytes: int | None
    retained_bytes: int | None
    mapped_bytes: int | None
    limit_bytes: int  # the tightest of cgroup limits, resource limits and physical memory
    percent: float  # of the limit that is in use and cannot be reclaimed
    cpu_percent: float | None = None  # of this process: 100 is one core
    machine_cpu_percent: float | None = None  # 100 is all cores


def cleanup_memory(cuda_empty_cache: bool = False) -> CleanupReport:
    """Collects garbage, empties PyTorch's CUDA cache if asked, makes the allocator give memory back.

    NVFlare's signature, but on every allocator and with a report. Thread-safe: while another thread
    cleans up, this waits and returns that report. A step that fails is in the report, not raised.
    """
    return _cleanup({"cuda_empty_cache": bool(cuda_empty_cache)})


def cleanup(*, cuda_empty_cache: bool = False, hooks: bool = True, deep: bool = False,
            collect_garbage: bool = True) -> CleanupReport:
    """`cleanup_memory` with all options: without hooks, without `gc.collect` alone, or with a deep pass in any case."""
    return _cleanup({"cuda_empty_cache": bool(cuda_empty_cache), "hooks": hooks, "deep": deep,
                     "collect_garbage": collect_garbage})


def _cleanup(arguments: dict[str, bool]) -> CleanupReport:
    answer = call("cleanup", arguments)
    if answer.get("disabled"):
        return CleanupReport(allocator(), 0, 0, None, None, None, None, 0, 0.0, False, False, True)
    before, after = answer["before"], answer["after"]
    return CleanupReport(
        allocator=answer["allocator"],
        rss_before_bytes=before["rss_bytes"], rss_after_bytes=after["rss_bytes"],
        live_before_bytes=before["live_bytes"], live_after_bytes=after["live_bytes"],
        retained_before_bytes=before["retained_bytes"], retained_after_bytes=after["retained_bytes"],
        returned_bytes=answer["returned_bytes"], seconds=answer["seconds"],
        deep=answer["depth"] == "deep", coalesced=answer["coalesced"], disabled=False,
        steps=tuple(Step(**step) for step in answer["steps"]), notes=tuple(answer["notes"]),
        device_returned_bytes=sum(device["returned_bytes"] for device in answer["devices"]),
        devices=tuple(DeviceChange(**device) for device in answer["devices"]))


def report_from(native: _abi.CleanupReport) -> CleanupReport:
    def known(value: int, bits: int, bit: int) -> int | None:
        return value if bits & bit else None

    before, after = native.known_before, native.known_after
    return CleanupReport(
        allocator=allocator(),
        rss_before_bytes=native.rss_before_bytes, rss_after_bytes=native.rss_after_bytes,
        live_before_bytes=known(native.live_before_bytes, before, _abi.KNOWS_LIVE),
        live_after_bytes=known(native.live_after_bytes, after, _abi.KNOWS_LIVE),
        retained_before_bytes=known(native.retained_before_bytes, before, _abi.KNOWS_RETAINED),
        retained_after_bytes=known(native.retained_after_bytes, after, _abi.KNOWS_RETAINED),
        returned_bytes=native.returned_bytes, seconds=native.seconds, deep=bool(native.deep),
        coalesced=bool(native.coalesced), disabled=bool(native.disabled),
        device_returned_bytes=native.device_returned_bytes)


def new_report() -> _abi.CleanupReport:
    return _abi.CleanupReport(struct_size=ctypes.sizeof(_abi.CleanupReport))


def allocator() -> str:
    """The allocator that serves malloc: "glibc", "jemalloc", "tcmalloc", "mimalloc", "musl" or "unknown"."""
    name: bytes = library().ebb_allocator()
    return name.decode()


@lru_cache(maxsize=1)
def get_allocator_type() -> str:
    """The allocator in NVFlare's words: "glibc", "jemalloc" or "unknown". Looked up once."""
    name: bytes = library().ebb_allocator_nvflare()
    return name.decode()


def try_malloc_trim() -> int | None:
    """Only the allocator's own call to give memory back, on every allocator: 1 if something went back, 0
    if nothing did, None if it has no such call. NVFlare's signature; `trim()` also gives a report."""
    answer: int = library().ebb_trim()
    return None if answer < 0 else answer


def trim() -> TrimReport:
    """`try_malloc_trim`, with a report of what it did to the resident set."""
    before = rss()
    result = try_malloc_trim()
    return TrimReport(result, allocator(), before, rss())


def rss() -> int:
    """Resident bytes now; a few microseconds."""
    answer: int = library().ebb_rss()
    return answer


def read_memory() -> MemoryInfo:
    """Reads this process's memory. Its cost grows with the heap."""
    native = _abi.MemoryInfo(struct_size=ctypes.sizeof(_abi.MemoryInfo))
    check(library().ebb_read_memory(ctypes.byref(native)))

    def known(value: _Number, bit: int) -> _Number | None:
        return value if native.known & bit else None

    return MemoryInfo(
        allocator=allocator(), rss_bytes=native.rss_bytes, hwm_bytes=native.hwm_bytes,
        live_bytes=known(native.live_bytes, _abi.KNOWS_LIVE),
        retained_bytes=known(native.retained_bytes, _abi.KNOWS_RETAINED),
        mapped_bytes=known(native.mapped_bytes, _abi.KNOWS_MAPPED),
        limit_bytes=native.limit_bytes, percent=native.percent,
        cpu_percent=known(native.cpu_percent, _abi.KNOWS_CPU),
        machine_cpu_percent=known(native.machine_cpu_percent, _abi.KNOWS_MACHINE_CPU))


def give_back_at_once(on: bool = True) -> bool:
    """From now on freed memory goes back at once, if the allocator can do that: no decay, and on glibc
    no reuse of blocks of 4 MiB and more. Lowers peaks, but costs system time if much is freed. True if
    this changed the allocator; False if it cannot be changed or already was so."""
    changed = ctypes.c_int()
    check(library().ebb_give_back_at_once(int(on), ctypes.byref(changed)))
    return bool(changed.value)


def rss_marker(source: str, site: str, round: int | None, tag: str, task: str = "") -> str:
    """NVFlare's RSS marker for the current RSS: "[RSS] CA s=site-1 r=3 recv: 143.2 MB"."""
    text = ctypes.create_string_buffer(1024)
    check(library().ebb_rss_marker(source.encode(), site.encode(), task.encode() or None,
                                   _abi.NO_ROUND if round is None else round, tag.encode(), text, len(text)))
    return text.value.decode()


def mark_rss(source: str, site: str, round: int | None, tag: str, task: str = "",
             role: str | None = None) -> str | None:
    """Logs `rss_marker` to the logger "ebb", and has `ebb run` record it, if the environment asks markers of `role`
    (EBB_MEMORY_PROFILE; for clients and trainers NVFLARE_CLIENT_MEMORY_PROFILE as well; None for what EBB_ROLE
    says, else a trainer). Returns the line, or None. Inside NVFlare `ebb.nvflare` does this by itself."""
    text = ctypes.create_string_buffer(1024)
    check(library().ebb_mark_rss(None if role is None else role.encode(), source.encode(), site.encode(),
                                 task.encode() or None, _abi.NO_ROUND if round is None else round,
                                 tag.encode(), text, len(text)))
    line = text.value.decode()
    if line:
        _logger.info(line)
    return line or None


def memory_profile(role: str | None = None) -> bool:
    """Whether the environment asks a role for RSS markers; None for what EBB_ROLE says, else a trainer."""
    if role is None:
        return bool(library().ebb_memory_profile())
    return bool(library().ebb_memory_profile_of(role.encode()))


def watch_pressure() -> bool:
    """From now on, cleans up whenever systemd asks for memory. False if $MEMORY_PRESSURE_WATCH is not set."""
    watching = ctypes.c_int()
    check(library().ebb_watch_pressure(ctypes.byref(watching)))
    return bool(watching.value)


def call(verb: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    """Runs a verb of the library; arguments and result are those of the C interface's JSON."""
    try:
        text = json.dumps(arguments or {}).encode()
    except TypeError as failure:
        raise errors.BadInput(f"arguments of {verb}: {failure}") from None
    place = ctypes.c_void_p()
    check(library().ebb_call(verb.encode(), text, ctypes.byref(place)))
    answer: dict[str, Any] = json.loads(take_text(place))
    return answer

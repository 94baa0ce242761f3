# SPDX-License-Identifier: Apache-2.0
"""The C interface of include/ebb/ebb.h, as ctypes sees it."""

from __future__ import annotations

import ctypes as c

KNOWS_LIVE = 1
KNOWS_RETAINED = 2
KNOWS_MAPPED = 4
KNOWS_CPU = 8
KNOWS_MACHINE_CPU = 16
KNOWS_DEVICE_CACHE = 32

STAGE_COLLECTOR = 0
STAGE_CACHE = 1
STAGE_DEVICE_CACHE = 2
STAGE_DEVICE_READING = 3

ROUNDS_DEFAULT = 0
ROUNDS_EVERY = 1
ROUNDS_AUTO = 2
NO_ROUND = 2**64 - 1

Hook = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_uint64))
SimulationLine = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_char_p)


class MemoryInfo(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("known", c.c_uint32),
        ("rss_bytes", c.c_uint64),
        ("hwm_bytes", c.c_uint64),
        ("live_bytes", c.c_uint64),
        ("retained_bytes", c.c_uint64),
        ("mapped_bytes", c.c_uint64),
        ("limit_bytes", c.c_uint64),
        ("percent", c.c_double),
        ("cpu_percent", c.c_double),
        ("machine_cpu_percent", c.c_double),
    ]


class Bounds(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("failed_allocation", c.c_int32),
        ("warn_percent", c.c_double),
        ("critical_percent", c.c_double),
        ("gpu_warn_percent", c.c_double),
        ("gpu_critical_percent", c.c_double),
        ("headroom_bytes", c.c_uint64),
        ("round", c.c_uint64),
    ]


class GpuLevel(c.Structure):
    _fields_ = [
        ("device", c.c_uint32),
        ("level", c.c_int32),
        ("known", c.c_uint32),
        ("reserved", c.c_uint32),
        ("percent", c.c_double),
        ("total_bytes", c.c_uint64),
        ("free_bytes", c.c_uint64),
        ("held_bytes", c.c_uint64),
        ("cached_bytes", c.c_uint64),
    ]


class Levels(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("level", c.c_int32),
        ("ram_level", c.c_int32),
        ("gpu_count", c.c_uint32),
        ("ram_percent", c.c_double),
        ("gpu_trouble", c.c_char * 160),
        ("gpus", GpuLevel * 16),
    ]


class CleanupReport(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("known_before", c.c_uint32),
        ("known_after", c.c_uint32),
        ("deep", c.c_int32),
        ("coalesced", c.c_int32),
        ("disabled", c.c_int32),
        ("rss_before_bytes", c.c_uint64),
        ("rss_after_bytes", c.c_uint64),
        ("live_before_bytes", c.c_uint64),
        ("live_after_bytes", c.c_uint64),
        ("retained_before_bytes", c.c_uint64),
        ("retained_after_bytes", c.c_uint64),
        ("returned_bytes", c.c_uint64),
        ("seconds", c.c_double),
        ("device_returned_bytes", c.c_uint64),
    ]


class KeeperOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("role", c.c_char_p),
        ("rounds", c.c_int32),
        ("every", c.c_int32),
        ("cuda_empty_cache", c.c_int32),
    ]


class SumReport(c.Structure):
    _fields_ = [
        ("struct_size", c.c_uint32),
        ("reserved", c.c_uint32),
        ("elements", c.c_uint64),
        ("additions", c.c_uint64),
        ("bytes", c.c_uint64),
        ("weight", c.c_double),
    ]


_text = c.c_char_p
_int = c.c_int
_u64 = c.c_uint64
_size = c.c_size_t
_void = c.c_void_p
_double = c.c_double

# name: (result, arguments)
FUNCTIONS: dict[str, tuple[object, list[object]]] = {
    "ebb_version": (_text, []),
    "ebb_last_error": (_text, []),
    "ebb_allocator": (_text, []),
    "ebb_allocator_nvflare": (_text, []),
    "ebb_trim": (_int, []),
    "ebb_rss": (_u64, []),
    "ebb_read_memory": (_int, [c.POINTER(MemoryInfo)]),
    "ebb_memory_levels": (_int, [c.POINTER(Bounds), c.POINTER(Levels)]),
    "ebb_guard_levels": (_int, [c.POINTER(Bounds), c.POINTER(Levels), c.POINTER(CleanupReport)]),
    "ebb_give_back_at_once": (_int, [_int, c.POINTER(_int)]),
    "ebb_hook_add": (_int, [_text, _int, Hook, _void, c.POINTER(_u64)]),
    "ebb_hook_device": (_int, [c.c_uint32, _u64, _u64]),
    "ebb_hook_device_memory": (_int, [c.c_uint32, _u64, _u64, _u64, _u64]),
    "ebb_hook_remove": (_int, [_u64]),
    "ebb_keeper_create": (_int, [c.POINTER(KeeperOptions), c.POINTER(_void)]),
    "ebb_keeper_destroy": (None, [_void]),
    "ebb_keeper_round_done": (_int, [_void, c.POINTER(_int), c.POINTER(CleanupReport)]),
    "ebb_keeper_numbered_round_done": (
        _int, [_void, _u64, c.POINTER(_int), c.POINTER(CleanupReport)]),
    "ebb_is_supervised": (_int, []),
    "ebb_rss_marker": (_int, [_text, _text, _text, _u64, _text, _void, _size]),
    "ebb_mark_rss": (_int, [_text, _text, _text, _text, _u64, _text, _void, _size]),
    "ebb_memory_profile": (_int, []),
    "ebb_memory_profile_of": (_int, [_text]),
    "ebb_watch_pressure": (_int, [c.POINTER(_int)]),
    "ebb_torch_begin_pool": (None, []),
    "ebb_torch_stats": (_int, [_int, c.POINTER(_void)]),
    "ebb_torch_summary": (_int, [_int, c.POINTER(_void)]),
    "ebb_torch_reset_peak_stats": (_int, [_int]),
    "ebb_torch_snapshot": (_int, [_text]),
    "ebb_torch_record_history": (_int, [_int, _u64]),
    "ebb_torch_empty_cache": (_int, []),
    "ebb_torch_try_alloc": (_int, [_size, _int, _void, c.POINTER(_void)]),
    "ebb_torch_safe_allocate": (_int, [_size, _int, _void, c.POINTER(_void), c.POINTER(_void)]),
    "ebb_torch_oom_diagnostic": (_int, [_int, c.POINTER(_void)]),
    "ebb_torch_free": (None, [_void, _size, _int, _void]),
    "ebb_sum_create": (_int, [_u64, c.POINTER(_void)]),
    "ebb_sum_destroy": (None, [_void]),
    "ebb_sum_add": (_int, [_void, _int, _void, _double]),
    "ebb_sum_check": (_int, [_int, _u64, _void]),
    "ebb_sum_mean": (_int, [_void, _int, _void, _int]),
    "ebb_sum_info": (_int, [_void, c.POINTER(SumReport)]),
    "ebb_simulation_start": (_int, [_text, _text, c.POINTER(_void)]),
    "ebb_simulation_next": (_int, [_void, _double, c.POINTER(_void), c.POINTER(_int)]),
    "ebb_simulation_wait": (_int, [_void, _double, SimulationLine, _void, c.POINTER(_void)]),
    "ebb_simulation_stop": (_int, [_void, _int]),
    "ebb_simulation_pid": (_int, [_void]),
    "ebb_simulation_destroy": (None, [_void]),
    "ebb_call": (_int, [_text, _text, c.POINTER(_void)]),
    "ebb_free": (None, [_void]),
}

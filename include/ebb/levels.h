/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EBB_LEVELS_H
#define EBB_LEVELS_H

/* Part of ebb.h, which includes it: thresholds of the host's memory and of GPUs. */

#include "ebb/ebb.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EBB_LEVEL_NORMAL 0
#define EBB_LEVEL_WARN 1
#define EBB_LEVEL_CRITICAL 2

/** How full the host's memory is, by thresholds in percent of the limit. Reads, does not act.
    0 < warn <= critical <= 100. */
EBB_API int ebb_memory_level(double warn_percent, double critical_percent, int* level);

/** Compares the host's memory with the thresholds, once per call. At critical it cleans up, and
    freed memory goes back at once until a later call finds the level normal again. `level` and
    `report` may be null; the report is all zero if there was no cleanup. */
EBB_API int ebb_guard(double warn_percent, double critical_percent, int* level,
                      ebb_cleanup_report* report);

/** What memory is compared with, the host's and that of GPUs. */
typedef struct ebb_bounds {
  uint32_t struct_size;
  int32_t failed_allocation;   /* 0; 1 for a guard that is called because a GPU had no room */
  double warn_percent;         /* 85, of the limit that this process runs under */
  double critical_percent;     /* 90 */
  double gpu_warn_percent;     /* 90, of each GPU */
  double gpu_critical_percent; /* 97 */
  uint64_t headroom_bytes;     /* 0; what a guard keeps free of each GPU for others */
  uint64_t round;              /* EBB_NO_ROUND; for a guard: the round that has just ended */
} ebb_bounds;

/** Sets all but struct_size, which the caller has set, to the values above. */
EBB_API int ebb_default_bounds(ebb_bounds* bounds);

/** A bit of ebb_gpu_level.known. */
#define EBB_KNOWS_DEVICE_CACHE 32u

typedef struct ebb_gpu_level {
  uint32_t device; /* as in PyTorch if the process's allocator tells, else as in nvidia-smi */
  int32_t level;   /* EBB_LEVEL_… */
  uint32_t known;  /* EBB_KNOWS_DEVICE_CACHE if the last two are known */
  uint32_t reserved;
  double percent; /* in use, by whomever */
  uint64_t total_bytes;
  uint64_t free_bytes;
  uint64_t held_bytes;   /* by this process's allocator */
  uint64_t cached_bytes; /* of them: in no use */
} ebb_gpu_level;

#define EBB_MOST_GPUS 16

typedef struct ebb_levels {
  uint32_t struct_size;
  int32_t level;     /* the highest of all: EBB_LEVEL_… */
  int32_t ram_level; /* of the host's memory */
  uint32_t gpu_count;
  double ram_percent;
  char gpu_trouble[160];             /* why there is no GPU below, or why one is missing; "" */
  ebb_gpu_level gpus[EBB_MOST_GPUS]; /* the first gpu_count of them; unknown ones are not there */
} ebb_levels;

/** How full the host's memory and GPUs are. GPUs are those that this process holds memory of, as
   its allocators tell (PyTorch's in Python, Ebb's own, hooks); if none does, all of the machine. A
   GPU that cannot be read is no error. Reads, does not act. */
EBB_API int ebb_memory_levels(const ebb_bounds* bounds, ebb_levels* levels);

/** As ebb_guard, and GPUs as in ebb_memory_levels: if one rises to a threshold, one line in the log
    names the round, RAM and GPUs. The cache of the process's device allocators is emptied only at
    the end of a round (`round` is set) or after a failed allocation, at most once a round: at
    critical, if it holds 5 % of the GPU unused and what was given back last time was not taken
    again within a round; after a failed allocation, if it holds 5 %; and at a round's end if less
    than the headroom is free. `levels` (may be null) is what was found before that. */
EBB_API int ebb_guard_levels(const ebb_bounds* bounds, ebb_levels* levels,
                             ebb_cleanup_report* report);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EBB_EBB_H
#define EBB_EBB_H

/*
 * Ebb's stable C interface: find out which malloc this process runs on, read it, make it give
 * memory back. docs/glossary.md explains the words.
 *
 * - Functions return EBB_OK or another ebb_code; then ebb_last_error() says in one line what went
 *   wrong on the calling thread.
 * - A struct starts with struct_size, which the caller sets to its sizeof. Later versions may add
 *   fields at the end; the library writes only those that the caller's struct has.
 * - Every function may be called from any thread, none from a signal handler. Only ebb_torch_alloc
 *   throws.
 * - With EBB_DISABLE=1 in the environment no action does anything, and each says so.
 */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EBB_API __attribute__((visibility("default")))
#else
#define EBB_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ebb_code {
  EBB_OK = 0,
  EBB_BAD_INPUT = 1,     /* an argument or variable that cannot be used */
  EBB_NOT_FOUND = 2,     /* a process or name that does not exist */
  EBB_NOT_PERMITTED = 3, /* it exists, but access is denied */
  EBB_UNAVAILABLE = 4,   /* this machine or build cannot do it */
  EBB_OUT_OF_MEMORY = 5,
  EBB_IO = 6,
  EBB_INTERNAL = 7 /* a bug in Ebb */
} ebb_code;

/** The library's version, e.g. "0.1.0". */
EBB_API const char* ebb_version(void);

/** Why the calling thread's last failed call failed; "" if none has. Valid until the next. */
EBB_API const char* ebb_last_error(void);

/* ---- the allocator ---------------------------------------------------------------------- */

/** The allocator that serves malloc: "glibc", "jemalloc", "tcmalloc", "mimalloc", "musl" or
    "unknown". Looked up once. */
EBB_API const char* ebb_allocator(void);

/** The same in NVFlare's words: "glibc", "jemalloc" or "unknown". */
EBB_API const char* ebb_allocator_nvflare(void);

/** Only the allocator's own call to give memory back, without hooks: 1 if something went back, 0 if
    nothing did, -1 if this allocator has no such call. On glibc: malloc_trim(0) and its result. */
EBB_API int ebb_trim(void);

/* ---- readings ---------------------------------------------------------------------------- */

/** Bits of `known` below: the figures that this allocator, or the kernel, can tell. */
#define EBB_KNOWS_LIVE 1u
#define EBB_KNOWS_RETAINED 2u
#define EBB_KNOWS_MAPPED 4u
#define EBB_KNOWS_CPU 8u
#define EBB_KNOWS_MACHINE_CPU 16u

typedef struct ebb_memory_info {
  uint32_t struct_size;
  uint32_t known;
  uint64_t rss_bytes;
  uint64_t hwm_bytes; /* highest rss so far; 0 if the kernel does not tell */
  uint64_t live_bytes;
  uint64_t retained_bytes;
  uint64_t mapped_bytes;
  uint64_t limit_bytes; /* the tightest of cgroup limits, resource limits and physical memory */
  double percent;       /* of the limit that is in use and cannot be reclaimed */
  /* Since the previous reading in this process, whoever made it; the first time since it started
     and since the machine booted. Nothing sleeps. */
  double cpu_percent;         /* of this process: 100 is one core */
  double machine_cpu_percent; /* of the machine: 100 is all cores */
} ebb_memory_info;

/** Resident bytes now, in a few microseconds, without allocating; 0 if the kernel does not tell. */
EBB_API uint64_t ebb_rss(void);

/** Reads everything above. Its cost grows with the heap. */
EBB_API int ebb_read_memory(ebb_memory_info* info);

/* ---- cleanup ----------------------------------------------------------------------------- */

typedef struct ebb_cleanup_report {
  uint32_t struct_size;
  uint32_t known_before; /* EBB_KNOWS_… */
  uint32_t known_after;
  int32_t deep;      /* 1 if the deep pass ran as well */
  int32_t coalesced; /* 1 if another thread's cleanup was under way: this is its report */
  int32_t disabled;  /* 1 if EBB_DISABLE kept it from doing anything */
  uint64_t rss_before_bytes;
  uint64_t rss_after_bytes;
  uint64_t live_before_bytes;
  uint64_t live_after_bytes;
  uint64_t retained_before_bytes;
  uint64_t retained_after_bytes;
  uint64_t returned_bytes; /* measured: rss before minus rss after, 0 if it grew */
  double seconds;
  uint64_t device_returned_bytes; /* by device caches, of all devices together */
} ebb_cleanup_report;

/** Runs the hooks (those of device caches only if asked), then makes the allocator give memory
    back: a light pass, and a deep one if the light one left enough behind. `report` may be null. */
EBB_API int ebb_cleanup(int cuda_empty_cache, ebb_cleanup_report* report);

/** From now on freed memory goes back at once, if the allocator can do that: no decay, and on glibc
   no reuse of blocks of 4 MiB and more. Costs time if much is freed. `on` = 0 ends it. `changed`
   (may be null) is 1 if this changed the allocator, 0 if it cannot be changed or already was so. */
EBB_API int ebb_give_back_at_once(int on, int* changed);

/** Stages of hooks, in the order in which they run. */
#define EBB_STAGE_COLLECTOR 0    /* a language's garbage collector */
#define EBB_STAGE_CACHE 1        /* a framework's host cache */
#define EBB_STAGE_DEVICE_CACHE 2 /* a framework's device cache: only when a cleanup asks */
/** No part of a cleanup: tells what a framework holds of GPUs, with ebb_hook_device_memory. */
#define EBB_STAGE_DEVICE_READING 3

/** Frees memory that the program can do without. Returns 0 for success; may set `count` to how much
    it freed, in whatever unit suits it. */
typedef int (*ebb_hook)(void* context, uint64_t* count);

/** Makes every cleanup call `hook`. `id` receives the number for ebb_hook_remove. */
EBB_API int ebb_hook_add(const char* name, int stage, ebb_hook hook, void* context, uint64_t* id);

/** From inside a hook: what it gave back of a device's memory, by the bytes that this process held
    of it before and after; it is in the cleanup's report. EBB_BAD_INPUT outside of a hook. */
EBB_API int ebb_hook_device(uint32_t device, uint64_t before_bytes, uint64_t after_bytes);

/** From inside a hook of EBB_STAGE_DEVICE_READING: a GPU, what this process's allocator holds of
    it, and how much of that is in no use. EBB_BAD_INPUT outside of one. */
EBB_API int ebb_hook_device_memory(uint32_t device, uint64_t total_bytes, uint64_t free_bytes,
                                   uint64_t reserved_bytes, uint64_t cached_bytes);

/** When this returns, no call of the hook is under way (unless the hook itself called this). */
EBB_API int ebb_hook_remove(uint64_t id);

/* ---- rounds ------------------------------------------------------------------------------ */

#define EBB_ROUNDS_DEFAULT 0 /* as the environment says, else as suits the role */
#define EBB_ROUNDS_EVERY 1   /* after every N-th round; 0 for never */
#define EBB_ROUNDS_AUTO 2    /* by measured benefit and cost, at most 1 % of the job's time */

typedef struct ebb_keeper_options {
  uint32_t struct_size;
  const char* role;         /* "server", "client", "trainer", "aggregator", "simulator"; null for
                               what EBB_ROLE says, else "trainer" */
  int32_t rounds;           /* EBB_ROUNDS_… */
  int32_t every;            /* for EBB_ROUNDS_EVERY: 0 or more */
  int32_t cuda_empty_cache; /* 0, 1, or -1 as suits the role */
} ebb_keeper_options;

typedef struct ebb_keeper ebb_keeper;

EBB_API int ebb_keeper_create(const ebb_keeper_options* options, ebb_keeper** keeper);
/** Null is allowed. */
EBB_API void ebb_keeper_destroy(ebb_keeper* keeper);

/** Call after each round. `cleaned` (may be null) is 1 if it cleaned up; then `report` is set. */
EBB_API int ebb_keeper_round_done(ebb_keeper* keeper, int* cleaned, ebb_cleanup_report* report);

/** The same with the round's number, from 0: a round counts once, however often it is announced. */
EBB_API int ebb_keeper_numbered_round_done(ebb_keeper* keeper, uint64_t round, int* cleaned,
                                           ebb_cleanup_report* report);

/** For jobs that leave the decision to `ebb run`: tells the supervisor that a round (from 0) is
    done, so that it may ask for a cleanup now. Keepers do this by themselves. Without a supervisor
    nothing happens. */
EBB_API void ebb_announce_round(uint64_t round);

/** 1 if this process runs under `ebb run` and its supervisor is connected. */
EBB_API int ebb_is_supervised(void);

/** For a round that is not known: "r=None", as NVFlare writes it. */
#define EBB_NO_ROUND UINT64_MAX

/** Writes NVFlare's RSS marker for the current RSS, e.g. "[RSS] CA s=site-1 r=3 recv: 143.2 MB".
    `source`: "CA" (trainer), "CJ" (client job, with `task`) or "SV" (server). Returns EBB_BAD_INPUT
    if `size` is too small. */
EBB_API int ebb_rss_marker(const char* source, const char* site, const char* task, uint64_t round,
                           const char* tag, char* text, size_t size);

/** The same if the environment asks markers of `role` (EBB_MEMORY_PROFILE; for clients and trainers
    NVFLARE_CLIENT_MEMORY_PROFILE as well; null for this process's own role), and tells `ebb run`,
    which records the line; printing it is left to the caller. `text` is empty if nobody asks. */
EBB_API int ebb_mark_rss(const char* role, const char* source, const char* site, const char* task,
                         uint64_t round, const char* tag, char* text, size_t size);

/** 1 if markers are asked of a role; null for this process's own. 0 for a role that there is not.
 */
EBB_API int ebb_memory_profile_of(const char* role);
/** The same for this process's own role. */
EBB_API int ebb_memory_profile(void);

/** From now on, cleans up whenever systemd asks for memory through $MEMORY_PRESSURE_WATCH, for the
    life of the process; a forked child does not watch until it calls this itself. Without `ebb run`
    the thread that watches keeps a process whose main() ends by pthread_exit, as any other would.
    `watching` (may be null) is 0 if that variable is not set. */
EBB_API int ebb_watch_pressure(int* watching);

/* ---- inside PyTorch ---------------------------------------------------------------------- */

/*
 * PyTorch's caching allocator, by PyTorch's own rules, as its CUDAPluggableAllocator: docs/torch.md
 * shows the lines of Python. PyTorch's own memory_stats, memory_summary and snapshots raise under a
 * pluggable allocator; the functions further down replace them. Everything works without PyTorch.
 *
 * Settings come from PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF as PyTorch reads them. The
 * rules are those of $EBB_TORCH_VERSION ("2.11"), else of the newest release that Ebb knows. Memory
 * comes from the CUDA driver, or from what $EBB_TORCH_DRIVER names: "cuda:LIBRARY", "mmap" (host
 * memory), "mmap:BYTES". All of these are read when a device is first used. A forked child of a
 * process that used a device gets EBB_UNAVAILABLE. EBB_DISABLE does not apply: whoever installs an
 * allocator needs one.
 */

/** `size` bytes for use on `stream`; null only for 0 bytes. Any failure is thrown as
    std::runtime_error, which PyTorch raises as RuntimeError: PyTorch's out-of-memory message and
    what Ebb knows beyond it. (PyTorch would make a tensor without memory from a null.) It is thrown
    through the process's own libstdc++.so.6; without that library the process aborts. */
EBB_API void* ebb_torch_alloc(size_t size, int device, void* stream);

/** The same, but returns a code: for callers that do not catch C++ exceptions. */
EBB_API int ebb_torch_try_alloc(size_t size, int device, void* stream, void** memory);

/** The same; and if there is no memory, cleanup hooks run (device caches too), the cache is
   emptied, and it is tried once more. `report` (may be null) receives what was done and why the
   first attempt failed, as JSON to be freed with ebb_free: docs/torch.md. */
EBB_API int ebb_torch_safe_allocate(size_t size, int device, void* stream, void** memory,
                                    char** report);

/** Why the last request that failed on a device found no memory: a diagnosis as JSON, to be freed
    with ebb_free: docs/torch.md. EBB_NOT_FOUND if none has failed. */
EBB_API int ebb_torch_oom_diagnostic(int device, char** json);

/** Frees what any of them returned; any other address is logged and left alone. `size` and
    `stream` are ignored. Null is allowed. */
EBB_API void ebb_torch_free(void* memory, size_t size, int device, void* stream);

/** set_init_fn: opens the driver, so that the log shows early if something is wrong. */
EBB_API void ebb_torch_init(int device_count);
/** set_reset_fn: torch.cuda.empty_cache(). */
EBB_API void ebb_torch_reset(void);
/** set_memory_fraction_fn: torch.cuda.set_per_process_memory_fraction(). */
EBB_API void ebb_torch_memory_fraction(double fraction, int device);
/** set_record_stream_fn: keeps freed memory from reuse until `stream` is done with it. */
EBB_API void ebb_torch_record_stream(void* memory, void* stream);
/** set_base_alloc_fn: the segment that contains the memory. `size` may be null. For memory that is
    not Ebb's it returns the address itself, and `size` is not changed. */
EBB_API void* ebb_torch_base_alloc(void* memory, size_t* size);

/** set_begin_allocate_to_pool: always throws std::runtime_error. PyTorch calls it when a CUDA graph
    is captured and when a MemPool is used: their memory must not serve anybody else, and Ebb as
    PyTorch's allocator cannot keep it apart yet. */
EBB_API void ebb_torch_begin_pool(void);

/** For torch.cuda.MemPool: PyTorch's own allocator goes on caching, and only takes its segments
    from here, straight from the driver. Null, which PyTorch takes for out of memory, if the driver
    has none left. Free with the same `size` and `device` as allocated. */
EBB_API void* ebb_torch_segment_alloc(size_t size, int device, void* stream);
EBB_API void ebb_torch_segment_free(void* memory, size_t size, int device, void* stream);

/** torch.cuda.memory_stats(device): a JSON object with its keys, to be freed with ebb_free. */
EBB_API int ebb_torch_stats(int device, char** json);
/** torch.cuda.memory_summary(device), to be freed with ebb_free. */
EBB_API int ebb_torch_summary(int device, char** text);
/** torch.cuda.reset_peak_memory_stats(device). */
EBB_API int ebb_torch_reset_peak_stats(int device);
/** torch.cuda.memory._dump_snapshot(path): a pickle that PyTorch's memory_viz reads. */
EBB_API int ebb_torch_snapshot(const char* path);
/** torch.cuda.memory._record_memory_history() for all devices, without stacks: the last
    `max_entries` events, 0 for all. `enabled` = 0 ends it. */
EBB_API int ebb_torch_record_history(int enabled, uint64_t max_entries);
/** Waits for all streams and gives back the unused memory of all devices. ebb_cleanup with
    cuda_empty_cache does this too. */
EBB_API int ebb_torch_empty_cache(void);

/* ---- sums of tensors ---------------------------------------------------------------------- */

/*
 * Weighted means of tensors that are added one by one. The sums are exact, so the result has the
 * same bits in whatever order they come. Takes a little more than 8 bytes per element; more if the
 * values of neighbouring elements spread over more than 63 bits, as those of float64 do. In a
 * child that is forked while another thread uses a sum, calls with that sum return EBB_UNAVAILABLE.
 */

typedef struct ebb_sum ebb_sum;

#define EBB_FLOAT32 1
#define EBB_FLOAT64 2
#define EBB_FLOAT16 3
#define EBB_BFLOAT16 4
#define EBB_INT8 5
#define EBB_INT16 6
#define EBB_INT32 7
#define EBB_INT64 8
#define EBB_UINT8 9

typedef struct ebb_sum_report {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t elements;
  uint64_t additions;
  uint64_t bytes; /* of memory that the sum takes */
  double weight;  /* of all additions together */
} ebb_sum_report;

EBB_API int ebb_sum_create(uint64_t elements, ebb_sum** sum);
EBB_API void ebb_sum_destroy(ebb_sum* sum); /* null is allowed */

/** Adds weight * values. EBB_BAD_INPUT, with nothing added, if a value is not finite or is an
   integer beyond 2^53. Adding the same values with the negative weight takes them back. */
EBB_API int ebb_sum_add(ebb_sum* sum, int type, const void* values, double weight);

/** Whether values could be added; if not, the error names the first that cannot. */
EBB_API int ebb_sum_check(int type, uint64_t elements, const void* values);

/** Writes the sum divided by the sum of the weights to `values`, of a floating-point type. With
   `release` the sum frees its memory while it is read, and is empty afterwards. EBB_BAD_INPUT if
   the weights add up to 0. */
EBB_API int ebb_sum_mean(ebb_sum* sum, int type, void* values, int release);

EBB_API int ebb_sum_info(const ebb_sum* sum, ebb_sum_report* report);

/* ---- simulations ------------------------------------------------------------------------- */

/*
 * Federated learning, simulated by the program ebb-simulate in a process of its own:
 * docs/simulate.md has its options and JSON. The program is the one that EBB_SIMULATE names, else
 * beside this library, else on the PATH; without it the error (EBB_UNAVAILABLE) says how to get it.
 *
 * No thread works behind a simulation. What it says waits in a pipe until somebody asks; when that
 * is full (1 MiB), the simulation waits. If the process that started it ends, it stops after its
 * round. One thread at a time may call next or wait; stop may be called from any. Other functions
 * of a simulation return EBB_UNAVAILABLE in a forked child, and destroy ends nothing there.
 */

typedef struct ebb_simulation ebb_simulation;

/** Called with a line of JSON: {"event": "round", "method": …, "seed": …, and the keys of a round},
    or {"event": "warning", "method": …, "seed": …, "message": …}. Returns 0 to go on; anything else
    stops the simulation after the round under way. */
typedef int (*ebb_simulation_line)(void* context, const char* line);

/** Starts `verb` ("simulate" or "compare") with its options as a JSON object, with underscores for
    dashes: {"dataset": "synthetic", "rounds": 3, "no_folder": true}. Options that the program
    refuses are found by waiting. */
EBB_API int ebb_simulation_start(const char* verb, const char* options,
                                 ebb_simulation** simulation);

/** The next line, to be freed with ebb_free; null if `seconds` pass without one (negative: waits as
    long as it takes), or if it has ended and there are no more: then `ended` (may be null) is 1. */
EBB_API int ebb_simulation_next(ebb_simulation* simulation, double seconds, char** line,
                                int* ended);

/** Waits for the end, at most `seconds` if that is not negative, and calls `each` (may be null) on
    this thread for every line. `result` (may be null) receives what the program prints with --json,
    to be freed with ebb_free; null if it has not ended yet; {"stopped": true} if it was stopped
    before it could say more. EBB_BAD_INPUT if it refused its options, EBB_IO if it failed on the
   way or died: the error is then its last line. After the end it may be called again. */
EBB_API int ebb_simulation_wait(ebb_simulation* simulation, double seconds,
                                ebb_simulation_line each, void* context, char** result);

/** Stops it after the round under way, with a checkpoint if it has a folder; or at once. */
EBB_API int ebb_simulation_stop(ebb_simulation* simulation, int at_once);
/** Its process; 0 for null. */
EBB_API int ebb_simulation_pid(const ebb_simulation* simulation);
/** Ends it at once if it has not ended. Null is allowed. */
EBB_API void ebb_simulation_destroy(ebb_simulation* simulation);

/* ---- everything else, as JSON ------------------------------------------------------------ */
/** Runs a verb with a JSON object of arguments ("{}" or null for none): "info", "cleanup", "env";
    "replay", "tune" and "doctor" on recorded jobs, with the program's options, "doctor" also with
    {"stats": {…}} as torch.cuda.memory_stats() gives it; "plan" with {"transformer": {"preset":
    "gpt2", "batch": 4}}, {"model": {"name": "ResNet18"}}, {"budget": {"params": 7e9}} or
    {"clients": {"card": "T4"}}, options with underscores; "simulate" and "compare" as
    ebb_simulation_start, to their end; "shortage" with the numbers of docs/torch.md. `result`
    receives a JSON object, to be freed with ebb_free. */
EBB_API int ebb_call(const char* verb, const char* arguments, char** result);
EBB_API void ebb_free(char* text);

#ifdef __cplusplus
}
#endif

#include "ebb/levels.h" /* thresholds: ebb_memory_level, ebb_guard, and those of GPUs */

#endif

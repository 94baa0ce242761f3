// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "metrics/families.h"

namespace ebb::metrics {

// Every metric there is; docs/metrics.md lists them with examples. Labels: `run`, the number of the
// run in its record; `process`, that of the process within the run; `device`, NVML's number of a
// GPU, and in what a process tells CUDA's, which may differ.

inline constexpr Metric kBuild{"ebb_build", Kind::info, "", "The Ebb that answers."};

inline constexpr Metric kRun{"ebb_run", Kind::info, "", "A job that is running."};
inline constexpr Metric kRunStarted{"ebb_run_start_time_seconds", Kind::gauge, "seconds",
                                    "When the job was started, since the epoch."};
inline constexpr Metric kRunSampled{"ebb_run_last_sample_timestamp_seconds", Kind::gauge, "seconds",
                                    "When the job was last looked at, since the epoch."};
inline constexpr Metric kRunProcesses{"ebb_run_processes", Kind::gauge, "",
                                      "Processes of the job that are there."};
inline constexpr Metric kRunRounds{"ebb_run_rounds", Kind::counter, "",
                                   "Rounds whose end processes of the job have announced."};
inline constexpr Metric kRunLost{"ebb_run_record_lost", Kind::counter, "",
                                 "Samples and other entries that could not be recorded."};
inline constexpr Metric kRunVerdict{"ebb_run_verdict", Kind::state_set, "",
                                    "What the memory of the job does."};

inline constexpr Metric kLimit{"ebb_memory_limit_bytes", Kind::gauge, "bytes",
                               "What the job may use: of its control group, or of the machine."};
inline constexpr Metric kUsed{"ebb_memory_used_bytes", Kind::gauge, "bytes",
                              "What of that is in use, cache that can be dropped left out."};
inline constexpr Metric kPressure{
    "ebb_memory_pressure_ratio", Kind::gauge, "ratio",
    "Share of the last ten seconds in which some task waited for memory (PSI)."};
inline constexpr Metric kGroupUsage{"ebb_group_usage_bytes", Kind::gauge, "bytes",
                                    "All that is charged to the job's control group."};
inline constexpr Metric kGroupMemory{"ebb_group_memory_bytes", Kind::gauge, "bytes",
                                     "Parts of that which do not overlap."};

inline constexpr Metric kDeviceTotal{"ebb_device_total_bytes", Kind::gauge, "bytes",
                                     "Memory of a GPU of the machine."};
inline constexpr Metric kDeviceUsed{
    "ebb_device_used_bytes", Kind::gauge, "bytes",
    "What of that is not free, whoever holds it, the driver included."};

inline constexpr Metric kProcess{"ebb_process", Kind::info, "", "A process of a job."};
inline constexpr Metric kResident{"ebb_process_resident_bytes", Kind::gauge, "bytes",
                                  "Memory of the process in RAM (rss)."};
inline constexpr Metric kSwapped{"ebb_process_swapped_bytes", Kind::gauge, "bytes",
                                 "Memory of the process in swap."};
inline constexpr Metric kPeak{"ebb_process_peak_resident_bytes", Kind::gauge, "bytes",
                              "The most that it ever had in RAM, as the kernel keeps it."};
inline constexpr Metric kProportional{
    "ebb_process_proportional_bytes", Kind::gauge, "bytes",
    "rss with shared pages divided by their sharers (pss), as last read."};
inline constexpr Metric kMemory{
    "ebb_process_memory_bytes", Kind::gauge, "bytes",
    "Where the memory of the process is: parts that add up, RAM and swap, as last told by its "
    "allocator."};
inline constexpr Metric kProcessDevice{
    "ebb_process_device_bytes", Kind::gauge, "bytes",
    "What PyTorch has reserved on a GPU in the process: parts that add up."};
inline constexpr Metric kCpu{"ebb_process_cpu_seconds", Kind::counter, "seconds",
                             "Processor time of the process."};
inline constexpr Metric kFaults{"ebb_process_minor_faults", Kind::counter, "",
                                "Page faults of the process that needed no disk."};
inline constexpr Metric kCleanups{"ebb_process_cleanups", Kind::counter, "",
                                  "Cleanups of the process's memory."};
inline constexpr Metric kReturned{"ebb_process_returned_bytes", Kind::counter, "bytes",
                                  "Memory that cleanups gave back to the system."};
inline constexpr Metric kCleanupSeconds{"ebb_process_cleanup_seconds", Kind::counter, "seconds",
                                        "Time that cleanups took."};
inline constexpr Metric kGrowth{"ebb_process_growth_bytes_per_second", Kind::gauge, "",
                                "Slope of rss, after warm-up."};
inline constexpr Metric kUntilLimit{
    "ebb_process_until_limit_seconds", Kind::gauge, "seconds",
    "Time until the limit is reached at that pace, where it grows towards it."};
inline constexpr Metric kVerdict{"ebb_process_verdict", Kind::state_set, "",
                                 "What the memory of the process does."};

}  // namespace ebb::metrics

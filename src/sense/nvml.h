// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/dynamic_library.h"
#include "base/result.h"

namespace ebb::sense::nvml {

// NVIDIA's management library as far as it is used here: its binary interface, restated, since
// nothing of it is needed to build.

struct DeviceHandle;
using Device = DeviceHandle*;
using Return = int;

inline constexpr Return kSuccess = 0;
inline constexpr Return kNotSupported = 3;
inline constexpr Return kNoPermission = 4;
inline constexpr Return kInsufficientSize = 7;
inline constexpr Return kDriverNotLoaded = 9;

struct Memory {
  unsigned long long total, free, used;  ///< used includes what the driver keeps
};

struct MemoryV2 {
  unsigned int version;
  unsigned long long total, reserved, free, used;
};
inline constexpr unsigned int kMemoryV2 = sizeof(MemoryV2) | (2U << 24);

struct Utilization {
  unsigned int gpu, memory;  ///< percent of the last sampling period
};

/// As the functions without a version suffix write it.
struct ProcessV1 {
  unsigned int pid;
  unsigned long long used;
};

/// As the functions with the suffixes _v2 and _v3 write it.
struct ProcessV2 {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};
inline constexpr unsigned long long kNotAvailable = ~0ULL;

static_assert(sizeof(MemoryV2) == 40 && sizeof(ProcessV1) == 16 && sizeof(ProcessV2) == 24);

inline constexpr unsigned int kNameBytes = 96;

/// The functions, all or nothing but for the optional ones at the end. Where a function has
/// versions the newest that the library has is taken.
struct Table {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_string)(Return) = nullptr;
  Return (*count)(unsigned int*) = nullptr;
  Return (*handle)(unsigned int, Device*) = nullptr;
  Return (*name)(Device, char*, unsigned int) = nullptr;
  Return (*uuid)(Device, char*, unsigned int) = nullptr;
  Return (*memory)(Device, Memory*) = nullptr;
  Return (*utilization)(Device, Utilization*) = nullptr;

  Return (*memory_v2)(Device, MemoryV2*) = nullptr;  ///< drivers from 510 on
  /// Compute and graphics processes; they fill ProcessV2 or ProcessV1 as `processes_v2` says.
  Return (*compute_processes)(Device, unsigned int*, void*) = nullptr;
  Return (*graphics_processes)(Device, unsigned int*, void*) = nullptr;
  bool processes_v2 = false;
};

/// The library, loaded and started; stopped and unloaded with its owner. Movable.
class Library {
 public:
  /// Code::unavailable when the library is not there, lacks a function or cannot start; the
  /// message says which.
  static base::Result<Library> load(const std::string& name);

  Library(Library&& other) noexcept;
  Library& operator=(Library&& other) = delete;
  ~Library();

  const Table& table() const { return table_; }

  /// "nvmlDeviceGetName: Not Supported".
  std::string failure(const char* function, Return code) const;

 private:
  Library(base::DynamicLibrary library, const Table& table);

  base::DynamicLibrary library_;
  Table table_;
  bool started_ = true;
};

}  // namespace ebb::sense::nvml

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/cuda_api.h"

// The two sources of the fake libcuda.so.1 share this. Every exported function takes the one
// mutex, so that the fake is as thread-safe as the real library.

#ifndef FAKE_CUDA_DEVICES
#define FAKE_CUDA_DEVICES 2
#endif

#define FAKE_CUDA_EXPORT extern "C" __attribute__((visibility("default")))

namespace ebb::device::cuda {

struct ContextTag {
  Device device = 0;
  int retained = 0;
};

/// A stream waits for words in memory; work queued behind a wait is done when the word is there.
struct Wait {
  Pointer flag = 0;
  std::uint32_t value = 0;
};

struct StreamTag {
  Device device = 0;
  bool blocking = true;  // synchronises with the default stream
  std::vector<Wait> waits;
  bool capturing = false;
  bool capture_invalidated = false;
};

struct EventTag {
  Device device = 0;
  std::vector<Wait> waits;
};

}  // namespace ebb::device::cuda

namespace ebb::fake_cuda {

namespace cuda = device::cuda;

inline constexpr std::size_t kGranularity = 2 << 20;

struct Allocation {
  std::size_t bytes = 0;
  cuda::Device device = 0;
};

/// Physical memory: a file without a name, alive while it has a handle or a mapping.
struct Memory {
  Memory(std::size_t bytes, cuda::Device device, int file);
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  const std::size_t bytes;
  const cuda::Device device;
  const int file;
};

struct Mapping {
  std::shared_ptr<Memory> memory;
  bool accessible = false;
};

struct Fault {
  std::uint64_t after = 0;
  std::uint64_t times = 0;
  cuda::Result result = cuda::kSuccess;
};

struct DeviceState {
  cuda::ContextTag context;
  std::size_t total = std::size_t{1} << 30;
  std::size_t used = 0;
};

struct State {
  std::mutex mutex;
  std::condition_variable flag_changed;
  bool initialised = false;
  bool virtual_memory = true;
  DeviceState devices[FAKE_CUDA_DEVICES > 0 ? FAKE_CUDA_DEVICES : 1];
  std::map<cuda::Pointer, Allocation> allocations;
  std::map<cuda::Pointer, std::size_t> reservations;
  std::map<cuda::Handle, std::shared_ptr<Memory>> handles;
  std::map<cuda::Pointer, Mapping> mappings;
  std::map<cuda::Stream, std::unique_ptr<cuda::StreamTag>> streams;
  std::map<cuda::Event, std::unique_ptr<cuda::EventTag>> events;
  std::map<std::string, Fault> faults;
  std::map<std::string, std::uint64_t> calls;
  cuda::Handle last_handle = 0;

  /// Counts the call and answers what a fault or a missing cuInit demands, else kSuccess.
  cuda::Result begin(const char* function);

  /// The current context's device, or null: then the answer is kInvalidContext.
  DeviceState* current();

  /// Whether the thread may allocate and the like while streams capture; a refusal invalidates
  /// the captures, as in the real library.
  bool unsafe_call_allowed();

  /// As if the library had just been loaded. Requires: nobody uses it.
  void reset();
};

State& state();

/// The contexts pushed by this thread, the current one last, and its capture mode.
extern thread_local std::vector<cuda::Context> thread_contexts;
extern thread_local int thread_capture_mode;

/// Frees what belongs to a context that nobody retains any more.
void destroy_context(State& all, DeviceState& device);

}  // namespace ebb::fake_cuda

/// Opens an exported function: `all` is the locked state.
#define FAKE_CUDA_BEGIN(function)                       \
  ebb::fake_cuda::State& all = ebb::fake_cuda::state(); \
  std::unique_lock<std::mutex> lock(all.mutex);         \
  if (const Result refused = all.begin(#function); refused != kSuccess) return refused

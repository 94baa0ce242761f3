// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "ebb/ebb.h"
#include "ebb/error.hpp"
#include "ebb/levels.hpp"
#include "ebb/simulation.hpp"

/// Ebb for C++: a header over the C interface, with objects that own what the C interface hands
/// out. Failures are exceptions (ebb::Error).
namespace ebb {

/// The library's version, e.g. "0.1.0".
inline std::string_view version() {
  return ebb_version();
}

/// The allocator that serves malloc in this process.
inline std::string_view allocator() {
  return ebb_allocator();
}

/// The same in NVFlare's words: "glibc", "jemalloc" or "unknown".
inline std::string_view allocator_nvflare() {
  return ebb_allocator_nvflare();
}

/// Only the allocator's own call to give memory back, without hooks: whether something went back;
/// nothing where this allocator has no such call.
inline std::optional<bool> trim() {
  const int answer = ebb_trim();
  return answer < 0 ? std::nullopt : std::optional(answer != 0);
}

/// Resident bytes now; cheap.
inline std::uint64_t rss() {
  return ebb_rss();
}

/// Reads rss, live, retained, limit, percent and CPU use. Its cost grows with the heap.
inline ebb_memory_info read_memory() {
  ebb_memory_info info{};
  info.struct_size = sizeof info;
  detail::check(ebb_read_memory(&info));
  return info;
}

/// How full memory is.
enum class Level {
  normal = EBB_LEVEL_NORMAL,
  warn = EBB_LEVEL_WARN,
  critical = EBB_LEVEL_CRITICAL
};

/// By thresholds in percent of the limit: 0 < warn <= critical <= 100. Reads, does not act.
inline Level memory_level(double warn_percent = 85, double critical_percent = 90) {
  int level = EBB_LEVEL_NORMAL;
  detail::check(ebb_memory_level(warn_percent, critical_percent, &level));
  return static_cast<Level>(level);
}

/// Runs the hooks, makes the allocator give memory back, and reports what came back and what it
/// cost.
inline ebb_cleanup_report cleanup(bool cuda_empty_cache = false) {
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  detail::check(ebb_cleanup(cuda_empty_cache ? 1 : 0, &report));
  return report;
}

/// What a guard found, and the report if it cleaned up.
struct Guarded {
  Level level = Level::normal;
  std::optional<ebb_cleanup_report> report;
};

/// Compares memory with the thresholds, once per call. At critical it cleans up, and freed memory
/// goes back at once until a later call finds the level normal again.
inline Guarded guard(double warn_percent = 85, double critical_percent = 90) {
  int level = EBB_LEVEL_NORMAL;
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  detail::check(ebb_guard(warn_percent, critical_percent, &level, &report));
  const bool cleaned = report.disabled != 0 || report.rss_before_bytes != 0;
  return {static_cast<Level>(level), cleaned ? std::optional(report) : std::nullopt};
}

/// From now on freed memory goes back at once, if the allocator can do that; false ends it. Whether
/// this changed the allocator.
inline bool give_back_at_once(bool on = true) {
  int changed = 0;
  detail::check(ebb_give_back_at_once(on ? 1 : 0, &changed));
  return changed != 0;
}

/// From now on, cleans up whenever systemd asks for memory. False if $MEMORY_PRESSURE_WATCH is not
/// set.
inline bool watch_pressure() {
  int watching = 0;
  detail::check(ebb_watch_pressure(&watching));
  return watching != 0;
}

/// Makes cleanups call a function for as long as this object lives. Not movable: the library keeps
/// its address.
class Hook {
 public:
  /// `body` returns how much it freed; an exception counts as a failed hook.
  Hook(const char* name, int stage, std::function<std::uint64_t()> body) : body_(std::move(body)) {
    detail::check(ebb_hook_add(name, stage, &Hook::call, this, &id_));
  }
  ~Hook() { ebb_hook_remove(id_); }
  Hook(const Hook&) = delete;
  Hook& operator=(const Hook&) = delete;

 private:
  static int call(void* self, std::uint64_t* count) {
    try {
      *count = static_cast<Hook*>(self)->body_();
      return 0;
    } catch (...) {
      return 1;
    }
  }

  std::function<std::uint64_t()> body_;
  std::uint64_t id_ = 0;
};

/// What a RoundKeeper does about the cache of the framework's devices.
enum class CudaEmptyCache { as_suits_the_role = -1, never = 0, always = 1 };

/// Cleans up after rounds of a job.
class RoundKeeper {
 public:
  /// As often as the environment says, else as suits the role. Without a role: that of EBB_ROLE,
  /// else a trainer's.
  explicit RoundKeeper(const char* role = nullptr,
                       CudaEmptyCache cuda_empty_cache = CudaEmptyCache::as_suits_the_role)
      : RoundKeeper(role, EBB_ROUNDS_DEFAULT, 0, cuda_empty_cache) {}

  /// After every `rounds`-th round; 0 for never.
  static RoundKeeper every(const char* role, int rounds,
                           CudaEmptyCache cuda_empty_cache = CudaEmptyCache::as_suits_the_role) {
    return RoundKeeper(role, EBB_ROUNDS_EVERY, rounds, cuda_empty_cache);
  }
  /// By measured benefit and cost.
  static RoundKeeper automatic(
      const char* role, CudaEmptyCache cuda_empty_cache = CudaEmptyCache::as_suits_the_role) {
    return RoundKeeper(role, EBB_ROUNDS_AUTO, 0, cuda_empty_cache);
  }

  RoundKeeper(RoundKeeper&& other) noexcept : keeper_(std::exchange(other.keeper_, nullptr)) {}
  RoundKeeper& operator=(RoundKeeper&& other) noexcept {
    std::swap(keeper_, other.keeper_);
    return *this;
  }
  ~RoundKeeper() { ebb_keeper_destroy(keeper_); }

  /// Call after each round. Returns the report if it cleaned up.
  std::optional<ebb_cleanup_report> round_done() {
    return reported([&](int* cleaned, ebb_cleanup_report* report) {
      return ebb_keeper_round_done(keeper_, cleaned, report);
    });
  }

  /// The same with the round's number, from 0: a round counts once, however often it is announced.
  std::optional<ebb_cleanup_report> round_done(std::uint64_t round) {
    return reported([&](int* cleaned, ebb_cleanup_report* report) {
      return ebb_keeper_numbered_round_done(keeper_, round, cleaned, report);
    });
  }

 private:
  RoundKeeper(const char* role, int rounds, int every, CudaEmptyCache cuda_empty_cache) {
    ebb_keeper_options options{};
    options.struct_size = sizeof options;
    options.role = role;
    options.rounds = rounds;
    options.every = every;
    options.cuda_empty_cache = static_cast<int>(cuda_empty_cache);
    detail::check(ebb_keeper_create(&options, &keeper_));
  }

  template <class Call>
  static std::optional<ebb_cleanup_report> reported(Call call) {
    int cleaned = 0;
    ebb_cleanup_report report{};
    report.struct_size = sizeof report;
    detail::check(call(&cleaned, &report));
    return cleaned != 0 ? std::optional(report) : std::nullopt;
  }

  ebb_keeper* keeper_ = nullptr;
};

/// Tells `ebb run` that a round (from 0) is done; for jobs without a RoundKeeper, which does that
/// by itself. Without a supervisor nothing happens.
inline void announce_round(std::uint64_t round) {
  ebb_announce_round(round);
}

/// Whether this process runs under `ebb run` and its supervisor is connected.
inline bool is_supervised() {
  return ebb_is_supervised() != 0;
}

/// NVFlare's RSS marker for the current RSS: "[RSS] CA s=site-1 r=3 recv: 143.2 MB". `task` is for
/// the source "CJ".
inline std::string rss_marker(const char* source, const char* site, std::uint64_t round,
                              const char* tag, const char* task = nullptr) {
  char text[1024];
  detail::check(ebb_rss_marker(source, site, task, round, tag, text, sizeof text));
  return text;
}

/// Whether the environment asks for RSS markers.
inline bool memory_profile() {
  return ebb_memory_profile() != 0;
}

/// A weighted mean of tensors that are added one by one, with the same bits in whatever order they
/// come. Types are EBB_FLOAT32, ….
class Sum {
 public:
  explicit Sum(std::uint64_t elements) { detail::check(ebb_sum_create(elements, &sum_)); }
  Sum(Sum&& other) noexcept : sum_(std::exchange(other.sum_, nullptr)) {}
  Sum& operator=(Sum&& other) noexcept {
    std::swap(sum_, other.sum_);
    return *this;
  }
  ~Sum() { ebb_sum_destroy(sum_); }

  /// Adds weight * values, as many as there are elements. Throws, with nothing added, if a value is
  /// not finite or is an integer beyond 2^53.
  void add(int type, const void* values, double weight = 1) {
    detail::check(ebb_sum_add(sum_, type, values, weight));
  }
  void add(const float* values, double weight = 1) { add(EBB_FLOAT32, values, weight); }
  void add(const double* values, double weight = 1) { add(EBB_FLOAT64, values, weight); }

  /// Throws, naming the first that cannot, if values could not be added.
  static void check(int type, std::uint64_t elements, const void* values) {
    detail::check(ebb_sum_check(type, elements, values));
  }

  /// Writes the sum divided by the sum of the weights. With `release` the sum frees its memory
  /// while it is read, and is empty afterwards.
  void mean(int type, void* values, bool release = false) {
    detail::check(ebb_sum_mean(sum_, type, values, release ? 1 : 0));
  }
  void mean(float* values, bool release = false) { mean(EBB_FLOAT32, values, release); }
  void mean(double* values, bool release = false) { mean(EBB_FLOAT64, values, release); }

  ebb_sum_report info() const {
    ebb_sum_report report{};
    report.struct_size = sizeof report;
    detail::check(ebb_sum_info(sum_, &report));
    return report;
  }

 private:
  ebb_sum* sum_ = nullptr;
};

/// Runs a verb ("info", "cleanup", "env", "replay", "tune", "doctor", "plan") with a JSON object of
/// arguments; the answer is a JSON object too.
inline std::string call(const char* verb, const std::string& arguments = "{}") {
  char* result = nullptr;
  const int code = ebb_call(verb, arguments.c_str(), &result);
  return detail::text(code, result);
}

/// The memory that ebb_torch_alloc hands out, to PyTorch or to any other caller.
namespace torch {

/// torch.cuda.memory_stats() as JSON.
inline std::string stats(int device = 0) {
  char* json = nullptr;
  const int code = ebb_torch_stats(device, &json);
  return detail::text(code, json);
}

/// torch.cuda.memory_summary().
inline std::string summary(int device = 0) {
  char* table = nullptr;
  const int code = ebb_torch_summary(device, &table);
  return detail::text(code, table);
}

/// torch.cuda.memory._dump_snapshot().
inline void snapshot(const std::string& path) {
  ebb::detail::check(ebb_torch_snapshot(path.c_str()));
}

/// From now on, keeps the last `max_entries` events for snapshots; 0 for all.
inline void record_history(std::uint64_t max_entries = 0) {
  ebb::detail::check(ebb_torch_record_history(1, max_entries));
}

/// Ends that.
inline void stop_history() {
  ebb::detail::check(ebb_torch_record_history(0, 0));
}

/// torch.cuda.reset_peak_memory_stats().
inline void reset_peak_stats(int device = 0) {
  ebb::detail::check(ebb_torch_reset_peak_stats(device));
}

/// torch.cuda.set_per_process_memory_fraction().
inline void set_memory_fraction(double fraction, int device = 0) {
  ebb_torch_memory_fraction(fraction, device);
}

/// torch.cuda.empty_cache().
inline void empty_cache() {
  ebb::detail::check(ebb_torch_empty_cache());
}

/// Device memory for as long as this object lives.
class Memory {
 public:
  explicit Memory(std::size_t bytes, int device = 0, void* stream = nullptr)
      : device_(device), stream_(stream) {
    ebb::detail::check(ebb_torch_try_alloc(bytes, device, stream, &memory_));
  }
  Memory(Memory&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)),
        device_(other.device_),
        stream_(other.stream_) {}
  Memory& operator=(Memory&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(device_, other.device_);
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~Memory() { ebb_torch_free(memory_, 0, device_, stream_); }

  /// Null for 0 bytes.
  void* get() const { return memory_; }

  /// Keeps it from reuse, once freed, until `stream` is done with it.
  void record_stream(void* stream) { ebb_torch_record_stream(memory_, stream); }

 private:
  void* memory_ = nullptr;
  int device_;
  void* stream_;
};

}  // namespace torch

}  // namespace ebb

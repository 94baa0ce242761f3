// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "ebb/ebb.h"

/// Ebb for C++: a header over the C interface, with objects that own what the C interface hands
/// out. Failures are exceptions (ebb::Error).
namespace ebb {

/// A call that failed: what() is the library's message, code() its ebb_code.
class Error : public std::runtime_error {
 public:
  Error(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

namespace detail {
inline void check(int code) {
  if (code != EBB_OK) throw Error(code, ebb_last_error());
}
}  // namespace detail

/// The library's version, e.g. "0.1.0".
inline std::string_view version() {
  return ebb_version();
}

/// The allocator that serves malloc in this process.
inline std::string_view allocator() {
  return ebb_allocator();
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

/// Runs the hooks, makes the allocator give memory back, and reports what came back and what it
/// cost.
inline ebb_cleanup_report cleanup(bool cuda_empty_cache = false) {
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  detail::check(ebb_cleanup(cuda_empty_cache ? 1 : 0, &report));
  return report;
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

/// Cleans up after rounds of a job.
class RoundKeeper {
 public:
  /// As often as the environment says, else as suits the role. Without a role: that of EBB_ROLE,
  /// else a trainer's.
  explicit RoundKeeper(const char* role = nullptr) : RoundKeeper(role, EBB_ROUNDS_DEFAULT, 0) {}

  /// After every `rounds`-th round; 0 for never.
  static RoundKeeper every(const char* role, int rounds) {
    return RoundKeeper(role, EBB_ROUNDS_EVERY, rounds);
  }
  /// By measured benefit and cost.
  static RoundKeeper automatic(const char* role) { return RoundKeeper(role, EBB_ROUNDS_AUTO, 0); }

  RoundKeeper(RoundKeeper&& other) noexcept : keeper_(std::exchange(other.keeper_, nullptr)) {}
  RoundKeeper& operator=(RoundKeeper&& other) noexcept {
    std::swap(keeper_, other.keeper_);
    return *this;
  }
  ~RoundKeeper() { ebb_keeper_destroy(keeper_); }

  /// Call after each round. Returns the report if it cleaned up.
  std::optional<ebb_cleanup_report> round_done() {
    int cleaned = 0;
    ebb_cleanup_report report{};
    report.struct_size = sizeof report;
    detail::check(ebb_keeper_round_done(keeper_, &cleaned, &report));
    return cleaned != 0 ? std::optional(report) : std::nullopt;
  }

 private:
  RoundKeeper(const char* role, int rounds, int every) {
    ebb_keeper_options options{};
    options.struct_size = sizeof options;
    options.role = role;
    options.rounds = rounds;
    options.every = every;
    options.cuda_empty_cache = -1;
    detail::check(ebb_keeper_create(&options, &keeper_));
  }

  ebb_keeper* keeper_ = nullptr;
};

/// The memory that ebb_torch_alloc hands out, to PyTorch or to any other caller.
namespace torch {

namespace detail {
inline std::string text(int code, char* owned) {
  ebb::detail::check(code);
  std::string copy(owned);
  ebb_free(owned);
  return copy;
}
}  // namespace detail

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

 private:
  void* memory_ = nullptr;
  int device_;
  void* stream_;
};

}  // namespace torch

}  // namespace ebb

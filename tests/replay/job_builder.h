// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/core.h"
#include "cache/snapshot_pickle.h"
#include "device/sim_driver.h"
#include "replay/workload.h"
#include "trace/snapshot_reader.h"

namespace ebb::replay {

/// A job that runs on the real allocator over a simulated device, with its history recorded.
class RecordedJob final : public cache::CompletionSource {
 public:
  explicit RecordedJob(const std::string& conf = "", int minor = 11,
                       std::uint64_t limit = cache::kUnlimited, std::size_t entries = 1 << 24) {
    device::SimOptions sim;
    sim.total_memory = kDevice;
    driver_ = std::make_unique<device::SimDriver>(sim);
    cache::CoreOptions options;
    options.profile = *cache::profile_of(minor);
    options.settings = *cache::parse_settings(conf, options.profile);
    options.completions = this;
    core_ = *cache::Core::create(*driver_, 0, options);
    if (limit != cache::kUnlimited) {
      EBB_CHECK(
          core_->set_memory_fraction(static_cast<double>(limit) / static_cast<double>(kDevice)));
    }
    core_->record_history({.max_entries = entries});
  }

  cache::Core& core() { return *core_; }

  /// 0 when there was no memory.
  device::Address take(std::uint64_t bytes, device::StreamId stream = 0) {
    return core_->allocate(bytes, stream);
  }
  void give(device::Address address) { EBB_CHECK(core_->free(address)); }
  /// Gives it back while another stream still uses it, until complete().
  void give_later(device::Address address) {
    EBB_CHECK(core_->record_stream(address, 77));
    EBB_CHECK(core_->free(address));
  }
  /// The next request sees that the other stream is done with it.
  void complete(device::Address address) { completed_.push_back(address); }

  trace::Snapshot snapshot() {
    cache::Snapshot snapshot;
    snapshot.profile = core_->profile();
    snapshot.settings = core_->settings();
    cache::add_device(snapshot, *core_);
    auto read = trace::parse_snapshot(cache::pickle_of(snapshot), "job");
    EBB_CHECK(read.has_value());
    return std::move(*read);
  }
  Workload workload(std::optional<std::uint64_t> limit = std::nullopt) {
    auto work = workload_of(snapshot(), {0, limit});
    EBB_CHECK(work.has_value());
    return std::move(*work);
  }

  std::optional<device::Address> next_completed(bool) override {
    if (completed_.empty()) return std::nullopt;
    const device::Address address = completed_.front();
    completed_.erase(completed_.begin());
    return address;
  }

 private:
  static constexpr std::uint64_t kDevice = 1ULL << 40;

  std::unique_ptr<device::SimDriver> driver_;
  std::unique_ptr<cache::Core> core_;
  std::vector<device::Address> completed_;
};

/// Takes and gives back blocks of random sizes, small and large, on a few streams.
inline void run_randomly(RecordedJob& job, unsigned seed, int requests, std::size_t live = 40) {
  std::mt19937_64 random(seed);
  std::vector<device::Address> blocks;
  std::vector<device::Address> waiting;
  for (int i = 0; i < requests; ++i) {
    const bool full = blocks.size() >= live;
    if (!full && (blocks.empty() || random() % 3 != 0)) {
      const std::uint64_t scale = std::uint64_t{1} << (9 + random() % 18);
      const device::Address address = job.take(scale + random() % scale, random() % 2);
      if (address != 0) blocks.push_back(address);
    } else {
      const std::size_t pick = random() % blocks.size();
      if (random() % 10 == 0) {
        job.give_later(blocks[pick]);
        waiting.push_back(blocks[pick]);
      } else {
        job.give(blocks[pick]);
      }
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(pick));
    }
    if (!waiting.empty() && random() % 8 == 0) {
      job.complete(waiting.front());
      waiting.erase(waiting.begin());
    }
  }
}

}  // namespace ebb::replay

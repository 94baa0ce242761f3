// SPDX-License-Identifier: Apache-2.0
// Whatever snapshot the reader accepts, a diagnosis comes to an end. An input is a snapshot file,
// or the choices out of which one is made: histories that no allocator could have had.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/log.h"
#include "cache/snapshot_pickle.h"
#include "replay/doctor/comparison.h"
#include "replay/doctor/doctor.h"
#include "replay/lifetimes.h"
#include "trace/snapshot_reader.h"

namespace ebb {
namespace {

constexpr std::size_t kMostOperations = 96;

class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

  bool empty() const { return at_ >= size_; }
  std::size_t below(std::size_t count) { return empty() ? 0 : data_[at_++] % count; }
  template <class T, std::size_t kCount>
  T one_of(const std::array<T, kCount>& all) {
    return all[below(kCount)];
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

constexpr std::uint64_t kMiB = base::kMiB;
constexpr std::array<std::uint64_t, 16> kSizes = {
    1,         512,        300000,      kMiB,       kMiB + 1,   3 * kMiB,   9 * kMiB, 10 * kMiB,
    33 * kMiB, 100 * kMiB, 4096 * kMiB, 1ULL << 42, 1ULL << 59, 1ULL << 60, 0,        ~0ULL};
constexpr std::array<const char*, 6> kConfs = {"",
                                               "expandable_segments:True",
                                               "max_split_size_mb:32",
                                               "roundup_power2_divisions:[1:2,>:4]",
                                               "garbage_collection_threshold:0.6",
                                               "backend:cudaMallocAsync"};
constexpr std::array<std::uint64_t, 6> kLimits = {0,       2 * kMiB,   60 * kMiB,
                                                  1 << 30, 1ULL << 45, ~0ULL};

cache::TraceEntry entry_from(Choices& choices, std::int64_t time_us) {
  cache::TraceEntry entry;
  entry.action = static_cast<trace::Action>(choices.below(trace::kActions));
  entry.address = 16 * kMiB * (1 + choices.below(12)) + 512 * kMiB * choices.below(2);
  entry.size = choices.one_of(kSizes);
  entry.stream = choices.below(3);
  entry.pool = {0, choices.below(4) / 2};
  entry.time_us = time_us;
  return entry;
}

cache::SnapshotSegment segment_from(Choices& choices, std::uint64_t address) {
  cache::SnapshotSegment segment;
  segment.address = address;
  segment.small = choices.below(2) == 0;
  segment.expandable = choices.below(3) == 0;
  segment.stream = choices.below(3);
  segment.pool = {0, choices.below(4) / 2};
  const std::size_t blocks = 1 + choices.below(3);
  for (std::size_t i = 0; i < blocks; ++i) {
    cache::SnapshotBlock block;
    block.address = address + segment.total_size;
    block.size = 512 * (1 + choices.below(200) * choices.below(100));
    block.requested_size = choices.one_of(kSizes);
    block.state = static_cast<trace::BlockState>(choices.below(3));
    segment.total_size += block.size;
    segment.blocks.push_back(block);
  }
  return segment;
}

std::string snapshot_from(Choices& choices) {
  cache::Snapshot snapshot;
  snapshot.profile = *cache::profile_of(static_cast<int>(1 + choices.below(15)));
  const std::string conf = choices.one_of(kConfs);
  if (auto settings = cache::parse_settings(conf, snapshot.profile)) snapshot.settings = *settings;
  const std::size_t segments = choices.below(6);
  for (std::size_t i = 0; i < segments; ++i) {
    snapshot.segments.push_back(segment_from(choices, 16 * kMiB * (1 + 2 * i)));
  }
  std::vector<cache::TraceEntry> trace;
  std::int64_t time_us = 0;
  while (!choices.empty() && trace.size() < kMostOperations) {
    const std::size_t what = choices.below(64);
    time_us += static_cast<std::int64_t>(1000 * (what % 8));
    if (what < 16) snapshot.annotations.push_back({"step", what != 0, 0, time_us});
    trace.push_back(entry_from(choices, time_us));
  }
  snapshot.device_traces.push_back(std::move(trace));
  return cache::pickle_of(snapshot);
}

void diagnose(const trace::Snapshot& snapshot, int device, std::optional<std::uint64_t> limit) {
  const auto workload = replay::workload_of(snapshot, {device, limit});
  if (!workload || workload->operations.size() > kMostOperations + 20) return;
  const replay::LowerBound bound = replay::lower_bound_of(*workload);
  EBB_CHECK(bound.operation < workload->operations.size() || workload->operations.empty());
  replay::Circumstances circumstances;
  circumstances.limit = limit;
  const auto row = replay::forecast(*workload, "expandable_segments:True", circumstances, true);
  if (row) static_cast<void>(replay::to_json(*row).text());
  const auto diagnosis = replay::diagnose(snapshot, device, *workload, circumstances);
  if (!diagnosis) {
    EBB_CHECK(diagnosis.error().code == base::Code::bad_input);
    return;
  }
  EBB_CHECK(diagnosis->evidence.find("kind") != nullptr);
  static_cast<void>(replay::to_json(*diagnosis).text());
}

}  // namespace
}  // namespace ebb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ebb;
  base::set_log_level(base::LogLevel::off);
  if (size == 0) return 0;
  Choices choices(data, size);
  const bool is_file = data[0] == 0x80;
  const std::size_t limit = is_file ? size % kLimits.size() : choices.below(kLimits.size());
  const std::string text =
      is_file ? std::string(reinterpret_cast<const char*>(data), size) : snapshot_from(choices);
  const auto snapshot = trace::parse_snapshot(text, "input");
  if (!snapshot) return 0;
  const std::optional<std::uint64_t> asked =
      limit == 0 ? std::nullopt : std::optional(kLimits[limit]);
  for (std::size_t device = 0; device < snapshot->traces.size() && device < 4; ++device) {
    diagnose(*snapshot, static_cast<int>(device), asked);
  }
  static_cast<void>(replay::to_json(replay::compare(*snapshot, {})).text());
  return 0;
}

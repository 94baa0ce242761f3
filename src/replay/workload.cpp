// SPDX-License-Identifier: Apache-2.0
#include "replay/workload.h"

#include <algorithm>
#include <unordered_map>

#include "base/text.h"
#include "cache/rounding.h"
#include "cache/version.h"
#include "replay/pools_at_end.h"
#include "replay/releases.h"
#include "replay/settle.h"
#include "trace/initial_state.h"

namespace ebb::replay {
namespace {

using trace::Action;
using trace::Event;
using Kind = Operation::Kind;

constexpr std::uint64_t kLargePage = 20 * base::kMiB;

/// Walks along a history and writes down what was asked.
class Builder {
 public:
  Builder(const trace::Snapshot& snapshot, const WorkloadOptions& options)
      : snapshot_(snapshot),
        options_(options),
        events_(history_of(snapshot, options.device)),
        pools_(snapshot, at(options.device)) {}

  Workload build() && {
    work_.streams = snapshot_.streams;
    work_.pools = snapshot_.pools;
    describe_recording();
    start_from(trace::initial_state(snapshot_, at(options_.device)));
    const Releases releases =
        releases_in(snapshot_, events_, work_.recording.start_reserved, known_);
    work_.recording.limit_high = releases.limit_below;
    auto release = releases.by_job.begin();
    for (index_ = 0; index_ < events_.size(); ++index_) {
      take(events_[index_]);
      if (release != releases.by_job.end() && *release == index_) {
        add(Kind::empty_cache, {}).waited = true;
        released_ = false;
        ++release;
      }
    }
    finish();
    return std::move(work_);
  }

 private:
  static std::size_t at(int device) { return static_cast<std::size_t>(device); }

  void describe_recording() {
    work_.notes = snapshot_.notes;
    Recording& recording = work_.recording;
    recording.newest_minor =
        std::clamp(snapshot_.newest_minor, cache::kOldestMinor, cache::kNewestMinor);
    if (snapshot_.settings) {
      recording.conf = snapshot_.settings->conf;
      recording.conf_known = true;
    } else {
      work_.notes.push_back("the recording does not name its settings: PyTorch's default assumed");
    }
    if (options_.limit && *options_.limit >= highest_success()) known_.limit = options_.limit;
    const auto profile = cache::profile_of(recording.newest_minor);
    if (auto settings = cache::parse_settings(recording.conf, *profile)) {
      known_.settings = recording.settings = *settings;
    } else {
      work_.notes.push_back("recorded settings: " + settings.error().message);
    }
    if (snapshot_.has_times && !events_.empty()) {
      recording.seconds =
          static_cast<double>(events_.back().time_us - events_.front().time_us) / 1e6;
    }
  }

  /// Most that the recording ever held after a request was served: its limit was no lower, but for
  /// the part of a page by which mapped memory may exceed it.
  std::uint64_t highest_success() const {
    std::uint64_t reserved = 0;
    std::uint64_t highest = 0;
    for (const Event& event : events_) {
      const bool map = event.action == Action::segment_map;
      if (map || event.action == Action::segment_alloc) {
        reserved += event.size;
        highest = std::max(highest, reserved - (map ? std::min(reserved, kLargePage) : 0));
      } else if (trace::is_segment_action(event.action)) {
        reserved -= std::min(reserved, event.size);
      }
    }
    return highest;
  }

  Operation& add(Kind kind, const Event& event) {
    Operation op;
    op.kind = kind;
    op.event = static_cast<std::uint32_t>(index_);
    op.stream = event.stream;
    op.pool = event.pool;
    work_.operations.push_back(op);
    return work_.operations.back();
  }

  std::uint16_t index_of(trace::Stream stream) { return index_in(work_.streams, stream); }
  std::uint16_t index_of(trace::PoolId pool) { return index_in(work_.pools, pool); }
  template <class T>
  static std::uint16_t index_in(std::vector<T>& all, const T& wanted) {
    auto found = std::find(all.begin(), all.end(), wanted);
    if (found == all.end()) found = all.insert(all.end(), wanted);
    return static_cast<std::uint16_t>(found - all.begin());
  }

  void start_from(trace::InitialState initial) {
    settle(initial.segments, known_.settings, *cache::profile_of(work_.recording.newest_minor));
    for (const trace::Segment& segment : initial.segments) {
      work_.recording.start_reserved += segment.size;
      Event event;
      event.stream = index_of(segment.stream);
      event.pool = index_of(segment.pool);
      for (const trace::Block& block : segment.blocks) {
        if (block.state == trace::BlockState::inactive) continue;
        Operation& op = add(Kind::allocate, event);
        op.bytes = std::max<std::uint64_t>(block.requested, 1);
        op.block = work_.blocks;
        work_.initial_stacks.push_back(block.stack);
        if (block.state == trace::BlockState::active_allocated) {
          live_[block.address] = work_.blocks++;
        } else {
          waiting_[block.address] = work_.blocks++;
          early_frees_.push_back(op.block);
        }
      }
    }
    work_.initial_blocks = work_.blocks;
    for (const std::uint32_t block : early_frees_) {
      add(Kind::free_later, {}).block = block;
    }
    work_.first_recorded = static_cast<std::uint32_t>(work_.operations.size());
    if (work_.initial_blocks != 0 && !events_.empty()) {
      work_.notes.push_back(base::format_text(
          "recording began with %u blocks in use: other settings allocate them first",
          work_.initial_blocks));
    }
    for (std::string& note : initial.notes) {
      work_.notes.push_back(std::move(note));
    }
    work_.initial = std::move(initial.segments);
    reserved_ = work_.recording.peak_reserved = work_.recording.start_reserved;
  }

  void take(const Event& event) {
    switch (event.action) {
      case Action::alloc:
        return take_allocation(event);
      case Action::free_requested:
        return take_free(event);
      case Action::free_completed:
        return take_completion(event);
      case Action::oom:
        return take_failure(event);
      case Action::segment_alloc:
      case Action::segment_map:
      case Action::segment_free:
      case Action::segment_unmap:
        return take_segment(event);
      case Action::snapshot:
      case Action::annotate:
        return;
    }
  }

  void take_allocation(const Event& event) {
    Operation& op = add(Kind::allocate, event);
    op.bytes = event.size;
    op.block = work_.blocks;
    if (const auto pool = pools_.pool_at(index_, event.address)) op.pool = index_of(*pool);
    op.waited = released_;
    released_ = false;
    note_success(event);
    ++work_.requests;
    if (!live_.emplace(event.address, work_.blocks).second) {
      ++overlaps_;
      live_[event.address] = work_.blocks;
    }
    ++work_.blocks;
  }

  /// New memory was mapped for this request: together with what was held before, and rounded as for
  /// a plain segment, it was within the limit.
  void note_success(const Event& event) {
    if (!before_mapping_) return;
    const std::uint64_t rounded = cache::round_up(event.size, cache::kMinBlock);
    const std::uint64_t asked = cache::segment_size(rounded, known_.settings.large_segment_size);
    work_.recording.limit_low = std::max(work_.recording.limit_low, *before_mapping_ + asked);
    before_mapping_.reset();
  }

  void take_free(const Event& event) {
    ++work_.requests;
    const auto found = live_.find(event.address);
    if (found == live_.end()) {
      ++unknown_frees_;
      return;
    }
    const std::uint32_t block = found->second;
    live_.erase(found);
    // A free that the next request completes carries that request's stack.
    const Event* next = index_ + 1 < events_.size() ? &events_[index_ + 1] : nullptr;
    const bool at_once = next != nullptr && next->action == Action::free_completed &&
                         next->address == event.address && next->stack == event.stack;
    add(at_once ? Kind::free : Kind::free_later, event).block = block;
    if (!at_once) waiting_[event.address] = block;
  }

  void take_completion(const Event& event) {
    const auto found = waiting_.find(event.address);
    if (found == waiting_.end()) return;  // completed at once, or unknown
    add(Kind::complete, event).block = found->second;
    waiting_.erase(found);
  }

  void take_failure(const Event& event) {
    Recording& recording = work_.recording;
    Operation& op = add(Kind::failed, event);
    op.bytes = event.size;
    op.waited = true;
    released_ = false;
    ++recording.ooms;
    recording.largest_oom_free = std::max(recording.largest_oom_free, event.address);
    recording.events.push_back({work_.requests, Action::oom, event.size});
    const std::uint64_t asked = cache::segment_size(event.size, known_.settings.large_segment_size);
    recording.limit_high = std::min(recording.limit_high, reserved_ + asked);
    if (event.address < asked) {
      recording.device_limit = std::max(recording.device_limit, reserved_ + event.address);
    }
  }

  void take_segment(const Event& event) {
    Recording& recording = work_.recording;
    recording.events.push_back({work_.requests, event.action, event.size});
    if (event.action == Action::segment_alloc || event.action == Action::segment_map) {
      reserved_ += event.size;
      recording.peak_reserved = std::max(recording.peak_reserved, reserved_);
      if (event.action == Action::segment_alloc) {
        recording.segments.push_back({work_.requests, event.size, event.address});
        recording.limit_low = std::max(recording.limit_low, reserved_);
      } else if (!before_mapping_) {
        before_mapping_ = reserved_ - event.size;
      }
    } else {
      reserved_ -= std::min(reserved_, event.size);
      released_ = true;
    }
  }

  void finish() {
    Recording& recording = work_.recording;
    recording.final_reserved = reserved_;
    if (!snapshot_.has_pool_ids && work_.pools.size() > 1 && !events_.empty()) {
      work_.notes.push_back(
          "before PyTorch 2.12 events do not name a pool: private pools are known only by what "
          "they hold at the end");
    }
    if (unknown_frees_ != 0) {
      work_.notes.push_back(
          base::format_text("%llu frees of blocks that were never seen were left out",
                            static_cast<unsigned long long>(unknown_frees_)));
    }
    if (overlaps_ != 0) {
      work_.notes.push_back(
          base::format_text("%llu allocations at addresses still in use: the history has gaps",
                            static_cast<unsigned long long>(overlaps_)));
    }
  }

  const trace::Snapshot& snapshot_;
  const WorkloadOptions& options_;
  const std::vector<Event>& events_;
  const PoolsAtEnd pools_;
  KnownSettings known_;
  Workload work_;
  std::unordered_map<trace::Address, std::uint32_t> live_;
  std::unordered_map<trace::Address, std::uint32_t> waiting_;
  std::vector<std::uint32_t> early_frees_;
  std::size_t index_ = 0;
  std::uint64_t reserved_ = 0;
  std::optional<std::uint64_t> before_mapping_;  ///< what was held, since the last request
  std::uint64_t unknown_frees_ = 0;
  std::uint64_t overlaps_ = 0;
  bool released_ = false;  ///< segments were given back since the last request
};

}  // namespace

const std::vector<trace::Event>& history_of(const trace::Snapshot& snapshot, int device) {
  static const std::vector<trace::Event> nothing;
  const auto index = static_cast<std::size_t>(device);
  return device >= 0 && index < snapshot.traces.size() ? snapshot.traces[index] : nothing;
}

base::Result<Workload> workload_of(const trace::Snapshot& snapshot,
                                   const WorkloadOptions& options) {
  const int device = options.device;
  if (!history_of(snapshot, device).empty()) return Builder(snapshot, options).build();
  const bool holds_memory = std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                                        [&](const auto& held) { return held.device == device; });
  if (options.segments_suffice && holds_memory) return Builder(snapshot, options).build();
  if (options.segments_suffice && !snapshot.segments.empty()) {
    return base::error(base::Code::bad_input,
                       "device %d: the snapshot has neither a history nor segments of it", device);
  }
  const bool none = std::all_of(snapshot.traces.begin(), snapshot.traces.end(),
                                [](const auto& trace) { return trace.empty(); });
  const std::size_t devices = snapshot.traces.size();
  if (!none && (device < 0 || static_cast<std::size_t>(device) >= devices)) {
    return base::error(base::Code::bad_input,
                       "device %d: the snapshot has histories of %zu devices", device, devices);
  }
  return base::error(base::Code::bad_input,
                     "%sthe snapshot has no history, expected one that "
                     "torch.cuda.memory._record_memory_history(max_entries=1000000) recorded from "
                     "the start of the job on",
                     none ? "" : base::format_text("device %d: ", device).c_str());
}

}  // namespace ebb::replay

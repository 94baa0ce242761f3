// SPDX-License-Identifier: Apache-2.0
#include "replay/replayer.h"

#include <algorithm>
#include <deque>

#include "base/check.h"
#include "cache/core.h"

namespace ebb::replay {
namespace {

using cache::Core;
using Kind = Operation::Kind;

/// Stands for all streams that delay a free: a recording shows that some did, not which.
constexpr StreamId kOtherStream = static_cast<StreamId>(-1);

/// Points of a curve beside those where what is reserved changes.
constexpr std::uint64_t kSamples = 4000;

/// One run. Also tells the allocator which frees are complete, and the driver where segments go.
class Run final : public cache::CompletionSource {
 public:
  Run(const Workload& work, const Setup& setup)
      : work_(work), setup_(setup), driver_(model_of(setup.placement)) {
    driver_.keep_events = setup.keep_events;
    if (setup.placement == Placement::recorded || setup.placement == Placement::chunks) {
      driver_.choose_addresses([this](std::uint64_t bytes) { return recorded_address(bytes); });
    }
    make_core();
    addresses_.resize(work.blocks);
  }

  Outcome finish() && {
    std::size_t at = 0;
    if (setup_.as_recorded && !work_.initial.empty()) at = adopt_initial();
    // What was taken over counts as the operations that it stands for.
    for (; at < work_.operations.size() && at <= setup_.last_operation && !stopped_; ++at) {
      if (at == work_.first_recorded) driver_.requests = 0;
      perform(work_.operations[at]);
      if (setup_.keep_curve && driver_.requests >= next_sample_) sample();
      if (setup_.step_ends != nullptr) note_step_ends(at + 1);
    }
    return conclude();
  }

  std::optional<Address> next_completed(bool waiting) override {
    if (completed_.empty()) return std::nullopt;
    if (setup_.as_recorded && current_ != nullptr && current_->waited != waiting) {
      return std::nullopt;
    }
    const std::uint32_t block = completed_.front();
    completed_.pop_front();
    std::erase(waiting_, block);
    return addresses_[block];
  }

 private:
  void make_core() {
    cache::CoreOptions options;
    options.profile = setup_.profile;
    options.settings = setup_.settings;
    options.completions = this;
    auto core = Core::create(driver_, 0, options);
    EBB_CHECK(core.has_value());
    core_ = std::move(*core);
    if (setup_.limit != cache::kUnlimited) core_->set_limit(setup_.limit);
    for (const trace::PoolId& pool : work_.pools) {
      if (!pool.is_default()) EBB_CHECK(core_->retain_pool(pool).has_value());
    }
  }

  std::optional<Address> recorded_address(std::uint64_t bytes) {
    const std::vector<RecordedSegment>& segments = work_.recording.segments;
    while (segment_ < segments.size() && segments[segment_].requests < driver_.requests) {
      ++segment_;
    }
    for (std::size_t i = segment_; i < segments.size() && segments[i].requests == driver_.requests;
         ++i) {
      if (segments[i].size == bytes) return segments[i].address;
    }
    return std::nullopt;
  }

  /// The memory held when recording began, as it was. Returns the first operation after it; none
  /// is skipped where the memory cannot be taken over.
  std::size_t adopt_initial() {
    std::vector<cache::SnapshotSegment> segments;
    std::uint32_t next = 0;
    for (const trace::Segment& from : work_.initial) {
      for (const trace::Block& block : from.blocks) {
        if (block.state != trace::BlockState::inactive) addresses_[next++] = block.address;
      }
      segments.push_back(cache::segment_from(from));
    }
    const auto adopted =
        core_->adopt(segments, [this](Address address) { driver_.place_next_at(address); });
    driver_.forget_calls();
    if (!adopted) {
      make_core();
      return 0;
    }
    watch();
    return work_.initial_blocks;
  }

  void perform(const Operation& op) {
    current_ = &op;
    switch (op.kind) {
      case Kind::allocate:
        allocate(op);
        break;
      case Kind::failed:
        retry_failed(op);
        break;
      case Kind::free:
      case Kind::free_later:
        free(op);
        break;
      case Kind::complete:
        if (std::find(waiting_.begin(), waiting_.end(), op.block) != waiting_.end()) {
          completed_.push_back(op.block);
        }
        break;
      case Kind::empty_cache:
        EBB_CHECK(core_->empty_cache().has_value());
        forget_waited();
        watch();
        break;
    }
  }

  /// Requests go to a private pool in between. Only for the request itself: up to 2.12 an open
  /// scope looks like a graph capture, which changes frees.
  void enter(std::uint16_t pool) {
    const auto everything = [](StreamId) { return true; };
    EBB_CHECK(core_->begin_scope(work_.pools[pool], everything).has_value());
  }
  void leave(std::uint16_t pool) { EBB_CHECK(core_->end_scope(work_.pools[pool]).has_value()); }

  Address request(const Operation& op) {
    if (op.pool != 0) enter(op.pool);
    const std::uint64_t reserved = core_->reserved();
    const Address address = core_->allocate(op.bytes, work_.streams[op.stream]);
    if (op.pool != 0) leave(op.pool);
    if (!waiting_.empty()) forget_waited();
    if (core_->reserved() != reserved) watch();
    return address;
  }

  void allocate(const Operation& op) {
    if (op.bytes == 0) return;
    const Address address = request(op);
    if (address == 0) {
      note_failure(op, false);
      stopped_ = true;
      return;
    }
    addresses_[op.block] = address;
    ++driver_.requests;
  }

  /// What the job would have done with the memory is unknown: it is given back at once.
  void retry_failed(const Operation& op) {
    const Address address = request(op);
    if (address == 0) {
      note_failure(op, true);
      return;
    }
    ++outcome_.rescued;
    EBB_CHECK(core_->free(address));
  }

  void free(const Operation& op) {
    const Address address = addresses_[op.block];
    if (address == 0) return;
    if (op.kind == Kind::free_later) {
      EBB_CHECK(core_->record_stream(address, kOtherStream));
      waiting_.push_back(op.block);
    }
    EBB_CHECK(core_->free(address));
    ++driver_.requests;
  }

  /// A retry or empty_cache waits for all streams at once: nothing is left to complete later.
  void forget_waited() {
    if (core_->stats().pending.total() != 0) return;
    waiting_.clear();
    completed_.clear();
  }

  std::uint32_t operation_of(const Operation* op) const {
    return op == nullptr ? 0 : static_cast<std::uint32_t>(op - work_.operations.data());
  }

  void note_failure(const Operation& op, bool recorded) {
    driver_.add_event(trace::Action::oom, core_->last_failure().rounded);
    ++outcome_.ooms;
    if (outcome_.oom) return;
    outcome_.oom =
        OutOfMemory{driver_.requests, operation_of(&op), op.bytes, recorded, core_->last_failure()};
  }

  /// After a change of what is reserved.
  void watch() {
    const auto peak = static_cast<std::uint64_t>(core_->stats().reserved_bytes.peak);
    if (peak > outcome_.peak_reserved) {
      if (setup_.keep_rises)
        outcome_.rises.push_back(
            {current_ == nullptr ? 0 : current_->bytes, peak - outcome_.peak_reserved});
      outcome_.peak_reserved = peak;
      outcome_.peak_operation = operation_of(current_);
      if (peak > setup_.abandon_above) {
        outcome_.abandoned = true;
        stopped_ = true;
      }
    }
    if (setup_.keep_curve) sample();
  }

  void sample() {
    outcome_.curve.push_back({driver_.requests, core_->reserved(), allocated()});
    next_sample_ = driver_.requests + work_.requests / kSamples;
  }

  void note_step_ends(std::size_t done) {
    const std::vector<std::uint32_t>& ends = *setup_.step_ends;
    while (outcome_.steps.size() < ends.size() && ends[outcome_.steps.size()] <= done) {
      outcome_.steps.push_back(
          {outcome_.peak_reserved, peak_allocated(), core_->reserved(), allocated()});
    }
  }

  std::uint64_t allocated() const {
    return static_cast<std::uint64_t>(core_->stats().allocated_bytes.current());
  }

  std::uint64_t peak_allocated() const {
    return static_cast<std::uint64_t>(core_->stats().allocated_bytes.peak);
  }

  Outcome conclude() {
    outcome_.final_reserved = core_->reserved();
    outcome_.final_allocated = allocated();
    outcome_.peak_allocated = peak_allocated();
    outcome_.retries = static_cast<std::uint64_t>(core_->stats().num_alloc_retries);
    outcome_.calls = driver_.calls();
    outcome_.requests = driver_.requests;
    outcome_.stats = core_->stats();
    outcome_.private_reserved = core_->private_reserved();
    outcome_.events = driver_.events();
    if (setup_.keep_curve) sample();
    if (setup_.keep_segments) {
      outcome_.segments = cache::segments_of(*core_);
      outcome_.addresses = std::move(addresses_);
    }
    return std::move(outcome_);
  }

  const Workload& work_;
  const Setup& setup_;
  ReplayDriver driver_;
  std::unique_ptr<Core> core_;
  Outcome outcome_;
  std::vector<Address> addresses_;      ///< by block
  std::vector<std::uint32_t> waiting_;  ///< freed, and other streams still use them
  std::deque<std::uint32_t> completed_;
  const Operation* current_ = nullptr;
  std::size_t segment_ = 0;
  std::uint64_t next_sample_ = 0;
  bool stopped_ = false;
};

}  // namespace

Outcome replay(const Workload& workload, const Setup& setup) {
  return Run(workload, setup).finish();
}

}  // namespace ebb::replay

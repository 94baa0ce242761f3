// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cache/core.h"

namespace ebb::cache {

Block* Core::miss(const Request& request) {
  Failure tried;
  base::Error error;
  Block* block = nullptr;
  if (collecting_) {
    const std::uint64_t before = reserved_;
    collect_garbage();
    tried.garbage_collected = before - reserved_;
  }
  Attempt attempt = obtain(request, false, block, error);
  if (attempt == Attempt::out_of_memory && profile_.overflow_pools == OverflowPools::first) {
    block = search_overflow_pools(request);
    if (block != nullptr) attempt = Attempt::ok;
    tried.asked_overflow_pools = true;
  }
  if (attempt == Attempt::out_of_memory && max_split_ != kUnlimited) {
    const std::uint64_t before = reserved_;
    const bool enough = release_available(request);
    tried.released_oversize = before - reserved_;
    if (enough) attempt = obtain(request, false, block, error);
  }
  if (attempt == Attempt::out_of_memory) {
    tried.in_capture = in_capture(request.stream);
    if (!tried.in_capture) {
      const std::uint64_t before = reserved_;
      release_all({}, false);
      tried.released = before - reserved_;
      tried.retried = true;
      attempt = obtain(request, true, block, error);
    }
  }
  if (attempt == Attempt::out_of_memory && profile_.overflow_pools == OverflowPools::last) {
    block = search_overflow_pools(request);
    if (block != nullptr) attempt = Attempt::ok;
    tried.asked_overflow_pools = true;
  }
  switch (attempt) {
    case Attempt::ok:
      return block;
    case Attempt::out_of_memory:
      fail(request, FailureKind::out_of_memory, std::move(tried));
      break;
    case Attempt::rejected:
      fail(request, FailureKind::rejected, std::move(tried));
      break;
    case Attempt::failed:
      tried.driver = std::move(error);
      fail(request, FailureKind::driver_error, std::move(tried));
      break;
  }
  return nullptr;
}

Core::Attempt Core::obtain(const Request& request, bool final, Block*& block, base::Error& error) {
  if (final) ++stats_.num_alloc_retries;
  if (limit_ != kUnlimited && reserved_ + request.segment > limit_) return Attempt::out_of_memory;
  if (settings_.throw_on_cudamalloc_oom) {
    const auto allowed = static_cast<std::uint64_t>(settings_.memory_fraction *
                                                    static_cast<double>(info_.total_memory));
    if (reserved_ + request.segment > allowed) {
      ++stats_.num_oom_rejections;
      return Attempt::rejected;
    }
  }
  return request.pool->expandable ? obtain_expandable(request, block, error)
                                  : obtain_plain(request, block, error);
}

base::Result<Address> Core::segment_from_driver(const Request& request) {
  const PrivatePool* owner = request.pool->owner;
  if (owner != nullptr && owner->options.source != nullptr) {
    const Address address =
        owner->options.source->allocate(request.segment, device_, request.stream);
    if (address == 0) return base::error(base::Code::out_of_memory, "the pool's own source");
    return address;
  }
  const bool unlocked = settings_.release_lock_on_cudamalloc && lock_break_ != nullptr;
  if (unlocked) lock_break_->leave();
  auto address = driver_.allocate(device_, request.segment);
  if (unlocked) lock_break_->enter();
  return address;
}

Core::Attempt Core::obtain_plain(const Request& request, Block*& block, base::Error& error) {
  const PrivatePool* custom = request.pool->owner;
  const bool refused = settings_.expandable_segments && custom != nullptr &&
                       (profile_.private_expandable == PrivateExpandable::refused ||
                        (profile_.private_expandable == PrivateExpandable::refused_custom &&
                         custom->options.source != nullptr));
  if (refused) {
    error = base::error(base::Code::unavailable,
                        "expandable_segments:True cannot be used in this MemPool with PyTorch 2.%d",
                        profile_.minor);
    return Attempt::failed;
  }
  auto address = segment_from_driver(request);
  if (!address) {
    if (address.error().code == base::Code::out_of_memory) return Attempt::out_of_memory;
    error = address.error();
    return Attempt::failed;
  }
  Lane& lane = ensure_lane(*request.pool, request.stream);
  Segment segment;
  segment.address = *address;
  segment.size = request.segment;
  segment.lane = &lane;
  segment.counter = counters_->segments.fetch_add(1, std::memory_order_relaxed);
  block = slab_.create();
  block->address = *address;
  block->size = request.segment;
  block->lane = lane.index & 0xFFFFFFU;
  block->segment = segments_.add(segment);

  const bool small = request.pool->small;
  reserved_ += request.segment;
  stats_.segment.increase(small, 1);
  count_reserved(*request.pool, static_cast<std::int64_t>(request.segment));
  if (request.segment >= max_split_) stats_.oversize_segments.increase(1);
  ++stats_.num_device_alloc;
  if (request.pool->owner != nullptr) ++request.pool->owner->segments;
  if (history_.is_on()) {
    history_.note(Action::segment_alloc, *address, request.segment, request.stream,
                  id_of(*request.pool));
  }
  return Attempt::ok;
}

Block* Core::search_overflow_pools(const Request& request) {
  if (request.pool->owner != nullptr) return nullptr;
  for (const auto& [id, owner] : private_pools_.all()) {
    if (!owner->options.use_on_oom) continue;
    Pool& pool = owner->pools.half(request.pool->small);
    const bool expandable = pool.expandable;
    pool.expandable = false;
    Block* block = search(pool, pool.find_lane(request.stream), request.rounded);
    pool.expandable = expandable;
    if (block != nullptr) return block;
  }
  return nullptr;
}

Address Core::refuse_size(std::uint64_t bytes, StreamId stream) {
  last_failure_ = {};
  if (bytes == 0) return 0;
  last_failure_.kind = FailureKind::too_large;
  last_failure_.device = device_;
  last_failure_.stream = stream;
  last_failure_.requested = bytes;
  return 0;
}

void Core::fail(const Request& request, FailureKind kind, Failure&& tried) {
  std::uint64_t device_free = 0;
  std::uint64_t device_total = info_.total_memory;
  if (kind == FailureKind::out_of_memory) {
    if (const auto memory = driver_.memory(device_)) {
      device_free = memory->free;
      device_total = memory->total;
    }
    if (history_.is_on()) {
      history_.note(Action::oom, device_free, request.rounded, request.stream,
                    id_of(*request.pool));
    }
    ++stats_.num_ooms;
  }
  tried.kind = kind;
  tried.device = device_;
  tried.stream = request.stream;
  tried.pool = id_of(*request.pool);
  tried.requested = request.bytes;
  tried.rounded = request.rounded;
  tried.segment = request.segment;
  tried.limit = limit_;
  tried.device_total = device_total;
  tried.device_free = device_free;
  const auto bytes = [&](Metric metric) {
    return static_cast<std::uint64_t>(stats_.current(metric));
  };
  tried.allocated = bytes(Metric::allocated_bytes);
  tried.active = bytes(Metric::active_bytes);
  tried.reserved = reserved_;
  tried.inactive_split = bytes(Metric::inactive_split_bytes);
  slab_.for_each([&](const Block* block) {
    if (!block->is_free()) return;
    const Lane& lane = lane_of(block);
    tried.largest_free = std::max(tried.largest_free, block->size);
    if (lane.pool->owner != nullptr) tried.private_free += block->size;
    if (lane.pool == request.pool && lane.stream == request.stream) {
      tried.largest_free_usable = std::max(tried.largest_free_usable, block->size);
    }
  });
  last_failure_ = std::move(tried);
}

}  // namespace ebb::cache

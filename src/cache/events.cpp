// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/log.h"
#include "cache/core.h"

namespace ebb::cache {

StreamUses& Core::uses_of(Block* block) {
  std::unique_ptr<StreamUses>& uses = BlockSlab::extra(block).uses;
  if (uses == nullptr) uses = std::make_unique<StreamUses>();
  return *uses;
}

bool Core::record_stream(Address address, StreamId stream) {
  Block* block = handed_out_.find(address);
  if (block == nullptr) return false;
  if (lane_of(block).stream == stream) return true;
  StreamUses& uses = uses_of(block);
  const auto add = [stream](std::vector<StreamId>& streams) {
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) {
      streams.push_back(stream);
    }
  };
  add(uses.streams);
  if (in_capture(stream)) add(uses.during_capture);
  block->shared = true;
  return true;
}

bool Core::in_capture(StreamId stream) {
  if (!profile_.asks_stream_for_capture()) return !scopes_.empty();
  const auto capturing = driver_.is_capturing(device_, stream);
  return capturing && *capturing;
}

void Core::on_wait_possible(StreamId stream) {
  if (in_capture(stream)) {
    if (settings_.graph_capture_record_stream_reuse) complete_reusable(stream);
    return;
  }
  insert_deferred_events();
  poll_events();
}

void Core::release_shared(Block* block) {
  stats_.on_wait(lane_of(block).pool->small, static_cast<std::int64_t>(block->size), 1);
  if (in_capture(lane_of(block).stream)) {
    if (topology_ != nullptr && settings_.graph_capture_record_stream_reuse) {
      topology_->mark_uses(block->address, lane_of(block).stream, uses_of(block).streams);
    }
    deferred_.push_back(block);
    waiting_ = true;
    return;
  }
  insert_events(block);
}

void Core::insert_events(Block* block) {
  StreamUses& uses = uses_of(block);
  if (completions_ != nullptr) {
    uses.events = 1;
    waiting_blocks_.push_back(block);
    ++pending_;
  } else {
    for (const StreamId stream : uses.streams) {
      const auto event = driver_.record_event(device_, stream);
      if (!event) {
        // Without an event, the stream itself is waited for.
        static_cast<void>(driver_.synchronize_stream(device_, stream));
        continue;
      }
      auto queue = std::find_if(queues_.begin(), queues_.end(),
                                [&](const SideQueue& q) { return q.stream == stream; });
      if (queue == queues_.end()) queue = queues_.insert(queues_.end(), SideQueue{stream, {}});
      queue->events.push_back({*event, block});
      ++uses.events;
      ++pending_;
    }
  }
  uses.streams.clear();
  uses.during_capture.clear();
  waiting_ = true;
  if (uses.events == 0) finish_wait(block);
}

void Core::finish_wait(Block* block) {
  block->shared = false;
  stats_.on_wait(lane_of(block).pool->small, static_cast<std::int64_t>(block->size), -1);
  complete_free(block);
  update_waiting();
}

void Core::insert_deferred_events() {
  if (deferred_.empty()) return;
  const std::vector<Block*> blocks = std::exchange(deferred_, {});
  for (Block* block : blocks) {
    if (profile_.drops_capture_streams()) drop_captured_uses(block);
    insert_events(block);
  }
}

void Core::drop_captured_uses(Block* block) {
  StreamUses& uses = uses_of(block);
  std::erase_if(uses.streams, [&](StreamId stream) {
    return std::find(uses.during_capture.begin(), uses.during_capture.end(), stream) !=
           uses.during_capture.end();
  });
}

void Core::complete_reusable(StreamId stream) {
  if (topology_ == nullptr) return;
  std::vector<Block*> reusable;
  std::erase_if(deferred_, [&](Block* block) {
    if (lane_of(block).stream != stream) return false;
    if (!topology_->uses_precede(block->address, stream)) return false;
    reusable.push_back(block);
    return true;
  });
  for (Block* block : reusable) {
    uses_of(block).streams.clear();
    uses_of(block).during_capture.clear();
    finish_wait(block);
  }
}

void Core::complete_deferred_of(const PrivatePool* pool) {
  std::vector<Block*> rest;
  std::erase_if(deferred_, [&](Block* block) {
    if (lane_of(block).pool->owner != pool) return false;
    rest.push_back(block);
    return true;
  });
  for (Block* block : rest) {
    uses_of(block).streams.clear();
    uses_of(block).during_capture.clear();
    finish_wait(block);
  }
}

void Core::complete_named(Address address) {
  const auto at = std::find_if(waiting_blocks_.begin(), waiting_blocks_.end(),
                               [&](const Block* block) { return block->address == address; });
  if (at == waiting_blocks_.end()) {
    base::log(base::LogLevel::warning, "no free waits at address %llu",
              static_cast<unsigned long long>(address));
    return;
  }
  Block* block = *at;
  waiting_blocks_.erase(at);
  uses_of(block).events = 0;
  --pending_;
  finish_wait(block);
}

void Core::poll_events() {
  if (completions_ != nullptr) {
    while (const auto address = completions_->next_completed(false)) {
      complete_named(*address);
    }
    return;
  }
  for (SideQueue& queue : queues_) {
    while (!queue.events.empty()) {
      const PendingEvent pending = queue.events.front();
      const auto done = driver_.event_done(device_, pending.event);
      if (!done || !*done) break;
      queue.events.pop_front();
      end_event(pending);
    }
  }
  update_waiting();
}

void Core::end_event(const PendingEvent& pending) {
  static_cast<void>(driver_.destroy_event(device_, pending.event));
  --pending_;
  if (--uses_of(pending.block).events == 0) finish_wait(pending.block);
}

void Core::wait_for_events(const PrivatePool* only) {
  insert_deferred_events();
  const auto wanted = [&](const Block* block) {
    return only == nullptr || lane_of(block).pool->owner == only;
  };
  if (completions_ != nullptr) {
    while (const auto address = completions_->next_completed(true)) {
      complete_named(*address);
    }
    const std::vector<Block*> rest = waiting_blocks_;
    for (const Block* block : rest) {
      if (wanted(block)) complete_named(block->address);
    }
    return;
  }
  for (SideQueue& queue : queues_) {
    std::deque<PendingEvent> kept;
    for (const PendingEvent& pending : std::exchange(queue.events, {})) {
      if (!wanted(pending.block)) {
        kept.push_back(pending);
        continue;
      }
      if (const auto waited = driver_.wait_event(device_, pending.event); !waited) {
        base::log(base::LogLevel::error, "waiting for an event: %s",
                  waited.error().message.c_str());
      }
      end_event(pending);
    }
    queue.events = std::move(kept);
  }
  update_waiting();
}

}  // namespace ebb::cache

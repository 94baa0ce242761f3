// SPDX-License-Identifier: Apache-2.0
#include "cache/stream_waits.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace ebb::cache {
namespace {

StreamUses& uses_of(Block* block) {
  std::unique_ptr<StreamUses>& uses = BlockSlab::extra(block).uses;
  if (uses == nullptr) uses = std::make_unique<StreamUses>();
  return *uses;
}

void forget_uses(Block* block) {
  uses_of(block).streams.clear();
  uses_of(block).during_capture.clear();
}

void drop_captured_uses(Block* block) {
  StreamUses& uses = uses_of(block);
  std::erase_if(uses.streams, [&](StreamId stream) {
    return std::find(uses.during_capture.begin(), uses.during_capture.end(), stream) !=
           uses.during_capture.end();
  });
}

void add_once(std::vector<StreamId>& streams, StreamId stream) {
  if (std::find(streams.begin(), streams.end(), stream) == streams.end()) {
    streams.push_back(stream);
  }
}

}  // namespace

StreamWaits::StreamWaits(device::Driver& driver, int device, const StreamWaitOptions& options,
                         std::function<void(Block*)> completed)
    : driver_(driver), device_(device), options_(options), completed_(std::move(completed)) {}

StreamWaits::~StreamWaits() {
  for (const SideQueue& queue : queues_) {
    for (const PendingEvent& pending : queue.events) {
      static_cast<void>(driver_.destroy_event(device_, pending.event));
    }
  }
}

void StreamWaits::add_use(Block* block, StreamId stream, bool in_capture) {
  StreamUses& uses = uses_of(block);
  add_once(uses.streams, stream);
  if (in_capture) add_once(uses.during_capture, stream);
  block->shared = true;
}

void StreamWaits::add(Block* block, const Lane& lane) {
  insert_events({block, &lane});
}

void StreamWaits::add_in_capture(Block* block, const Lane& lane, bool reuse) {
  if (options_.topology != nullptr && reuse) {
    options_.topology->mark_uses(block->address, lane.stream, uses_of(block).streams);
  }
  deferred_.push_back({block, &lane});
  any_ = true;
}

void StreamWaits::insert_events(const Waiting& waiting) {
  StreamUses& uses = uses_of(waiting.block);
  if (options_.completions != nullptr) {
    uses.events = 1;
    named_.push_back(waiting);
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
      queue->events.push_back({*event, waiting});
      ++uses.events;
      ++pending_;
    }
  }
  forget_uses(waiting.block);
  any_ = true;
  if (uses.events == 0) finish(waiting.block);
}

void StreamWaits::finish(Block* block) {
  block->shared = false;
  completed_(block);
  refresh();
}

void StreamWaits::insert_deferred_events() {
  if (deferred_.empty()) return;
  for (const Waiting& waiting : std::exchange(deferred_, {})) {
    if (options_.drops_capture_streams) drop_captured_uses(waiting.block);
    insert_events(waiting);
  }
}

void StreamWaits::complete_without_events(const std::vector<Waiting>& blocks) {
  for (const Waiting& waiting : blocks) {
    forget_uses(waiting.block);
    finish(waiting.block);
  }
}

void StreamWaits::complete_reusable(StreamId stream) {
  if (options_.topology == nullptr) return;
  std::vector<Waiting> reusable;
  std::erase_if(deferred_, [&](const Waiting& waiting) {
    if (waiting.lane->stream != stream) return false;
    if (!options_.topology->uses_precede(waiting.block->address, stream)) return false;
    reusable.push_back(waiting);
    return true;
  });
  complete_without_events(reusable);
}

void StreamWaits::complete_deferred_of(const PrivatePool* pool) {
  std::vector<Waiting> rest;
  std::erase_if(deferred_, [&](const Waiting& waiting) {
    if (waiting.lane->pool->owner != pool) return false;
    rest.push_back(waiting);
    return true;
  });
  complete_without_events(rest);
}

void StreamWaits::complete_named(Address address) {
  const auto at = std::find_if(named_.begin(), named_.end(), [&](const Waiting& waiting) {
    return waiting.block->address == address;
  });
  if (at == named_.end()) {
    base::log(base::LogLevel::warning, "no free waits at address %llu",
              static_cast<unsigned long long>(address));
    return;
  }
  Block* block = at->block;
  named_.erase(at);
  uses_of(block).events = 0;
  --pending_;
  finish(block);
}

void StreamWaits::poll() {
  insert_deferred_events();
  poll_events();
}

void StreamWaits::poll_events() {
  if (options_.completions != nullptr) {
    while (const auto address = options_.completions->next_completed(false)) {
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
  refresh();
}

void StreamWaits::end_event(const PendingEvent& pending) {
  static_cast<void>(driver_.destroy_event(device_, pending.event));
  --pending_;
  Block* block = pending.waiting.block;
  if (--uses_of(block).events == 0) finish(block);
}

void StreamWaits::wait_for_named(const PrivatePool* only) {
  while (const auto address = options_.completions->next_completed(true)) {
    complete_named(*address);
  }
  const std::vector<Waiting> rest = named_;
  for (const Waiting& waiting : rest) {
    if (only == nullptr || waiting.lane->pool->owner == only) {
      complete_named(waiting.block->address);
    }
  }
}

void StreamWaits::wait(const PrivatePool* only) {
  insert_deferred_events();
  if (options_.completions != nullptr) {
    wait_for_named(only);
    return;
  }
  for (SideQueue& queue : queues_) {
    std::deque<PendingEvent> kept;
    for (const PendingEvent& pending : std::exchange(queue.events, {})) {
      if (only != nullptr && pending.waiting.lane->pool->owner != only) {
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
  refresh();
}

}  // namespace ebb::cache

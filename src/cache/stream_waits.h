// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "cache/pool.h"
#include "device/driver.h"

namespace ebb::cache {

/// Says which frees that wait for other streams are complete, in place of the driver's events: how
/// a recording is replayed exactly, since neither time nor order of completion follow from it.
class CompletionSource {
 public:
  virtual ~CompletionSource() = default;
  /// The next block, by address, whose wait is over; nothing when no other one is. With `waiting`
  /// the allocator waits for all of them: it completes the ones not named in order of their free.
  virtual std::optional<Address> next_completed(bool waiting) = 0;
};

/// Knows the graph that is being captured, for graph_capture_record_stream_reuse.
class CaptureTopology {
 public:
  virtual ~CaptureTopology() = default;
  /// A block was freed that these streams used: remember where their captures stand.
  virtual void mark_uses(Address address, StreamId own, const std::vector<StreamId>& others) = 0;
  /// Whether everything remembered for the block precedes what `stream` captures next.
  virtual bool uses_precede(Address address, StreamId stream) = 0;
};

struct StreamWaitOptions {
  /// What used a block during a capture needs no event once the capture is over.
  bool drops_capture_streams = false;
  CompletionSource* completions = nullptr;  ///< null: the driver's events
  CaptureTopology* topology = nullptr;
};

/// Blocks that were freed while other streams might still use them. Each waits until events in all
/// of those streams are done; during a capture, which knows no events, until the capture is over.
/// Not thread-safe.
class StreamWaits {
 public:
  /// `completed` is called once for each block whose wait is over; it may change the block, and
  /// must not call back. The driver and what `options` points to outlive this object.
  StreamWaits(device::Driver& driver, int device, const StreamWaitOptions& options,
              std::function<void(Block*)> completed);
  /// Destroys the events that are outstanding; their blocks are not completed.
  ~StreamWaits();
  StreamWaits(const StreamWaits&) = delete;
  StreamWaits& operator=(const StreamWaits&) = delete;

  /// Whether a block waits. Read on every request.
  bool any() const { return any_; }

  /// `stream` uses the block, which belongs to another one.
  static void add_use(Block* block, StreamId stream, bool in_capture);

  /// The block, of that lane, was freed: it waits from now on for what uses it. It may complete at
  /// once, where no event can be had.
  void add(Block* block, const Lane& lane);
  /// The same during a capture: it waits for the end of that. With `reuse` the topology marks where
  /// its uses stand.
  void add_in_capture(Block* block, const Lane& lane, bool reuse);

  /// Outside a capture: gives blocks of a capture that is over their events and completes those
  /// whose events are done.
  void poll();
  /// In a capture: completes blocks of `stream` whose uses precede what it captures next.
  void complete_reusable(StreamId stream);
  /// Completes what was freed in a capture in that pool, without events.
  void complete_deferred_of(const PrivatePool* pool);
  /// Waits for all blocks, or those of one private pool, and completes them.
  void wait(const PrivatePool* only = nullptr);

 private:
  struct Waiting {
    Block* block = nullptr;
    const Lane* lane = nullptr;
  };
  struct PendingEvent {
    device::EventId event = 0;
    Waiting waiting;
  };
  struct SideQueue {
    StreamId stream = 0;
    std::deque<PendingEvent> events;
  };

  void insert_events(const Waiting& waiting);
  void insert_deferred_events();
  void poll_events();
  void wait_for_named(const PrivatePool* only);
  void complete_named(Address address);
  void complete_without_events(const std::vector<Waiting>& blocks);
  void end_event(const PendingEvent& pending);
  void finish(Block* block);
  void refresh() { any_ = pending_ != 0 || !deferred_.empty(); }

  device::Driver& driver_;
  const int device_;
  const StreamWaitOptions options_;
  const std::function<void(Block*)> completed_;
  std::vector<SideQueue> queues_;  ///< in order of first use, each in order of the frees
  std::vector<Waiting> named_;     ///< in order of their free, with a CompletionSource
  std::vector<Waiting> deferred_;  ///< freed in a capture
  std::size_t pending_ = 0;        ///< events, or named blocks
  bool any_ = false;
};

}  // namespace ebb::cache

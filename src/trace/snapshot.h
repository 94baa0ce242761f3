// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/action.h"
#include "trace/pool_id.h"

/// Allocation histories as data: what PyTorch's torch.cuda.memory._snapshot() holds, read from a
/// file that nobody trusts.
namespace ebb::trace {

using Address = std::uint64_t;
using Stream = std::uint64_t;  ///< the raw handle; 0 is the default stream

/// An index into Snapshot::stacks or Snapshot::texts; kNone where nothing was recorded.
using Index = std::uint32_t;
inline constexpr Index kNone = static_cast<Index>(-1);

/// One line of a device's history.
struct Event {
  Address address = 0;       ///< for `oom`: bytes that the device had free
  std::uint64_t size = 0;    ///< requested bytes; for `oom` rounded ones; for `segment_*` the range
  std::int64_t time_us = 0;  ///< Unix time; 0 before PyTorch 2.2
  Index stack = kNone;
  Index text = kNone;        ///< user_metadata, where it is not empty
  std::uint16_t stream = 0;  ///< index into Snapshot::streams
  std::uint16_t pool = 0;    ///< index into Snapshot::pools
  Action action = Action::alloc;
};
static_assert(sizeof(Event) == 40);

enum class BlockState : std::uint8_t { active_allocated, active_pending_free, inactive };

/// PyTorch's name, e.g. "active_pending_free".
const char* name_of(BlockState state);
std::optional<BlockState> block_state_of(std::string_view name);

struct Block {
  Address address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;  ///< stale where the block is inactive
  Index stack = kNone;
  BlockState state = BlockState::inactive;
};

/// A plain segment, or one unbroken run of mapped memory of an expandable one.
struct Segment {
  int device = 0;
  Address address = 0;
  std::uint64_t size = 0;
  Stream stream = 0;
  PoolId pool;
  bool small = false;
  bool expandable = false;
  Index stack = kNone;
  std::vector<Block> blocks;  ///< by address, without gaps: together they are the segment
};

/// A named range of the program, entered or left.
struct Annotation {
  std::string name;
  bool start = true;
  int device = 0;
  std::int64_t time_us = 0;
};

struct Frame {
  Index name = kNone;  ///< into Snapshot::texts
  Index file = kNone;  ///< into Snapshot::texts
  std::int64_t line = 0;
};

/// What the recording says of the settings in force when it was taken (PyTorch 2.3 on).
struct RecordedSettings {
  std::string conf;  ///< PYTORCH_CUDA_ALLOC_CONF
  std::int64_t max_split_size = -1;
  double garbage_collection_threshold = 0;
  bool expandable_segments = false;
  bool has_graph_reuse = false;  ///< the key graph_capture_record_stream_reuse is there (2.9 on)
  bool has_max_cached = false;   ///< max_cached_size is there (2.13 on)
};

/// One file. Strings and stacks are kept once, however often they occur.
struct Snapshot {
  std::vector<Segment> segments;           ///< by device, then address
  std::vector<std::vector<Event>> traces;  ///< one per device, oldest first
  std::vector<Annotation> annotations;
  std::optional<RecordedSettings> settings;

  std::vector<Stream> streams;  ///< [0] is the default stream
  std::vector<PoolId> pools;    ///< [0] is the default pool
  std::vector<std::string> texts;
  std::vector<Frame> frames;
  std::vector<std::vector<Index>> stacks;  ///< innermost frame first, into `frames`

  std::vector<std::string> notes;  ///< one line each: what was left out

  bool has_pool_ids = false;  ///< events name their pool (2.12 on)
  bool has_times = false;     ///< events have a time (2.2 on)
  /// Which releases of PyTorch write such a file: 2.`oldest_minor` … 2.`newest_minor`.
  int oldest_minor = 0;
  int newest_minor = 99;
};

}  // namespace ebb::trace

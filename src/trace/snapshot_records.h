// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/arena.h"
#include "trace/memory_budget.h"
#include "trace/pickle_reader.h"
#include "trace/pickle_value.h"
#include "trace/snapshot.h"
#include "trace/snapshot_fields.h"
#include "trace/tables.h"
#include "trace/words.h"

namespace ebb::trace {

/// Which keys the dicts of one kind had: in any of them, and in all.
struct SeenKeys {
  std::uint64_t any = 0;
  std::uint64_t all = ~0ULL;
  std::uint64_t dicts = 0;

  void add(std::uint64_t keys) {
    any |= keys;
    all &= keys;
    ++dicts;
  }
  bool ever(Word key) const { return (any >> static_cast<unsigned>(key) & 1) != 0; }
  bool always(Word key) const { return dicts > 0 && (all >> static_cast<unsigned>(key) & 1) != 0; }
};

/// Makes events, blocks, segments, frames and the rest out of the keys and values of a dict, and
/// keeps them. A dict that has the keys of one but not its values becomes a `broken` value, whose
/// message counts only if the dict is needed. Not thread-safe.
class SnapshotRecords {
 public:
  SnapshotRecords(const PickleReader& reader, MemoryBudget& budget);

  /// The dict with these items, `count` times key and value.
  Value make(Value* items, std::size_t count);

  /// A tuple of two values.
  Value make_pair(const Value& first, const Value& second);

  /// Adds `count` items to a list that may hold some already.
  void extend(Value& list, Value* items, std::size_t count);

  /// Forgets a value that nothing needs.
  void drop(const Value& value);

  /// kNone where the text is not UTF-8.
  Index intern(std::string_view text) { return texts_.intern(text); }

  /// The whole, where `root` is what the file holds.
  base::Result<Snapshot> finish(const Value& root);

 private:
  struct RawAnnotation {
    Index name = kNone;
    int device = 0;
    std::int64_t time_us = 0;
    bool start = true;
  };
  struct Range {
    Index first = 0;
    Index count = 0;
  };
  struct Past {
    Index stack = kNone;
    std::uint64_t size = 0;
  };
  struct Top {
    Value segments;
    Value traces;
    Value annotations;
    Value settings;
  };

  /// An event as far as its fields were read.
  struct EventFields {
    Event event;
    std::uint64_t keys = 0;  ///< a bit for each that was there
    bool known_action = true;
  };

  Value make_event(const Value* items, std::size_t count);
  /// What is wrong with the field, if something is.
  std::optional<Value> take_field(EventFields& fields, Word word, const Value& value);
  Value add_event(const EventFields& fields);
  Value make_block(const Fields& fields);
  Value make_segment(const Fields& fields);
  Value make_annotation(const Fields& fields);
  Value make_frame(const Fields& fields);
  Value make_past(const Fields& fields);
  Value make_settings(const Fields& fields);
  Value make_top(const Fields& fields);
  static std::string place_blocks(Segment& segment);

  void add_frames(Value& list, const Value* items, std::size_t count);
  void add_item(Value& list, const Value& item);
  void add_trace(Value& list, const Value& item);
  bool has_events(const Value& list) const;

  Value twice(const char* what, std::uint64_t keys);
  [[gnu::format(printf, 2, 3)]] Value broken(const char* format, ...);
  std::optional<std::uint16_t> stream_number(Stream stream);
  std::optional<std::uint16_t> pool_number(Index pair);

  void infer_versions(Snapshot& snapshot, bool has_top) const;
  base::Status take_segments(const Value& list, Snapshot& snapshot);
  base::Status take_annotations(const Value& list, Snapshot& snapshot);
  base::Status take_traces(const Value& list, Snapshot& snapshot);
  base::Error wrong(const char* key, const Value& value, const char* expected) const;
  Index kept_text(Index text, Snapshot& snapshot);

  const PickleReader& reader_;
  MemoryBudget& budget_;
  TextTable texts_;
  FrameTable frames_;
  StackTable stacks_;
  Arena<Event> events_;
  Arena<Block> blocks_;
  Arena<RawAnnotation> annotations_;
  std::vector<Segment> segments_;
  std::vector<Range> traces_;
  std::vector<Past> pasts_;
  std::vector<RecordedSettings> settings_;
  std::optional<Top> top_;
  std::vector<PoolId> pairs_;
  std::map<PoolId, Index> pair_numbers_;
  std::vector<std::string> faults_;
  std::vector<Index> scratch_;
  std::vector<Index> kept_texts_;

  std::vector<Stream> streams_{0};
  std::unordered_map<Stream, std::uint16_t> stream_numbers_{{0, 0}};
  Stream last_stream_ = 0;
  std::uint16_t last_stream_number_ = 0;
  std::vector<PoolId> pools_{PoolId{}};

  SeenKeys event_keys_;
  SeenKeys block_keys_;
  SeenKeys segment_keys_;
  SeenKeys frame_keys_;
  SeenKeys settings_keys_;
  SeenKeys top_keys_;
  std::uint64_t ignored_events_ = 0;
  bool maps_memory_ = false;
  bool annotates_ = false;
  bool has_host_memory_ = false;
};

}  // namespace ebb::trace

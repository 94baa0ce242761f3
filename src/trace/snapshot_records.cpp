// SPDX-License-Identifier: Apache-2.0
#include "trace/snapshot_records.h"

#include <bit>
#include <cstdarg>
#include <limits>

#include "base/text.h"

namespace ebb::trace {
namespace {

constexpr std::size_t kMostFaults = 1000;
constexpr std::size_t kMostPairs = 1 << 16;
constexpr std::uint64_t kMapCost = 96;  ///< of an entry in a map

constexpr std::uint64_t bit(Word key) {
  return 1ULL << static_cast<unsigned>(key);
}

}  // namespace

SnapshotRecords::SnapshotRecords(const PickleReader& reader, MemoryBudget& budget)
    : reader_(reader),
      budget_(budget),
      texts_(budget),
      frames_(budget),
      stacks_(budget),
      events_(budget),
      blocks_(budget),
      annotations_(budget) {}

Value SnapshotRecords::broken(const char* format, ...) {
  if (faults_.size() > kMostFaults) return Value::of(ValueKind::broken, kMostFaults);
  va_list arguments;
  va_start(arguments, format);
  const std::string what = base::format_text_v(format, arguments);
  va_end(arguments);
  const bool last = faults_.size() == kMostFaults;
  faults_.push_back(base::format_text("%s: byte %llu: %s%s", reader_.name().c_str(),
                                      static_cast<unsigned long long>(reader_.offset()),
                                      last ? "here or later: " : "", what.c_str()));
  return Value::of(ValueKind::broken, faults_.size() - 1);
}

Value SnapshotRecords::twice(const char* what, std::uint64_t keys) {
  const auto key = static_cast<std::uint32_t>(std::countr_zero(keys));
  return broken("a %s has the key '%s' twice", what, spelling_of(key));
}

Value SnapshotRecords::make(Value* items, std::size_t count) {
  // Nearly all dicts are events, and PyTorch writes this key first.
  if (is_word(items[0], Word::action)) return make_event(items, count);
  const Fields fields(items, count);
  if (fields.has(Word::action)) return make_event(items, count);
  using Maker = Value (SnapshotRecords::*)(const Fields&);
  struct Rule {
    std::uint64_t keys;
    const char* what;
    Maker maker;
  };
  // One of the keys decides what a dict is, whatever else it has.
  static constexpr Rule kRules[] = {
      {bit(Word::filename), "frame", &SnapshotRecords::make_frame},
      {bit(Word::blocks) | bit(Word::total_size), "segment", &SnapshotRecords::make_segment},
      {bit(Word::state), "block", &SnapshotRecords::make_block},
      {bit(Word::stage), "annotation", &SnapshotRecords::make_annotation},
      {bit(Word::real_size), "history entry", &SnapshotRecords::make_past},
      {bit(Word::segments) | bit(Word::device_traces), "snapshot", &SnapshotRecords::make_top},
      {bit(Word::conf) | bit(Word::max_split_size), "allocator_settings",
       &SnapshotRecords::make_settings},
  };
  for (const Rule& rule : kRules) {
    if ((fields.keys & rule.keys) == 0) continue;
    if (fields.twice != 0) return twice(rule.what, fields.twice);
    return (this->*rule.maker)(fields);
  }
  for (std::size_t i = 2 * count; i-- > 0;) {
    drop(items[i]);
  }
  return Value::of(ValueKind::dict);
}

Value SnapshotRecords::make_pair(const Value& first, const Value& second) {
  if (first.kind != ValueKind::integer || second.kind != ValueKind::integer) {
    drop(second);
    drop(first);
    return Value{};
  }
  const PoolId pair{first.number, second.number};
  if (const auto known = pair_numbers_.find(pair); known != pair_numbers_.end()) {
    return Value::of(ValueKind::pair, known->second);
  }
  if (pairs_.size() == kMostPairs) return Value{};
  const auto number = static_cast<Index>(pairs_.size());
  budget_.charge(kMapCost);
  pairs_.push_back(pair);
  pair_numbers_.emplace(pair, number);
  return Value::of(ValueKind::pair, number);
}

std::optional<std::uint16_t> SnapshotRecords::stream_number(Stream stream) {
  if (stream == last_stream_) return last_stream_number_;
  const auto known = stream_numbers_.find(stream);
  if (known == stream_numbers_.end() && streams_.size() > 0xFFFF) return std::nullopt;
  const auto number =
      known == stream_numbers_.end() ? static_cast<std::uint16_t>(streams_.size()) : known->second;
  if (known == stream_numbers_.end()) {
    budget_.charge(kMapCost);
    streams_.push_back(stream);
    stream_numbers_.emplace(stream, number);
  }
  last_stream_ = stream;
  last_stream_number_ = number;
  return number;
}

std::optional<std::uint16_t> SnapshotRecords::pool_number(Index pair) {
  const PoolId id = pairs_[pair];
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (pools_[i] == id) return static_cast<std::uint16_t>(i);
  }
  if (pools_.size() > 0xFFF) return std::nullopt;
  pools_.push_back(id);
  return static_cast<std::uint16_t>(pools_.size() - 1);
}

std::optional<Value> SnapshotRecords::take_field(EventFields& fields, Word word,
                                                 const Value& value) {
  Event& event = fields.event;
  const auto expected = [&](const char* what) {
    return broken("'%s' of an event is not %s", spelling_of(static_cast<std::uint32_t>(word)),
                  what);
  };
  switch (word) {
    case Word::action: {
      constexpr auto kFirst = static_cast<std::uint64_t>(Word::first_action);
      if (value.kind != ValueKind::text) return expected("a text");
      fields.known_action = value.number >= kFirst && value.number < kWords;
      if (fields.known_action) event.action = static_cast<Action>(value.number - kFirst);
      break;
    }
    case Word::addr:
    case Word::device_free:
      if (value.kind != ValueKind::integer) return expected("an integer of 64 bits");
      event.address = value.number;
      break;
    case Word::size:
      if (!is_size(value)) return expected("a number of bytes");
      event.size = value.number;
      break;
    case Word::stream: {
      if (value.kind != ValueKind::integer) return expected("an integer of 64 bits");
      const auto number = stream_number(value.number);
      if (!number) return broken("more than 65536 streams");
      event.stream = *number;
      break;
    }
    case Word::time_us:
      if (!is_signed(value)) return expected("a time in microseconds");
      event.time_us = static_cast<std::int64_t>(value.number);
      break;
    case Word::user_metadata:
      if (value.kind == ValueKind::text && !texts_[value.first()].empty()) {
        event.text = value.first();
      }
      break;
    case Word::pool_id: {
      if (value.kind != ValueKind::pair) return expected("a pair of integers");
      const auto number = pool_number(value.first());
      if (!number) return broken("more than 4096 pools");
      event.pool = *number;
      break;
    }
    case Word::frames:
      if (value.is_broken()) return value;
      if (!is_stack(value)) return expected("a list of frames");
      event.stack = stack_of(value);
      break;
    default:
      drop(value);
      break;
  }
  return std::nullopt;
}

Value SnapshotRecords::make_event(const Value* items, std::size_t count) {
  EventFields fields;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& key = items[2 * i];
    const auto word = static_cast<Word>(key.kind == ValueKind::text ? key.number : kWords);
    if (word < Word::end) {
      if ((fields.keys & bit(word)) != 0) return twice("event", bit(word));
      fields.keys |= bit(word);
    }
    if (const auto fault = take_field(fields, word, items[2 * i + 1])) return *fault;
  }
  if (!fields.known_action) return Value::of(ValueKind::ignored);
  return add_event(fields);
}

Value SnapshotRecords::add_event(const EventFields& fields) {
  const Event& event = fields.event;
  const Word place = event.action == Action::oom ? Word::device_free : Word::addr;
  if (const std::uint64_t missing = (bit(place) | bit(Word::size)) & ~fields.keys; missing != 0) {
    const auto key = static_cast<std::uint32_t>(std::countr_zero(missing));
    return broken("an event has no '%s'", spelling_of(key));
  }
  const bool is_range = event.action != Action::oom && event.action != Action::snapshot;
  if (is_range && event.address > std::numeric_limits<Address>::max() - event.size) {
    return broken("address and size of an event go beyond 64 bits");
  }
  if (events_.size() >= kNone) return broken("more than 4294967295 events");
  event_keys_.add(fields.keys);
  maps_memory_ |= event.action == Action::segment_map || event.action == Action::segment_unmap;
  annotates_ |= event.action == Action::annotate;
  events_.push_back(event);
  return Value::run(ValueKind::event, static_cast<Index>(events_.size() - 1));
}

}  // namespace ebb::trace

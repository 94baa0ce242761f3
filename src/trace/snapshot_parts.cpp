// SPDX-License-Identifier: Apache-2.0
// Frames, annotations, settings and the outermost dict of a snapshot.
#include <bit>
#include <utility>

#include "trace/snapshot_records.h"

namespace ebb::trace {

Value SnapshotRecords::make_frame(const Fields& fields) {
  Frame frame;
  for (const auto& [key, into] :
       {std::pair{Word::name, &frame.name}, std::pair{Word::filename, &frame.file}}) {
    const Value* value = fields.find(key);
    if (value != nullptr && value->kind == ValueKind::text) *into = value->first();
  }
  const Value* line = fields.find(Word::line);
  if (line != nullptr && is_signed(*line)) frame.line = static_cast<std::int64_t>(line->number);
  frame_keys_.add(fields.keys);
  return Value::of(ValueKind::frame, frames_.intern(frame));
}

Value SnapshotRecords::make_past(const Fields& fields) {
  Past past;
  if (const Value* frames = fields.find(Word::frames)) past.stack = stack_of(*frames);
  const Value* size = fields.find(Word::real_size);
  if (!is_size(*size)) return broken("'real_size' of a history entry is not a number of bytes");
  past.size = size->number;
  budget_.make_room(pasts_);
  pasts_.push_back(past);
  return Value::of(ValueKind::past, pasts_.size() - 1);
}

Value SnapshotRecords::make_annotation(const Fields& fields) {
  RawAnnotation annotation;
  const Value* name = fields.find(Word::name);
  if (name == nullptr || name->kind != ValueKind::text) {
    return broken("'name' of an annotation is not a text");
  }
  annotation.name = name->first();
  const Value& stage = *fields.find(Word::stage);
  annotation.start = is_word(stage, Word::start);
  if (!annotation.start && !is_word(stage, Word::end)) {
    return broken("'stage' of an annotation is neither START nor END");
  }
  if (const Value* device = fields.find(Word::device)) {
    if (!is_small_int(*device)) return broken("'device' of an annotation is not a number");
    annotation.device = static_cast<int>(device->number);
  }
  if (const Value* time = fields.find(Word::time_us)) {
    if (!is_signed(*time)) return broken("'time_us' of an annotation is not a number");
    annotation.time_us = static_cast<std::int64_t>(time->number);
  }
  annotations_.push_back(annotation);
  return Value::run(ValueKind::annotation, static_cast<Index>(annotations_.size() - 1));
}

Value SnapshotRecords::make_settings(const Fields& fields) {
  RecordedSettings settings;
  if (const Value* conf = fields.find(Word::conf)) {
    if (conf->kind != ValueKind::text) return broken("'PYTORCH_CUDA_ALLOC_CONF' is not a text");
    settings.conf = texts_[conf->first()];
  }
  if (const Value* split = fields.find(Word::max_split_size)) {
    if (!is_signed(*split)) return broken("'max_split_size' is not a number of bytes");
    settings.max_split_size = static_cast<std::int64_t>(split->number);
  }
  if (const Value* threshold = fields.find(Word::garbage_collection_threshold)) {
    if (threshold->kind == ValueKind::real) {
      settings.garbage_collection_threshold = std::bit_cast<double>(threshold->number);
    } else if (is_size(*threshold)) {
      settings.garbage_collection_threshold = static_cast<double>(threshold->number);
    } else {
      return broken("'garbage_collection_threshold' is not a number");
    }
  }
  if (const Value* expandable = fields.find(Word::expandable_segments)) {
    if (expandable->kind != ValueKind::boolean) {
      return broken("'expandable_segments' is neither True nor False");
    }
    settings.expandable_segments = expandable->number != 0;
  }
  settings.has_graph_reuse = fields.has(Word::graph_reuse);
  settings.has_max_cached = fields.has(Word::max_cached_size);
  settings_keys_.add(fields.keys);
  budget_.make_room(settings_);
  budget_.charge(settings.conf.size());
  settings_.push_back(std::move(settings));
  return Value::of(ValueKind::settings, settings_.size() - 1);
}

Value SnapshotRecords::make_top(const Fields& fields) {
  Top top;
  for (const auto& [key, into] :
       {std::pair{Word::segments, &top.segments}, std::pair{Word::device_traces, &top.traces},
        std::pair{Word::external_annotations, &top.annotations},
        std::pair{Word::allocator_settings, &top.settings}}) {
    *into = Value::of(ValueKind::open_list);
    if (const Value* value = fields.find(key)) *into = *value;
  }
  // Pinned memory of the host has an allocator of its own.
  const Value* segments = fields.find(Word::host_segments);
  const Value* traces = fields.find(Word::host_traces);
  has_host_memory_ = (segments != nullptr && segments->is_list_of(ValueKind::segment)) ||
                     (traces != nullptr && has_events(*traces));
  top_ = top;
  top_keys_.add(fields.keys);
  return Value::of(ValueKind::top);
}

}  // namespace ebb::trace

// SPDX-License-Identifier: Apache-2.0
// The whole snapshot out of its records.
#include <algorithm>

#include "base/text.h"
#include "trace/snapshot_records.h"

namespace ebb::trace {
namespace {

constexpr Index kMostDevices = 1024;

/// PyTorch 2.`minor` was the first with a field or key; where it is missing, the file is older.
void since(Snapshot& snapshot, int minor, bool there) {
  if (there) {
    snapshot.oldest_minor = std::max(snapshot.oldest_minor, minor);
  } else {
    snapshot.newest_minor = std::min(snapshot.newest_minor, minor - 1);
  }
}

/// The same for what even newer releases do not always write.
void at_least(Snapshot& snapshot, int minor, bool there) {
  if (there) snapshot.oldest_minor = std::max(snapshot.oldest_minor, minor);
}

}  // namespace

base::Error SnapshotRecords::wrong(const char* key, const Value& value,
                                   const char* expected) const {
  if (value.is_broken()) return {base::Code::bad_input, faults_[value.first()], 0};
  return base::error(base::Code::bad_input, "%s: '%s' is not %s", reader_.name().c_str(), key,
                     expected);
}

Index SnapshotRecords::kept_text(Index text, Snapshot& snapshot) {
  if (text == kNone) return kNone;
  if (text >= kept_texts_.size()) kept_texts_.resize(texts_.size(), kNone);
  Index& kept = kept_texts_[text];
  if (kept == kNone) {
    kept = static_cast<Index>(snapshot.texts.size());
    snapshot.texts.push_back(texts_.take(text));
  }
  return kept;
}

base::Status SnapshotRecords::take_segments(const Value& list, Snapshot& snapshot) {
  if (list.is_empty_list()) return {};
  if (!list.is_list_of(ValueKind::segment)) {
    return wrong("segments", list, "a list of segments");
  }
  const auto first = segments_.begin() + static_cast<std::ptrdiff_t>(list.first());
  segments_.erase(first + static_cast<std::ptrdiff_t>(list.count()), segments_.end());
  segments_.erase(segments_.begin(), first);
  const auto before = [](const Segment& a, const Segment& b) {
    return std::pair(a.device, a.address) < std::pair(b.device, b.address);
  };
  std::sort(segments_.begin(), segments_.end(), before);
  for (std::size_t i = 1; i < segments_.size(); ++i) {
    const Segment& last = segments_[i - 1];
    if (last.device == segments_[i].device && last.address + last.size > segments_[i].address) {
      return base::error(base::Code::bad_input,
                         "%s: the segments at %llu and %llu of device %d overlap",
                         reader_.name().c_str(), static_cast<unsigned long long>(last.address),
                         static_cast<unsigned long long>(segments_[i].address), last.device);
    }
  }
  snapshot.segments = std::move(segments_);
  return {};
}

base::Status SnapshotRecords::take_traces(const Value& list, Snapshot& snapshot) {
  if (list.is_empty_list()) return {};
  if (!list.is_list_of(ValueKind::list)) {
    return wrong("device_traces", list, "a list with a list of events for each device");
  }
  if (list.count() > kMostDevices) {
    return base::error(base::Code::bad_input, "%s: traces of %u devices, expected at most %u",
                       reader_.name().c_str(), list.count(), kMostDevices);
  }
  snapshot.traces.resize(list.count());
  for (Index i = 0; i < list.count(); ++i) {
    const Range& range = traces_[list.first() + i];
    events_.move_out(range.first, range.count, snapshot.traces[i],
                     [&](Event& event) { event.text = kept_text(event.text, snapshot); });
  }
  return {};
}

base::Status SnapshotRecords::take_annotations(const Value& list, Snapshot& snapshot) {
  if (list.is_empty_list()) return {};
  if (!list.is_list_of(ValueKind::annotation)) {
    return wrong("external_annotations", list, "a list of annotations");
  }
  budget_.charge(list.count() * sizeof(Annotation));
  snapshot.annotations.reserve(list.count());
  for (Index i = 0; i < list.count(); ++i) {
    const RawAnnotation& raw = annotations_[list.first() + i];
    const std::string& name = texts_[raw.name];
    budget_.charge(name.size());
    snapshot.annotations.push_back({name, raw.start, raw.device, raw.time_us});
  }
  return {};
}

void SnapshotRecords::infer_versions(Snapshot& snapshot, bool has_top) const {
  if (segment_keys_.dicts > 0) since(snapshot, 1, segment_keys_.always(Word::is_expandable));
  if (block_keys_.dicts > 0) since(snapshot, 1, block_keys_.always(Word::address));
  if (event_keys_.dicts > 0) {
    since(snapshot, 2, event_keys_.always(Word::time_us));
    since(snapshot, 8, event_keys_.always(Word::compile_context));
    since(snapshot, 10, event_keys_.always(Word::user_metadata));
    since(snapshot, 12, event_keys_.always(Word::pool_id));
    at_least(snapshot, 11, event_keys_.ever(Word::forward_frames));
    at_least(snapshot, 1, maps_memory_);
    at_least(snapshot, 14, annotates_);
  }
  const bool fx = frame_keys_.ever(Word::fx_node_op) || frame_keys_.ever(Word::fx_node_name) ||
                  frame_keys_.ever(Word::fx_node_info) || frame_keys_.ever(Word::fx_original_trace);
  at_least(snapshot, 10, fx);
  if (has_top) {
    since(snapshot, 3, top_keys_.always(Word::allocator_settings));
    since(snapshot, 5, top_keys_.always(Word::external_annotations));
    since(snapshot, 14, top_keys_.always(Word::host_segments));
  }
  if (settings_keys_.dicts > 0) {
    since(snapshot, 9, settings_keys_.always(Word::graph_reuse));
    since(snapshot, 13, settings_keys_.always(Word::max_cached_size));
  }
  // Fields of one release without those of an older one: edited, or written by somebody else.
  snapshot.newest_minor = std::max(snapshot.newest_minor, snapshot.oldest_minor);
}

base::Result<Snapshot> SnapshotRecords::finish(const Value& root) {
  Snapshot snapshot;
  const bool has_top = root.kind == ValueKind::top && top_;
  if (!has_top && !root.is_empty_list() && !root.is_list_of(ValueKind::segment)) {
    if (root.is_broken()) return base::Error{base::Code::bad_input, faults_[root.first()], 0};
    return base::error(base::Code::bad_input,
                       "%s: no snapshot, expected a dict with 'segments' and 'device_traces' or a "
                       "list of segments",
                       reader_.name().c_str());
  }
  const Value none = Value::of(ValueKind::open_list);
  if (const auto taken = take_segments(has_top ? top_->segments : root, snapshot); !taken) {
    return taken.error();
  }
  if (const auto taken = take_annotations(has_top ? top_->annotations : none, snapshot); !taken) {
    return taken.error();
  }
  const Value& settings = has_top ? top_->settings : none;
  if (settings.kind == ValueKind::settings) {
    snapshot.settings = settings_[settings.first()];
  } else if (settings.is_broken()) {
    return wrong("allocator_settings", settings, "a dict");
  }
  // From here on texts move to the snapshot.
  if (const auto taken = take_traces(has_top ? top_->traces : none, snapshot); !taken) {
    return taken.error();
  }
  snapshot.frames = std::move(frames_.all());
  for (Frame& frame : snapshot.frames) {
    frame.name = kept_text(frame.name, snapshot);
    frame.file = kept_text(frame.file, snapshot);
  }
  snapshot.stacks = std::move(stacks_.all());
  snapshot.streams = std::move(streams_);
  snapshot.pools = std::move(pools_);
  snapshot.has_pool_ids = event_keys_.always(Word::pool_id);
  snapshot.has_times = event_keys_.always(Word::time_us);
  if (ignored_events_ > 0) {
    snapshot.notes.push_back(
        base::format_text("%llu events of kinds that PyTorch 2.15 does not know were left out",
                          static_cast<unsigned long long>(ignored_events_)));
  }
  if (has_host_memory_) {
    snapshot.notes.emplace_back(
        "pinned memory of the host was recorded too and left out: it has another allocator");
  }
  infer_versions(snapshot, has_top);
  return snapshot;
}

}  // namespace ebb::trace

// SPDX-License-Identifier: Apache-2.0
#include "cache/snapshot_pickle.h"

#include "base/file.h"
#include "trace/pickle_writer.h"

namespace ebb::cache {
namespace {

/// The dictionary members that the different parts share.
class SnapshotWriter {
 public:
  explicit SnapshotWriter(const VersionProfile& profile) : profile_(profile) {}

  void segment(const SnapshotSegment& segment);
  void entry(const TraceEntry& entry);
  void settings(const Settings& settings);
  void annotation(const Annotation& annotation);

  void key(const char* name) { out_.text(name); }
  void natural(const char* name, std::uint64_t value) {
    key(name);
    out_.natural(value);
  }
  void boolean(const char* name, bool value) {
    key(name);
    out_.boolean(value);
  }
  void text(const char* name, std::string_view value) {
    key(name);
    out_.text(value);
  }
  /// PyTorch writes "unlimited" as -1.
  void limit(const char* name, std::uint64_t value) {
    key(name);
    out_.integer(value == kUnlimited ? -1 : static_cast<std::int64_t>(value));
  }
  void pool_id(const char* name, PoolId id) {
    key(name);
    out_.natural(id.first);
    out_.natural(id.second);
    out_.end_pair();
  }
  void empty_list(const char* name) {
    key(name);
    out_.begin_list();
    out_.end_list();
  }

  trace::PickleWriter& out() { return out_; }
  const VersionProfile& profile() const { return profile_; }

 private:
  const VersionProfile& profile_;
  trace::PickleWriter out_;
};

void SnapshotWriter::segment(const SnapshotSegment& segment) {
  out_.begin_dict();
  natural("device", static_cast<std::uint64_t>(segment.device));
  natural("address", segment.address);
  natural("total_size", segment.total_size);
  natural("allocated_size", segment.allocated_size);
  natural("active_size", segment.active_size);
  natural("requested_size", segment.requested_size);
  natural("stream", segment.stream);
  text("segment_type", segment.small ? "small" : "large");
  pool_id("segment_pool_id", segment.pool);
  boolean("is_expandable", segment.expandable);
  empty_list("frames");
  key("blocks");
  out_.begin_list();
  for (const SnapshotBlock& block : segment.blocks) {
    out_.begin_dict();
    natural("address", block.address);
    natural("size", block.size);
    natural("requested_size", block.requested_size);
    text("state", name_of(block.state));
    empty_list("frames");
    out_.end_dict();
  }
  out_.end_list();
  out_.end_dict();
}

void SnapshotWriter::entry(const TraceEntry& entry) {
  out_.begin_dict();
  text("action", name_of(entry.action));
  natural(entry.action == Action::oom ? "device_free" : "addr", entry.address);
  natural("size", entry.size);
  natural("stream", entry.stream);
  if (profile_.at_least(2)) {
    key("time_us");
    out_.integer(entry.time_us);
  }
  if (profile_.at_least(8)) text("compile_context", "N/A");
  if (profile_.at_least(10)) text("user_metadata", "");
  if (profile_.at_least(12)) pool_id("pool_id", entry.pool);
  out_.end_dict();
}

void SnapshotWriter::annotation(const Annotation& annotation) {
  out_.begin_dict();
  natural("device", static_cast<std::uint64_t>(annotation.device));
  key("time_us");
  out_.integer(annotation.time_us);
  text("stage", annotation.start ? "START" : "END");
  text("name", annotation.name);
  out_.end_dict();
}

void SnapshotWriter::settings(const Settings& settings) {
  out_.begin_dict();
  text("PYTORCH_CUDA_ALLOC_CONF", settings.text);
  limit("max_split_size", settings.max_split_size);
  key("garbage_collection_threshold");
  out_.real(settings.garbage_collection_threshold);
  boolean("expandable_segments", settings.expandable_segments);
  natural("pinned_num_register_threads", settings.pinned_num_register_threads);
  boolean("release_lock_on_cudamalloc", settings.release_lock_on_cudamalloc);
  boolean("pinned_use_cuda_host_register", settings.pinned_use_cuda_host_register);
  if (profile_.at_least(9)) {
    boolean("graph_capture_record_stream_reuse", settings.graph_capture_record_stream_reuse);
  }
  key("roundup_power2_divisions");
  out_.begin_dict();
  for (std::size_t i = 0; i < kRoundingBuckets; ++i) {
    natural(std::to_string(std::uint64_t{1} << i).c_str(), settings.roundup_divisions[i]);
  }
  out_.end_dict();
  if (profile_.at_least(13)) {
    limit("max_round_threshold", settings.pinned_max_round_threshold);
    limit("max_cached_size", settings.pinned_max_cached_size);
  }
  out_.end_dict();
}

}  // namespace

std::string pickle_of(const Snapshot& snapshot) {
  SnapshotWriter writer(snapshot.profile);
  trace::PickleWriter& out = writer.out();
  out.begin_dict();
  writer.key("segments");
  out.begin_list();
  for (const SnapshotSegment& segment : snapshot.segments) {
    writer.segment(segment);
  }
  out.end_list();
  writer.key("device_traces");
  out.begin_list();
  for (const std::vector<TraceEntry>& trace : snapshot.device_traces) {
    out.begin_list();
    for (const TraceEntry& entry : trace) {
      writer.entry(entry);
    }
    out.end_list();
  }
  out.end_list();
  if (writer.profile().at_least(3)) {
    writer.key("allocator_settings");
    writer.settings(snapshot.settings);
  }
  if (writer.profile().at_least(5)) {
    writer.key("external_annotations");
    out.begin_list();
    for (const Annotation& annotation : snapshot.annotations) {
      writer.annotation(annotation);
    }
    out.end_list();
  }
  if (writer.profile().at_least(14)) {
    writer.empty_list("host_segments");
    writer.empty_list("host_traces");
  }
  out.end_dict();
  return std::move(out).finish();
}

base::Status dump_snapshot(const Snapshot& snapshot, const std::string& path) {
  return base::write_file_atomically(path, pickle_of(snapshot));
}

}  // namespace ebb::cache

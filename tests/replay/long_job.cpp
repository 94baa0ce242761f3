// SPDX-License-Identifier: Apache-2.0
#include "replay/long_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "support/packed_file.h"

namespace ebb::replay {
namespace {

using base::Json;
using Kind = Operation::Kind;
using trace::Action;

const std::string kLongJobs = std::string(EBB_TEST_DATA) + "/torch-2.11/long";

template <class T>
T number(const Json& value) {
  return static_cast<T>(value.as_unsigned().value());
}

template <class T>
std::vector<T> numbers(const Json& packed, const char* key) {
  std::vector<T> all;
  for (const Json& value : *packed.find(key)->as_array()) {
    all.push_back(number<T>(value));
  }
  return all;
}

/// The packed operations, one after the other, with the index of the event that told of each.
class Unpacker {
 public:
  explicit Unpacker(const Json& packed)
      : kinds_(*packed.find("kinds")->as_string()),
        sizes_(numbers<std::uint64_t>(packed, "sizes")),
        size_of_(numbers<std::size_t>(packed, "size_of")),
        stream_of_(numbers<std::uint16_t>(packed, "stream_of")),
        back_(numbers<std::uint32_t>(packed, "back")) {
    work_.streams = numbers<trace::Stream>(packed, "streams");
    work_.pools = {trace::PoolId{}};
    work_.recording.conf_known = true;
    for (const Json& item : *packed.find("segments")->as_array()) {
      const Json::Array& fields = *item.as_array();
      const bool taken = *fields[1].as_string() == name_of(Action::segment_alloc);
      work_.recording.events.push_back({number<std::uint64_t>(fields[0]),
                                        taken ? Action::segment_alloc : Action::segment_free,
                                        number<std::uint64_t>(fields[2])});
      if (!taken) continue;
      work_.recording.segments.push_back({number<std::uint64_t>(fields[0]),
                                          number<std::uint64_t>(fields[2]),
                                          number<trace::Address>(fields[3])});
    }
  }

  Workload unpack() && {
    for (const char kind : kinds_) {
      switch (kind) {
        case 'a':
          allocate();
          break;
        case 'f':
          about_block(Kind::free, 2);
          break;
        case 'l':
          about_block(Kind::free_later, 1);
          break;
        case 'c':
          about_block(Kind::complete, 1);
          break;
        default:
          empty_cache();
      }
    }
    return std::move(work_);
  }

 private:
  void allocate() {
    skip_segments(Action::segment_alloc);
    Operation op;
    op.bytes = sizes_.at(size_of_.at(work_.blocks));
    op.block = work_.blocks;
    op.stream = stream_of_.at(work_.blocks);
    op.event = events_++;
    ++work_.blocks;
    ++work_.requests;
    work_.operations.push_back(op);
  }

  void about_block(Kind kind, std::uint32_t events) {
    Operation op;
    op.kind = kind;
    op.block = work_.blocks - 1 - back_.at(next_back_++);
    op.stream = stream_of_.at(op.block);
    op.event = events_;
    events_ += events;
    if (kind != Kind::complete) ++work_.requests;
    work_.operations.push_back(op);
  }

  void empty_cache() {
    skip_segments(Action::segment_free);
    Operation op;
    op.kind = Kind::empty_cache;
    op.event = events_ - 1;
    op.waited = true;
    work_.operations.push_back(op);
  }

  /// Segments come and go before the operation that they are for.
  void skip_segments(Action action) {
    const std::vector<SegmentEvent>& all = work_.recording.events;
    for (; next_segment_ < all.size(); ++next_segment_, ++events_) {
      const SegmentEvent& event = all[next_segment_];
      if (event.requests != work_.requests || event.action != action) break;
    }
  }

  const std::string& kinds_;
  const std::vector<std::uint64_t> sizes_;
  const std::vector<std::size_t> size_of_;
  const std::vector<std::uint16_t> stream_of_;
  const std::vector<std::uint32_t> back_;
  Workload work_;
  std::size_t next_back_ = 0;
  std::size_t next_segment_ = 0;
  std::uint32_t events_ = 0;
};

LongJob::Setting setting_of(const Json& packed) {
  LongJob::Setting setting;
  setting.conf = *packed.find("conf")->as_string();
  for (const Json& pass : *packed.find("passes")->as_array()) {
    const Json::Array& fields = *pass.as_array();
    setting.peaks.push_back({number<std::uint64_t>(fields[0]), number<std::uint64_t>(fields[1])});
  }
  return setting;
}

}  // namespace

Workload LongJob::first(std::size_t count) const {
  const Pass& pass = passes.at(count - 1);
  Workload work = whole;
  work.operations.resize(pass.operations);
  work.blocks = 0;
  work.requests = 0;
  for (const Operation& op : work.operations) {
    if (op.kind == Kind::allocate) ++work.blocks;
    const bool request = op.kind != Kind::complete && op.kind != Kind::empty_cache;
    if (request) ++work.requests;
  }
  Recording& recording = work.recording;
  // Segments come and go for the sake of the next operation, which is not there any more.
  const auto later = [&](const auto& event) { return event.requests >= work.requests; };
  std::erase_if(recording.events, later);
  std::erase_if(recording.segments, later);
  recording.peak_reserved = 0;
  std::uint64_t reserved = 0;
  for (const SegmentEvent& event : recording.events) {
    reserved += event.action == Action::segment_alloc ? event.size : -event.size;
    recording.peak_reserved = std::max(recording.peak_reserved, reserved);
  }
  recording.limit_low = recording.peak_reserved;
  recording.final_reserved = reserved;
  recording.seconds = pass.seconds;
  return work;
}

std::vector<std::string> long_jobs() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kLongJobs)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".json.gz")) names.push_back(name.substr(0, name.find('.')));
  }
  std::sort(names.begin(), names.end());
  return names;
}

LongJob read_long_job(const std::string& name) {
  LongJob job;
  job.name = name;
  const auto packed = base::parse_json(support::text_of(kLongJobs + "/" + name + ".json.gz"));
  EXPECT_TRUE(packed) << name;
  if (!packed) return job;
  job.whole = Unpacker(*packed).unpack();
  for (const Json& pass : *packed->find("passes")->as_array()) {
    const Json::Array& fields = *pass.as_array();
    job.passes.push_back({number<std::uint32_t>(fields[0]), number<std::uint32_t>(fields[1]),
                          number<double>(fields[2]) / 1e6});
  }
  for (const Json& mark : *packed->find("annotations")->as_array()) {
    const Json::Array& fields = *mark.as_array();
    job.marks.push_back({number<std::uint32_t>(fields[0]), *fields[1].as_string() == "START",
                         *fields[2].as_string()});
  }
  for (const auto& [setting, value] : *packed->find("measured")->as_object()) {
    job.measured[setting] = setting_of(value);
  }
  job.whole = job.first(job.passes.size());
  job.pass1 = job.first(1);
  return job;
}

}  // namespace ebb::replay

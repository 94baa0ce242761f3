// SPDX-License-Identifier: Apache-2.0
#include "trace/summary.h"

#include <unordered_map>

#include "base/text.h"
#include "pack/crc32.h"

namespace ebb::trace {
namespace {

using base::format_text;

unsigned long long wide(std::uint64_t number) {
  return number;
}

/// A checksum of lines that come one by one.
class Lines {
 public:
  void add(const std::string& line) {
    crc_ = pack::crc32(crc_, line.data(), line.size());
    crc_ = pack::crc32(crc_, "\n", 1);
  }
  std::uint32_t crc() const { return crc_; }

 private:
  std::uint32_t crc_ = 0;
};

class Summary {
 public:
  explicit Summary(const Snapshot& snapshot) : snapshot_(snapshot) {
    for (const auto& stack : snapshot.stacks) {
      Lines lines;
      for (const Index frame : stack) {
        const Frame& f = snapshot.frames[frame];
        lines.add(text(f.name) + "|" + text(f.file) + "|" + std::to_string(f.line));
      }
      stacks_.push_back(lines.crc());
    }
  }

  std::string all() {
    std::string out;
    for (const auto& trace : snapshot_.traces) {
      Lines lines;
      std::uint64_t sum = 0;
      for (const Event& event : trace) {
        lines.add(line_of(event));
        sum += event.size;
      }
      out += format_text("trace %zu %llu %u\n", trace.size(), wide(sum), lines.crc());
    }
    Lines segments;
    std::size_t blocks = 0;
    for (const Segment& segment : snapshot_.segments) {
      add_segment(segment, segments);
      blocks += segment.blocks.size();
    }
    out += format_text("segments %zu %zu %u\n", snapshot_.segments.size(), blocks, segments.crc());
    Lines annotations;
    for (const Annotation& a : snapshot_.annotations) {
      annotations.add(format_text("%s %s %d %lld", a.name.c_str(), a.start ? "START" : "END",
                                  a.device, static_cast<long long>(a.time_us)));
    }
    out += format_text("annotations %zu %u\n", snapshot_.annotations.size(), annotations.crc());
    if (const auto& settings = snapshot_.settings) {
      out += format_text("settings %s %lld %.6f %d\n", settings->conf.c_str(),
                         static_cast<long long>(settings->max_split_size),
                         settings->garbage_collection_threshold, settings->expandable_segments);
    }
    return out;
  }

 private:
  std::string text(Index index) const { return index == kNone ? "None" : snapshot_.texts[index]; }
  std::uint32_t stack(Index index) const { return index == kNone ? 0 : stacks_[index]; }

  std::string line_of(const Event& event) const {
    const PoolId pool = snapshot_.pools[event.pool];
    return format_text("%s %llu %llu %llu %lld %llu %llu %u %s", name_of(event.action),
                       wide(event.address), wide(event.size), wide(snapshot_.streams[event.stream]),
                       static_cast<long long>(event.time_us), wide(pool.first), wide(pool.second),
                       stack(event.stack),
                       event.text == kNone ? "" : snapshot_.texts[event.text].c_str());
  }

  void add_segment(const Segment& s, Lines& lines) const {
    lines.add(format_text("%d %llu %llu %llu %s %llu %llu %d %u", s.device, wide(s.address),
                          wide(s.size), wide(s.stream), s.small ? "small" : "large",
                          wide(s.pool.first), wide(s.pool.second), s.expandable, stack(s.stack)));
    for (const Block& b : s.blocks) {
      lines.add(format_text("%llu %llu %llu %s %u", wide(b.address), wide(b.size),
                            wide(b.requested), name_of(b.state), stack(b.stack)));
    }
  }

  const Snapshot& snapshot_;
  std::vector<std::uint32_t> stacks_;
};

}  // namespace

std::string summary_of(const Snapshot& snapshot) {
  return Summary(snapshot).all();
}

}  // namespace ebb::trace

// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "trace/initial_state.h"
#include "trace/snapshot_reader.h"
#include "trace/steps.h"

namespace {

using namespace ebb::trace;

void check_segments(const std::vector<Segment>& segments, const Snapshot& snapshot) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Segment& segment = segments[i];
    if (i > 0 && segments[i - 1].device == segment.device) {
      EBB_CHECK(segments[i - 1].address + segments[i - 1].size <= segment.address);
    }
    EBB_CHECK(segment.stack == kNone || segment.stack < snapshot.stacks.size());
    Address at = segment.address;
    for (const Block& block : segment.blocks) {
      EBB_CHECK(block.address == at && block.size > 0);
      EBB_CHECK(block.stack == kNone || block.stack < snapshot.stacks.size());
      at += block.size;
    }
    EBB_CHECK(at == segment.address + segment.size);
  }
}

void check(const Snapshot& snapshot) {
  check_segments(snapshot.segments, snapshot);
  for (const Frame& frame : snapshot.frames) {
    EBB_CHECK(frame.name == kNone || frame.name < snapshot.texts.size());
    EBB_CHECK(frame.file == kNone || frame.file < snapshot.texts.size());
  }
  for (const auto& stack : snapshot.stacks) {
    for (const Index frame : stack) {
      EBB_CHECK(frame < snapshot.frames.size());
    }
  }
  EBB_CHECK(snapshot.oldest_minor <= snapshot.newest_minor);
  for (std::size_t device = 0; device < snapshot.traces.size(); ++device) {
    for (const Event& event : snapshot.traces[device]) {
      EBB_CHECK(event.stream < snapshot.streams.size() && event.pool < snapshot.pools.size());
      EBB_CHECK(event.stack == kNone || event.stack < snapshot.stacks.size());
      EBB_CHECK(event.text == kNone || event.text < snapshot.texts.size());
    }
    check_segments(initial_state(snapshot, device).segments, snapshot);
    const Steps steps = find_steps(snapshot, device);
    EBB_CHECK(steps.begins.empty() == (steps.source == Steps::Source::none));
    for (std::size_t i = 0; i < steps.begins.size(); ++i) {
      EBB_CHECK(steps.begins[i] < snapshot.traces[device].size());
      EBB_CHECK(i == 0 || steps.begins[i - 1] < steps.begins[i]);
    }
  }
}

}  // namespace

/// Any bytes are a snapshot that holds together, or one clear line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto snapshot = parse_snapshot(bytes, "file");
  if (snapshot) {
    check(*snapshot);
    return 0;
  }
  const ebb::base::Error& error = snapshot.error();
  EBB_CHECK(error.code == ebb::base::Code::bad_input);
  EBB_CHECK(error.message.find("file: ") == 0 && error.message.size() < 300);
  for (const char c : error.message) {
    EBB_CHECK(c >= ' ' && c <= '~');
  }
  return 0;
}

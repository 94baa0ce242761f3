// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/origins.h"

#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::replay {
namespace {

bool is_python(const std::string& file) {
  return file.size() > 3 && file.compare(file.size() - 3, 3, ".py") == 0;
}

/// Frames of the framework itself, which say nothing about whose memory it is.
bool is_machinery(const std::string& file) {
  return file.find("/torch/") != std::string::npos || file.rfind("torch/", 0) == 0 || file == "??";
}

// Of a file or a function: a name may be as long as whoever made the snapshot likes.
constexpr std::size_t kLongestName = 1000;

std::string text_of(const trace::Snapshot& snapshot, trace::Index index) {
  return index == trace::kNone ? "?" : snapshot.texts[index].substr(0, kLongestName);
}

}  // namespace

std::vector<std::string> frame_lines(const trace::Snapshot& snapshot, trace::Index stack,
                                     std::size_t most) {
  if (stack == trace::kNone) return {};
  std::vector<std::string> own;
  std::vector<std::string> all;
  for (const trace::Index index : snapshot.stacks[stack]) {
    const trace::Frame& frame = snapshot.frames[index];
    if (own.size() == most) break;
    const std::string file = text_of(snapshot, frame.file);
    const std::string line =
        base::format_text("%s:%lld %s", file.c_str(), static_cast<long long>(frame.line),
                          text_of(snapshot, frame.name).c_str());
    if (all.size() < most) all.push_back(line);
    if (is_python(file) && !is_machinery(file)) own.push_back(line);
  }
  std::vector<std::string>& chosen = own.empty() ? all : own;
  return chosen;
}

trace::Index stack_of(const trace::Snapshot& snapshot, int device, const Workload& workload,
                      const Lifetime& life) {
  if (life.failed || life.block >= workload.initial_blocks) {
    const Operation& op = workload.operations[life.first];
    return snapshot.traces[static_cast<std::size_t>(device)][op.event].stack;
  }
  return workload.initial_stacks[life.block];
}

std::vector<Origin> origins_of(const trace::Snapshot& snapshot, int device,
                               const Workload& workload, const std::vector<Lifetime>& blocks,
                               std::size_t most) {
  std::map<std::vector<std::string>, Origin> groups;
  std::map<trace::Index, std::vector<std::string>> lines;
  for (const Lifetime& life : blocks) {
    const trace::Index stack = stack_of(snapshot, device, workload, life);
    auto [known, is_new] = lines.try_emplace(stack);
    if (is_new) known->second = frame_lines(snapshot, stack);
    std::vector<std::string> frames = known->second;
    if (frames.empty()) {
      frames = {base::format_text("requests of %s (no stack recorded)",
                                  base::bytes_text(life.bytes).c_str())};
    }
    Origin& origin = groups[frames];
    origin.frames = frames;
    origin.bytes += life.bytes;
    ++origin.blocks;
  }
  std::vector<Origin> origins;
  for (auto& [frames, origin] : groups) {
    origins.push_back(std::move(origin));
  }
  std::stable_sort(origins.begin(), origins.end(),
                   [](const Origin& a, const Origin& b) { return a.bytes > b.bytes; });
  if (origins.size() > most) origins.resize(most);
  return origins;
}

base::Json to_json(const std::vector<Origin>& origins) {
  base::Json list = base::Json::array();
  for (const Origin& origin : origins) {
    base::Json frames = base::Json::array();
    for (const std::string& frame : origin.frames) {
      frames.push(frame);
    }
    list.push(base::Json::object(
        {{"bytes", origin.bytes}, {"blocks", origin.blocks}, {"frames", std::move(frames)}}));
  }
  return list;
}

}  // namespace ebb::replay

// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/site_numbers.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "replay/doctor/origins.h"

namespace ebb::replay {
namespace {

// Whoever made the snapshot may have made names and stacks as long as they like.
constexpr std::size_t kMostCalls = 100;
constexpr std::size_t kLongestText = 250;

std::string_view text_at(const trace::Snapshot& snapshot, trace::Index index) {
  return index == trace::kNone ? std::string_view() : std::string_view(snapshot.texts[index]);
}

/// The end of a path tells more than its beginning.
std::string tail_of(std::string_view path) {
  if (path.size() <= kLongestText) return std::string(path);
  std::size_t from = path.size() - kLongestText;
  // Not within a character.
  while (from < path.size() && (static_cast<unsigned char>(path[from]) & 0xC0U) == 0x80U)
    ++from;
  return std::string(path.substr(from));
}

std::string head_of(std::string_view name) {
  std::size_t size = std::min(name.size(), kLongestText);
  while (size > 0 && size < name.size() &&
         (static_cast<unsigned char>(name[size]) & 0xC0U) == 0x80U)
    --size;
  return std::string(name.substr(0, size));
}

}  // namespace

SiteNumbers::SiteNumbers(const trace::Snapshot& snapshot, int device, const Workload& workload)
    : snapshot_(snapshot),
      device_(device),
      workload_(workload),
      has_history_(!history_of(snapshot, device).empty()),
      by_stack_(snapshot.stacks.size(), 0) {}

std::uint32_t SiteNumbers::number_of(const Lifetime& life) {
  const trace::Index stack = stack_of(snapshot_, device_, workload_, life);
  if (stack == trace::kNone || snapshot_.stacks[stack].empty()) {
    const bool is_initial = !life.failed && life.block < workload_.initial_blocks;
    return is_initial && has_history_ ? kBeforeHistory : kNoStack;
  }
  std::uint32_t& number = by_stack_[stack];
  if (number != 0) return number;
  const auto [at, is_new] = by_key_.try_emplace(key_of(stack), static_cast<std::uint32_t>(size()));
  if (is_new) keys_.push_back(&at->first);
  return number = at->second;
}

fact::SiteStack SiteNumbers::calls_of(std::uint32_t number) const {
  fact::SiteStack calls;
  for (const trace::Index frame : *keys_[number - kPlaces])
    calls.push_back(frame_of(frame));
  return calls;
}

SiteNumbers::Key SiteNumbers::key_of(trace::Index stack) const {
  const std::vector<trace::Index>& frames = snapshot_.stacks[stack];
  const auto python = std::find_if(frames.begin(), frames.end(),
                                   [&](trace::Index frame) { return is_python(frame); });
  Key key;
  for (auto at = frames.begin(); at != frames.end() && key.size() < kMostCalls; ++at) {
    // The interpreter's calls stand between those of Python.
    const bool is_told = python == frames.end() || (at < python ? !is_glue(*at) : is_python(*at));
    if (is_told) key.push_back(*at);
  }
  return key;
}

bool SiteNumbers::is_python(trace::Index frame) const {
  const std::string_view file = text_at(snapshot_, snapshot_.frames[frame].file);
  return file.ends_with(".py") || file.starts_with("<");
}

bool SiteNumbers::is_glue(trace::Index frame) const {
  const std::string_view name = text_at(snapshot_, snapshot_.frames[frame].name);
  for (const std::string_view prefix :
       {"c10::", "at::", "torch::", "pybind11::", "std::", "Py", "_Py", "THP", "void at::"})
    if (name.starts_with(prefix)) return true;
  return name.empty();
}

fact::SiteFrame SiteNumbers::frame_of(trace::Index frame) const {
  const trace::Frame& from = snapshot_.frames[frame];
  const std::string_view file = text_at(snapshot_, from.file);
  fact::SiteFrame call;
  call.function = head_of(text_at(snapshot_, from.name));
  if (file != "??") call.file = tail_of(file);
  constexpr std::int64_t kLast = std::numeric_limits<std::uint32_t>::max();
  call.line = static_cast<std::uint32_t>(std::clamp<std::int64_t>(from.line, 0, kLast));
  if (!is_python(frame)) call.module = "?";  // PyTorch does not write it down
  return call;
}

}  // namespace ebb::replay

// SPDX-License-Identifier: Apache-2.0
#include "show/flame_stacks.h"

namespace ebb::show {

page::FlameStack& FlameStacks::of(const std::string& key, const std::string& name,
                                  const fact::SiteStack& frames) {
  using page::FrameKind;
  std::vector<std::uint32_t> calls = {number_of(name, FrameKind::root)};
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    calls.push_back(number_of(fact::text_of(*frame),
                              frame->is_python() ? FrameKind::python : FrameKind::native));
  }
  if (frames.empty()) calls.push_back(number_of(fact::place_of(frames), FrameKind::native));
  return stack_of({key, fact::reading_of(frames)}, std::move(calls));
}

page::FlameStack& FlameStacks::of(const std::string& root, const std::string& what) {
  return stack_of({root, what},
                  {number_of(root, page::FrameKind::root), number_of(what, page::FrameKind::root)});
}

page::FlameStack& FlameStacks::stack_of(std::pair<std::string, std::string> key,
                                        std::vector<std::uint32_t> calls) {
  const auto [at, is_new] = stacks_.try_emplace(std::move(key), flame_.stacks.size());
  if (is_new) flame_.stacks.push_back({std::move(calls), {0, 0}});
  return flame_.stacks[at->second];
}

std::uint32_t FlameStacks::number_of(const std::string& name, page::FrameKind kind) {
  const auto [at, is_new] =
      known_.try_emplace({name, kind}, static_cast<std::uint32_t>(flame_.frames.size()));
  if (is_new) flame_.frames.push_back({name, kind});
  return at->second;
}

}  // namespace ebb::show

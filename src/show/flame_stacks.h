// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fact/site.h"
#include "page/document.h"

namespace ebb::show {

/// Stacks of a flame graph, each of them and each name once. The graph outlives it.
class FlameStacks {
 public:
  explicit FlameStacks(page::FlameGraph& flame) : flame_(flame) {}

  /// The stack of calls below a root, which is known by a key and shown by its name. Made with 0
  /// for each of two measures where it is new; it stays valid until the next one is asked for.
  page::FlameStack& of(const std::string& key, const std::string& name,
                       const fact::SiteStack& frames);

  /// The same for what is no stack of calls.
  page::FlameStack& of(const std::string& root, const std::string& what);

 private:
  page::FlameStack& stack_of(std::pair<std::string, std::string> key,
                             std::vector<std::uint32_t> calls);
  std::uint32_t number_of(const std::string& name, page::FrameKind kind);

  page::FlameGraph& flame_;
  std::map<std::pair<std::string, page::FrameKind>, std::uint32_t> known_;
  std::map<std::pair<std::string, std::string>, std::size_t> stacks_;
};

}  // namespace ebb::show

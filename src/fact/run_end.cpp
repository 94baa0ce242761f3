// SPDX-License-Identifier: Apache-2.0
#include "fact/run_end.h"

#include <algorithm>
#include <array>

namespace ebb::fact {
namespace {

constexpr std::array<const char*, 5> kRunEnds{"", "exit", "signal", "out_of_memory", "stopped"};

}  // namespace

const char* name_of(RunEnd end) {
  return kRunEnds.at(static_cast<std::size_t>(end));
}

RunEnd run_end_from(std::string_view name) {
  const auto* const found = std::find(kRunEnds.begin(), kRunEnds.end(), name);
  return found == kRunEnds.end() ? RunEnd::unknown : static_cast<RunEnd>(found - kRunEnds.begin());
}

}  // namespace ebb::fact

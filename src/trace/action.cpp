// SPDX-License-Identifier: Apache-2.0
#include "trace/action.h"

#include <array>

namespace ebb::trace {
namespace {

constexpr std::array<const char*, kActions> kNames = {
    "alloc",        "free_requested", "free_completed", "segment_alloc",
    "segment_free", "segment_map",    "segment_unmap",  "oom",
    "snapshot",     "annotate"};

}  // namespace

const char* name_of(Action action) {
  return kNames[static_cast<std::size_t>(action)];
}

}  // namespace ebb::trace

// SPDX-License-Identifier: Apache-2.0
#include "device/call.h"

#include <array>

namespace ebb::device {
namespace {

constexpr std::array<const char*, kCallKinds> kNames = {"info",
                                                        "memory",
                                                        "allocate",
                                                        "release",
                                                        "reserve",
                                                        "unreserve",
                                                        "map",
                                                        "unmap",
                                                        "record_event",
                                                        "event_done",
                                                        "wait_event",
                                                        "destroy_event",
                                                        "synchronize_stream",
                                                        "synchronize",
                                                        "is_capturing"};

}  // namespace

const char* name_of(Call call) {
  return index_of(call) < kCallKinds ? kNames[index_of(call)] : "unknown";
}

}  // namespace ebb::device

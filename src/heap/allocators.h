// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "heap/host_allocator.h"

namespace ebb::heap {

// One maker per allocator; each gives null where the detected object lacks the functions needed.
std::unique_ptr<HostAllocator> make_glibc(const Detection& detection);
std::unique_ptr<HostAllocator> make_jemalloc(const Detection& detection);
std::unique_ptr<HostAllocator> make_tcmalloc(const Detection& detection);
std::unique_ptr<HostAllocator> make_mimalloc(const Detection& detection);

}  // namespace ebb::heap

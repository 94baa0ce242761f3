// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace ebb::fl {

/// Calls work(i) for each i below `count`, each on a thread of its own as far as there is room for
/// threads. It must not throw.
void on_threads(std::size_t count, const std::function<void(std::size_t)>& work);

/// Calls work(first, end) for parts that together are [0, count), on several threads where there is
/// enough to do. For what is the same however it is cut; it must not throw.
void in_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace ebb::fl

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace ebb::replay {

/// Calls `work(i)` for i below `count` on all cores, each i once, and returns when all are done.
template <class Work>
void for_all(std::size_t count, Work&& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) {
    others.emplace_back(loop);
  }
  loop();
  for (std::thread& other : others) {
    other.join();
  }
}

}  // namespace ebb::replay

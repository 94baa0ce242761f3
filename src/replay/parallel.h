// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "base/mutex.h"

namespace ebb::replay {

/// Calls `work(i)` for i below `count` on all cores, each i once, and returns when all are done. An
/// exception is thrown again to whoever called, once no thread is at work any more; what was not
/// begun by then is left out.
template <class Work>
void for_all(std::size_t count, Work&& work) {
  std::atomic<std::size_t> next{0};
  base::Mutex mutex;
  std::exception_ptr thrown;
  const auto loop = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) {
        work(i);
      }
    } catch (...) {
      next = count;
      const base::Lock lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  const std::size_t threads =
      std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> others;
  others.reserve(threads);
  try {
    for (std::size_t i = 1; i < threads; ++i)
      others.emplace_back(loop);
  } catch (const std::system_error&) {
    // As many as the system has left.
  }
  loop();
  for (std::thread& other : others) {
    other.join();
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace ebb::replay

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace ebb::serve {

/// Threads that work in the background, from when there is first something to do. The last member
/// of whom they work for: it goes first, and the others are there until then. Not thread-safe.
class Workers {
 public:
  Workers() = default;
  /// Waits for them. Requires: they have been told to end.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Lets `count` threads do `work`, where none do yet; fewer where there can be no more.
  /// Code::unavailable where there can be none.
  base::Status start(std::size_t count, const std::function<void()>& work);

 private:
  std::vector<std::thread> threads_;
};

}  // namespace ebb::serve

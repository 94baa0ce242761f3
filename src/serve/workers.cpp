// SPDX-License-Identifier: Apache-2.0
#include "serve/workers.h"

#include <system_error>

#include "base/signals_blocked.h"

namespace ebb::serve {

Workers::~Workers() {
  for (std::thread& thread : threads_)
    thread.join();
}

base::Status Workers::start(std::size_t count, const std::function<void()>& work) {
  if (!threads_.empty()) return {};
  const base::SignalsBlocked blocked;
  try {
    while (threads_.size() < count)
      threads_.emplace_back(work);
  } catch (const std::system_error& failure) {
    if (threads_.empty())
      return base::error(base::Code::unavailable, "cannot start a thread: %s", failure.what());
  }
  return {};
}

}  // namespace ebb::serve

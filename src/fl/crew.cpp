// SPDX-License-Identifier: Apache-2.0
#include "fl/crew.h"

#include <algorithm>
#include <thread>
#include <vector>

namespace ebb::fl {

struct Crew::Shift {
  using Work = std::function<base::Status(std::uint32_t, std::uint32_t)>;

  Shift(std::uint32_t items, std::uint32_t workers, const Work& each)
      : count(items), work(each), allowed(workers) {}

  const std::uint32_t count;
  const Work& work;
  base::Mutex mutex;
  std::uint32_t next = 0;
  std::uint32_t allowed;
  std::optional<std::uint32_t> failed_item;
  std::optional<base::Error> failure;
};

void Crew::labour(Shift& shift, std::uint32_t slot) {
  for (;;) {
    std::uint32_t item = 0;
    {
      const base::Lock lock(shift.mutex);
      // The first always goes on: the work has to be done.
      if (slot > 0 && slot >= shift.allowed) return;
      if (shift.failure || shift.next >= shift.count) return;
      item = shift.next++;
      shift.allowed = std::clamp(allowance_(shift.allowed), 1U, shift.allowed);
    }
    base::Status done = shift.work(slot, item);
    if (done) continue;
    const base::Lock lock(shift.mutex);
    if (!shift.failed_item || item < *shift.failed_item) {
      shift.failed_item = item;
      shift.failure = done.error();
    }
  }
}

base::Status Crew::run(
    std::uint32_t count,
    const std::function<base::Status(std::uint32_t slot, std::uint32_t item)>& work) {
  Shift shift(count, now_, work);
  const std::uint32_t helpers = std::min(now_, std::max(count, 1U)) - 1;
  std::vector<std::thread> threads;
  threads.reserve(helpers);
  for (std::uint32_t slot = 1; slot <= helpers; ++slot)
    threads.emplace_back([&, slot] { labour(shift, slot); });
  labour(shift, 0);
  for (std::thread& thread : threads)
    thread.join();
  now_ = shift.allowed;
  if (shift.failure) return *shift.failure;
  return {};
}

void Crew::grow() {
  now_ = std::min(now_ + 1, most_);
}

}  // namespace ebb::fl

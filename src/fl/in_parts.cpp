// SPDX-License-Identifier: Apache-2.0
#include "fl/in_parts.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace ebb::fl {
namespace {

/// Less is done sooner than a thread is made.
constexpr std::size_t kWorthAThread = 1U << 18U;
/// Memory is no faster for more.
constexpr std::size_t kMostThreads = 8;

std::size_t cores_here() {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&allowed));
}

}  // namespace

void on_threads(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::vector<std::thread> threads;
  std::size_t begun = 1;  // the first is this thread's
  try {
    threads.reserve(count);
    for (; begun < count; ++begun)
      threads.emplace_back([&work, i = begun] { work(i); });
  } catch (const std::exception&) {
    // No room for more threads: what is left is this one's.
    for (; begun < count; ++begun)
      work(begun);
  }
  if (count > 0) work(0);
  for (std::thread& thread : threads)
    thread.join();
}

void in_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t parts =
      count < 2 * kWorthAThread ? 1 : std::min({count / kWorthAThread, cores_here(), kMostThreads});
  const auto end_of = [&](std::size_t part) {
    return count / parts * part + count % parts * part / parts;
  };
  on_threads(parts, [&](std::size_t part) { work(end_of(part), end_of(part + 1)); });
}

}  // namespace ebb::fl

// SPDX-License-Identifier: Apache-2.0
#include "fl/worker_threads.h"

#include <algorithm>
#include <exception>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace ebb::fl {

struct WorkerThreads::Job {
  using Work = std::function<base::Status(std::uint32_t, std::uint32_t)>;

  Job(std::uint32_t items, std::uint32_t workers, const Work& each)
      : count(items), work(each), allowed(workers) {}

  const std::uint32_t count;
  const Work& work;
  base::Mutex mutex;
  std::uint32_t next = 0;
  std::uint32_t allowed;
  std::optional<std::uint32_t> failed_item;
  std::optional<base::Error> failure;
};

namespace {

/// An exception that leaves a thread ends the process.
template <class Body>
base::Status caught(Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return base::error(base::Code::out_of_memory, "out of memory");
  } catch (const std::exception& failure) {
    return base::error(base::Code::internal, "%s", failure.what());
  } catch (...) {
    return base::error(base::Code::internal, "something that is no std::exception was thrown");
  }
}

}  // namespace

void WorkerThreads::work_through(Job& job, std::uint32_t slot) {
  for (;;) {
    std::uint32_t item = 0;
    base::Status done;
    {
      const base::Lock lock(job.mutex);
      // The first always goes on: the work has to be done.
      if (slot > 0 && slot >= job.allowed) return;
      if (job.failure || job.next >= job.count) return;
      item = job.next++;
      done = caught([&]() -> base::Status {
        job.allowed = std::clamp(allowance_(job.allowed), 1U, job.allowed);
        return {};
      });
    }
    if (done) done = caught([&] { return job.work(slot, item); });
    if (done) continue;
    const base::Lock lock(job.mutex);
    if (!job.failed_item || item < *job.failed_item) {
      job.failed_item = item;
      job.failure = done.error();
    }
  }
}

base::Status WorkerThreads::run(
    std::uint32_t count,
    const std::function<base::Status(std::uint32_t slot, std::uint32_t item)>& work) {
  Job job(count, now_, work);
  const std::uint32_t helpers = std::min(now_, std::max(count, 1U)) - 1;
  std::vector<std::thread> threads;
  threads.reserve(helpers);
  try {
    for (std::uint32_t slot = 1; slot <= helpers; ++slot)
      threads.emplace_back([&, slot] { work_through(job, slot); });
  } catch (const std::system_error&) {
    // As many as the system has left.
  }
  work_through(job, 0);
  for (std::thread& thread : threads)
    thread.join();
  now_ = job.allowed;
  if (job.failure) return *job.failure;
  return {};
}

void WorkerThreads::grow() {
  now_ = std::min(now_ + 1, most_);
}

}  // namespace ebb::fl

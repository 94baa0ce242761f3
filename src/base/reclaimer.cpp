// SPDX-License-Identifier: Apache-2.0
#include "base/reclaimer.h"

#include <algorithm>
#include <exception>
#include <new>

#include "base/clock.h"

namespace ebb::base {
namespace {

/// What it gave back, or why it did not.
Reclaimed reclaimed_by(Reclaimer& reclaimer) {
  try {
    return reclaimer.reclaim();
  } catch (const std::exception& failure) {
    return {false, 0, failure.what()};
  } catch (...) {
    return {false, 0, "an exception that is no std::exception"};
  }
}

}  // namespace

ReclaimerRegistry::Id ReclaimerRegistry::add(std::string name, Stage stage,
                                             std::shared_ptr<Reclaimer> reclaimer) {
  Lock lock(mutex_);
  const Id id = next_id_++;
  entries_.push_back({id, std::move(name), stage, std::move(reclaimer)});
  std::stable_sort(entries_.begin(), entries_.end(),
                   [](const Entry& a, const Entry& b) { return a.stage < b.stage; });
  return id;
}

bool ReclaimerRegistry::remove(Id id) {
  Lock lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.id == id; });
  if (found == entries_.end()) return false;
  entries_.erase(found);
  const std::thread::id self = std::this_thread::get_id();
  const auto called_elsewhere = [&]() EBB_REQUIRES(mutex_) {
    return std::any_of(running_.begin(), running_.end(),
                       [&](const Running& r) { return r.id == id && r.thread != self; });
  };
  while (called_elsewhere())
    finished_.wait(mutex_);
  return true;
}

std::vector<std::string> ReclaimerRegistry::names() const {
  Lock lock(mutex_);
  std::vector<std::string> names;
  for (const Entry& entry : entries_)
    names.push_back(entry.name);
  return names;
}

std::vector<ReclaimerRegistry::Entry> ReclaimerRegistry::begin_run(Stage first, Stage last) const {
  Lock lock(mutex_);
  std::vector<Entry> chosen;
  for (const Entry& entry : entries_)
    if (entry.stage >= first && entry.stage <= last) chosen.push_back(entry);
  return chosen;
}

bool ReclaimerRegistry::call(const Entry& entry, Reclaimed& reclaimed, double& seconds) {
  std::uint64_t number = 0;
  {
    Lock lock(mutex_);
    const bool still_here = std::any_of(entries_.begin(), entries_.end(),
                                        [&](const Entry& e) { return e.id == entry.id; });
    if (!still_here) return false;
    number = ++calls_;
    running_.push_back({number, entry.id, std::this_thread::get_id()});
  }
  const std::int64_t start = system_clock().now_ns();
  try {
    reclaimed = reclaimed_by(*entry.reclaimer);
  } catch (const std::bad_alloc&) {
    reclaimed = {false, 0, {}};  // nor is there memory to say why
  }
  seconds = seconds_between(start, system_clock().now_ns());
  Lock lock(mutex_);
  std::erase_if(running_, [&](const Running& r) { return r.call == number; });
  finished_.notify_all();
  return true;
}

void ReclaimerRegistry::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* registry = static_cast<ReclaimerRegistry*>(self);
  registry->running_.clear();
  registry->finished_.renew();
}

}  // namespace ebb::base

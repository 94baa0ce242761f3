// SPDX-License-Identifier: Apache-2.0
#include "heap/private_allocators.h"

#include <dlfcn.h>

#include <algorithm>

#include "base/clock.h"
#include "base/fork.h"

namespace ebb::heap {
namespace {

/// Keeps a library from ever being unloaded; false where it is not loaded by that name.
bool pin(const std::string& object) {
  const base::Lock lock(base::loader_calls());
  return dlopen(object.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != nullptr;
}

/// In a child of fork some thread that is not there may hold a lock of mimalloc's for ever;
/// jemalloc and tcmalloc see to that themselves.
bool may_be_called(AllocatorKind kind) {
  return kind != AllocatorKind::mimalloc || base::fork_generation() == 0;
}

}  // namespace

void PrivateAllocators::look() {
  std::vector<LoadedObject> objects;
  {
    const base::Lock lock(base::loader_calls());
    const std::uint64_t loaded = objects_ever_loaded();
    if (loaded == loaded_) return;
    loaded_ = loaded;
    objects = loaded_objects();
  }
  for (const LoadedObject& object : objects) {
    if (!seen_.insert({object.start, object.file}).second) continue;
    for (const PrivateCopy& copy : private_copies_of(object))
      add(copy);
  }
}

void PrivateAllocators::add(const PrivateCopy& copy) {
  Found found;
  found.known.kind = name_of(copy.identity.kind);
  found.known.library = library_of(copy);
  found.known.prefix = copy.identity.prefix;
  const bool is_callable = copy.identity.evidence == Evidence::dynamic_symbol ||
                           copy.identity.evidence == Evidence::static_symbol;
  if (is_callable && pin(copy.object)) {
    Detection detection;
    detection.identity = copy.identity;
    detection.object = copy.object;
    detection.load_address = copy.load_address;
    found.controls = make_host_allocator(detection);
    found.known.controllable = found.controls->controllable();
  }
  found_.push_back(std::move(found));
}

std::vector<fact::PrivateAllocator> PrivateAllocators::read() const {
  std::vector<fact::PrivateAllocator> all;
  for (const Found& found : found_) {
    fact::PrivateAllocator known = found.known;
    if (known.controllable && may_be_called(found.controls->kind())) {
      const HeapReading reading = found.controls->read();
      known.live = reading.live ? reading.live : reading.active;
      known.retained = reading.retained ? reading.retained : reading.releasable;
    }
    all.push_back(std::move(known));
  }
  return all;
}

std::vector<PrivateAllocators::Returned> PrivateAllocators::give_back(const Rss& rss) {
  std::vector<Returned> all;
  for (Found& found : found_) {
    if (!found.known.controllable || !may_be_called(found.controls->kind())) continue;
    const std::optional<std::uint64_t> before = rss();
    const std::int64_t start = base::system_clock().now_ns();
    static_cast<void>(found.controls->give_back(fact::Depth::light));
    const double seconds = base::seconds_between(start, base::system_clock().now_ns());
    const std::optional<std::uint64_t> after = rss();
    ++found.known.asked;
    if (before && after) found.known.returned += *before - std::min(*before, *after);
    const std::int64_t bytes =
        before && after ? static_cast<std::int64_t>(*before) - static_cast<std::int64_t>(*after)
                        : 0;
    all.push_back({fact::name_of(found.known), bytes, seconds});
  }
  return all;
}

void PrivateAllocators::count_uncontrollable(std::optional<std::uint64_t> before,
                                             std::optional<std::uint64_t> after) {
  // Whose it was cannot be told: the first stands for all of them.
  const auto first = std::find_if(found_.begin(), found_.end(),
                                  [](const Found& found) { return !found.known.controllable; });
  if (first == found_.end() || !before || !after) return;
  ++first->known.asked;
  first->known.returned += *before - std::min(*before, *after);
}

bool PrivateAllocators::any_uncontrollable() const {
  return base::fork_generation() == 0 &&
         std::any_of(found_.begin(), found_.end(),
                     [](const Found& found) { return !found.known.controllable; });
}

std::uint64_t PrivateAllocators::returned() const {
  std::uint64_t sum = 0;
  for (const Found& found : found_)
    sum += found.known.returned;
  return sum;
}

}  // namespace ebb::heap

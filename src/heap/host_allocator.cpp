// SPDX-License-Identifier: Apache-2.0
#include "heap/host_allocator.h"

#include "base/fork.h"
#include "heap/allocators.h"

namespace ebb::heap {
namespace {

/// Recognised or not, this allocator offers nothing to call.
class UncontrollableAllocator final : public HostAllocator {
 public:
  explicit UncontrollableAllocator(const Detection& detection)
      : kind_(detection.kind()), why_(reason(detection)) {}

  AllocatorKind kind() const override { return kind_; }
  std::string version() const override { return {}; }
  bool controllable() const override { return false; }

  HeapReading read() override {
    HeapReading reading;
    reading.cannot_tell.push_back("live, retained, mapped: " + why_);
    return reading;
  }

  GiveBack give_back(fact::Depth depth) override {
    GiveBack result;
    result.depth = depth;
    result.notes.push_back("nothing to call: " + why_);
    return result;
  }

 private:
  static std::string reason(const Detection& detection) {
    if (detection.kind() == AllocatorKind::musl)
      return "musl has no statistics and no trim; it returns whole groups by itself";
    if (!detection.identity.remark.empty()) return detection.identity.remark;
    if (!detection.note.empty()) return detection.note;
    if (detection.kind() == AllocatorKind::unknown)
      return "no known allocator in " + detection.object;
    return std::string(name_of(detection.kind())) + " in " + detection.object +
           " exports no control functions";
  }

  AllocatorKind kind_;
  std::string why_;
};

}  // namespace

std::unique_ptr<HostAllocator> make_host_allocator(const Detection& detection) {
  std::unique_ptr<HostAllocator> allocator;
  switch (detection.kind()) {
    case AllocatorKind::glibc:
      allocator = make_glibc(detection);
      break;
    case AllocatorKind::jemalloc:
      allocator = make_jemalloc(detection);
      break;
    case AllocatorKind::tcmalloc:
      allocator = make_tcmalloc(detection);
      break;
    case AllocatorKind::mimalloc:
      allocator = make_mimalloc(detection);
      break;
    case AllocatorKind::musl:
    case AllocatorKind::unknown:
      break;
  }
  if (allocator == nullptr) allocator = std::make_unique<UncontrollableAllocator>(detection);
  return allocator;
}

HostAllocator& host_allocator() {
  static std::atomic<HostAllocator*> allocator;
  return base::made_once(allocator, [] { return make_host_allocator(detect_here()).release(); });
}

}  // namespace ebb::heap

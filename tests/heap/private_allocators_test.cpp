// SPDX-License-Identifier: Apache-2.0
// Allocators that libraries bring for their own use, in this very process.
#include "heap/private_allocators.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/own_process.h"

namespace ebb::heap {
namespace {

constexpr std::uint64_t kMuch = 64ULL << 20;
/// Debian's jemalloc is built for programs that are linked with it: loaded later, it needs more
/// room for its thread-local variables than glibc keeps ready.
const support::Subprocess::Environment kRoomForJemalloc = {
    {"GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=32768"}};

std::optional<std::uint64_t> resident() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all = 0, pages = 0;
  statm >> all >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// A library of the test's own, loaded as a Python package would be.
class Library {
 public:
  explicit Library(const char* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  template <class F>
  F function(const char* name) const {
    return reinterpret_cast<F>(dlsym(handle_, name));
  }
  void close() { dlclose(handle_); }

 private:
  void* handle_;
};

const fact::PrivateAllocator* find(const std::vector<fact::PrivateAllocator>& all,
                                   const std::string& kind) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.kind == kind; });
  return found == all.end() ? nullptr : &*found;
}

TEST(PrivateAllocators, AreSeenOnceTheirLibraryIsLoaded) {
  if (!support::is_alone()) return;
  PrivateAllocators allocators;
  allocators.look();
  EXPECT_TRUE(allocators.empty());
  const Library library(EBB_PREFIXED_COPY);
  allocators.look();
  const auto found = allocators.read();
  ASSERT_EQ(found.size(), 1U) << "semi_collect is none";
  EXPECT_EQ(found[0].kind, "mimalloc");
  EXPECT_EQ(found[0].prefix, "tiny_");
  EXPECT_TRUE(found[0].controllable);
  EXPECT_FALSE(found[0].live || found[0].retained) << "it does not count";
}

TEST(PrivateAllocators, GiveBackOnAThreadThatNeverUsedThem) {
  if (!support::is_alone()) return;
  Library library(EBB_PREFIXED_COPY);
  PrivateAllocators allocators;
  allocators.look();
  library.function<void (*)()>("tiny_work")();
  const auto steps = allocators.give_back(resident);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_NEAR(static_cast<double>(steps[0].bytes), static_cast<double>(kMuch), 1 << 20);
  EXPECT_GE(allocators.returned(), kMuch - (1 << 20));
  EXPECT_EQ(allocators.read()[0].asked, 1U);
  library.close();
  EXPECT_EQ(allocators.give_back(resident).size(), 1U) << "it stays loaded: no call into nowhere";
}

TEST(PrivateAllocators, AreReachedThroughTheStaticTableToo) {
  if (!support::is_alone(kRoomForJemalloc)) return;
  const Library library(EBB_PRIVATE_COPY);
  PrivateAllocators allocators;
  allocators.look();
  // Blocks of 8 MiB and more jemalloc gives back at once.
  std::vector<void*> blocks(kMuch >> 20);
  for (void*& block : blocks)
    block = library.function<void* (*)(std::size_t)>("private_copy_take")(1 << 20);
  auto found = allocators.read();
  const auto* jemalloc = find(found, "jemalloc");
  ASSERT_NE(jemalloc, nullptr);
  ASSERT_TRUE(jemalloc->controllable) << "nothing of it is exported";
  EXPECT_GE(jemalloc->live.value_or(0), kMuch);
  for (void* block : blocks)
    library.function<void (*)(void*)>("private_copy_free")(block);
  found = allocators.read();
  EXPECT_LT(find(found, "jemalloc")->live.value_or(kMuch), kMuch);
  EXPECT_GE(find(found, "jemalloc")->retained.value_or(0), kMuch / 2);
  allocators.give_back(resident);
  found = allocators.read();
  EXPECT_GE(find(found, "jemalloc")->returned, kMuch / 2);
  EXPECT_LT(find(found, "jemalloc")->retained.value_or(kMuch), kMuch / 2);
}

TEST(PrivateAllocators, WithoutSymbolsAreNamedAndLeftAlone) {
  if (!support::is_alone(kRoomForJemalloc)) return;
  const Library library(EBB_STRIPPED_COPY);
  PrivateAllocators allocators;
  allocators.look();
  const auto found = allocators.read();
  const auto* jemalloc = find(found, "jemalloc");
  ASSERT_NE(jemalloc, nullptr);
  EXPECT_FALSE(jemalloc->controllable);
  EXPECT_TRUE(allocators.any_uncontrollable());
  EXPECT_TRUE(allocators.give_back(resident).empty());
  allocators.count_uncontrollable(100, 40);
  EXPECT_EQ(allocators.returned(), 60U) << "somebody else asked it";
}

TEST(PrivateCopiesIn, NamesThemFromOutside) {
  support::Subprocess child({std::string(EBB_HEAP_PROGRAMS) + "/heap_probe"},
                            {{"LD_PRELOAD", EBB_PREFIXED_COPY ":" EBB_STRIPPED_COPY}});
  ASSERT_FALSE(child.read_line().empty());
  const auto copies = private_copies_in(child.pid());
  ASSERT_TRUE(copies) << copies.error().message;
  ASSERT_EQ(copies->size(), 2U);
  for (const PrivateCopy& copy : *copies) {
    const bool is_stripped = copy.object == EBB_STRIPPED_COPY;
    EXPECT_EQ(copy.identity.kind, is_stripped ? AllocatorKind::jemalloc : AllocatorKind::mimalloc);
    EXPECT_EQ(copy.identity.evidence, is_stripped ? Evidence::string : Evidence::dynamic_symbol);
  }
  EXPECT_EQ(private_copies_in(INT32_MAX).error().code, base::Code::not_found);
}

}  // namespace
}  // namespace ebb::heap

// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <new>

#include "support/temporary_directory.h"

// The build for the thread sanitizer leaves this file out: that one has operators of its own.

namespace {
std::atomic<long> allocations_left{std::numeric_limits<long>::max()};
}

void* operator new(std::size_t size) {
  if (--allocations_left < 0) throw std::bad_alloc();
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace ebb::base {
namespace {

class Folders : public testing::Test {
 protected:
  Folders() {
    folder_.write("file", "");
    std::filesystem::create_directory(folder_ / "folder");
    std::filesystem::create_directory_symlink(folder_ / "folder", folder_ / "link to the folder");
    std::filesystem::create_symlink(folder_ / "nothing", folder_ / "link to nothing");
  }

  support::TemporaryDirectory folder_;
};

TEST_F(Folders, TellNamesAndWhatIsAFolder) {
  auto entries = entries_of(folder_.path());
  ASSERT_TRUE(entries) << entries.error().message;
  std::sort(entries->begin(), entries->end(),
            [](const FolderEntry& a, const FolderEntry& b) { return a.name < b.name; });
  std::string told;
  for (const FolderEntry& entry : *entries)
    told += entry.name + (entry.is_folder ? "/," : ",");
  EXPECT_EQ(told, "file,folder/,link to nothing,link to the folder,");
}

TEST_F(Folders, ThatAreNoneAreAnError) {
  EXPECT_FALSE(entries_of(folder_ / "file"));
  const auto entries = entries_of(folder_ / "nothing");
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, Code::not_found) << entries.error().message;
}

TEST_F(Folders, WithoutMemoryThrow) {
  bool is_enough = false;
  for (long memory = 0; !is_enough; ++memory) {
    try {
      allocations_left = memory;
      is_enough = entries_of(folder_.path()).has_value();
    } catch (const std::bad_alloc&) {
    }
    allocations_left = std::numeric_limits<long>::max();
  }
}

}  // namespace
}  // namespace ebb::base

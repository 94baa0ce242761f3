// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "limited_memory.h"
#include "support/temporary_directory.h"

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
  const std::string path = folder_.path();
  EXPECT_GT(times_without_memory([&] { EXPECT_TRUE(entries_of(path)); }), 0);
}

}  // namespace
}  // namespace ebb::base

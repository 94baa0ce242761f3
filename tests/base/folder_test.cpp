// SPDX-License-Identifier: Apache-2.0
#include "base/folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "limited_memory.h"
#include "support/temporary_directory.h"

namespace ebb::base {
namespace {

TEST(ReadFolder, HasEveryNameOnce) {
  const support::TemporaryDirectory folder;
  folder.write("below/file", "");
  std::filesystem::create_symlink(folder / "below", folder / "link");
  std::filesystem::create_symlink("nowhere", folder / "broken");
  std::map<std::string, bool> expected{{"below", true}, {"broken", false}, {"link", true}};
  for (int i = 0; i < 2000; ++i) {
    const std::string name =
        "file" + std::to_string(i) + std::string(static_cast<size_t>(i % 200), 'x');
    folder.write(name, "");
    expected[name] = false;
  }
  const auto entries = read_folder(folder.path());
  ASSERT_TRUE(entries);
  EXPECT_EQ(entries->size(), expected.size());
  for (const FolderEntry& entry : *entries) {
    const auto found = expected.find(entry.name);
    ASSERT_NE(found, expected.end()) << entry.name;
    EXPECT_EQ(entry.is_folder, found->second) << entry.name;
    expected.erase(found);
  }
}

TEST(ReadFolder, HasNothingOfWhatIsNone) {
  const support::TemporaryDirectory folder;
  const auto empty = read_folder(folder.path());
  ASSERT_TRUE(empty);
  EXPECT_TRUE(empty->empty());
  EXPECT_FALSE(read_folder(folder / "gone"));
  EXPECT_FALSE(read_folder(folder.write("file", "")));
}

TEST(ReadFolder, WithoutMemoryThrows) {
  const support::TemporaryDirectory folder;
  folder.write("a file with a name that is too long to stand in the string itself", "");
  const std::string path = folder.path();
  EXPECT_GT(times_without_memory([&] { EXPECT_TRUE(read_folder(path)); }), 0);
}

}  // namespace
}  // namespace ebb::base

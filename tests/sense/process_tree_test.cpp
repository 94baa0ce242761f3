// SPDX-License-Identifier: Apache-2.0
#include "sense/process_tree.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "support/child_process.h"
#include "support/temporary_directory.h"

namespace ebb::sense {
namespace {

Roots tree_of(const support::TemporaryDirectory& folder,
              const std::vector<std::pair<int, int>>& pids_and_parents) {
  for (const auto& [pid, parent] : pids_and_parents) {
    const std::string place = folder.path() + "/" + std::to_string(pid);
    std::filesystem::create_directory(place);
    std::ofstream(place + "/stat")
        << pid << " (a) b) S " << parent << " 1 1 0 -1 0 1 0 2 0 3 4 0 0 20 0 1 0 777 0 0\n";
  }
  Roots roots;
  roots.proc = folder.path();
  return roots;
}

TEST(ProcessTree, HoldsChildrenAndTheirChildren) {
  const support::TemporaryDirectory folder;
  const Roots roots = tree_of(folder, {{10, 1}, {12, 10}, {13, 12}, {14, 12}, {20, 1}, {11, 20}});
  std::filesystem::create_directory(folder.path() + "/99");
  EXPECT_EQ(descendants_of(10, roots).value(), (std::vector<pid_t>{12, 13, 14}));
  EXPECT_EQ(descendants_of(14, roots).value(), std::vector<pid_t>{});
}

TEST(ProcessTree, DoesNotWalkInCircles) {
  const support::TemporaryDirectory folder;
  const Roots roots = tree_of(folder, {{10, 12}, {12, 10}});
  EXPECT_EQ(descendants_of(10, roots).value(), std::vector<pid_t>{12});
}

TEST(ProcessTree, FindsARealChild) {
  const support::WaitingChild child;
  const auto found = descendants_of(::getpid());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_NE(std::find(found->begin(), found->end(), child.pid()), found->end());
}

TEST(ProcessTree, NamesAFolderThatIsNotThere) {
  Roots roots;
  roots.proc = "/nowhere/proc";
  const auto found = descendants_of(1, roots);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("/nowhere/proc"), std::string::npos);
}

}  // namespace
}  // namespace ebb::sense

// SPDX-License-Identifier: Apache-2.0
#include "sites/frame_names.h"

#include <gtest/gtest.h>
#include <link.h>

#include <filesystem>

namespace ebb::sites {

/// Its name and line are to be found in this very program.
[[gnu::noinline]] std::uint64_t address_in_this_function() {
  return reinterpret_cast<std::uint64_t>(__builtin_return_address(0));
}
[[gnu::noinline]] std::uint64_t function_to_be_named() {
  const std::uint64_t here = address_in_this_function();
  asm volatile("" ::: "memory");
  return here;
}

namespace {

Module this_program() {
  Module module;
  module.path = std::filesystem::read_symlink("/proc/self/exe").string();
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        auto* found = static_cast<Module*>(to);
        found->bias = info->dlpi_addr;  // the program comes first
        found->start = 0;
        found->end = ~std::uint64_t{0};
        return 1;
      },
      &module);
  return module;
}

TEST(FrameNames, FunctionsOfThisProgramHaveTheirNames) {
  RawStack stack;
  stack.native = {function_to_be_named()};
  stack.python = {{"load_batch", "/job/loader.py", 42}};
  stack.is_joined = true;
  const auto named_stacks = named({stack}, {this_program()});
  ASSERT_EQ(named_stacks.size(), 1U);
  ASSERT_EQ(named_stacks[0].size(), 2U);
  EXPECT_EQ(named_stacks[0][0].function, "ebb::sites::function_to_be_named()");
  EXPECT_FALSE(named_stacks[0][0].is_python());
  EXPECT_EQ(named_stacks[0][1].function, "load_batch");
  EXPECT_EQ(named_stacks[0][1].line, 42U);
  EXPECT_TRUE(named_stacks[0][1].is_python());
}

TEST(FrameNames, CodeOutsideAnyModuleAndFilesThatAreGoneStayUnknown) {
  RawStack stack;
  stack.native = {0x1000, 0x5000};
  const auto stacks = named({stack}, {{0x4000, 0x6000, 0, "/nowhere/gone.so"}});
  ASSERT_EQ(stacks.at(0).size(), 2U);
  EXPECT_EQ(stacks[0][0].module, "?");
  EXPECT_EQ(stacks[0][1].module, "/nowhere/gone.so");
  EXPECT_TRUE(stacks[0][1].function.empty());
}

TEST(FrameNames, WhatLooksAtTheProcessIsNotWhatAsked) {
  const std::vector<Module> modules = {{0x4000, 0x6000, 0, "/opt/ebb/libebb-agent.so"},
                                       {0x8000, 0xA000, 0, "/bin/python"}};
  RawStack arena;  // of Python's: the agent counts it
  arena.native = {0x8100, 0x5000, 0x8200, 0x8300, 0x8400, 0x8500};
  RawStack called;  // by the agent
  called.native = {0x8100, 0x8200, 0x5000, 0x5100};
  const auto stacks = named({arena, called}, modules);
  ASSERT_EQ(stacks.at(0).size(), 4U);
  EXPECT_EQ(stacks[0][0].module, "/bin/python");
  ASSERT_EQ(stacks.at(1).size(), 4U);
  EXPECT_EQ(stacks[1][2].module, "/opt/ebb/libebb-agent.so");
}

}  // namespace
}  // namespace ebb::sites

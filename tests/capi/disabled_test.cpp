// SPDX-License-Identifier: Apache-2.0
// With EBB_DISABLE=1, which is read when the library is loaded.
#include <gtest/gtest.h>

#include "ebb/ebb.h"
#include "support/own_process.h"

namespace {

int count_calls(void* context, std::uint64_t*) {
  ++*static_cast<int*>(context);
  return 0;
}

TEST(Disabled, EveryActionIsANoOpThatSaysSo) {
  if (!ebb::support::is_alone({{"EBB_DISABLE", "1"}})) return;
  int calls = 0;
  ASSERT_EQ(ebb_hook_add("gc", EBB_STAGE_COLLECTOR, count_calls, &calls, nullptr), EBB_OK);
  ebb_cleanup_report report{};
  report.struct_size = sizeof report;
  EXPECT_EQ(ebb_cleanup(1, &report), EBB_OK);
  EXPECT_EQ(report.disabled, 1);
  report.disabled = 0;
  EXPECT_EQ(ebb_guard(1e-9, 1e-9, nullptr, &report), EBB_OK);
  EXPECT_EQ(report.disabled, 1);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(ebb_trim(), -1);
  EXPECT_GT(ebb_rss(), 0U) << "reading is no action";
}

}  // namespace

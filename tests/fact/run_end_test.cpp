// SPDX-License-Identifier: Apache-2.0
#include "fact/run_end.h"

#include <gtest/gtest.h>

namespace ebb::fact {
namespace {

TEST(RunEnd, IsFoundByItsName) {
  for (const RunEnd end :
       {RunEnd::unknown, RunEnd::exit, RunEnd::signal, RunEnd::out_of_memory, RunEnd::stopped})
    EXPECT_EQ(run_end_from(name_of(end)), end) << name_of(end);
  EXPECT_STREQ(name_of(RunEnd::out_of_memory), "out_of_memory");
}

TEST(RunEnd, OfAnotherNameIsUnknown) {
  EXPECT_EQ(run_end_from("evicted"), RunEnd::unknown);
  EXPECT_EQ(run_end_from(""), RunEnd::unknown);
}

}  // namespace
}  // namespace ebb::fact

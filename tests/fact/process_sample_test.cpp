// SPDX-License-Identifier: Apache-2.0
#include "fact/process_sample.h"

#include <gtest/gtest.h>

namespace ebb::fact {
namespace {

TEST(ProcessSample, KnowsNothingToBeginWith) {
  const ProcessSample sample;
  EXPECT_FALSE(sample.rss);
  EXPECT_FALSE(sample.live);
  EXPECT_FALSE(sample.held());
}

TEST(ProcessSample, HoldsAnonymousMemoryWhereverItIs) {
  ProcessSample sample;
  sample.anon = 300;
  EXPECT_EQ(sample.held(), 300U);
  sample.swap = 50;
  EXPECT_EQ(sample.held(), 350U);
  sample.anon.reset();
  EXPECT_FALSE(sample.held()) << "swap alone does not tell";
}

TEST(ProcessSample, WhatLiesBesideMallocIsWhatItDoesNotAccountFor) {
  ProcessSample sample;
  sample.anon = 100;
  sample.swap = 20;
  sample.live = 30;
  EXPECT_FALSE(sample.beside()) << "retained is not known";
  sample.retained = 10;
  EXPECT_EQ(sample.beside(), 80U);
  sample.live = 500;
  EXPECT_EQ(sample.beside(), 0U) << "allocated and never touched";
}

}  // namespace
}  // namespace ebb::fact

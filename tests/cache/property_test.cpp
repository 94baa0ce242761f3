// SPDX-License-Identifier: Apache-2.0
// Random programs on Core and on the plain model; the fuzzer runs the same programs for longer.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "cache/program.h"
#include "support/effort.h"
#include "support/process_state.h"

namespace ebb::cache {
namespace {

class RandomPrograms : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomPrograms, ComeOutAsInTheModel) {
  const support::ScopedLog quiet(base::LogLevel::off);
  const unsigned first = GetParam() * 10;
  const unsigned programs = static_cast<unsigned>(support::trials(4, 10));
  for (unsigned seed = first; seed < first + programs; ++seed) {
    std::mt19937 random(seed);
    std::vector<std::uint8_t> bytes(200 + random() % 1500);
    for (std::uint8_t& byte : bytes) {
      byte = static_cast<std::uint8_t>(random());
    }
    const auto difference = first_difference({bytes.data(), bytes.size()}, true);
    ASSERT_FALSE(difference) << "seed " << seed << "\n" << *difference;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(0U, 8U));

}  // namespace
}  // namespace ebb::cache

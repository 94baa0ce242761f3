// SPDX-License-Identifier: Apache-2.0
// How often a growth is called that is none, and how often one is found, on series whose truth is
// known. The rates are printed and held to bounds: they are what docs/watch.md promises.
#include <gtest/gtest.h>

#include <cstdio>

#include "synthetic.h"
#include "trend/assessment.h"

namespace ebb::trend {
namespace {

using namespace synthetic;

struct Kind {
  const char* name;
  std::vector<Point> (*draw)(Random&);
  double grows_at_least, grows_at_most;    ///< percent
  double steady_at_least, steady_at_most;  ///< percent
};

// Growth is 6 % and 20 % of the level within the series; noise is 1 %.
const Kind kKinds[] = {
    {"flat, white noise", [](Random& r) { return flat(r, 0); }, 0, 1, 90, 100},
    {"flat, noise AR 0.9", [](Random& r) { return flat(r, 0.9); }, 0, 3, 15, 100},
    {"flat, noise AR 0.98", [](Random& r) { return flat(r, 0.98); }, 0, 5, 5, 100},
    {"rounds of 8 s", [](Random& r) { return sawtooth(r, 8); }, 0, 3, 30, 100},
    {"rounds of 17 s", [](Random& r) { return sawtooth(r, 17); }, 0, 3, 20, 100},
    {"rounds of 60 s", [](Random& r) { return sawtooth(r, 60); }, 0, 3, 0, 5},
    {"warm-up, then flat", [](Random& r) { return warm_up(r); }, 0, 5, 30, 100},
    {"one step", [](Random& r) { return step(r); }, 0, 3, 30, 100},
    {"ratchet", [](Random& r) { return ratchet(r); }, 0, 10, 50, 100},
    {"random walk", [](Random& r) { return random_walk(r); }, 0, 20, 0, 25},
    {"leak 6 %, white noise", [](Random& r) { return leaking(r, 0, 0.06); }, 95, 100, 0, 0},
    {"leak 6 %, noise AR 0.9", [](Random& r) { return leaking(r, 0.9, 0.06); }, 40, 100, 0, 3},
    {"leak 20 %, noise AR 0.9", [](Random& r) { return leaking(r, 0.9, 0.2); }, 95, 100, 0, 0},
    {"leak 20 %, rounds of 8 s", [](Random& r) { return sawtooth(r, 8, 0.2); }, 90, 100, 0, 1},
    {"leak 20 %, rounds of 17 s", [](Random& r) { return sawtooth(r, 17, 0.2); }, 70, 100, 0, 1},
    {"leak 20 % after warm-up", [](Random& r) { return warm_up(r, 0.2); }, 80, 100, 0, 1},
    {"leak 20 % in 16 jumps", [](Random& r) { return staircase_leak(r); }, 80, 100, 0, 2},
};

TEST(Rates, FalseAlarmsAndDetectionsAreWithinTheirBounds) {
  constexpr int kDraws = 200;
  std::printf("%-26s %10s %10s %10s   of %d draws, %zu samples each\n", "series", "grows", "steady",
              "undecided", kDraws, kSamples);
  for (const Kind& kind : kKinds) {
    int growing = 0;
    int steady = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      Random random(1000 + static_cast<std::uint64_t>(draw));
      const Assessment assessment = assess(kind.draw(random));
      growing += grows(assessment) ? 1 : 0;
      steady += is_steady(assessment) ? 1 : 0;
    }
    const double grows_percent = 100.0 * growing / kDraws;
    const double steady_percent = 100.0 * steady / kDraws;
    std::printf("%-26s %8.1f %% %8.1f %% %8.1f %%\n", kind.name, grows_percent, steady_percent,
                100 - grows_percent - steady_percent);
    EXPECT_GE(grows_percent, kind.grows_at_least) << kind.name;
    EXPECT_LE(grows_percent, kind.grows_at_most) << kind.name;
    EXPECT_GE(steady_percent, kind.steady_at_least) << kind.name;
    EXPECT_LE(steady_percent, kind.steady_at_most) << kind.name;
  }
}

}  // namespace
}  // namespace ebb::trend

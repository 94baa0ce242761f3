// SPDX-License-Identifier: Apache-2.0
// How often a growth is called that is none, and how often one is found, on series whose truth is
// known. The rates are printed, and they are what docs/watch.md says.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>

#include "base/text.h"
#include "synthetic.h"
#include "trend/assessment.h"

namespace ebb::trend {
namespace {

using namespace synthetic;

// Growth is 6 % and 20 % of the level within the series; noise is 1 %. As the page names them.
struct Kind {
  const char* name;
  std::vector<Point> (*draw)(Random&);
};
const Kind kKinds[] = {
    {"level, independent noise", [](Random& r) { return flat(r, 0); }},
    {"level, correlated noise (AR 0.9)", [](Random& r) { return flat(r, 0.9); }},
    {"level, strongly correlated noise (AR 0.98)", [](Random& r) { return flat(r, 0.98); }},
    {"rounds of 8 samples", [](Random& r) { return sawtooth(r, 8); }},
    {"rounds of 17 samples", [](Random& r) { return sawtooth(r, 17); }},
    {"rounds of 60 samples", [](Random& r) { return sawtooth(r, 60); }},
    {"warm-up, then level", [](Random& r) { return warm_up(r); }},
    {"one step", [](Random& r) { return step(r); }},
    {"ratchet (the most ever needed is kept)", [](Random& r) { return ratchet(r); }},
    {"random walk", [](Random& r) { return random_walk(r); }},
    {"growth of 6 %, independent noise", [](Random& r) { return leaking(r, 0, 0.06); }},
    {"growth of 6 %, correlated noise (AR 0.9)", [](Random& r) { return leaking(r, 0.9, 0.06); }},
    {"growth of 20 %, correlated noise (AR 0.9)", [](Random& r) { return leaking(r, 0.9, 0.2); }},
    {"growth of 20 % under rounds of 8 samples", [](Random& r) { return sawtooth(r, 8, 0.2); }},
    {"growth of 20 % under rounds of 17 samples", [](Random& r) { return sawtooth(r, 17, 0.2); }},
    {"growth of 20 % after a warm-up", [](Random& r) { return warm_up(r, 0.2); }},
    {"growth of 20 % in 16 jumps", [](Random& r) { return staircase_leak(r); }},
};

/// What the page says of each kind, in percent: called growth, called level, undecided.
std::map<std::string, std::vector<double>> documented_rates() {
  std::ifstream page(EBB_RATES_PAGE);
  std::map<std::string, std::vector<double>> rates;
  for (std::string line; std::getline(page, line);) {
    const std::vector<std::string_view> cells = base::split(line, '|');
    if (cells.size() != 6) continue;
    std::vector<double> numbers;
    for (std::size_t i = 2; i < 5; ++i) {
      const std::vector<std::string_view> words = base::words(cells[i]);
      const auto number = words.size() == 2 && words[1] == "%" ? base::parse_double(words[0])
                                                               : std::optional<double>();
      if (number) numbers.push_back(*number);
    }
    const std::string_view name = cells[1].substr(1, cells[1].size() - 2);
    if (numbers.size() == 3) rates.emplace(name, std::move(numbers));
  }
  return rates;
}

// The series are the same everywhere; where numbers are rounded otherwise, a few that lie on the
// border are called otherwise.
constexpr double kFewOf200 = 2;

TEST(Rates, FalseAlarmsAndDetectionsAreWithinTheirBounds) {
  constexpr int kDraws = 200;
  const auto documented = documented_rates();
  EXPECT_EQ(documented.size(), std::size(kKinds)) << EBB_RATES_PAGE;
  for (const Kind& kind : kKinds) {
    int growing = 0;
    int steady = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      Random random(1000 + static_cast<std::uint64_t>(draw));
      const Assessment assessment = assess(kind.draw(random));
      growing += grows(assessment) ? 1 : 0;
      steady += is_steady(assessment) ? 1 : 0;
    }
    const double rates[] = {100.0 * growing / kDraws, 100.0 * steady / kDraws,
                            100.0 * (kDraws - growing - steady) / kDraws};
    std::printf("| %s | %.1f %% | %.1f %% | %.1f %% |\n", kind.name, rates[0], rates[1], rates[2]);
    const auto expected = documented.find(kind.name);
    if (expected == documented.end()) {
      ADD_FAILURE() << "no row '" << kind.name << "' in " << EBB_RATES_PAGE;
      continue;
    }
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(rates[i], expected->second[i], kFewOf200) << kind.name << ", column " << i + 1;
  }
}

}  // namespace
}  // namespace ebb::trend

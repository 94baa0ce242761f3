// SPDX-License-Identifier: Apache-2.0
#include "keep/simulator_environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "support/process_state.h"

namespace ebb::keep {
namespace {

std::string value_in(const std::vector<EnvironmentVariable>& variables, const char* name) {
  for (const EnvironmentVariable& variable : variables)
    if (variable.name == name) return variable.value;
  return "";
}

TEST(SimulatorEnvironment, NamesWhatIsLackingAndNothingElse) {
  const support::ScopedVariable openmp("OMP_NUM_THREADS", std::nullopt);
  const support::ScopedVariable openblas("OPENBLAS_NUM_THREADS", "8");
  const support::ScopedVariable arenas("MALLOC_ARENA_MAX", std::nullopt);
  const auto lacking = simulator_environment();
  EXPECT_EQ(value_in(lacking, "OMP_NUM_THREADS"), "1");
  EXPECT_EQ(value_in(lacking, "OPENBLAS_NUM_THREADS"), "1") << "results must not depend on it";
  for (const EnvironmentVariable& variable : lacking)
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  EXPECT_TRUE(simulator_environment().empty());
}

TEST(SimulatorEnvironment, LeavesArenasToWhoeverSetThem) {
  const support::ScopedVariable arenas("MALLOC_ARENA_MAX", std::nullopt);
  EXPECT_EQ(value_in(simulator_environment(), "MALLOC_ARENA_MAX"), "4");
  setenv("MALLOC_ARENA_MAX", "2", 1);
  EXPECT_EQ(value_in(simulator_environment(), "MALLOC_ARENA_MAX"), "");
}

}  // namespace
}  // namespace ebb::keep

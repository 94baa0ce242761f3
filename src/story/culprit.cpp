// SPDX-License-Identifier: Apache-2.0
#include "story/culprit.h"

#include <algorithm>

namespace ebb::story {
namespace {

using fact::Verdict;

// Growth of less than a tenth of the fastest is beside the point, whatever its verdict.
constexpr double kLeastShareOfPace = 0.1;

/// What copies forked workers made, in the one that made most.
double most_copied(const std::vector<ProcessStory>& processes) {
  double most = 0;
  for (const ProcessStory& one : processes)
    if (one.diagnosis.verdict == Verdict::copy_on_write) most = std::max(most, one.diagnosis.grown);
  return most;
}

}  // namespace

bool is_growth(Verdict verdict) {
  return verdict != Verdict::healthy && verdict != Verdict::not_enough_data;
}

std::optional<std::size_t> find_culprit(const std::vector<ProcessStory>& processes) {
  double fastest = 0;
  for (const ProcessStory& one : processes)
    if (is_growth(one.diagnosis.verdict)) fastest = std::max(fastest, one.diagnosis.pace);
  const double copied = most_copied(processes);
  std::optional<std::size_t> worst;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const keep::ProcessDiagnosis& diagnosis = processes[i].diagnosis;
    if (!is_growth(diagnosis.verdict)) continue;
    const bool grows_little = diagnosis.pace > 0 && diagnosis.pace < kLeastShareOfPace * fastest;
    // What an allocator keeps can be had back, so that it counts by its size.
    const bool keeps_less_than_was_copied =
        diagnosis.verdict == Verdict::retention && diagnosis.pace > 0 && diagnosis.grown < copied;
    if (grows_little || keeps_less_than_was_copied) continue;
    if (!worst) {
      worst = i;
      continue;
    }
    const keep::ProcessDiagnosis& other = processes[*worst].diagnosis;
    if (diagnosis.verdict < other.verdict ||
        (diagnosis.verdict == other.verdict && diagnosis.pace > other.pace))
      worst = i;
  }
  return worst;
}

}  // namespace ebb::story

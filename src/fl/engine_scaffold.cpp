// SPDX-License-Identifier: Apache-2.0
// What is different with control variates: steps that are corrected, and a gradient beside each
// update.
#include "fl/engine.h"
#include "fl/stopwatch.h"

namespace ebb::fl {

void Engine::correct(std::uint32_t slot, LocalTask& task) {
  if (!controls_) return;
  std::vector<float>& correction = corrections_[slot];
  correction.resize(weights_.size());
  controls_->correction(task.client, correction);
  task.correction = correction;
}

base::Status Engine::learn_control(std::uint32_t slot, const LocalTask& task) {
  if (!controls_) return {};
  // The update is added up, and its correction done with.
  std::vector<float>& gradient = trained_[slot];
  if (auto found = resources_.trainer->gradient(slot, weights_, task, gradient); !found)
    return found;
  double seconds = 0;
  base::Status learned;
  {
    const Stopwatch watch(seconds);
    learned = controls_->learn(task.client, gradient, corrections_[slot]);
  }
  adding_ns_ += static_cast<std::int64_t>(seconds * 1e9);
  return learned;
}

base::Status Engine::finish_controls(const std::vector<Member>& members) {
  if (!controls_) return {};
  std::vector<ControlVariates::Learner> learners;
  for (std::size_t place = 0; place < members.size(); ++place) {
    if (members[place].fate.arrives) learners.push_back({members[place].client, is_mine(place)});
  }
  return controls_->finish_round(learners, *resources_.ranks);
}

}  // namespace ebb::fl

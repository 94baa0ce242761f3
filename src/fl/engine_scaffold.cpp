// SPDX-License-Identifier: Apache-2.0
// What is different with control variates: steps that are corrected, and a gradient beside each
// update.
#include "fl/engine.h"
#include "fl/stopwatch.h"

namespace ebb::fl {

/// Of clients who train side by side. Those who have learned in an earlier attempt do not again.
class Engine::GroupCorrections final : public Corrections {
 public:
  GroupCorrections(Engine& engine, std::vector<Member>& members,
                   std::span<const GroupContribution> contributions)
      : engine_(engine), members_(members), contributions_(contributions) {
    engine_.corrections_.front().resize(engine_.weights_.size());
  }

  std::size_t size() const override { return contributions_.size(); }
  void read(std::size_t place, std::span<float> into) override {
    engine_.controls_->correction(member(place).client, into);
  }
  base::Status learn(std::size_t place, std::span<const float> gradient) override {
    Member& one = member(place);
    if (one.learned) return {};
    const auto learned = engine_.learn_control(one, gradient, engine_.corrections_.front());
    one.learned = learned.has_value();
    return learned;
  }

 private:
  Member& member(std::size_t place) { return members_[contributions_[place].contribution.place]; }

  Engine& engine_;
  std::vector<Member>& members_;
  const std::span<const GroupContribution> contributions_;
};

base::Status Engine::train_with_controls(std::vector<Member>& members,
                                         std::span<const GroupContribution> contributions,
                                         std::span<const LocalTask> tasks,
                                         const Trainer::Trained& trained) {
  if (!controls_) return resources_.trainer->train_together(weights_, tasks, trained, nullptr);
  GroupCorrections corrections(*this, members, contributions);
  return resources_.trainer->train_together(weights_, tasks, trained, &corrections);
}

void Engine::correct(std::uint32_t slot, LocalTask& task) {
  if (!controls_) return;
  std::vector<float>& correction = corrections_[slot];
  correction.resize(weights_.size());
  controls_->correction(task.client, correction);
  task.correction = correction;
}

base::Status Engine::learn_control(std::uint32_t slot, const Member& member,
                                   const LocalTask& task) {
  if (!controls_) return {};
  // The update is added up, and its correction done with.
  std::vector<float>& gradient = trained_[slot];
  if (auto found = resources_.trainer->gradient(slot, weights_, task, gradient); !found)
    return found;
  return learn_control(member, gradient, corrections_[slot]);
}

base::Status Engine::learn_control(const Member& member, std::span<const float> gradient,
                                   std::span<float> old) {
  double seconds = 0;
  base::Status learned;
  {
    const Stopwatch watch(seconds);
    learned = controls_->learn(member.client, gradient, old);
  }
  adding_ns_ += static_cast<std::int64_t>(seconds * 1e9);
  return learned ? learned : diverged(member, learned.error());
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

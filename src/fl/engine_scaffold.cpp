// SPDX-License-Identifier: Apache-2.0
// What is different with control variates: steps that are corrected, and a gradient beside each
// update.
#include "fl/engine.h"
#include "fl/in_parts.h"
#include "fl/stopwatch.h"

namespace ebb::fl {

/// Of clients who train side by side. Those who have learned in an earlier attempt do not again.
class Engine::GroupCorrections final : public Corrections {
 public:
  GroupCorrections(Engine& engine, std::vector<Member>& members,
                   std::span<const GroupContribution> contributions)
      : engine_(engine), members_(members), contributions_(contributions) {
    engine_.corrections_.front().resize(kLearnedTogether * engine_.weights_.size());
  }

  std::size_t size() const override { return contributions_.size(); }
  void read(std::size_t place, std::span<float> into) override {
    engine_.controls_->correction(member(place).client, into);
  }
  base::Status learn(std::size_t first, std::span<const float> gradients) override {
    const std::size_t elements = engine_.weights_.size();
    const std::span<float> room = engine_.corrections_.front();
    std::vector<base::Status> learned(gradients.size() / elements);
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      on_threads(learned.size(), [&](std::size_t i) {
        Member& one = member(first + i);
        if (one.learned) return;
        learned[i] = engine_.controls_->learn(one.client, gradients.subspan(i * elements, elements),
                                              room.subspan(i * elements, elements));
        one.learned = learned[i].has_value();
      });
    }
    engine_.adding_ns_ += static_cast<std::int64_t>(seconds * 1e9);
    for (std::size_t i = 0; i < learned.size(); ++i)
      if (!learned[i]) return engine_.diverged(member(first + i), learned[i].error());
    return {};
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
  double seconds = 0;
  base::Status learned;
  {
    const Stopwatch watch(seconds);
    learned = controls_->learn(member.client, gradient, corrections_[slot]);
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

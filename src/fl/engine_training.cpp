// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "fl/aggregate/sketch.h"
#include "fl/engine.h"
#include "fl/local_work.h"
#include "fl/stopwatch.h"

namespace ebb::fl {

std::vector<std::uint32_t> Engine::visiting_order(std::uint32_t client) const {
  const std::vector<std::uint32_t> samples = holdings_.samples_of(client);
  Random random(config_.seed, Purpose::sample_order, round_, client);
  std::vector<std::uint32_t> order;
  const std::uint32_t passes = local_work(config_, samples.size()).passes;
  order.reserve(samples.size() * passes);
  for (std::uint32_t pass = 0; pass < passes; ++pass) {
    order.insert(order.end(), samples.begin(), samples.end());
    random.shuffle(std::span(order).last(samples.size()));
  }
  return order;
}

LocalTask Engine::task_of(std::uint32_t client, std::span<const std::uint32_t> order) const {
  LocalTask task;
  task.client = client;
  task.round = round_;
  task.order = order;
  const LocalWork work = local_work(config_, holdings_.size_of(client));
  task.epochs = work.passes;
  task.steps = work.steps;
  task.batch = config_.batch;
  task.lr = learning_rate(config_, round_);
  task.proximal = config_.aggregation.rule == Rule::fedprox ? config_.aggregation.proximal : 0;
  task.seed = config_.seed;
  return task;
}

base::Status Engine::train_cohort(std::vector<Member>& members) {
  if (config_.workflow == Workflow::cyclic) return train_in_turn(members);
  std::vector<std::uint32_t> mine;
  for (std::uint32_t place = 0; place < members.size(); ++place) {
    if (is_mine(place) && members[place].fate.arrives) mine.push_back(place);
  }
  if (resources_.card != nullptr) return train_groups(members, mine);
  return workers_.run(static_cast<std::uint32_t>(mine.size()),
                      [&](std::uint32_t slot, std::uint32_t item) {
                        return train_one(slot, mine[item], members[mine[item]]);
                      });
}

base::Status Engine::train_one(std::uint32_t slot, std::uint32_t place, Member& member) {
  const std::vector<std::uint32_t> order = visiting_order(member.client);
  std::vector<float>& trained = trained_[slot];
  trained.resize(weights_.size());
  LocalTask task = task_of(member.client, order);
  correct(slot, task);
  auto result = resources_.trainer->train(slot, weights_, task, trained);
  if (!result) return result.error();
  member.result = *result;
  double seconds = 0;
  base::Status done;
  {
    const Stopwatch watch(seconds);
    done = contribute(place, member, trained);
  }
  adding_ns_ += static_cast<std::int64_t>(seconds * 1e9);
  if (!done) return done;
  return learn_control(slot, member, task);
}

base::Status Engine::train_in_turn(std::vector<Member>& members) {
  std::vector<float>& trained = trained_.front();
  trained.resize(weights_.size());
  for (Member& member : members) {
    if (!member.fate.arrives) continue;
    const std::vector<std::uint32_t> order = visiting_order(member.client);
    // Every rank goes the whole way: there is nothing to do side by side.
    const base::Status done = insist([&]() -> base::Status {
      const auto result =
          resources_.trainer->train(0, weights_, task_of(member.client, order), trained);
      if (!result) return result.error();
      member.result = *result;
      return {};
    });
    if (!done) return done;
    take_note(member, weights_, trained);
    std::copy(trained.begin(), trained.end(), weights_.begin());
  }
  return {};
}

Contribution Engine::contribution_of(std::uint32_t place, const Member& member) const {
  Contribution contribution;
  contribution.place = place;
  contribution.late = member.fate.late;
  contribution.weight = config_.aggregation.weighting == Weighting::none || controls_ != nullptr
                            ? 1
                            : static_cast<double>(holdings_.size_of(member.client));
  if (config_.privacy.on()) {
    // Neither the number of samples nor the size of an update may show.
    contribution.weight = 1;
    contribution.factor = clip_factor(member.norm, clip_);
  }
  return contribution;
}

base::Error Engine::diverged(const Member& member, const base::Error& why) const {
  if (why.code != base::Code::bad_input) return why;
  return base::error(
      base::Code::bad_input,
      "client %u diverged in round %u (%s), expected a smaller learning rate than %g",
      member.client, round_, why.message.c_str(), learning_rate(config_, round_));
}

base::Status Engine::contribute(std::uint32_t place, Member& member,
                                std::span<const float> trained) {
  take_note(member, weights_, trained);
  auto added = aggregator_->add(contribution_of(place, member), weights_, trained);
  if (added) return added;
  return diverged(member, added.error());
}

void Engine::take_note(Member& member, std::span<const float> from,
                       std::span<const float> trained) const {
  member.norm = distance(from, trained);
  member.gradient_norm = gradient_norm_of(member);
  if (selector_->needs_sketches()) member.sketch = sketch_of(from, trained);
}

double Engine::gradient_norm_of(const Member& member) const {
  const double path = learning_rate(config_, round_) *
                      static_cast<double>(std::max<std::uint64_t>(member.result.steps, 1));
  // At the end of a schedule nobody may move at all.
  return path > 0 ? member.norm / path : 0;
}

base::Status Engine::exchange(std::vector<Member>& members) {
  if (resources_.ranks->size() == 1 || config_.workflow == Workflow::cyclic) return {};
  // Each number is known to one rank; the others add zeros to its bits.
  const std::size_t sketched = selector_->needs_sketches() ? kSketchLength : 0;
  const std::size_t each = 6 + sketched;
  std::vector<std::int64_t> numbers(members.size() * each);
  const auto bits = [](double value) { return std::bit_cast<std::int64_t>(value); };
  for (std::size_t place = 0; place < members.size(); ++place) {
    const Member& member = members[place];
    if (!is_mine(place) || !member.fate.arrives) continue;
    std::int64_t* at = numbers.data() + place * each;
    *at++ = bits(member.result.loss);
    *at++ = bits(member.result.loss_rms);
    *at++ = bits(member.result.last_loss);
    *at++ = static_cast<std::int64_t>(member.result.steps);
    *at++ = bits(member.norm);
    *at++ = bits(member.gradient_norm);
    for (const float value : member.sketch)
      *at++ = std::bit_cast<std::int32_t>(value);
  }
  if (auto summed = resources_.ranks->sum(numbers); !summed) return summed;
  const auto number = [](std::int64_t value) { return std::bit_cast<double>(value); };
  for (std::size_t place = 0; place < members.size(); ++place) {
    Member& member = members[place];
    if (!member.fate.arrives) continue;
    const std::int64_t* at = numbers.data() + place * each;
    member.result.loss = number(*at++);
    member.result.loss_rms = number(*at++);
    member.result.last_loss = number(*at++);
    member.result.steps = static_cast<std::uint64_t>(*at++);
    member.norm = number(*at++);
    member.gradient_norm = number(*at++);
    member.sketch.clear();
    for (std::size_t i = 0; i < sketched; ++i)
      member.sketch.push_back(std::bit_cast<float>(static_cast<std::int32_t>(*at++)));
  }
  return {};
}

}  // namespace ebb::fl

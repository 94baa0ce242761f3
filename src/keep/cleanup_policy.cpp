// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup_policy.h"

#include <algorithm>

namespace ebb::keep {
namespace {

// Returned memory "comes back at once" if the job takes half of it again within this many times the
// wait before a cleanup.
constexpr double kAtOnce = 2;

bool is_worth(std::uint64_t bytes, std::uint64_t rss, std::uint64_t least, double share) {
  return bytes >= least && static_cast<double>(bytes) >= share * static_cast<double>(rss);
}

std::uint64_t above(std::uint64_t value, std::uint64_t floor) {
  return value - std::min(value, floor);
}

/// Whether what it left is all that the job still uses: garbage of its language was collected
/// first. Between rounds nobody asks for that.
bool collects(const fact::Cleanup& done) {
  const bool is_asked = done.trigger == fact::Trigger::round ||
                        done.trigger == fact::Trigger::critical ||
                        done.trigger == fact::Trigger::job;
  return is_asked && !done.missed_garbage;
}

}  // namespace

std::optional<fact::Trigger> CleanupPolicy::decide(fact::Trigger trigger) {
  asked_ = true;
  large_since_.reset();
  return trigger;
}

bool CleanupPolicy::is_affordable(double seconds, std::uint64_t bytes) const {
  // The first one is judged by itself: before it, the time so far says little about the job.
  if (!last_seconds_) return true;
  const double spent = cost_.spent() + cost_.expected(bytes);
  return spent <= CleanupBudget::kShareOfTime * seconds &&
         spent + refaults_ <= kShareWithRefaults * std::max(seconds, kLearningSeconds);
}

void CleanupPolicy::learn_whether_it_lasted(double seconds, std::uint64_t rss) {
  if (!is_watched_) return;
  const bool came_back = above(rss, floor_) >= returned_ / 2;
  if (seconds - *last_seconds_ <= kAtOnce * stay_) {
    if (!came_back) return;
    stay_ = std::min(kLongestStay, stay_ * 2);
  } else {
    stay_ = std::max(kStaySeconds, stay_ / 2);
  }
  is_watched_ = false;
}

void CleanupPolicy::count_what_was_taken_again(std::uint64_t rss) {
  const std::uint64_t now = std::min(above(rss, floor_), returned_);
  if (now <= taken_again_) return;
  refaults_ += kRefaultSecondsPerByte * static_cast<double>(now - taken_again_);
  taken_again_ = now;
}

std::optional<fact::Trigger> CleanupPolicy::sampled(double seconds,
                                                    const fact::ProcessSample& now) {
  const std::uint64_t rss = now.rss.value_or(0);
  const std::optional<std::uint64_t>& retained = now.retained;
  learn_whether_it_lasted(seconds, rss);
  count_what_was_taken_again(rss);
  if (is_told_) {
    if (!retained) return std::nullopt;
    retained_ = retained;
    if (!is_worth(*retained, rss, kLargeBytes, kLargeShare)) {
      large_since_.reset();
      return std::nullopt;
    }
    if (!large_since_) {
      large_since_ = seconds;
      least_ = *retained;
      wait_ = stay_;
    }
    least_ = std::min(least_, *retained);
    if (asked_ || seconds - *large_since_ < wait_) return std::nullopt;
    if (is_affordable(seconds, least_)) return decide(fact::Trigger::retained);
    wait_ = std::clamp(wait_ * 2, kPatienceSeconds, kLongestStay);
    return std::nullopt;
  }
  if (asked_ || seconds - last_seconds_.value_or(0) < probe_) return std::nullopt;
  if (!is_worth(above(rss, floor_), floor_, kLargeBytes, kLargeShare)) return std::nullopt;
  if (!is_affordable(seconds, above(rss, floor_))) return std::nullopt;
  return decide(fact::Trigger::growth);
}

std::optional<std::uint64_t> CleanupPolicy::beside_in(const fact::ProcessSample& memory) const {
  return is_told_ ? memory.beside() : memory.held();
}

std::optional<fact::Trigger> CleanupPolicy::sampled_beside(double seconds,
                                                           const fact::ProcessSample& now) {
  const std::optional<std::uint64_t> beside = beside_in(now);
  if (!beside) return std::nullopt;
  const std::uint64_t since = above(*beside, beside_floor_);
  if (!is_worth(since, now.rss.value_or(0), kLargeBytes, kLargeShare)) {
    beside_since_.reset();
    return std::nullopt;
  }
  if (!beside_since_) beside_since_ = seconds;
  if (asked_ || seconds - *beside_since_ < beside_stay_) return std::nullopt;
  if (!is_affordable(seconds, since)) return std::nullopt;
  return decide(fact::Trigger::growth);
}

std::optional<fact::Trigger> CleanupPolicy::round_done(double seconds, std::uint64_t rss) {
  count_what_was_taken_again(rss);
  if (asked_) return std::nullopt;
  // Before the first cleanup nothing tells the floor but one.
  const std::uint64_t expected = std::max(above(rss, round_floor_), retained_.value_or(0));
  if (!is_worth(expected, rss, CleanupBudget::kSmallestReturn, CleanupBudget::kSmallestShare))
    return std::nullopt;
  if (!is_affordable(seconds, expected)) return std::nullopt;
  return decide(fact::Trigger::round);
}

std::optional<fact::Trigger> CleanupPolicy::squeezed(double seconds, fact::Trigger why) {
  const bool is_critical = why == fact::Trigger::critical;
  if (asked_) return std::nullopt;
  if (last_seconds_ && seconds - *last_seconds_ < (is_critical ? kCriticalPause : kPressurePause))
    return std::nullopt;
  if (!is_critical && retained_ && *retained_ < CleanupBudget::kSmallestReturn) return std::nullopt;
  return decide(why);
}

void CleanupPolicy::cleaned(double seconds, const fact::Cleanup& done) {
  if (done.trigger != fact::Trigger::job) asked_ = false;
  cost_.learn(done.returned, done.seconds);
  const bool in_vain = !is_worth(done.returned, done.before.rss.value_or(0),
                                 CleanupBudget::kSmallestReturn, CleanupBudget::kSmallestShare);
  probe_ = in_vain ? std::min(kLongestProbe, probe_ * 2) : kProbeSeconds;
  // What could not be returned is no reason to try again soon.
  if (in_vain && done.trigger == fact::Trigger::retained) stay_ = std::min(kLongestStay, stay_ * 2);
  last_seconds_ = seconds;
  floor_ = done.after.rss.value_or(0);
  // Garbage that was not collected is no floor: a later round may be rid of it.
  round_floor_ = collects(done) ? floor_ : std::min(round_floor_, floor_);
  returned_ = done.returned;
  taken_again_ = 0;
  is_watched_ = !in_vain && done.trigger == fact::Trigger::retained;
  retained_ = done.after.retained;
  large_since_.reset();
  beside_since_.reset();
  // What was in use when a library was asked may be freed inside it later, which nothing shows: it
  // is asked again, ever more seldom.
  const bool asked_in_vain = in_vain && done.trigger == fact::Trigger::growth;
  if (const auto beside = beside_in(done.after)) beside_floor_ = asked_in_vain ? 0 : *beside;
  if (done.trigger == fact::Trigger::growth)
    beside_stay_ = in_vain ? std::min(kLongestStay, beside_stay_ * 2) : kStaySeconds;
}

}  // namespace ebb::keep

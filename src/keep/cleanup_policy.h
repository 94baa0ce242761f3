// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "fact/cleanup.h"
#include "keep/budget.h"
#include "keep/cleanup_cost.h"

namespace ebb::keep {

/// Decides from outside when one process of a managed job shall clean up: where it pays, at most a
/// share of the job's time, page faults for what it takes again counted in, and at any cost when
/// memory is critical. Times are seconds since the process was first seen. Each decision is
/// answered by cleaned(); until then there is no other. Not thread-safe.
class CleanupPolicy {
 public:
  /// Between rounds memory is worth a cleanup when this much of it...
  static constexpr std::uint64_t kLargeBytes = 64ULL << 20;
  static constexpr double kLargeShare = 0.1;
  /// ...was kept unused for so long. Doubles whenever what was returned is needed again at once.
  static constexpr double kStaySeconds = 2;
  static constexpr double kLongestStay = 300;
  /// Memory that could not be paid for when it was due is left for a minute, then for two...: late
  /// in its cycle a job is about to need it again.
  static constexpr double kPatienceSeconds = 60;
  /// What is returned and taken again costs the job a page fault of 2 us for every 4 KiB.
  static constexpr double kRefaultSecondsPerByte = 2e-6 / 4096;
  /// Cleanups and these faults together take at most this share of the time, which counts as two
  /// minutes at the least: what a short job retains is only known by cleaning it up.
  static constexpr double kShareWithRefaults = 0.05;
  static constexpr double kLearningSeconds = 120;
  /// Where the allocator cannot tell what it keeps: the first probe, and the pause between probes,
  /// which doubles while they return little.
  static constexpr double kProbeSeconds = 60;
  static constexpr double kLongestProbe = 3600;
  /// The pause between cleanups while memory is critical, or tasks stand still.
  static constexpr double kCriticalPause = 5;
  static constexpr double kPressurePause = 30;

  /// A look at the process: its rss, and what its allocator said just now, where it was asked.
  std::optional<fact::Trigger> sampled(double seconds, const fact::ProcessSample& now);

  /// Memory beside malloc, in a process where allocators of libraries' own can be made to give back
  /// and not all can tell what they keep: a cleanup tells. It is due when so much of it came since
  /// the last one and stayed. Where malloc does not tell what it holds (tells_nothing()), all
  /// anonymous memory may lie there.
  std::optional<fact::Trigger> sampled_beside(double seconds, const fact::ProcessSample& now);

  /// The allocator of this process cannot tell what it retains: rss alone decides.
  void tells_nothing() { is_told_ = false; }

  /// The job announced the end of a round.
  std::optional<fact::Trigger> round_done(double seconds, std::uint64_t rss);

  /// Memory is critical, or tasks wait for it.
  std::optional<fact::Trigger> squeezed(double seconds, fact::Trigger why);

  /// What a cleanup came to, one that was decided here or one of the job's own, which answers
  /// nothing.
  void cleaned(double seconds, const fact::Cleanup& done);

  /// The process does not answer any more: forget what was asked.
  void forget_question() { asked_ = false; }

 private:
  std::optional<fact::Trigger> decide(fact::Trigger trigger);
  bool is_affordable(double seconds, std::uint64_t bytes) const;
  std::optional<std::uint64_t> beside_in(const fact::ProcessSample& memory) const;
  void learn_whether_it_lasted(double seconds, std::uint64_t rss);
  void count_what_was_taken_again(std::uint64_t rss);

  bool is_told_ = true;
  bool asked_ = false;
  CleanupCost cost_;

  std::optional<std::uint64_t> retained_;  // last known
  std::optional<double> large_since_;
  std::uint64_t least_ = 0;  // of what was retained since then
  double stay_ = kStaySeconds;
  double wait_ = kStaySeconds;  // this time; stay_ or longer

  std::optional<double> last_seconds_;  // of the last cleanup
  std::uint64_t floor_ = 0;             // rss after it
  std::uint64_t round_floor_ = 0;       // the same where garbage was collected first
  std::uint64_t returned_ = 0;
  std::uint64_t taken_again_ = 0;  // of it
  double refaults_ = 0;            // seconds, of all cleanups so far
  bool is_watched_ = false;        // whether what it returned comes back
  double probe_ = kProbeSeconds;

  std::uint64_t beside_floor_ = 0;  // beside malloc after the last cleanup
  std::optional<double> beside_since_;
  double beside_stay_ = kStaySeconds;
};

}  // namespace ebb::keep

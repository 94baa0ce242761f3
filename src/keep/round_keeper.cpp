// SPDX-License-Identifier: Apache-2.0
#include "keep/round_keeper.h"

#include "base/log.h"

namespace ebb::keep {

base::Result<std::unique_ptr<RoundKeeper>> RoundKeeper::create(Role role,
                                                               const RoundSchedule& schedule,
                                                               Cleaner& cleaner,
                                                               const base::Clock& clock) {
  if (!schedule.automatic && schedule.every < 0) {
    return base::error(base::Code::bad_input,
                       "rounds between cleanups: expected 0 (off) or more, got %d", schedule.every);
  }
  return std::unique_ptr<RoundKeeper>(new RoundKeeper(role, schedule, cleaner, clock));
}

RoundKeeper::RoundKeeper(Role role, const RoundSchedule& schedule, Cleaner& cleaner,
                         const base::Clock& clock)
    : role_(role), schedule_(schedule), cleaner_(cleaner), clock_(clock), budget_(clock.now_ns()) {}

std::optional<CleanupReport> RoundKeeper::round_done() {
  if (!schedule_.automatic && schedule_.every == 0) return std::nullopt;
  std::uint64_t rounds = 0;
  {
    base::Lock lock(mutex_);
    rounds = ++rounds_;
  }
  if (!is_due(rounds)) return std::nullopt;
  return clean(rounds);
}

std::optional<CleanupReport> RoundKeeper::round_done(std::uint64_t round) {
  if (!schedule_.automatic && schedule_.every == 0) return std::nullopt;
  {
    base::Lock lock(mutex_);
    if (last_round_ == round) return std::nullopt;
    last_round_ = round;
    ++rounds_;
  }
  if (!is_due(round + 1)) return std::nullopt;
  return clean(round + 1);
}

CleanupReport RoundKeeper::critical() {
  return clean(rounds());
}

std::uint64_t RoundKeeper::rounds() const {
  base::Lock lock(mutex_);
  return rounds_;
}

bool RoundKeeper::is_due(std::uint64_t rounds) {
  if (!schedule_.automatic) return rounds % static_cast<std::uint64_t>(schedule_.every) == 0;
  // Nothing pays where nobody can tell.
  const std::uint64_t rss = cleaner_.rss().value_or(0);
  base::Lock lock(mutex_);
  return budget_.allows(clock_.now_ns(), rss);
}

CleanupReport RoundKeeper::clean(std::uint64_t round) {
  CleanupRequest request;
  request.cuda_empty_cache = schedule_.cuda_empty_cache;
  CleanupReport report = cleaner_.clean(request);
  base::log(base::LogLevel::info, "%s memory cleanup at round %llu: %s", name_of(role_),
            static_cast<unsigned long long>(round), summary_of(report).c_str());
  base::Lock lock(mutex_);
  const fact::Cleanup& measured = report.measured;
  budget_.spent(measured.after.rss.value_or(0), measured.returned, measured.seconds);
  return report;
}

}  // namespace ebb::keep

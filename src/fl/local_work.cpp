// SPDX-License-Identifier: Apache-2.0
#include "fl/local_work.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ebb::fl {

LocalWork local_work(const Config& config, std::size_t samples) {
  const std::uint64_t looked_at = config.aggregation.rule == Rule::scaffold ? samples : 0;
  const std::uint64_t each = std::max<std::uint64_t>(samples, 1);
  const std::uint64_t steps_of_a_pass = (each + config.batch - 1) / config.batch;
  if (!config.local_steps) {
    return {config.epochs, steps_of_a_pass * config.epochs,
            std::uint64_t{samples} * config.epochs + looked_at};
  }
  const std::uint64_t steps = *config.local_steps;
  const std::uint64_t whole = steps / steps_of_a_pass;
  const std::uint64_t more = steps % steps_of_a_pass;
  return {static_cast<std::uint32_t>(whole + (more > 0 ? 1 : 0)), steps,
          whole * samples + more * config.batch + looked_at};
}

double learning_rate(const Config& config, std::uint32_t round) {
  const RateSchedule& schedule = config.schedule;
  const std::uint64_t warmup = schedule.warmup;
  if (round < warmup) return config.lr * (round + 1.0) / (static_cast<double>(warmup) + 1);
  const std::uint64_t since = round - warmup;
  switch (schedule.kind) {
    case ScheduleKind::constant:
      break;
    case ScheduleKind::step: {
      const std::uint64_t steps = since / schedule.step_size.value_or(1);
      return config.lr * std::pow(schedule.gamma, static_cast<double>(steps));
    }
    case ScheduleKind::cosine: {
      const std::uint64_t rest = config.rounds > warmup ? config.rounds - warmup : 1;
      const std::uint64_t end = schedule.t_max.value_or(rest);
      if (since >= end) return schedule.eta_min;
      const double turn = std::numbers::pi * static_cast<double>(since) / static_cast<double>(end);
      return schedule.eta_min + (config.lr - schedule.eta_min) * (1 + std::cos(turn)) / 2;
    }
  }
  return config.lr;
}

}  // namespace ebb::fl

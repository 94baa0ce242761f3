// SPDX-License-Identifier: Apache-2.0
#include "fl/pressure_gate.h"

#include <utility>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::fl {
namespace {

/// Memory is looked at no more often than this: it takes some tens of microseconds.
constexpr double kPauseSeconds = 0.02;

}  // namespace

PressureGate::PressureGate(const Execution& execution, keep::Cleaner& cleaner,
                           const base::Clock& clock)
    : execution_(execution), cleaner_(cleaner), clock_(clock) {}

std::optional<PressureGate::Fullness> PressureGate::look() const {
  if (execution_.memory) {
    const double share =
        static_cast<double>(cleaner_.rss().value_or(0)) / static_cast<double>(*execution_.memory);
    return Fullness{100 * share, "--memory " + base::bytes_text(*execution_.memory)};
  }
  const auto info = sense::memory_info();
  if (!info) return std::nullopt;
  return Fullness{info->fullest_percent, std::string("the ") + sense::name_of(info->source) +
                                             " limit of " + base::bytes_text(info->limit)};
}

std::uint32_t PressureGate::allowed(std::uint32_t now) {
  const base::Lock lock(mutex_);
  const std::int64_t time = clock_.now_ns();
  if (looked_ns_ && base::seconds_between(*looked_ns_, time) < kPauseSeconds) return now;
  looked_ns_ = time;
  auto full = look();
  if (!full) return now;
  const auto level_at = [&](double percent) {
    if (percent >= execution_.critical_percent) return sense::MemoryLevel::critical;
    return percent >= execution_.warn_percent ? sense::MemoryLevel::warn
                                              : sense::MemoryLevel::normal;
  };
  sense::MemoryLevel level = level_at(full->percent);
  if (level == sense::MemoryLevel::critical) {
    const keep::CleanupReport report = cleaner_.clean({.deep = true});
    returned_ += report.measured.returned;
    full = look();
    if (!full) return now;
    level = level_at(full->percent);
  }
  std::uint32_t allowed = now;
  if (level == sense::MemoryLevel::critical && now > 1) {
    allowed = now - 1;
    lines_.push_back(base::format_text("memory at %.0f %% of %s: %u client%s at a time from now on",
                                       full->percent, full->of.c_str(), allowed,
                                       allowed == 1 ? "" : "s"));
  } else if (level > level_) {
    lines_.push_back(base::format_text("memory at %.0f %% of %s", full->percent, full->of.c_str()));
  }
  level_ = level;
  if (level != sense::MemoryLevel::normal) was_tight_ = true;
  return allowed;
}

bool PressureGate::has_room() {
  const base::Lock lock(mutex_);
  return !std::exchange(was_tight_, level_ != sense::MemoryLevel::normal);
}

void PressureGate::say(std::string line) {
  const base::Lock lock(mutex_);
  lines_.push_back(std::move(line));
}

std::optional<double> PressureGate::percent() const {
  const auto full = look();
  return full ? std::optional(full->percent) : std::nullopt;
}

std::vector<std::string> PressureGate::lines() {
  const base::Lock lock(mutex_);
  return std::exchange(lines_, {});
}

std::uint64_t PressureGate::returned() {
  const base::Lock lock(mutex_);
  return std::exchange(returned_, 0);
}

}  // namespace ebb::fl

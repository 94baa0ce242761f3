// SPDX-License-Identifier: Apache-2.0
#include "run/place.h"

#include <unistd.h>

#include <utility>

#include "base/bytes.h"
#include "base/file.h"
#include "base/text.h"
#include "run/group_memory.h"

namespace ebb::run {
namespace {

constexpr double kGpusEverySeconds = 5;

/// Kills on the whole machine, since it booted.
std::optional<std::uint64_t> machine_kills() {
  const auto text = base::read_file("/proc/vmstat", 1 << 20);
  if (!text) return std::nullopt;
  for (const std::string_view line : base::split(*text, '\n')) {
    if (line.starts_with("oom_kill ")) return base::parse_unsigned(line.substr(9));
  }
  return std::nullopt;
}

}  // namespace

void Place::find(pid_t pid) {
  if (auto group = sense::find_cgroup(pid)) {
    live_in(*std::move(group));
    peak_.begin(*group_);
  } else {
    live_in({});
    group_.reset();
  }
  const auto self = sense::find_cgroup();
  if (self && !self->directories.empty()) own_group_ = self->directories.front() + "/";
  if (auto gpus = sense::GpuMeter::open()) {
    gpus_.emplace(*std::move(gpus));
  } else {
    cards_.trouble = gpus.error().message;
  }
}

void Place::live_in(sense::CgroupPlace group) {
  group_ = std::move(group);
  alarm_ = sense::LimitAlarm::of(*group_);
  const auto reading = sense::read_cgroup(*group_);
  group_kills_ = reading ? reading->events.oom_kill : std::nullopt;
  kills_before_ = group_kills_ ? group_kills_ : machine_kills();
  counts_group_ = group_kills_.has_value();
  last_kill_count_.reset();
  pressure_.reset();
  for (const std::string& file : {group_->pressure_file, std::string("/proc/pressure/memory")}) {
    if (file.empty() || pressure_) continue;
    if (auto armed = sense::PressureTrigger::arm(file)) pressure_.emplace(*std::move(armed));
  }
}

void Place::follow(pid_t pid, const sense::CgroupReading& seen) {
  // Once the command has ended, this process stands in for it.
  if (!group_ || seen.group == group_->group || pid == ::getpid()) return;
  // What v1 says of every process that is about to end, and v2 of one whose group was removed.
  if (seen.version == sense::CgroupVersion::v1 && seen.group == "/") return;
  if (seen.group.ends_with(" (deleted)")) return;
  auto group = sense::find_cgroup(pid);
  if (!group) return;
  kills_elsewhere_ = kills();
  live_in(*std::move(group));
  peak_ = {};  // neither group has held all of the job
  ++moves_;
}

void Place::read_cards(double seconds, double least_age) {
  if (!gpus_ || (gpus_read_ && seconds - *gpus_read_ < least_age)) return;
  gpus_read_ = seconds;
  gpu_used_.reset();
  gpu_total_.reset();
  const auto gpus = gpus_->read();
  cards_ = keep::machine_cards(gpus);
  for (const sense::GpuReading& gpu : gpus.value_or({})) {
    if (gpu.used) gpu_used_ = gpu_used_.value_or(0) + *gpu.used;
    if (gpu.total) gpu_total_ = gpu_total_.value_or(0) + *gpu.total;
  }
}

std::optional<std::uint64_t> Place::kill_count() {
  if (!counts_group_) return machine_kills();
  // A group that was removed has counted what it had when it was last asked.
  if (const auto reading = sense::read_cgroup(*group_); reading && reading->events.oom_kill)
    group_kills_ = reading->events.oom_kill;
  return group_kills_;
}

std::uint64_t Place::kills() {
  const auto now = kill_count();
  if (!now || !kills_before_ || *now < *kills_before_) return kills_elsewhere_;
  return kills_elsewhere_ + *now - *kills_before_;
}

base::Result<record::PlaceSample> Place::read(pid_t pid, double seconds) {
  const auto info = sense::memory_info(pid);
  if (!info) return info.error();
  follow(pid, info->cgroup);
  const auto killed = info->cgroup.events.oom_kill;
  saw_kill_ = killed && last_kill_count_ && *killed > *last_kill_count_;
  last_kill_count_ = killed;
  if (counts_group_ && killed) group_kills_ = killed;
  const auto level = sense::level_of(*info, thresholds_);
  if (!level) return level.error();
  level_ = *level;
  percent_ = info->fullest_percent;
  limit_ = info->limit;
  source_ = sense::name_of(info->source);
  record::PlaceSample sample;
  sample.seconds = seconds;
  sample.limit = info->limit;
  sample.percent = info->percent;
  sample.used = static_cast<std::uint64_t>(info->percent / 100 * static_cast<double>(info->limit));
  if (info->pressure) sample.pressure_some = info->pressure->some.avg10;
  sample.file_cache = info->source == sense::LimitSource::cgroup
                          ? info->cgroup.memory().file
                          : std::optional<std::uint64_t>(info->machine.cached);
  // Of the group that limits; of a hidden one nothing is known.
  const sense::CgroupReading& groups = info->cgroup;
  if (info->source == sense::LimitSource::cgroup && !groups.levels.empty()) {
    const sense::CgroupLevel& full = groups.levels.at(groups.limiting.value_or(0));
    sample.group = group_memory_of(full.memory);
    const auto self = sense::read_process();
    if (self && own_group_.starts_with(full.directory + "/")) sample.group.supervisor = self->anon;
  }
  read_cards(seconds, kGpusEverySeconds);
  sample.gpu_used = gpu_used_;
  sample.gpu_total = gpu_total_;
  return sample;
}

std::string Place::text() const {
  return base::format_text("%.1f %% of %s (%s)", percent_, base::bytes_text(limit_).c_str(),
                           source_.c_str());
}

int Place::pressure_descriptor() const {
  return pressure_ ? pressure_->descriptor() : -1;
}

}  // namespace ebb::run

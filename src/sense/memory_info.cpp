// SPDX-License-Identifier: Apache-2.0
#include "sense/memory_info.h"

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "sense/process_text.h"

namespace ebb::sense {

using base::Code;
using base::Result;

namespace {

using Bytes = std::optional<std::uint64_t>;

/// Stalls below this share of time are noise.
constexpr double kStallFelt = 5;

double percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return 100;
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> percent_of(Bytes part, std::uint64_t whole) {
  if (!part) return std::nullopt;
  return percent_of(*part, whole);
}

/// What counts against a group's limit, by the best figure that the kernel tells.
Bytes held(const CgroupMemory& memory) {
  if (memory.unreclaimable) return memory.unreclaimable;
  if (memory.working_set) return memory.working_set;
  return memory.usage;
}

Result<LimitsText> read_limits(pid_t pid, const Roots& roots) {
  const std::string file = roots.process(pid) + "/limits";
  const auto text = base::read_file(file);
  if (text) return parse_limits(*text, file);
  // Kernels in user space have no such file, and resource limits of others may be private.
  if (text.error().code == Code::not_found || text.error().code == Code::not_permitted) {
    return LimitsText{};
  }
  return text.error();
}

Result<std::optional<PressureReading>> read_pressure_of(const CgroupReading& cgroup,
                                                        const Roots& roots) {
  auto pressure =
      cgroup.pressure_file ? read_pressure_file(*cgroup.pressure_file) : read_pressure(roots);
  if (pressure) return std::optional<PressureReading>(*pressure);
  if (pressure.error().code == Code::bad_input) return pressure.error();
  return std::optional<PressureReading>();
}

/// Chooses the limit; of equal ones the first of machine, cgroup, resource limits stands.
void settle_limit(MemoryInfo& info, const LimitsText& limits) {
  info.limit = info.machine.total;
  info.source = LimitSource::machine;
  const std::pair<Bytes, LimitSource> others[] = {
      {info.cgroup.limit, LimitSource::cgroup},
      {limits.address_space, LimitSource::address_space},
      {limits.data_size, LimitSource::data_size},
  };
  for (const auto& [limit, source] : others) {
    if (!limit || *limit >= info.limit) continue;
    info.limit = *limit;
    info.source = source;
  }
}

void settle_percent(MemoryInfo& info) {
  const MachineReading& machine = info.machine;
  switch (info.source) {
    case LimitSource::machine:
      info.percent =
          percent_of(machine.total - std::min(machine.available, machine.total), machine.total);
      break;
    case LimitSource::cgroup: {
      // A hidden group that limits holds at least what the own one does.
      const CgroupMemory memory = info.cgroup.limiting
                                      ? info.cgroup.levels[*info.cgroup.limiting].memory
                                      : info.cgroup.memory();
      info.percent = percent_of(held(memory).value_or(info.process.rss), info.limit);
      info.working_set_percent = percent_of(memory.working_set, info.limit);
      info.usage_percent = percent_of(memory.usage, info.limit);
      break;
    }
    case LimitSource::address_space:
      info.percent = percent_of(info.process.virtual_size, info.limit);
      break;
    case LimitSource::data_size:
      info.percent = percent_of(info.process.data.value_or(info.process.rss), info.limit);
      break;
  }
  info.fullest_percent = info.percent;
  for (const CgroupLevel& level : info.cgroup.levels) {
    for (const Bytes limit : {level.limit, level.soft_limit}) {
      if (!limit) continue;
      const auto percent = percent_of(held(level.memory), *limit);
      info.fullest_percent = std::max(info.fullest_percent, percent.value_or(0));
    }
  }
}

}  // namespace

const char* name_of(LimitSource source) {
  switch (source) {
    case LimitSource::machine:
      return "machine";
    case LimitSource::cgroup:
      return "cgroup";
    case LimitSource::address_space:
      return "address_space";
    case LimitSource::data_size:
      return "data_size";
  }
  return "machine";
}

const char* name_of(MemoryLevel level) {
  switch (level) {
    case MemoryLevel::normal:
      return "normal";
    case MemoryLevel::warn:
      return "warn";
    case MemoryLevel::critical:
      return "critical";
  }
  return "normal";
}

Result<MemoryInfo> memory_info(pid_t pid, const Roots& roots) {
  const auto process = read_process(pid, roots);
  if (!process) return process.error();
  const auto machine = read_machine(roots);
  if (!machine) return machine.error();
  auto cgroup = read_cgroup(pid, roots);
  if (!cgroup) return cgroup.error();
  const auto limits = read_limits(pid, roots);
  if (!limits) return limits.error();
  const auto pressure = read_pressure_of(*cgroup, roots);
  if (!pressure) return pressure.error();

  MemoryInfo info;
  info.process = *process;
  info.machine = *machine;
  info.cgroup = *std::move(cgroup);
  info.pressure = *pressure;
  settle_limit(info, *limits);
  settle_percent(info);
  return info;
}

base::Status check(const MemoryThresholds& thresholds) {
  // Written so that not-a-number fails too.
  if (!(thresholds.warn > 0 && thresholds.warn <= thresholds.critical &&
        thresholds.critical <= 100)) {
    return base::error(Code::bad_input,
                       "memory thresholds: expected 0 < warn <= critical <= 100, got %g and %g",
                       thresholds.warn, thresholds.critical);
  }
  return {};
}

Result<MemoryLevel> level_of(const MemoryInfo& info, const MemoryThresholds& thresholds) {
  if (const auto valid = check(thresholds); !valid) return valid.error();
  if (info.fullest_percent >= thresholds.critical) return MemoryLevel::critical;
  if (info.fullest_percent >= thresholds.warn) return MemoryLevel::warn;
  const bool stalling = info.pressure && info.pressure->some.avg10 >= kStallFelt &&
                        info.pressure->some.avg10 > info.pressure->some.avg60;
  if (stalling && info.working_set_percent.value_or(0) >= thresholds.critical) {
    return MemoryLevel::warn;
  }
  return MemoryLevel::normal;
}

Result<MemoryCheck> check_memory_critical(const MemoryThresholds& thresholds, pid_t pid,
                                          const Roots& roots) {
  // Thresholds first, so that a wrong one is told whatever the machine says.
  if (const auto valid = check(thresholds); !valid) return valid.error();
  auto info = memory_info(pid, roots);
  if (!info) return info.error();
  const auto level = level_of(*info, thresholds);
  if (!level) return level.error();
  return MemoryCheck{*level, *std::move(info)};
}

}  // namespace ebb::sense

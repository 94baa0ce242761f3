// SPDX-License-Identifier: Apache-2.0
#include "sense/cpu.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "sense/fields.h"
#include "sense/process_text.h"

namespace ebb::sense {

using base::Code;
using base::Result;

namespace {

class BootClock final : public base::Clock {
 public:
  std::int64_t now_ns() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
};

double ticks_per_second() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

const base::Clock& boot_clock() {
  // /proc/uptime would do as well, but is the container's own under lxcfs, unlike start times.
  static const BootClock clock;
  return clock;
}

ProcessCpuMeter::ProcessCpuMeter(pid_t pid, Roots roots, const base::Clock& clock)
    : pid_(pid), roots_(std::move(roots)), clock_(clock) {}

Result<double> ProcessCpuMeter::read() {
  const std::string file = roots_.process(pid_) + "/stat";
  const auto text = base::read_file(file);
  const double now = base::seconds_between(0, clock_.now_ns());
  if (!text) {
    if (text.error().code != Code::not_found) return text.error();
    if (!start_ticks_) return no_such_process(pid_, roots_);
    return base::error(Code::not_found, "process %d has ended (no %s)", static_cast<int>(pid_),
                       file.c_str());
  }
  const auto stat = parse_stat(*text, file);
  if (!stat) return stat.error();
  const double busy = static_cast<double>(stat->cpu_ticks) / ticks_per_second();
  const bool same = start_ticks_ == stat->start_ticks;
  if (!start_ticks_ || (pid_ == kSelf && !same)) {
    // Also where self is a forked child of who made the meter.
    start_ticks_ = stat->start_ticks;
    last_ = {static_cast<double>(stat->start_ticks) / ticks_per_second(), 0, 0};
  } else if (!same) {
    return base::error(Code::not_found, "process %d has ended; another process has its number now",
                       static_cast<int>(pid_));
  }
  const double elapsed = now - last_.at_seconds;
  if (elapsed * ticks_per_second() < 1) return last_.percent;
  last_ = {now, busy, 100 * std::max(0.0, busy - last_.busy_seconds) / elapsed};
  return last_.percent;
}

Result<MachineTicks> parse_machine_ticks(std::string_view text, std::string_view file) {
  const auto lines = lines_of(text, file);
  if (!lines) return lines.error();
  const std::vector<std::string_view> words = base::words(lines->front());
  // cpu user nice system idle iowait irq softirq steal; guest time is within user and nice.
  if (words.size() < 9 || words[0] != "cpu") {
    return garbled(file, "the first line", "cpu and eight numbers of ticks", lines->front());
  }
  MachineTicks ticks;
  for (std::size_t i = 1; i <= 8; ++i) {
    const auto number = base::parse_unsigned(words[i]);
    if (!number) return garbled(file, "cpu", "a number of ticks", words[i]);
    ticks.total += *number;
    if (i != 4 && i != 5) ticks.busy += *number;
  }
  return ticks;
}

Result<double> MachineCpuMeter::read() {
  const std::string file = roots_.proc + "/stat";
  const auto text = base::read_file(file);
  if (!text) return text.error();
  const auto ticks = parse_machine_ticks(*text, file);
  if (!ticks) return ticks.error();
  // idle and iowait of a processor that slept may be told a little smaller than before.
  if (ticks->total <= last_total_) return last_percent_;
  const double busy =
      ticks->busy > last_busy_ ? static_cast<double>(ticks->busy - last_busy_) : 0.0;
  const double total = static_cast<double>(ticks->total - last_total_);
  last_busy_ = ticks->busy;
  last_total_ = ticks->total;
  last_percent_ = std::min(100.0, 100 * busy / total);
  return last_percent_;
}

}  // namespace ebb::sense

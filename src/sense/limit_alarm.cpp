// SPDX-License-Identifier: Apache-2.0
#include "sense/limit_alarm.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "sense/cgroup_text.h"

namespace ebb::sense {
namespace {

// Of the limit, in percent: where v1 is to wake us.
constexpr std::uint64_t kMarks[] = {90, 95, 98, 99};

std::optional<std::uint64_t> limit_in(const std::string& file) {
  const auto text = base::read_file(file, 1 << 10);
  if (!text) return std::nullopt;
  const auto limit = parse_limit(*text, file);
  return limit ? *limit : std::nullopt;
}

base::FileDescriptor opened(const std::string& file, int flags) {
  return base::FileDescriptor(::open(file.c_str(), flags | O_CLOEXEC));
}

}  // namespace

LimitAlarm LimitAlarm::of(const CgroupPlace& place) {
  LimitAlarm alarm;
  for (const std::string& folder : place.directories) {
    if (place.version == CgroupVersion::v2) {
      alarm.watch_v2(folder);
    } else {
      alarm.watch_v1(folder);
    }
  }
  return alarm;
}

void LimitAlarm::watch_v2(const std::string& folder) {
  if (!limit_in(folder + "/memory.max")) return;
  Watched one;
  one.wakes = opened(folder + "/memory.events", O_RDONLY);
  one.events = POLLPRI;
  if (one.wakes.is_open()) watched_.push_back(std::move(one));
}

void LimitAlarm::watch_v1(const std::string& folder) {
  const auto limit = limit_in(folder + "/memory.limit_in_bytes");
  const base::FileDescriptor control = opened(folder + "/cgroup.event_control", O_WRONLY);
  if (!limit || !control.is_open()) return;
  const auto watch = [&](const char* file, const std::string& argument) {
    Watched one;
    one.wakes = base::FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    one.about = opened(folder + file, O_RDONLY);
    one.events = POLLIN;
    const std::string line =
        std::to_string(one.wakes.get()) + " " + std::to_string(one.about.get()) + argument;
    if (one.wakes.is_open() && one.about.is_open() &&
        ::write(control.get(), line.data(), line.size()) == static_cast<ssize_t>(line.size()))
      watched_.push_back(std::move(one));
  };
  watch("/memory.oom_control", "");
  for (const std::uint64_t mark : kMarks)
    watch("/memory.usage_in_bytes", " " + std::to_string(*limit / 100 * mark));
}

std::vector<pollfd> LimitAlarm::sources() const {
  std::vector<pollfd> sources;
  for (const Watched& one : watched_)
    sources.push_back({one.wakes.get(), one.events, 0});
  return sources;
}

void LimitAlarm::quiet() {
  char ignored[1024];
  for (const Watched& one : watched_) {
    // A file of v2 has happened what it has when it is read from its beginning.
    const bool is_file = one.events == POLLPRI;
    const ssize_t got = is_file ? ::pread(one.wakes.get(), ignored, sizeof ignored, 0)
                                : ::read(one.wakes.get(), ignored, sizeof(std::uint64_t));
    static_cast<void>(got);
  }
}

}  // namespace ebb::sense

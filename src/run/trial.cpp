// SPDX-License-Identifier: Apache-2.0
#include "run/trial.h"

#include <sys/resource.h>

#include <algorithm>
#include <exception>

#include "heap/installed.h"
#include "run/supervisor.h"

namespace ebb::run {
namespace {

// More time than this beyond the command's own is not worth the memory; of a command that mostly
// waits, CPU time is judged against the time it waits.
constexpr double kMostTime = 1.1;
constexpr double kMostOfWall = 0.02;
// Below this the difference is not worth another allocator.
constexpr double kLeastGain = 0.95;

double cpu_of(int who) {
  rusage usage{};
  ::getrusage(who, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class T>
T middle(const std::vector<Trial>& trials, T Trial::*part) {
  std::vector<T> values;
  for (const Trial& trial : trials)
    values.push_back(trial.*part);
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

std::vector<Setting> settings_worth_trying() {
  std::vector<Setting> settings = {
      {"as it is", {}, {}, "keep", false},
      {"managed", {}, {}, "keep", true},
      {"managed, role trainer", {"--role", "trainer"}, keep::Role::trainer, "keep", true},
      {"managed, role server", {"--role", "server"}, keep::Role::server, "keep", true},
  };
  for (const heap::AllocatorKind kind :
       {heap::AllocatorKind::jemalloc, heap::AllocatorKind::tcmalloc,
        heap::AllocatorKind::mimalloc}) {
    if (!heap::find_installed(kind)) continue;
    const std::string name = heap::name_of(kind);
    settings.push_back({"managed, " + name, {"--allocator", name}, {}, name, true});
  }
  return settings;
}

base::Result<Trial> try_setting(const std::vector<std::string>& command, const Setting& setting,
                                double interval_seconds) {
  Options options;
  options.command = command;
  options.role = setting.role;
  options.allocator = setting.allocator;
  options.manage = setting.manage;
  options.interval_seconds = interval_seconds;
  options.quiet = true;
  options.silent = true;
  auto listener = wire::Listener::open();
  if (!listener) return listener.error();
  const auto preparation = prepare(options, listener->path());
  if (!preparation) return preparation.error();
  const double cpu_before = cpu_of(RUSAGE_CHILDREN) + cpu_of(RUSAGE_SELF);
  Signals signals;
  Journal journal("", {}, true);
  Supervisor supervisor(options, *preparation, *std::move(listener), signals, journal);
  Trial trial;
  trial.setting = setting;
  try {
    const auto launched = supervisor.start();
    if (!launched) return launched.error();
    if (!launched->trouble.empty()) return base::Error{base::Code::bad_input, launched->trouble, 0};
    const Summary summary = supervisor.run();
    trial.peak_rss = summary.peak_rss;
    trial.steady_rss = summary.steady_rss;
    trial.wall_seconds = summary.seconds;
    trial.cpu_seconds = cpu_of(RUSAGE_CHILDREN) + cpu_of(RUSAGE_SELF) - cpu_before;
    trial.ending = summary.ending;
  } catch (const std::exception& failure) {
    if (supervisor.command() == 0) throw;
    trial.ending = wait_plainly(supervisor.left_to_wait_for(), signals);
    // How the command ended comes first; what was measured of it is not known.
    if (trial.ending.exit_code != 0) return trial;
    return base::error(base::Code::internal, "%s: the trial could not be measured", failure.what());
  }
  return trial;
}

base::Result<Tried> try_settings(const std::vector<std::string>& command,
                                 const std::vector<Setting>& settings, unsigned repeat,
                                 double interval_seconds, const TrialProgress& progress) {
  Tried all;
  const double total = static_cast<double>(settings.size()) * repeat;
  for (const Setting& setting : settings) {
    std::vector<Trial> trials;
    while (trials.size() < repeat) {
      progress(static_cast<double>(all.medians.size() * repeat + trials.size()) / total, setting);
      auto trial = try_setting(command, setting, interval_seconds);
      if (!trial) return trial.error();
      if (trial->ending.exit_code != 0) {
        all.failed = *std::move(trial);
        return all;
      }
      trials.push_back(*std::move(trial));
    }
    all.medians.push_back(median_of(trials));
  }
  return all;
}

Trial median_of(const std::vector<Trial>& trials) {
  Trial median = trials.front();
  median.peak_rss = middle(trials, &Trial::peak_rss);
  median.steady_rss = middle(trials, &Trial::steady_rss);
  median.cpu_seconds = middle(trials, &Trial::cpu_seconds);
  median.wall_seconds = middle(trials, &Trial::wall_seconds);
  return median;
}

std::size_t best_of(const std::vector<Trial>& trials) {
  const Trial& as_it_is = trials.front();
  std::size_t best = 0;
  for (std::size_t i = 1; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    const double most_cpu = kMostTime * as_it_is.cpu_seconds + kMostOfWall * as_it_is.wall_seconds;
    if (trial.cpu_seconds > most_cpu || trial.wall_seconds > kMostTime * as_it_is.wall_seconds)
      continue;
    if (static_cast<double>(trial.steady_rss) <
        kLeastGain * static_cast<double>(trials[best].steady_rss))
      best = i;
  }
  return best;
}

}  // namespace ebb::run

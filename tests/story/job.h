// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include "record/runs.h"
#include "story/run_story.h"
#include "support/temporary_directory.h"

namespace ebb::story {

/// A job that is recorded as a supervisor would: one sample per second and process. All in MiB.
class Job {
 public:
  using Curve = std::function<double(double)>;

  struct Memory {
    Curve anon;
    Curve live{};
    Curve retained{};
    Curve file{};
    Curve shmem{};
    Curve pss{};
  };

  explicit Job(double seconds = 400) : seconds_(seconds) { run_ = record::run_named("job"); }

  record::Run& run() { return run_; }
  record::Batch& batch() { return batch_; }

  /// From `from` on, until the end or `until`.
  record::ProcessKey add(std::int32_t pid, const std::string& command, const Memory& memory,
                         double from = 0, double until = 0) {
    const record::ProcessKey key{pid, 1};
    record::Process process = record::process_of(key, command);
    process.seconds = from;
    batch_.processes.push_back(process);
    const auto bytes = [](const Curve& curve, double t) -> std::optional<std::uint64_t> {
      if (!curve) return std::nullopt;
      return static_cast<std::uint64_t>(curve(t) * 1048576);
    };
    const double end = until > 0 ? until : seconds_;
    for (double t = from; t < end; ++t) {
      record::Sample sample;
      sample.process = key;
      sample.seconds = t;
      // A little unrest, the same every time.
      const double unrest = std::sin(t * 12.9898 + pid) * 0.3;
      sample.memory.anon = static_cast<std::uint64_t>((memory.anon(t) + unrest) * 1048576);
      sample.memory.file = bytes(memory.file, t);
      sample.memory.shmem = bytes(memory.shmem, t);
      sample.memory.live = bytes(memory.live, t);
      sample.memory.retained = bytes(memory.retained, t);
      if (static_cast<int>(t) % 5 == 0) sample.memory.pss = bytes(memory.pss, t);
      sample.memory.rss =
          *sample.memory.anon + sample.memory.file.value_or(0) + sample.memory.shmem.value_or(0);
      batch_.samples.push_back(sample);
    }
    if (until > 0) batch_.ended.emplace_back(key, until);
    return key;
  }

  /// A cleanup every `period` seconds that leaves `after` and returned `returned`.
  void clean(const record::ProcessKey& key, double period, const Curve& after,
             const Curve& returned, fact::Trigger trigger = fact::Trigger::round) {
    for (double t = period; t < seconds_; t += period) {
      record::Action action;
      action.process = key;
      action.seconds = t;
      action.cleanup.trigger = trigger;
      action.cleanup.after.anon = static_cast<std::uint64_t>(after(t) * 1048576);
      action.cleanup.after.rss = *action.cleanup.after.anon;
      action.cleanup.returned = static_cast<std::uint64_t>(returned(t) * 1048576);
      action.cleanup.before.rss = *action.cleanup.after.rss + action.cleanup.returned;
      action.cleanup.seconds = 0.02;
      batch_.actions.push_back(action);
    }
  }

  void announce_rounds(const record::ProcessKey& key, double period) {
    std::uint64_t number = 0;
    for (double t = period; t < seconds_; t += period)
      batch_.rounds.push_back({key, t, ++number});
  }

  void add_place(const Curve& used, double limit) {
    for (double t = 0; t < seconds_; ++t) {
      record::PlaceSample place;
      place.seconds = t;
      place.used = static_cast<std::uint64_t>(used(t) * 1048576);
      place.limit = static_cast<std::uint64_t>(limit * 1048576);
      place.percent = 100 * used(t) / limit;
      batch_.places.push_back(place);
    }
  }

  /// Writes it, reads it again.
  record::RecordedRun recorded() const {
    const support::TemporaryDirectory folder;
    write(folder / "runs.db");
    return record::read(folder / "runs.db");
  }

  /// Adds it to a record.
  void write(const std::string& path) const {
    auto file = record::RunFile::begin(path, run_);
    ASSERT_TRUE(file) << file.error().message;
    const auto written = file->write(batch_);
    ASSERT_TRUE(written) << written.error().message;
    record::Run end = run_;
    end.ended = run_.started + seconds_;
    if (end.ending == fact::RunEnd::unknown) {
      end.exit_code = 0;
      end.ending = fact::RunEnd::exit;
    }
    ASSERT_TRUE(file->finish(end));
  }

 private:
  double seconds_;
  record::Run run_;
  record::Batch batch_;
};

inline Job::Curve level(double mib) {
  return [mib](double) { return mib; };
}
inline Job::Curve growing(double from, double mib_per_second) {
  return [=](double t) { return from + mib_per_second * t; };
}
/// Up by `height` in each period, and back.
inline Job::Curve rounds(double from, double height, double period, double per_second = 0) {
  return [=](double t) { return from + per_second * t + height * std::fmod(t, period) / period; };
}

}  // namespace ebb::story

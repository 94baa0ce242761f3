// SPDX-License-Identifier: Apache-2.0
#include "keep/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "trend/assessment.h"

namespace ebb::keep {
namespace {

using base::format_text;
using trend::Assessment;

constexpr double kHour = 3600;
constexpr double kShortObservation = 60;
constexpr double kWarmUpShare = 0.95;
// Cleanups that return less than this, or than this share of the memory, are no sign of retention.
constexpr double kLeastReturned = 16 << 20;
constexpr double kLeastReturnedShare = 0.2;
constexpr std::uint64_t kLeastCleanups = 3;
constexpr double kLargeShare = 0.5;  // of one cleanup, that is sign enough
constexpr std::size_t kLeastSeldom = 20;
// Retained bytes that stay this many and this share of the memory all the time are one.
constexpr double kLeastRetained = 64 << 20;
constexpr double kLeastRetainedShare = 0.5;

constexpr const char* kCleanUp =
    "Clean up at the end of a round (ebb_cleanup, docs/cleanup.md), or start it with the "
    "environment that ebb env prints";
constexpr const char* kOtherAllocator =
    "Start it on another allocator (ebb env --role server --allocator jemalloc), or with fewer "
    "arenas";

std::string bytes_of(double bytes) {
  return base::signed_bytes_text(static_cast<std::int64_t>(std::clamp(bytes, -9e18, 9e18)));
}

std::string rate_text(const trend::Slope& slope) {
  const std::string rate = bytes_of(slope.per_second * kHour) + "/h";
  if (!slope.bounded()) return rate + " (no interval yet)";
  return rate + " (95 %: " + bytes_of(slope.low * kHour) + " to " + bytes_of(slope.high * kHour) +
         ")";
}

base::Json rate_json(const trend::Slope& slope) {
  return slope.per_second * kHour;
}
base::Json interval_json(const trend::Slope& slope) {
  if (!slope.bounded()) return {};
  return base::Json::array({slope.low * kHour, slope.high * kHour});
}

class Doctor {
 public:
  explicit Doctor(const MemorySeries& series)
      : series_(series),
        held_(series.anon.empty() ? series.rss : series.anon),
        rss_(assess(series.rss)),
        anon_(assess(held_)),
        file_(assess(series.file)),
        shmem_(assess(series.shmem)),
        live_(assess_seldom(series.live, series.live_after)),
        retained_(assess_seldom(series.retained, series.retained_after)),
        children_(assess(series.children)),
        floor_(assess_each(series.after_cleanup)) {}

  Diagnosis diagnose() {
    if (live_.slope) {
      judge_with_live();
    } else if (floor_.slope) {
      judge_by_floor();
    } else {
      judge_from_outside();
    }
    judge_files();
    if (grows(children_)) {
      found_.findings.push_back("the processes it started grow together by " +
                                rate_text(*children_.slope) + ": look at each of them");
    }
    if (!decided_) judge_quiet();
    state_confidence();
    write_evidence();
    return std::move(found_);
  }

 private:
  Assessment assess(std::span<const trend::Point> points) const {
    trend::AssessOptions options;
    options.round_ends = series_.round_ends;
    return trend::assess(points, options);
  }
  static Assessment assess_each(std::span<const trend::Point> points) {
    trend::AssessOptions options;
    options.each = true;
    return trend::assess(points, options);
  }
  /// What only the process itself can tell is read seldom: few readings are taken as they are, and
  /// else those that cleanups made.
  Assessment assess_seldom(std::span<const trend::Point> points,
                           std::span<const trend::Point> after) const {
    const Assessment found = assess(points);
    if (found.slope) return found;
    const bool is_seldom =
        points.size() >= kLeastSeldom && points.size() < trend::AssessOptions{}.least_samples;
    return assess_each(is_seldom ? points : after);
  }
  Assessment assess_peaks() const {
    trend::AssessOptions options;
    options.highest = true;
    return trend::assess(series_.peaks.empty() ? held_ : series_.peaks, options);
  }

  /// A curve that rose in its first half and hardly since is judged by its second: the tail of a
  /// warm-up has no change point.
  Assessment after_warm_up(const Assessment& whole, std::span<const trend::Point> points) const {
    if (is_steady(whole) || points.size() < 8) return whole;
    const std::vector<trend::Point> quarters = trend::floors(points, 4);
    if (quarters.size() < 4) return whole;
    const double rise = quarters[3].value - quarters[0].value;
    const double first_half = quarters[2].value - quarters[0].value;
    if (rise <= 0 || first_half < kWarmUpShare * rise) return whole;
    return assess(points.subspan(points.size() / 2));
  }

  /// The first verdict is the verdict, later ones stand beside it.
  void decide(Verdict verdict, const Assessment* growth, std::string headline, const char* fix_kind,
              std::string fix) {
    if (decided_) {
      found_.also.push_back(verdict);
      found_.findings.push_back(std::move(headline));
      return;
    }
    decided_ = true;
    found_.verdict = verdict;
    found_.pace = growth != nullptr ? growth->slope->per_second : 0;
    found_.headline = std::move(headline);
    found_.fix_kind = fix_kind;
    found_.fix = std::move(fix);
  }

  /// Cleanups returned so much that without them it would have been kept.
  bool cleanups_paid() const {
    const CleanupSum& sum = series_.cleanups;
    const double level = rss_.slope ? rss_.slope->end : 0;
    const auto typical = static_cast<double>(sum.typical);
    const double share = typical / std::max(level + typical, 1.0);
    return typical >= kLeastReturned &&
           ((sum.count >= kLeastCleanups && share >= kLeastReturnedShare) ||
            (sum.count > 0 && share >= kLargeShare));
  }

  std::string what_cleanups_did() const {
    return format_text("the allocator keeps what is freed: %llu cleanups returned %s, %s at a time",
                       static_cast<unsigned long long>(series_.cleanups.count),
                       base::bytes_text(series_.cleanups.returned).c_str(),
                       base::bytes_text(series_.cleanups.typical).c_str());
  }

  void judge_with_live() {
    if (grows(live_)) {
      decide(Verdict::leak, &live_, "live bytes grow by " + rate_text(*live_.slope), "code",
             "Let go of what is allocated in every round and never freed");
      if (grows(retained_)) {
        decide(Verdict::retention, &retained_,
               "retained bytes grow by " + rate_text(*retained_.slope), "", "");
      } else if (cleanups_paid()) {
        decide(Verdict::retention, nullptr, what_cleanups_did(), "", "");
      }
      return;
    }
    const Assessment& growing = grows(floor_) ? floor_ : anon_;
    // Live bytes that may be half of the growth leave the question open.
    const bool live_is_level =
        !grows(growing) || live_.slope->per_second < growing.slope->per_second / 2;
    if (!live_is_level) return;
    if (grows(retained_)) {
      if (grows(floor_)) {
        decide(Verdict::fragmentation, &floor_,
               "live bytes are level, and what cleanups leave grows by " + rate_text(*floor_.slope),
               "settings", kOtherAllocator);
      } else {
        decide(Verdict::retention, &retained_,
               "live bytes are level, and what the allocator keeps grows by " +
                   rate_text(*retained_.slope),
               "cleanup", kCleanUp);
      }
    } else if (grows(growing) && retained_.slope) {
      decide(Verdict::foreign, &growing,
             "memory outside the allocator grows by " + rate_text(*growing.slope), "code",
             "Look at what maps memory by itself: Python's small objects, pinned buffers, caches "
             "of a library");
    } else if (grows(floor_)) {
      decide(Verdict::fragmentation, &floor_,
             "live bytes are level, and what cleanups leave grows by " + rate_text(*floor_.slope),
             "settings", kOtherAllocator);
    } else if (grows(anon_)) {
      decide(
          Verdict::retention, &anon_,
          "live bytes are level, and what the allocator keeps grows by " + rate_text(*anon_.slope),
          "cleanup", kCleanUp);
    }
    judge_level_retention();
  }

  /// What does not grow may still be kept: all the time, or but for the cleanups.
  void judge_level_retention() {
    if (found_.verdict == Verdict::retention || found_.verdict == Verdict::fragmentation) return;
    if (cleanups_paid()) {
      decide(Verdict::retention, nullptr, what_cleanups_did(), "cleanup",
             "Go on with cleanups, or start it where less is kept: ebb env prints such settings");
      return;
    }
    if (!retained_.slope || !rss_.slope) return;
    const double kept = std::min(retained_.slope->start, retained_.slope->end);
    const double level = std::max(rss_.slope->end, 1.0);
    if (kept >= kLeastRetained && kept >= kLeastRetainedShare * level) {
      decide(Verdict::retention, nullptr,
             format_text("the allocator keeps %s at all times, %.0f %% of rss: a cleanup could "
                         "return it",
                         base::bytes_text(static_cast<std::uint64_t>(kept)).c_str(),
                         std::min(100 * kept / level, 100.0)),
             "cleanup", kCleanUp);
    }
  }

  /// Without live bytes: what a cleanup does not return is in use, or so it seems.
  void judge_by_floor() {
    found_.findings.emplace_back("live bytes are not known: judged by what cleanups leave behind");
    if (grows(floor_)) {
      decide(Verdict::leak, &floor_, "what cleanups leave grows by " + rate_text(*floor_.slope),
             "code",
             "Let go of what is allocated in every round and never freed; an allocator that counts "
             "live bytes would make it sure (docs/allocators.md)");
    }
    judge_level_retention();
  }

  void judge_from_outside() {
    if (!grows(anon_)) {
      judge_level_retention();
      return;
    }
    const std::string rate = rate_text(*anon_.slope);
    found_.findings.emplace_back(
        "live bytes are not known: growth may be a leak or memory that the allocator keeps");
    if (anon_.period && is_steady(assess_peaks())) {
      decide(Verdict::retention, &anon_,
             "the floor between rounds grows by " + rate +
                 " while the peaks do not: what is kept is used again",
             "cleanup", kCleanUp);
      return;
    }
    decide(Verdict::leak, &anon_, "anonymous memory grows by " + rate, "probe",
           "Clean up once inside the process (ebb_cleanup, docs/cleanup.md): if rss falls back it "
           "was retention, if not it is a leak");
  }

  void judge_files() {
    if (grows(shmem_)) {
      decide(Verdict::file_cache, &shmem_, "shared memory grows by " + rate_text(*shmem_.slope),
             "code",
             "Remove segments that are no longer used: shared memory stays until somebody does "
             "(ls /dev/shm)");
    }
    if (grows(file_)) {
      decide(Verdict::file_cache, &file_,
             "pages of mapped files grow by " + rate_text(*file_.slope), "none",
             "Nothing to do: the kernel takes them back when it needs memory");
    }
  }

  void judge_quiet() {
    const auto quiet = [](const Assessment& part, std::span<const trend::Point> points) {
      return points.empty() || is_steady(part);
    };
    // What cleanups leave is the better floor: the work in between does not shake it.
    const Assessment anon = after_warm_up(anon_, held_);
    const Assessment& floor = is_steady(anon) || !floor_.slope ? anon : floor_;
    const bool live_is_quiet = !live_.slope || is_steady(after_warm_up(live_, series_.live));
    if (is_steady(floor) && quiet(file_, series_.file) && quiet(shmem_, series_.shmem) &&
        live_is_quiet) {
      // glibc's heap grows by 128 KiB at a time: less than one such step cannot show.
      const double unseen = std::max(floor.slope->high, 128.0 * 1024 / floor.settled_seconds);
      decide(Verdict::healthy, nullptr,
             "memory does not grow; less than " +
                 base::bytes_text(static_cast<std::uint64_t>(unseen * kHour)) +
                 "/h would not have shown in " + base::duration_text(floor.settled_seconds),
             "none", "");
      return;
    }
    decide(Verdict::not_enough_data, nullptr, why_undecided(), "time", "Watch it longer");
  }

  std::string why_undecided() const {
    const trend::AssessOptions options;
    if (anon_.samples < options.least_samples) {
      return format_text("%zu samples so far, %zu are needed", anon_.samples,
                         options.least_samples);
    }
    if (!anon_.slope) {
      if (anon_.period) {
        return format_text("too few rounds of %s since memory last changed its level",
                           base::duration_text(*anon_.period).c_str());
      }
      return "memory changed its level a short while ago and has not settled";
    }
    if (is_steady(anon_)) return "anonymous memory is level, mapped files or shared memory are not";
    if (anon_.slope->low > 0) {
      return "it grows by " + rate_text(*anon_.slope) + ", only " + bytes_of(anon_.growth()) +
             " so far, or ever more slowly: too early to call";
    }
    return "the slope is " + rate_text(*anon_.slope) + ": growth can be neither seen nor excluded";
  }

  void state_confidence() {
    const bool is_short = rss_.span_seconds < kShortObservation;
    const bool live_known = live_.slope.has_value();
    const bool from_kernel =
        found_.verdict == Verdict::healthy || found_.verdict == Verdict::file_cache;
    if (found_.verdict == Verdict::not_enough_data) return;
    if (is_short) {
      found_.findings.push_back("observed for " + base::duration_text(rss_.span_seconds) +
                                " only: what takes longer than that is not in it");
    }
    if (live_known) {
      found_.confidence = is_short ? "medium" : "high";
    } else if (from_kernel && !is_short) {
      found_.confidence = "medium";
    }
  }

  void write_evidence() {
    base::Json& evidence = found_.evidence;
    const auto last = [](std::span<const trend::Point> points) {
      return points.empty() ? base::Json() : base::Json(std::uint64_t(points.back().value));
    };
    const auto rate = [&](const char* name, const Assessment& part) {
      const std::string key(name);
      const bool known = part.slope.has_value();
      evidence.set(key + "_slope_bytes_per_hour", known ? rate_json(*part.slope) : base::Json());
      evidence.set(key + "_slope_interval_bytes_per_hour",
                   known ? interval_json(*part.slope) : base::Json());
    };
    evidence.set("samples", std::uint64_t{rss_.samples})
        .set("observed_seconds", rss_.span_seconds)
        .set("settled_seconds", rss_.settled_seconds)
        .set("floors", std::uint64_t{rss_.floors})
        .set("period_seconds", rss_.period)
        .set("rss_bytes", last(series_.rss));
    rate("rss", rss_);
    if (rss_.slope) found_.rss_slope = rate_text(*rss_.slope);
    rate("anon", anon_);
    rate("live", live_);
    rate("retained", retained_);
    rate("after_cleanup", floor_);
    evidence.set("live_bytes", last(series_.live)).set("retained_bytes", last(series_.retained));
    base::Json until;
    const Assessment& growing = !grows(anon_) && grows(live_) ? live_ : anon_;
    if (grows(growing) && series_.room) {
      const double limit = growing.slope->end + static_cast<double>(*series_.room);
      if (const auto time = trend::time_until(*growing.slope, limit)) {
        until = base::Json::object(
            {{"likely", time->likely}, {"soonest", time->soonest}, {"latest", time->latest}});
        found_.findings.push_back("at this pace the limit is reached in " +
                                  base::duration_text(time->likely) + " (at the soonest in " +
                                  base::duration_text(time->soonest) + ")");
      }
    }
    evidence.set("seconds_until_limit", until);
  }

  const MemorySeries& series_;
  const std::span<const trend::Point> held_;  ///< anon, or rss where it is not known
  const Assessment rss_, anon_, file_, shmem_, live_, retained_, children_;
  const Assessment floor_;  ///< what cleanups leave
  Diagnosis found_;
  bool decided_ = false;
};

}  // namespace

Diagnosis diagnose(const MemorySeries& series) {
  return Doctor(series).diagnose();
}

}  // namespace ebb::keep

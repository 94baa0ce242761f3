// SPDX-License-Identifier: Apache-2.0
#include "keep/diagnosis.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "trend/assessment.h"

namespace ebb::keep {
namespace {

using base::format_text;
using trend::Assessment;

constexpr std::array<const char*, kVerdicts> kNames{
    "leak", "retention", "fragmentation", "foreign", "file_cache", "healthy", "not_enough_data"};
constexpr double kHour = 3600;
constexpr double kShortObservation = 60;

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
        rss_(assess(series.rss)),
        anon_(assess(series.anon.empty() ? series.rss : series.anon)),
        file_(assess(series.file)),
        shmem_(assess(series.shmem)),
        live_(assess(series.live)),
        retained_(assess(series.retained)),
        children_(assess(series.children)) {}

  Diagnosis diagnose() {
    judge_anonymous();
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
  Assessment assess(std::span<const trend::Point> points, bool highest = false) const {
    trend::AssessOptions options;
    options.round_ends = highest ? std::span<const double>{} : series_.round_ends;
    options.highest = highest;
    return trend::assess(points, options);
  }

  /// The first verdict is the verdict, later ones stand beside it.
  void decide(Verdict verdict, std::string headline, const char* fix_kind, const char* fix) {
    if (decided_) {
      found_.also.push_back(verdict);
      found_.findings.push_back(std::move(headline));
      return;
    }
    decided_ = true;
    found_.verdict = verdict;
    found_.headline = std::move(headline);
    found_.fix_kind = fix_kind;
    found_.fix = fix;
  }

  void judge_anonymous() {
    const bool live_known = live_.slope.has_value();
    if (live_known && grows(live_)) {
      decide(Verdict::leak, "live bytes grow by " + rate_text(*live_.slope), "code",
             "Let go of what is allocated in every round and never freed");
      if (grows(retained_)) {
        decide(Verdict::retention, "retained bytes grow by " + rate_text(*retained_.slope), "", "");
      }
      return;
    }
    const bool anon_grows = grows(anon_);
    if (live_known && (anon_grows || grows(retained_))) return judge_what_is_not_live(anon_grows);
    if (!anon_grows) return;
    const std::string rate = rate_text(*anon_.slope);
    found_.findings.push_back(
        "live bytes cannot be read from outside: growth may be a leak or memory that the allocator "
        "keeps");
    if (is_steady(assess(series_.anon.empty() ? series_.rss : series_.anon, true)) &&
        anon_.period) {
      decide(Verdict::retention,
             "the floor between rounds grows by " + rate +
                 " while the peaks do not: what is kept is used again",
             "cleanup",
             "Clean up at the end of a round (ebb_cleanup, docs/cleanup.md), or start it with the "
             "environment that ebb env prints");
      return;
    }
    decide(Verdict::leak, "anonymous memory grows by " + rate, "probe",
           "Clean up once inside the process (ebb_cleanup, docs/cleanup.md): if rss falls back it "
           "was retention, if not it is a leak");
  }

  void judge_what_is_not_live(bool anon_grows) {
    const Assessment floor = assess(series_.after_cleanup);
    if (grows(floor)) {
      decide(Verdict::fragmentation,
             "live bytes are level, and what cleanups leave grows by " + rate_text(*floor.slope),
             "settings",
             "Start it on another allocator (ebb env --role server --allocator jemalloc), or with "
             "fewer arenas");
    } else if (grows(retained_) || !retained_.slope) {
      const trend::Slope& slope = grows(retained_) ? *retained_.slope : *anon_.slope;
      decide(Verdict::retention,
             "live bytes are level, and what the allocator keeps grows by " + rate_text(slope),
             "cleanup",
             "Clean up at the end of a round (ebb_cleanup, docs/cleanup.md), or start it with the "
             "environment that ebb env prints");
    } else if (anon_grows) {
      decide(
          Verdict::foreign, "memory outside the allocator grows by " + rate_text(*anon_.slope),
          "code",
          "Look at what maps memory by itself: Python's small objects, pinned buffers, caches of "
          "a library");
    }
  }

  void judge_files() {
    if (grows(shmem_)) {
      decide(Verdict::file_cache, "shared memory grows by " + rate_text(*shmem_.slope), "code",
             "Remove segments that are no longer used: shared memory stays until somebody does "
             "(ls /dev/shm)");
    }
    if (grows(file_)) {
      decide(Verdict::file_cache, "pages of mapped files grow by " + rate_text(*file_.slope),
             "none", "Nothing to do: the kernel takes them back when it needs memory");
    }
  }

  void judge_quiet() {
    const auto quiet = [](const Assessment& part, std::span<const trend::Point> points) {
      return points.empty() || is_steady(part);
    };
    if (is_steady(anon_) && quiet(file_, series_.file) && quiet(shmem_, series_.shmem) &&
        quiet(live_, series_.live)) {
      // glibc's heap grows by 128 KiB at a time: less than one such step cannot show.
      const double unseen = std::max(anon_.slope->high, 128.0 * 1024 / anon_.settled_seconds);
      decide(Verdict::healthy,
             "memory does not grow; less than " +
                 base::bytes_text(static_cast<std::uint64_t>(unseen * kHour)) +
                 "/h would not have shown in " + base::duration_text(anon_.settled_seconds),
             "none", "");
      return;
    }
    decide(Verdict::not_enough_data, why_undecided(), "time", "Watch it longer");
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
    evidence.set("live_bytes", last(series_.live)).set("retained_bytes", last(series_.retained));
    base::Json until;
    if (grows(anon_) && series_.room) {
      const double limit = anon_.slope->end + static_cast<double>(*series_.room);
      if (const auto time = trend::time_until(*anon_.slope, limit)) {
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
  const Assessment rss_, anon_, file_, shmem_, live_, retained_, children_;
  Diagnosis found_;
  bool decided_ = false;
};

}  // namespace

const char* name_of(Verdict verdict) {
  return kNames.at(static_cast<std::size_t>(verdict));
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (name == kNames[i]) return static_cast<Verdict>(i);
  return std::nullopt;
}

Diagnosis diagnose(const MemorySeries& series) {
  return Doctor(series).diagnose();
}

base::Json to_json(const Diagnosis& diagnosis) {
  base::Json also = base::Json::array();
  for (const Verdict verdict : diagnosis.also)
    also.push(name_of(verdict));
  base::Json findings = base::Json::array();
  for (const std::string& finding : diagnosis.findings)
    findings.push(finding);
  return base::Json::object(
      {{"verdict", name_of(diagnosis.verdict)},
       {"also", std::move(also)},
       {"confidence", diagnosis.confidence},
       {"headline", diagnosis.headline},
       {"findings", std::move(findings)},
       {"evidence", diagnosis.evidence},
       {"fix", base::Json::object({{"kind", diagnosis.fix_kind}, {"text", diagnosis.fix}})}});
}

}  // namespace ebb::keep

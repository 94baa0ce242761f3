// SPDX-License-Identifier: Apache-2.0
#include "keep/diagnosis.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/duration.h"
#include "base/text.h"
#include "keep/level.h"
#include "keep/memory_trends.h"
#include "keep/private_memory.h"

namespace ebb::keep {
namespace {

using base::format_text;
using fact::Confidence;
using fact::FixKind;
using fact::Verdict;
using trend::Assessment;

constexpr double kShortObservation = 60;
// Interpreters, pools and caches of a job fill up for minutes: growth that has not lasted as long
// is called a leak only where it is clear.
constexpr double kWarmUp = 300;
// Seen from outside, shorter growth may be a part of one round.
constexpr double kLeastFromOutside = 10;
// Retained bytes that stay this many and this share of the memory all the time are a verdict.
constexpr double kLeastRetained = 64 << 20;
constexpr double kLeastRetainedShare = 0.5;
constexpr double kDwarfedShare = 0.25;
// A leak this much slower than what the allocator keeps is not what fills the memory.
constexpr double kDwarfedLeak = 0.05;
// Cleanups that return less of what is retained have shown that it is in pieces; one may come too
// early.
constexpr double kLittleReturned = 0.1;
constexpr std::uint64_t kTellingCleanups = 2;
// What is known only as a difference must be larger: allocators keep books and round up.
constexpr trend::Effect kClearGrowth{0.05, 8 << 20};

constexpr const char* kCleanUp =
    "Clean up at the end of a round (ebb_cleanup, docs/cleanup.md), or start the job with the "
    "environment that ebb env prints";
constexpr const char* kOtherAllocator =
    "Start the job on another allocator (ebb env --role server --allocator jemalloc), or with "
    "fewer arenas";

class Doctor {
 public:
  explicit Doctor(const MemorySeries& series) : series_(series), trends_(series), beside_(series) {}

  ProcessDiagnosis diagnose() {
    if (trends_.live.slope) {
      judge_with_live();
    } else if (trends_.floor.slope) {
      judge_by_floor();
    } else {
      judge_from_outside();
    }
    judge_private();
    judge_files();
    if (grows(trends_.children)) {
      found_.findings.push_back("together, the processes it started grow by " +
                                rate_text(*trends_.children.slope) + ": look at each of them");
    }
    if (!decided_) judge_quiet();
    state_confidence();
    tell_time_until_limit();
    if (trends_.rss.slope) {
      found_.rss_slope = rate_text(*trends_.rss.slope);
      found_.rss_growth = trends_.rss.slope->per_second;
    }
    found_.evidence = evidence_of(series_, trends_);
    return std::move(found_);
  }

 private:
  /// The first verdict is the verdict, later ones stand beside it.
  void decide(Verdict verdict, const Assessment* growth, std::string headline, FixKind fix_kind,
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
    found_.fix.kind = fix_kind;
    found_.fix.text = std::move(fix);
  }

  std::string what_cleanups_did() const {
    const CleanupSum& sum = series_.cleanups;
    const std::string returned = base::bytes_text(sum.returned);
    if (sum.count == 1) return "the allocator keeps what is freed: a cleanup returned " + returned;
    return format_text("the allocator keeps what is freed: %llu cleanups returned %s, %s at a time",
                       static_cast<unsigned long long>(sum.count), returned.c_str(),
                       base::bytes_text(sum.typical).c_str());
  }

  static bool may_be_warm_up(const Assessment& part) {
    return part.span_seconds < kWarmUp && !grows(part, kClearGrowth);
  }

  /// Of what is in use. Growth that may be a warm-up is a finding and no more.
  bool leaks(const Assessment& part) {
    if (!grows(part)) return false;
    if (!may_be_warm_up(part)) return true;
    found_.findings.push_back("what is in use grew by " + bytes_of(part.growth()) +
                              " so far, which may be a warm-up: too early to call it a leak");
    return false;
  }

  bool is_dwarfed_by_retained(const Assessment& live) const {
    return grows(trends_.retained, kClearGrowth) &&
           live.slope->per_second < kDwarfedLeak * trends_.retained.slope->per_second;
  }

  void judge_with_live() {
    if (leaks(trends_.live)) {
      if (is_dwarfed_by_retained(trends_.live)) decide_growth_of_retained(trends_.retained);
      decide(Verdict::leak, &trends_.live, "live bytes grow by " + rate_text(*trends_.live.slope),
             FixKind::code, "Free what every round allocates and nothing frees");
      if (found_.verdict != Verdict::leak) return;
      if (grows(trends_.retained)) {
        decide(Verdict::retention, &trends_.retained,
               "retained bytes grow by " + rate_text(*trends_.retained.slope), FixKind::none, "");
      } else if (trends_.cleanups_paid(series_) && beside_.explains_cleanups()) {
        decide(Verdict::private_allocator, nullptr, beside_.what_cleanups_did(), FixKind::none, "");
      } else if (trends_.cleanups_paid(series_)) {
        decide(Verdict::retention, nullptr, what_cleanups_did(), FixKind::none, "");
      }
      return;
    }
    const Assessment& growing = grows(trends_.floor) ? trends_.floor : trends_.anon;
    // If live bytes may account for half of the growth, nothing can be said yet.
    const bool live_is_level =
        !grows(growing) || trends_.live.slope->per_second < growing.slope->per_second / 2;
    if (!live_is_level) return;
    if (grows(trends_.retained)) {
      if (grows(trends_.floor, kClearGrowth)) {
        decide_fragmentation();
      } else {
        decide_growth_of_retained(trends_.retained);
      }
    } else if (trends_.retained.slope) {
      if (grows(growing, kClearGrowth) && !may_be_retained(growing)) {
        // Where one cleanup returns several times what grew, retention is the verdict and this
        // growth comes second.
        if (growing.growth() < kDwarfedShare * static_cast<double>(series_.cleanups.typical))
          judge_level_retention();
        decide_foreign(growing);
      }
    } else if (grows(growing, kClearGrowth) && is_more_than_retained(growing)) {
      decide_foreign(growing);
    } else if (grows(trends_.floor, kClearGrowth)) {
      decide_fragmentation();
    } else if (grows(trends_.anon)) {
      decide_growth_of_retained(trends_.anon);
    }
    judge_level_retention();
  }

  /// Whether memory beside malloc has risen, from floor to floor, by a good part of the growth;
  /// true where it was not read. Between floors it says little: figures of one process are read one
  /// after the other.
  bool lies_beside(const Assessment& growing) const {
    const std::vector<trend::Point> quarters = trend::floors(series_.beside, 4);
    return quarters.size() < 4 || quarters[3].value - quarters[0].value >= growing.growth() / 4;
  }

  void decide_foreign(const Assessment& growing) {
    if (!lies_beside(growing)) return;
    const std::string suspects = beside_.suspects();
    decide(Verdict::foreign, &growing,
           "memory outside the allocator grows by " + rate_text(*growing.slope) +
               (suspects.empty() ? "" : "; " + suspects + " may hold it"),
           FixKind::code,
           "Look for memory that does not come from malloc: Python's small objects, pinned "
           "buffers, caches of a library");
  }

  /// Allocators that libraries bring for their own use.
  void judge_private() {
    if (const auto* silent = beside_.out_of_reach(); silent != nullptr && !decided_) {
      decide(Verdict::private_allocator, nullptr,
             "most of the memory lies beside malloc, where " + fact::name_of(*silent) +
                 ", an allocator of the library's own, can neither be read nor asked to give back",
             FixKind::settings, setting_for(*silent));
      is_guess_ = true;
    }
    for (std::string& line : beside_.findings())
      found_.findings.push_back(std::move(line));
  }

  /// Whether the allocator may hold half of the growth or more: because what it retains grows so
  /// fast, or because cleanups return it.
  bool may_be_retained(const Assessment& growing) const {
    const double half = growing.slope->per_second / 2;
    return trends_.retained.slope->per_second >= half ||
           (trends_.floor.slope && trends_.floor.slope->per_second < half &&
            trends_.cleanups_paid(series_));
  }

  /// Where retained bytes have no slope, they still have a highest value.
  bool is_more_than_retained(const Assessment& growing) const {
    if (series_.retained.empty()) return false;
    double most = 0;
    for (const trend::Point& point : series_.retained)
      most = std::max(most, point.value);
    return most < growing.growth() / 2;
  }

  void decide_fragmentation() {
    decide(
        Verdict::fragmentation, &trends_.floor,
        "live bytes are level, and what cleanups leave grows by " + rate_text(*trends_.floor.slope),
        FixKind::settings, kOtherAllocator);
  }

  /// Whether cleanups came, and found next to nothing to return.
  bool cleanups_returned_little() const {
    const CleanupSum& sum = series_.cleanups;
    return sum.count >= kTellingCleanups && !series_.retained_after.empty() &&
           static_cast<double>(sum.largest) < kLittleReturned * series_.retained_after.back().value;
  }

  void decide_growth_of_retained(const Assessment& growing) {
    if (cleanups_returned_little()) {
      decide(Verdict::fragmentation, &growing,
             format_text("live bytes are level, and what the allocator keeps grows by %s: %llu "
                         "cleanups returned %s in all, since what is free is in pieces",
                         rate_text(*growing.slope).c_str(),
                         static_cast<unsigned long long>(series_.cleanups.count),
                         base::bytes_text(series_.cleanups.returned).c_str()),
             FixKind::settings, kOtherAllocator);
      return;
    }
    decide(
        Verdict::retention, &growing,
        "live bytes are level, and what the allocator keeps grows by " + rate_text(*growing.slope),
        FixKind::cleanup, kCleanUp);
  }

  /// What does not grow may still be retained: all the time, or until a cleanup returns it.
  void judge_level_retention() {
    if (found_.verdict == Verdict::retention || found_.verdict == Verdict::fragmentation) return;
    if (found_.verdict == Verdict::private_allocator) return;
    // A library is asked early, since nothing shows when it has something to give.
    const bool paid = trends_.cleanups_paid(series_);
    if ((paid || trends_.one_cleanup_paid(series_)) && beside_.explains_cleanups()) {
      decide(Verdict::private_allocator, nullptr, beside_.what_cleanups_did(), FixKind::settings,
             setting_for(*beside_.most_returned()));
      return;
    }
    if (paid) {
      decide(Verdict::retention, nullptr, what_cleanups_did(), FixKind::cleanup,
             "Keep cleaning up, or start the job with settings that keep less: see ebb env");
      return;
    }
    if (!trends_.retained.slope || !trends_.rss.slope) return;
    const double kept = std::min(trends_.retained.slope->start, trends_.retained.slope->end);
    const double level = std::max(trends_.rss.slope->end, 1.0);
    if (kept >= kLeastRetained && kept >= kLeastRetainedShare * level) {
      decide(Verdict::retention, nullptr,
             format_text("the allocator keeps %s at all times, %.0f %% of rss: a cleanup could "
                         "return it",
                         base::bytes_text(static_cast<std::uint64_t>(kept)).c_str(),
                         std::min(100 * kept / level, 100.0)),
             FixKind::cleanup, kCleanUp);
    }
  }

  /// Without live bytes: what a cleanup does not return is taken to be in use.
  void judge_by_floor() {
    found_.findings.emplace_back("live bytes are not known: judged by what cleanups leave behind");
    if (leaks(trends_.floor)) {
      decide(Verdict::leak, &trends_.floor,
             "what cleanups leave grows by " + rate_text(*trends_.floor.slope), FixKind::code,
             "Free what every round allocates and nothing frees; an allocator that counts live "
             "bytes would settle the question (docs/allocators.md)");
    }
    judge_level_retention();
  }

  void judge_from_outside() {
    if (!grows(trends_.anon)) {
      judge_level_retention();
      return;
    }
    if (trends_.anon.span_seconds < kLeastFromOutside) {
      found_.findings.push_back("memory grew by " + bytes_of(trends_.anon.growth()) + " in " +
                                base::duration_text(trends_.anon.span_seconds) +
                                ", which may be a part of a round: too early to call it a leak");
      return;
    }
    if (trends_.is_kept_by_few_readings(series_)) {
      found_.findings.push_back(
          format_text("live bytes were read %zu times only, and hardly rose", series_.live.size()));
      decide_growth_of_retained(trends_.anon);
      is_guess_ = true;
      return;
    }
    const std::string rate = rate_text(*trends_.anon.slope);
    const std::string live =
        series_.live.empty()
            ? "live bytes are not known"
            : format_text("live bytes cannot be judged yet (%zu readings)", series_.live.size());
    found_.findings.push_back(live + ": growth may be a leak or memory that the allocator keeps");
    if (trends_.anon.period && is_steady(trends_.peaks(series_))) {
      decide(Verdict::retention, &trends_.anon,
             "the floor between rounds grows by " + rate +
                 " while the peaks do not: the job uses again what the allocator keeps",
             FixKind::cleanup, kCleanUp);
      return;
    }
    if (may_be_warm_up(trends_.anon)) return;
    decide(Verdict::leak, &trends_.anon, "anonymous memory grows by " + rate, FixKind::probe,
           "Clean up once inside the process (ebb_cleanup, docs/cleanup.md): if rss falls back it "
           "was retention, if not it is a leak");
  }

  void judge_files() {
    if (grows(trends_.shmem)) {
      decide(Verdict::file_cache, &trends_.shmem,
             "shared memory grows by " + rate_text(*trends_.shmem.slope), FixKind::code,
             "Remove segments that are no longer used: shared memory stays until it is removed "
             "(ls /dev/shm)");
    }
    if (grows(trends_.file)) {
      decide(Verdict::file_cache, &trends_.file,
             "pages of mapped files grow by " + rate_text(*trends_.file.slope), FixKind::none,
             "Nothing to do: the kernel takes them back when it needs memory");
    }
  }

  void judge_quiet() {
    if (auto level = why_level(series_, trends_)) {
      decide(Verdict::healthy, nullptr, std::move(*level), FixKind::none, "");
      return;
    }
    decide(Verdict::not_enough_data, nullptr, why_undecided(trends_), FixKind::time,
           "Watch it longer");
  }

  void state_confidence() {
    const bool is_short = trends_.rss.span_seconds < kShortObservation;
    const bool live_known = trends_.live.slope.has_value();
    const bool from_kernel =
        found_.verdict == Verdict::healthy || found_.verdict == Verdict::file_cache;
    if (found_.verdict == Verdict::not_enough_data) return;
    if (is_short) {
      found_.findings.push_back("observed for " + base::duration_text(trends_.rss.span_seconds) +
                                " only: slower changes would not show");
    }
    if (is_guess_) {
      found_.findings.emplace_back("whose the memory beside malloc is cannot be told");
    } else if (live_known) {
      found_.confidence = is_short ? Confidence::medium : Confidence::high;
    } else if (from_kernel && !is_short) {
      found_.confidence = Confidence::medium;
    }
  }

  void tell_time_until_limit() {
    if (found_.pace <= 0) return;  // growth that is no verdict promises nothing
    if (const auto time = trends_.time_until_limit(series_)) {
      found_.seconds_until_limit = time->likely;
      found_.findings.push_back("at this pace the limit is reached in " +
                                base::duration_text(time->likely) + " (" +
                                base::duration_text(time->soonest) + " at the earliest)");
    }
  }

  const MemorySeries& series_;
  const MemoryTrends trends_;
  const PrivateMemory beside_;
  ProcessDiagnosis found_;
  bool decided_ = false;
  bool is_guess_ = false;  // the verdict names what may be, not what was seen
};

}  // namespace

ProcessDiagnosis diagnose(const MemorySeries& series) {
  return Doctor(series).diagnose();
}

}  // namespace ebb::keep

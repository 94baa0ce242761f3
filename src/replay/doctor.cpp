// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor.h"

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "base/text.h"
#include "cache/rounding.h"
#include "replay/certificate.h"
#include "replay/counterfactual.h"
#include "replay/fixes.h"
#include "replay/leak.h"
#include "replay/lifetimes.h"

namespace ebb::replay {
namespace {

using base::bytes_text;
using base::format_text;

/// Less waste than this is nothing to act on.
constexpr double kWorthwhile = 0.10;

constexpr std::array<const char*, kVerdicts> kNames = {
    "capacity",      "fragmentation", "rounding", "oversize", "deferred_frees",
    "private_pools", "self_limit",    "cache",    "leak",     "healthy"};

struct Cause {
  Verdict verdict;
  std::uint64_t bytes;
};

/// What each cause holds, in order of precedence.
std::vector<Cause> causes_in(const Ledger& ledger) {
  return {{Verdict::fragmentation, ledger.split_free},
          {Verdict::rounding, ledger.rounding},
          {Verdict::oversize, ledger.oversize},
          {Verdict::deferred_frees, ledger.pending},
          {Verdict::private_pools, ledger.private_free}};
}

std::string headline_of(Verdict verdict, std::uint64_t bytes) {
  const std::string amount = bytes_text(bytes);
  switch (verdict) {
    case Verdict::capacity:
      return "What the job keeps alive does not fit: " + amount + " too much";
    case Verdict::fragmentation:
      return amount + " were reserved and free, but not in one piece where it was needed";
    case Verdict::rounding:
      return amount + " went into rounding requests up";
    case Verdict::oversize:
      return amount + " went into blocks that max_split_size_mb hands out whole";
    case Verdict::deferred_frees:
      return amount + " were freed, but other streams still used them";
    case Verdict::private_pools:
      return amount + " were free in private pools, where others may not use them";
    case Verdict::self_limit:
      return "The device had room: the job's own limit was " + amount + " too low";
    case Verdict::cache:
      return "empty_cache would give " + amount + " back";
    case Verdict::leak:
      return "Every step keeps " + amount + " more alive than the one before";
    case Verdict::healthy:
      return "Nothing to act on: " + amount + " above what is needed";
  }
  return {};
}

const char* what_it_is(Verdict cause) {
  switch (cause) {
    case Verdict::fragmentation:
      return "free in pieces beside live blocks";
    case Verdict::rounding:
      return "more than requested, by rounding";
    case Verdict::oversize:
      return "more than requested, in blocks handed out whole";
    case Verdict::deferred_frees:
      return "freed and waiting for other streams";
    case Verdict::private_pools:
      return "free in private pools";
    default:
      return "";
  }
}

class Doctor {
 public:
  Doctor(const trace::Snapshot& snapshot, int device, const Workload& work,
         const Circumstances& circumstances, Row recorded)
      : snapshot_(snapshot),
        device_(device),
        work_(work),
        circumstances_(circumstances),
        recorded_(std::move(recorded)),
        settings_(*cache::parse_settings(recorded_.conf, recorded_.profile)),
        bound_(lower_bound_of(work)) {
    diagnosis_.limit = recorded_.limit;
  }

  Diagnosis diagnose() && {
    if (const auto failure = failed_operation()) {
      look_at(*failure);
      explain_failure(*failure);
    } else {
      look_at(recorded_.outcome.peak_operation);
      explain_peak();
    }
    std::vector<Lifetime> live = live_at(lifetimes_of(work_), diagnosis_.operation);
    std::erase_if(live, [](const Lifetime& life) { return life.failed; });
    diagnosis_.origins = origins_of(snapshot_, device_, work_, live);
    return std::move(diagnosis_);
  }

 private:
  /// The request that ended the job: the last that failed in the recording, or the first that fails
  /// on a smaller card.
  std::optional<std::uint32_t> failed_operation() const {
    if (!recorded_.outcome.oom) return std::nullopt;
    if (!recorded_.outcome.oom->recorded) return recorded_.outcome.oom->operation;
    std::uint32_t last = recorded_.outcome.oom->operation;
    for (std::uint32_t i = last; i < work_.operations.size(); ++i) {
      if (work_.operations[i].kind == Operation::Kind::failed) last = i;
    }
    return last;
  }

  Setup setup_as_recorded() const {
    Setup setup;
    setup.settings = settings_;
    setup.profile = recorded_.profile;
    setup.limit = recorded_.limit;
    setup.placement = circumstances_.placement;
    setup.as_recorded = recorded_.is_recorded;
    return setup;
  }

  void look_at(std::uint32_t operation) {
    Setup setup = setup_as_recorded();
    setup.last_operation = operation;
    setup.keep_segments = true;
    diagnosis_.operation = operation;
    diagnosis_.ledger = ledger_of(replay(work_, setup).segments, settings_, recorded_.profile);
    const Ledger& ledger = diagnosis_.ledger;
    find("%s reserved, %s of it needed", bytes_text(ledger.reserved), bytes_text(ledger.needed));
    for (const Cause& cause : causes_in(ledger)) {
      if (cause.bytes * 100 >= ledger.reserved) {
        find("%s %s", bytes_text(cause.bytes), what_it_is(cause.verdict));
      }
    }
    if (ledger.cached != 0) find("%s free in whole segments", bytes_text(ledger.cached));
  }

  template <class... Text>
  void find(const char* format, const Text&... values) {
    diagnosis_.findings.push_back(format_text(format, text(values)...));
  }
  static const char* text(const std::string& value) { return value.c_str(); }
  static const char* text(const char* value) { return value; }

  void decide(Verdict verdict, std::uint64_t bytes) {
    diagnosis_.verdict = verdict;
    diagnosis_.headline = headline_of(verdict, bytes);
    std::erase(diagnosis_.also, verdict);
  }

  /// Most device memory that was free beyond the limit when a request failed.
  std::uint64_t room_on_device(std::uint64_t asked) const {
    const std::uint64_t free = work_.recording.largest_oom_free;
    return recorded_.outcome.oom->recorded && free >= asked ? free : 0;
  }

  void explain_failure(std::uint32_t operation) {
    const Operation& op = work_.operations[operation];
    const std::uint64_t limit = recorded_.limit;
    const std::uint64_t rounded = cache::Rounding(settings_, recorded_.profile)(op.bytes);
    const std::uint64_t asked = cache::segment_size(rounded, settings_.large_segment_size);
    const Ledger& ledger = diagnosis_.ledger;
    const std::uint64_t wanted = ledger.reserved + asked;
    const std::uint64_t missing = wanted > limit ? wanted - limit : 0;
    find("request of %s found no memory: %s reserved and %s more are above the limit of %s",
         bytes_text(op.bytes), bytes_text(ledger.reserved), bytes_text(asked), bytes_text(limit));
    const std::uint64_t room = room_on_device(asked);
    if (room != 0) {
      find("the device itself had %s free", bytes_text(room));
      diagnosis_.also.push_back(Verdict::self_limit);
    }
    if (!recorded_.is_recorded || recorded_.check != "exact") diagnosis_.confidence = "medium";
    if (find_leak(snapshot_, device_, work_)) diagnosis_.also.push_back(Verdict::leak);

    if (bound_.live > limit) {
      decide(Verdict::capacity, bound_.live - limit);
      diagnosis_.evidence = live_set_certificate(work_, bound_, limit);
      diagnosis_.fix = fix_capacity(work_, recorded_, circumstances_, bound_);
      return;
    }
    std::vector<Cause> enough;
    Cause largest{Verdict::fragmentation, 0};
    for (const Cause& cause : causes_in(ledger)) {
      if (cause.bytes > largest.bytes) largest = cause;
      if (cause.bytes >= missing && cause.bytes != 0) enough.push_back(cause);
    }
    if (enough.empty() && room != 0 && largest.bytes < missing) {
      decide(Verdict::self_limit, missing);
    } else {
      if (enough.empty()) diagnosis_.confidence = "medium";
      const Cause chosen = enough.empty() ? largest : enough.front();
      for (std::size_t i = 1; i < enough.size(); ++i) {
        diagnosis_.also.insert(diagnosis_.also.begin(), enough[i].verdict);
      }
      decide(chosen.verdict, chosen.bytes);
    }
    diagnosis_.fix = fix_failure(work_, recorded_, circumstances_, diagnosis_.verdict, room);
    diagnosis_.evidence = failure_certificate(work_, recorded_, circumstances_, diagnosis_.verdict,
                                              bound_, diagnosis_.fix);
  }

  bool is_worthwhile(std::uint64_t bytes) const {
    return static_cast<double>(bytes) >=
               kWorthwhile * static_cast<double>(recorded_.outcome.peak_reserved) &&
           bytes >= 2 * base::kMiB;
  }

  void explain_peak() {
    const Ledger& ledger = diagnosis_.ledger;
    diagnosis_.evidence = base::Json::object({{"kind", "ledger"}, {"ledger", to_json(ledger)}});
    // What the job or its settings brought about, by how much less it holds without that.
    std::vector<Cause> causes;
    for (const Verdict verdict :
         {Verdict::rounding, Verdict::oversize, Verdict::deferred_frees, Verdict::private_pools}) {
      const auto row = replay_without(work_, recorded_, circumstances_, verdict);
      const std::uint64_t peak = recorded_.outcome.peak_reserved;
      if (!row || row->outcome.peak_reserved >= peak) continue;
      causes.push_back({verdict, peak - row->outcome.peak_reserved});
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [](const Cause& a, const Cause& b) { return a.bytes > b.bytes; });
    // At the peak also whole segments are no use to the request that made it.
    causes.push_back({Verdict::fragmentation, ledger.split_free + ledger.cached});
    const std::uint64_t idle = idle_at_end();
    causes.push_back({Verdict::cache, idle});
    for (const Cause& cause : causes) {
      if (is_worthwhile(cause.bytes)) diagnosis_.also.push_back(cause.verdict);
    }
    if (const auto leak = find_leak(snapshot_, device_, work_)) {
      decide(Verdict::leak, leak->per_step);
      diagnosis_.evidence = growth_certificate(*leak, snapshot_, device_, work_);
      diagnosis_.fix.kind = "code";
      diagnosis_.fix.text = "Let go of what these places allocate in every step";
      return;
    }
    const auto chosen = std::find_if(causes.begin(), causes.end(), [&](const Cause& cause) {
      return is_worthwhile(cause.bytes);
    });
    if (chosen == causes.end()) {
      decide(Verdict::healthy, ledger.reserved - ledger.needed);
      return;
    }
    decide(chosen->verdict, chosen->bytes);
    if (chosen->verdict == Verdict::cache) {
      diagnosis_.fix.kind = "code";
      diagnosis_.fix.text = "torch.cuda.empty_cache() at the end of this history returns " +
                            bytes_text(idle) + " that nothing has used for a while";
      return;
    }
    diagnosis_.fix = fix_peak(work_, recorded_, circumstances_, diagnosis_.verdict);
    if (diagnosis_.fix.row) diagnosis_.evidence.set("row", to_json(*diagnosis_.fix.row));
  }

  /// What empty_cache would return at the end, as far as the last quarter of the job did without.
  std::uint64_t idle_at_end() const {
    Setup setup = setup_as_recorded();
    setup.keep_segments = true;
    setup.keep_curve = true;
    const Outcome outcome = replay(work_, setup);
    std::uint64_t used = 0;
    for (const CurvePoint& point : outcome.curve) {
      if (point.requests >= outcome.requests - outcome.requests / 4) {
        used = std::max(used, point.allocated);
      }
    }
    const std::uint64_t unused = outcome.final_reserved > used ? outcome.final_reserved - used : 0;
    const Ledger end = ledger_of(outcome.segments, settings_, recorded_.profile);
    return std::min(unused, end.cached);
  }

  const trace::Snapshot& snapshot_;
  int device_;
  const Workload& work_;
  const Circumstances& circumstances_;
  const Row recorded_;
  const cache::Settings settings_;
  const LowerBound bound_;
  Diagnosis diagnosis_;
};

}  // namespace

const char* name_of(Verdict verdict) {
  return kNames[static_cast<std::size_t>(verdict)];
}

std::optional<Verdict> verdict_of(std::string_view name) {
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (name == kNames[i]) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

base::Result<Diagnosis> diagnose(const trace::Snapshot& snapshot, int device,
                                 const Workload& workload, const Circumstances& circumstances) {
  auto recorded = forecast(workload, workload.recording.conf, circumstances, false);
  if (!recorded) return recorded.error();
  return Doctor(snapshot, device, workload, circumstances, std::move(*recorded)).diagnose();
}

base::Json to_json(const Diagnosis& diagnosis) {
  base::Json also = base::Json::array();
  for (const Verdict verdict : diagnosis.also) {
    also.push(name_of(verdict));
  }
  base::Json findings = base::Json::array();
  for (const std::string& finding : diagnosis.findings) {
    findings.push(finding);
  }
  base::Json fix = base::Json::object({{"kind", diagnosis.fix.kind}, {"text", diagnosis.fix.text}});
  if (diagnosis.fix.kind == "settings") fix.set("conf", diagnosis.fix.conf);
  if (diagnosis.fix.bytes != 0) fix.set("bytes", diagnosis.fix.bytes);
  if (diagnosis.fix.row) fix.set("row", to_json(*diagnosis.fix.row));
  return base::Json::object({
      {"verdict", name_of(diagnosis.verdict)},
      {"also", std::move(also)},
      {"confidence", diagnosis.confidence},
      {"headline", diagnosis.headline},
      {"findings", std::move(findings)},
      {"evidence", diagnosis.evidence},
      {"fix", std::move(fix)},
      {"limit_bytes",
       diagnosis.limit == cache::kUnlimited ? base::Json() : base::Json(diagnosis.limit)},
      {"ledger", to_json(diagnosis.ledger)},
      {"origins", to_json(diagnosis.origins)},
  });
}

}  // namespace ebb::replay

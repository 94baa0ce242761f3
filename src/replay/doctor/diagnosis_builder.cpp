// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/diagnosis_builder.h"

#include "base/bytes.h"
#include "replay/doctor/certificate.h"

namespace ebb::replay {
namespace {

using fact::Confidence;
using fact::Verdict;

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
    case Verdict::cache:
      return "free in whole segments";
    default:
      return "";
  }
}

}  // namespace

std::vector<Cause> causes_in(const Ledger& ledger) {
  return {{Verdict::fragmentation, ledger.split_free},   {Verdict::rounding, ledger.rounding},
          {Verdict::oversize, ledger.oversize},          {Verdict::deferred_frees, ledger.pending},
          {Verdict::private_pools, ledger.private_free}, {Verdict::cache, ledger.cached}};
}

std::vector<std::string> findings_on(const Ledger& ledger) {
  std::vector<std::string> findings = {base::bytes_text(ledger.reserved) + " reserved, " +
                                       base::bytes_text(ledger.needed) + " of it needed"};
  for (const Cause& cause : causes_in(ledger)) {
    if (cause.bytes == 0 || cause.bytes < ledger.reserved / 100) continue;
    findings.push_back(base::bytes_text(cause.bytes) + " " + what_it_is(cause.verdict));
  }
  return findings;
}

std::string headline_of(Verdict verdict, std::uint64_t bytes) {
  const std::string amount = base::bytes_text(bytes);
  switch (verdict) {
    case Verdict::capacity:
      return "What the job keeps alive does not fit: " + amount + " too much";
    case Verdict::fragmentation:
      return amount + " were free, but not in one piece where it was needed";
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
    case Verdict::other_process:
      return "The card was large enough, but other processes held " + amount;
    case Verdict::empty_cache:
      return "empty_cache in an inner loop: " + amount +
             " were given back and taken from the device again";
    case Verdict::cache:
      return "empty_cache would give " + amount + " back";
    case Verdict::leak:
      return "Every step keeps " + amount + " more alive than the one before";
    default:
      return "Nothing to act on: " + amount + " above what is needed";
  }
}

DiagnosisBuilder::DiagnosisBuilder(const trace::Snapshot& from, int of_device, const Workload& job,
                                   const Circumstances& under, Row row)
    : snapshot(from),
      device(of_device),
      work(job),
      circumstances(under),
      recorded(std::move(row)),
      settings(*cache::parse_settings(recorded.conf, recorded.profile)),
      bound(lower_bound_of(job)),
      leak(find_leak(from, of_device, job)) {
  diagnosis.empty_cache = empty_cache_use(from, of_device, job);
  diagnosis.limit = recorded.limit;
  diagnosis.confidence = recorded.check == Check::exact ? Confidence::high : Confidence::medium;
}

Setup DiagnosisBuilder::setup() const {
  Setup setup;
  setup.settings = settings;
  setup.profile = recorded.profile;
  setup.limit = recorded.limit;
  setup.placement = circumstances.placement;
  setup.as_recorded = recorded.is_recorded;
  return setup;
}

void DiagnosisBuilder::look_at(std::uint32_t operation) {
  diagnosis.operation = operation;
  diagnosis.ledger = ledger_at(work, setup(), operation);
  for (std::string& finding : findings_on(diagnosis.ledger)) {
    diagnosis.findings.push_back(std::move(finding));
  }
}

void DiagnosisBuilder::find_empty_cache() {
  const EmptyCacheUse& use = diagnosis.empty_cache;
  if (!use.is_harmful()) return;
  diagnosis.also.push_back(Verdict::empty_cache);
  const std::string time =
      use.seconds ? base::format_text(", in %.1f ms at least", *use.seconds * 1e3) : "";
  find(
      "empty_cache was called %s times in the job's inner loop: %s were given back and %s of that "
      "taken again, with %s calls of the driver%s",
      std::to_string(use.calls), base::bytes_text(use.released), base::bytes_text(use.retaken),
      std::to_string(use.driver_calls), time);
}

void DiagnosisBuilder::find_growth() {
  diagnosis.growth = find_reserved_growth(work, setup(), recorded.outcome);
  if (!diagnosis.growth) return;
  const ReservedGrowth& growth = *diagnosis.growth;
  find(
      "reserved memory goes on to grow from step to step, %s: from the %s recorded to %s as a "
      "rule, %s at the most, for %s live; it %s",
      beside_live(growth), base::bytes_text(growth.from), base::bytes_text(growth.to),
      base::bytes_text(growth.worst), base::bytes_text(growth.live), end_text(growth));
  std::string sizes;
  for (const GrowingSizes& each : growth.sizes) {
    sizes += (sizes.empty() ? "" : ", ") + text_of(each);
  }
  find("what drives it: %s", sizes);
}

base::Json DiagnosisBuilder::ledger_evidence() const {
  const bool as_recorded = recorded.is_recorded && recorded.check == Check::exact;
  return ledger_certificate(diagnosis.ledger, work, diagnosis.operation, as_recorded);
}

void DiagnosisBuilder::decide(Verdict verdict, std::uint64_t bytes) {
  diagnosis.verdict = verdict;
  diagnosis.headline = headline_of(verdict, bytes);
  std::erase(diagnosis.also, verdict);
}

void DiagnosisBuilder::advise(TestedFix tested) {
  diagnosis.fix = std::move(tested.fix);
  diagnosis.fixed = std::move(tested.row);
}

}  // namespace ebb::replay

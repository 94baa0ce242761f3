// SPDX-License-Identifier: Apache-2.0
#include "replay/examination.h"

#include "base/bytes.h"
#include "replay/certificate.h"

namespace ebb::replay {
namespace {

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

Examination::Examination(const trace::Snapshot& from, int of_device, const Workload& job,
                         const Circumstances& under, Row row)
    : snapshot(from),
      device(of_device),
      work(job),
      circumstances(under),
      recorded(std::move(row)),
      settings(*cache::parse_settings(recorded.conf, recorded.profile)),
      bound(lower_bound_of(job)),
      leak(find_leak(from, of_device, job)) {
  diagnosis.limit = recorded.limit;
  if (recorded.check != "exact") diagnosis.confidence = "medium";
}

Setup Examination::setup() const {
  Setup setup;
  setup.settings = settings;
  setup.profile = recorded.profile;
  setup.limit = recorded.limit;
  setup.placement = circumstances.placement;
  setup.as_recorded = recorded.is_recorded;
  return setup;
}

void Examination::look_at(std::uint32_t operation) {
  diagnosis.operation = operation;
  diagnosis.ledger = ledger_at(work, setup(), operation);
  const Ledger& ledger = diagnosis.ledger;
  find("%s reserved, %s of it needed", base::bytes_text(ledger.reserved),
       base::bytes_text(ledger.needed));
  for (const Cause& cause : causes_in(ledger)) {
    if (cause.bytes == 0 || cause.bytes < ledger.reserved / 100) continue;
    find("%s %s", base::bytes_text(cause.bytes), std::string(what_it_is(cause.verdict)));
  }
}

base::Json Examination::ledger_evidence() const {
  const bool as_recorded = recorded.is_recorded && recorded.check == "exact";
  return ledger_certificate(diagnosis.ledger, work, diagnosis.operation, as_recorded);
}

void Examination::decide(Verdict verdict, std::uint64_t bytes) {
  diagnosis.verdict = verdict;
  diagnosis.headline = headline_of(verdict, bytes);
  std::erase(diagnosis.also, verdict);
}

}  // namespace ebb::replay

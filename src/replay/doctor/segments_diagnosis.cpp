// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/segments_diagnosis.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"
#include "replay/doctor/diagnosis_builder.h"
#include "replay/doctor/worthwhile.h"

namespace ebb::replay {
namespace {

using fact::FixKind;
using fact::Verdict;

/// What lies in the segments, in PyTorch's words.
struct HeldMemory {
  std::vector<cache::SnapshotSegment> segments;
  std::uint64_t blocks = 0;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t inactive_split = 0;  ///< as PyTorch counts it: not in expandable segments
  std::uint64_t largest_free = 0;
  bool expandable = false;
};

HeldMemory memory_held_by(const trace::Snapshot& snapshot, int device) {
  HeldMemory held;
  for (const trace::Segment& from : snapshot.segments) {
    if (from.device != device) continue;
    held.expandable = held.expandable || from.expandable;
    for (const trace::Block& block : from.blocks) {
      ++held.blocks;
      if (block.state == trace::BlockState::inactive) {
        held.largest_free = std::max(held.largest_free, block.size);
        const bool is_split = from.blocks.size() > 1 && !from.expandable;
        if (is_split) held.inactive_split += block.size;
        continue;
      }
      held.active += block.size;
      if (block.state == trace::BlockState::active_allocated) held.allocated += block.size;
    }
    held.segments.push_back(cache::segment_from(from));
  }
  return held;
}

/// What is reserved and not allocated; nothing where nothing is reserved.
std::optional<double> fragmentation_of(const HeldMemory& held, const Ledger& ledger) {
  if (ledger.reserved == 0) return std::nullopt;
  return 100 * static_cast<double>(ledger.reserved - held.allocated) /
         static_cast<double>(ledger.reserved);
}

base::Json evidence_of_segments(const HeldMemory& held, const Ledger& ledger) {
  return base::Json::object({{"kind", "segments"},
                             {"segment_count", std::uint64_t{held.segments.size()}},
                             {"block_count", held.blocks},
                             {"reserved_bytes", ledger.reserved},
                             {"allocated_bytes", held.allocated},
                             {"active_bytes", held.active},
                             {"inactive_split_bytes", held.inactive_split},
                             {"largest_free_bytes", held.largest_free},
                             {"fragmentation_percent", fragmentation_of(held, ledger)}});
}

std::vector<std::string> findings_on_segments(const HeldMemory& held, const Ledger& ledger) {
  std::vector<std::string> findings = findings_on(ledger);
  if (const auto share = fragmentation_of(held, ledger)) {
    findings.push_back(base::format_text(
        "fragmentation %.1f %%: %s allocated, %s in inactive splits", *share,
        base::bytes_text(held.allocated).c_str(), base::bytes_text(held.inactive_split).c_str()));
  }
  if (held.largest_free != 0) {
    findings.push_back(base::bytes_text(held.largest_free) + " is the largest free piece");
  }
  findings.emplace_back(
      "no history was recorded: this is what was held when the snapshot was taken");
  return findings;
}

/// What keeps reserved memory from being used, most first, and what is free as a whole.
std::vector<Cause> causes_to_act_on(const Ledger& ledger) {
  std::vector<Cause> causes = causes_in(ledger);
  std::erase_if(causes,
                [&](const Cause& cause) { return !is_worthwhile(cause.bytes, ledger.reserved); });
  std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
    const bool a_last = a.verdict == Verdict::cache;
    const bool b_last = b.verdict == Verdict::cache;
    return a_last != b_last ? b_last : a.bytes > b.bytes;
  });
  return causes;
}

fact::Fix advice_on(Verdict verdict, bool expandable, const cache::VersionProfile& profile) {
  fact::Fix fix;
  switch (verdict) {
    case Verdict::fragmentation:
      fix.kind = FixKind::settings;
      fix.text = expandable
                     ? "Record a history: ebb tune on it says which settings hold less"
                     : "Try " + std::string(cache::variable_to_set(profile)) +
                           "=expandable_segments:True; with a history, ebb tune says what it "
                           "would save";
      if (!expandable) fix.conf = "expandable_segments:True";
      break;
    case Verdict::rounding:
      fix.kind = FixKind::settings;
      fix.text = "Take roundup_power2_divisions away or make it finer";
      break;
    case Verdict::oversize:
      fix.kind = FixKind::settings;
      fix.text = "Take max_split_size_mb away or make it larger";
      break;
    case Verdict::deferred_frees:
      fix.kind = FixKind::code;
      fix.text = "Free on the stream that used the memory last, or wait for it";
      break;
    case Verdict::private_pools:
      fix.kind = FixKind::code;
      fix.text = "Release the pools of graphs that are not used any more, or let them share one";
      break;
    case Verdict::cache:
      fix.kind = FixKind::code;
      fix.text =
          "torch.cuda.empty_cache() returns it, where the job does not need it again: a history "
          "would tell";
      break;
    default:
      break;
  }
  return fix;
}

}  // namespace

SnapshotDiagnosis diagnose_segments(const trace::Snapshot& snapshot, int device,
                                    const Workload& workload) {
  const HeldMemory held = memory_held_by(snapshot, device);
  const Recording& recording = workload.recording;
  SnapshotDiagnosis diagnosis;
  diagnosis.confidence = fact::Confidence::medium;
  const cache::VersionProfile profile = *cache::profile_of(recording.newest_minor);
  diagnosis.ledger = ledger_of(held.segments, recording.settings, profile);
  const Ledger& ledger = diagnosis.ledger;
  diagnosis.evidence = evidence_of_segments(held, ledger);
  diagnosis.findings = findings_on_segments(held, ledger);
  const std::vector<Cause> causes = causes_to_act_on(ledger);
  for (const Cause& cause : causes) {
    diagnosis.also.push_back(cause.verdict);
  }
  const Cause first =
      causes.empty() ? Cause{Verdict::healthy, ledger.reserved - ledger.needed} : causes.front();
  diagnosis.verdict = first.verdict;
  // At one moment nobody knows which request needs it, or whether the next one takes the cache.
  diagnosis.headline =
      first.verdict == Verdict::fragmentation
          ? base::bytes_text(first.bytes) + " are free in pieces beside live blocks"
          : headline_of(first.verdict, first.bytes);
  if (first.verdict == Verdict::cache) diagnosis.confidence = fact::Confidence::low;
  std::erase(diagnosis.also, diagnosis.verdict);
  diagnosis.fix = advice_on(diagnosis.verdict, held.expandable, profile);
  std::vector<Lifetime> live = lifetimes_of(workload);
  std::erase_if(live,
                [&](const Lifetime& life) { return life.released < workload.first_recorded; });
  diagnosis.origins = origins_of(snapshot, device, workload, live);
  const std::uint32_t last = std::max<std::uint32_t>(workload.first_recorded, 1) - 1;
  diagnosis.sites = device_sites(snapshot, device, workload, HeldAt::end, last);
  return diagnosis;
}

}  // namespace ebb::replay

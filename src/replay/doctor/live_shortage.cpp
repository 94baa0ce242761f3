// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/live_shortage.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace ebb::replay {
namespace {

using base::bytes_text;
using fact::Confidence;
using fact::FixKind;
using fact::Verdict;

std::uint64_t above(std::uint64_t one, std::uint64_t other) {
  return one - std::min(one, other);
}

fact::Diagnosis found(Verdict verdict, Confidence confidence, std::string headline, FixKind kind,
                      std::string fix) {
  fact::Diagnosis diagnosis;
  diagnosis.verdict = verdict;
  diagnosis.confidence = confidence;
  diagnosis.headline = std::move(headline);
  diagnosis.fix.kind = kind;
  diagnosis.fix.text = std::move(fix);
  return diagnosis;
}

fact::Diagnosis decide(const LiveShortage& s) {
  const std::uint64_t unused = above(s.reserved, s.in_use);
  const std::string wanted = bytes_text(s.requested);
  const bool in_one_piece = s.largest_free && *s.largest_free >= s.requested;
  if (s.limit && s.reserved + s.requested > *s.limit && s.free >= s.requested && !in_one_piece) {
    fact::Diagnosis diagnosis =
        found(Verdict::self_limit, Confidence::high,
              "the device has " + bytes_text(s.free) + " free, but this process limits itself to " +
                  bytes_text(*s.limit),
              FixKind::limit, "A limit of " + bytes_text(s.reserved + s.requested) + " is enough");
    diagnosis.fix.bytes = s.reserved + s.requested;
    return diagnosis;
  }
  if (in_one_piece || s.free >= s.requested)
    return found(Verdict::healthy, Confidence::high, "there is room for " + wanted, FixKind::none,
                 "");
  if (unused >= s.requested)
    return found(Verdict::fragmentation, s.largest_free ? Confidence::high : Confidence::medium,
                 bytes_text(unused) + " are reserved and unused, but not in one piece of " + wanted,
                 FixKind::settings,
                 "expandable_segments:True usually helps; ebb doctor proves it on a snapshot");
  const std::uint64_t missing = s.requested - std::max(s.free, unused);
  if (above(s.others(), kOfCudaItself) >= missing)
    return found(Verdict::other_process, Confidence::medium,
                 "other processes hold about " + bytes_text(s.others()) + " of the device's " +
                     bytes_text(s.total),
                 FixKind::memory,
                 "End the others or give this job a device of its own: it is " +
                     bytes_text(missing) + " short");
  return found(
      Verdict::capacity, Confidence::medium,
      bytes_text(s.in_use) + " are in use and " + wanted + " more do not fit into " +
          bytes_text(s.total),
      FixKind::memory,
      "Keep " + bytes_text(missing) +
          " less alive (a smaller batch, checkpointing, offloading), or take a larger card");
}

}  // namespace

std::uint64_t LiveShortage::others() const {
  return above(total, free + reserved);
}

fact::Diagnosis diagnose(const LiveShortage& shortage) {
  fact::Diagnosis diagnosis = decide(shortage);
  diagnosis.evidence =
      base::Json::object({{"requested_bytes", shortage.requested},
                          {"device_total_bytes", shortage.total},
                          {"device_free_bytes", shortage.free},
                          {"reserved_bytes", shortage.reserved},
                          {"in_use_bytes", shortage.in_use},
                          {"unused_bytes", above(shortage.reserved, shortage.in_use)},
                          {"largest_free_bytes", shortage.largest_free},
                          {"limit_bytes", shortage.limit},
                          {"others_bytes", shortage.others()}});
  return diagnosis;
}

}  // namespace ebb::replay

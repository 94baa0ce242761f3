// SPDX-License-Identifier: Apache-2.0
#include "replay/doctor/certificate.h"

#include "replay/doctor/counterfactual.h"
#include "replay/doctor/origins.h"
#include "replay/tune/packing.h"

namespace ebb::replay {
namespace {

std::int64_t name_of(const Workload& work, const Lifetime& life) {
  if (!life.failed && life.block < work.initial_blocks) {
    return -1 - static_cast<std::int64_t>(life.block);
  }
  return work.operations[life.first].event;
}

std::int64_t moment_of(const Workload& work, std::uint32_t operation) {
  if (operation < work.initial_blocks || operation >= work.operations.size()) return -1;
  return work.operations[operation].event;
}

/// The blocks and requests of a packing: a request that failed as large as it can have been.
std::vector<Lifetime> lifetimes_to_pack(const Workload& work) {
  std::vector<Lifetime> lives = lifetimes_of(work);
  for (Lifetime& life : lives) {
    if (life.failed) {
      life.bytes = cache::round_up(work.operations[life.first].bytes, cache::kMinBlock);
    }
  }
  return lives;
}

}  // namespace

base::Json live_set_certificate(const Workload& workload, const LowerBound& bound,
                                std::uint64_t limit) {
  base::Json blocks = base::Json::array();
  for (const Lifetime& life : live_at(lifetimes_of(workload), bound.operation)) {
    blocks.push(base::Json::array({name_of(workload, life), life.bytes}));
  }
  return base::Json::object({
      {"kind", "live_set"},
      {"limit_bytes", limit},
      {"live_bytes", bound.live},
      {"event", moment_of(workload, bound.operation)},
      {"blocks", std::move(blocks)},
  });
}

base::Json failure_certificate(const Workload& workload, const Row& recorded,
                               const Circumstances& circumstances, fact::Verdict verdict,
                               const LowerBound& bound, const std::optional<Row>& fixed) {
  if (verdict == fact::Verdict::fragmentation) {
    const std::vector<Lifetime> lives = lifetimes_to_pack(workload);
    const Packing packing = pack(lives, bound.live);
    if (packing.height <= recorded.limit) {
      base::Json blocks = base::Json::array();
      for (std::size_t i = 0; i < lives.size(); ++i) {
        if (lives[i].bytes == 0) continue;
        blocks.push(
            base::Json::array({name_of(workload, lives[i]), lives[i].bytes, packing.offsets[i]}));
      }
      return base::Json::object({{"kind", "packing"},
                                 {"limit_bytes", recorded.limit},
                                 {"height_bytes", packing.height},
                                 {"blocks", std::move(blocks)}});
    }
  }
  const auto without = replay_without(workload, recorded, circumstances, verdict);
  if (without && !without->outcome.oom) {
    return base::Json::object(
        {{"kind", "replay"}, {"without", fact::name_of(verdict)}, {"row", to_json(*without)}});
  }
  if (fixed) {
    return base::Json::object({{"kind", "replay"}, {"row", to_json(*fixed)}});
  }
  return {};
}

base::Json ledger_certificate(const Ledger& ledger, const Workload& workload,
                              std::uint32_t operation, bool as_recorded) {
  return base::Json::object({{"kind", "ledger"},
                             {"as_recorded", as_recorded},
                             {"event", moment_of(workload, operation)},
                             {"ledger", to_json(ledger)}});
}

base::Json growth_certificate(const Leak& leak, const trace::Snapshot& snapshot, int device,
                              const Workload& workload) {
  const auto list = [](const auto& values) {
    base::Json items = base::Json::array();
    for (const auto value : values) {
      items.push(std::uint64_t{value});
    }
    return items;
  };
  return base::Json::object(
      {{"kind", "growth"},
       {"steps_begin_with_events", list(leak.events)},
       {"live_bytes_at_steps", list(leak.live)},
       {"kept_bytes_of_steps", list(leak.kept)},
       {"told_by", leak.by_kept ? "kept" : "live"},
       {"bytes_per_step", leak.per_step},
       {"origins", to_json(origins_of(snapshot, device, workload, leak.blocks))}});
}

}  // namespace ebb::replay

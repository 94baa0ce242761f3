// SPDX-License-Identifier: Apache-2.0
#include "plan/recorded_step.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/steps.h"

namespace ebb::plan {
namespace {

using base::Code;
using OperationKind = replay::Operation::Kind;

/// The operations of a step at which most and least was live.
struct Extremes {
  std::uint32_t most = 0;
  std::uint32_t least = 0;
};

/// Of the events [begin, end). Requests are counted as asked for: which operation it is follows
/// from them, how much was allocated then from a replay.
Extremes extremes_of(const replay::Workload& workload, std::size_t begin, std::size_t end) {
  Extremes found;
  std::vector<std::uint64_t> sizes(workload.blocks);
  std::uint64_t live = 0, most = 0, least = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < workload.operations.size(); ++i) {
    const replay::Operation& op = workload.operations[i];
    if (op.kind == OperationKind::allocate) {
      sizes[op.block] = op.bytes;
      live += op.bytes;
    } else if (op.kind == OperationKind::free || op.kind == OperationKind::free_later) {
      live -= sizes[op.block];
    }
    if (i < workload.first_recorded || op.event < begin || op.event >= end) continue;
    if (live > most) {
      most = live;
      found.most = i;
    }
    if (live < least) {
      least = live;
      found.least = i;
    }
  }
  return found;
}

std::uint64_t allocated_after(const replay::Workload& workload, std::uint32_t operation) {
  replay::Setup setup;
  setup.profile = replay::profile_for(workload, {});
  if (const auto settings = cache::parse_settings(workload.recording.conf, setup.profile))
    setup.settings = *settings;
  setup.as_recorded = true;
  setup.last_operation = operation;
  return replay::replay(workload, setup).final_allocated;
}

std::size_t busiest_device(const trace::Snapshot& snapshot) {
  const auto most =
      std::max_element(snapshot.traces.begin(), snapshot.traces.end(),
                       [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return static_cast<std::size_t>(most - snapshot.traces.begin());
}

}  // namespace

base::Result<RecordedStep> recorded_step(const trace::Snapshot& snapshot, const std::string& name) {
  const std::size_t device = busiest_device(snapshot);
  const trace::Steps steps = trace::find_steps(snapshot, device);
  if (steps.source == trace::Steps::Source::none)
    return base::error(Code::bad_input, "%s: %s; expected the history of at least three steps",
                       name.c_str(), steps.note.c_str());
  const auto workload = replay::workload_of(snapshot, {static_cast<int>(device), std::nullopt});
  if (!workload)
    return base::error(Code::bad_input, "%s: %s", name.c_str(), workload.error().message.c_str());
  const std::size_t last = steps.begins.size() - 1;
  const Extremes extremes = extremes_of(*workload, steps.begins[last - 1], steps.begins[last]);
  return RecordedStep{name, steps.begins.size(), allocated_after(*workload, extremes.least),
                      allocated_after(*workload, extremes.most)};
}

base::Result<RecordedStep> read_recorded_step(const std::string& path,
                                              const trace::ReadOptions& options) {
  const auto snapshot = trace::read_snapshot(path, options);
  if (!snapshot) return snapshot.error();
  return recorded_step(*snapshot, path);
}

double Correction::percent() const {
  return 100 * (static_cast<double>(recorded.peak) / static_cast<double>(planned_peak) - 1);
}

std::uint64_t Correction::applied(std::uint64_t before, std::uint64_t bytes) const {
  const double own = (static_cast<double>(bytes) - static_cast<double>(before)) * scale;
  const double all = static_cast<double>(before) + static_cast<double>(beside) + own;
  return all <= 0 ? 0 : static_cast<std::uint64_t>(std::llround(all));
}

Correction correction_of(const RecordedStep& recorded, std::uint64_t before, std::uint64_t peak,
                         std::uint64_t workspaces) {
  Correction correction;
  correction.recorded = recorded;
  correction.planned_before = before + workspaces;
  correction.planned_peak = peak + workspaces;
  correction.beside =
      static_cast<std::int64_t>(recorded.before) - static_cast<std::int64_t>(before);
  if (peak > before)
    correction.scale =
        static_cast<double>(recorded.peak - recorded.before) / static_cast<double>(peak - before);
  return correction;
}

}  // namespace ebb::plan

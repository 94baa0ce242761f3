// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/futures.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

/// Sizes are stretched and shrunk by this factor at the most.
constexpr double kMostStretch = 2;

}  // namespace

const char* name_of(Source source) {
  switch (source) {
    case Source::repeated:
      return "repeated";
    case Source::resampled:
      return "resampled";
    case Source::lengthened:
      return "lengthened";
    case Source::pieces:
      break;
  }
  return "pieces";
}

FutureMaker::FutureMaker(const Workload& job) : steps_(find_steps(job)) {
  frame_.streams = job.streams;
  frame_.pools = job.pools;
  frame_.recording.settings = job.recording.settings;
  frame_.recording.newest_minor = job.recording.newest_minor;
  frame_.recording.conf = job.recording.conf;
  frame_.recording.conf_known = job.recording.conf_known;
  frame_.recording.limit_low = job.recording.limit_low;
  frame_.recording.limit_high = job.recording.limit_high;
  frame_.recording.device_limit = job.recording.device_limit;
  take_apart(job);
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s)
    alike_[steps_.kinds[s]].push_back(s);
  foresee_fates();
  tell_leaks_from_caches();
  tell_constant_sizes();
  if (steps_.repeats) fit_lengths();
  varies_ = differ();
}

/// Sorts the operations into the steps that they belong to: those on a block of the same step stay
/// where they are, the others become fates of their block.
void FutureMaker::take_apart(const Workload& job) {
  struct Home {
    std::uint32_t step = 0;
    std::uint32_t ordinal = 0;
  };
  std::vector<Home> homes(job.blocks);
  parts_.resize(steps_.count());
  struct Visit {
    Home home;
    std::size_t fate;
    std::uint32_t before;  ///< own operations of the step before it
  };
  for (std::size_t s = 0; s < steps_.count(); ++s) {
    Step& step = parts_[s];
    std::vector<Visit> visits;
    for (std::uint32_t at = steps_.begins[s]; at < steps_.end_of(s); ++at) {
      Operation op = job.operations[at];
      if (op.kind == Kind::failed) continue;  // nobody knows what the job did without it
      op.waited = false;
      if (op.kind == Kind::allocate) {
        const auto ordinal = static_cast<std::uint32_t>(step.blocks.size());
        homes[op.block] = {static_cast<std::uint32_t>(s), ordinal};
        step.blocks.push_back({op.bytes, ordinal, op.stream, op.pool, false, false, {}});
        op.block = ordinal;
        step.operations.push_back(op);
        continue;
      }
      const Home home = homes[op.block];
      if (op.kind == Kind::empty_cache || home.step == s) {
        op.block = home.ordinal;
        step.operations.push_back(op);
        continue;
      }
      std::vector<Fate>& fates = parts_[home.step].blocks[home.ordinal].fates;
      visits.push_back({home, fates.size(), static_cast<std::uint32_t>(step.operations.size())});
      fates.push_back({op.kind, op.stream, op.pool, static_cast<std::uint32_t>(s) - home.step, 0});
    }
    for (std::size_t v = 0; v < visits.size(); ++v) {
      const Visit& visit = visits[v];
      // Visits at one place keep their order: each a little behind the one before it.
      parts_[visit.home.step].blocks[visit.home.ordinal].fates[visit.fate].place =
          (visit.before + static_cast<double>(v) / static_cast<double>(visits.size() + 1)) /
          static_cast<double>(step.operations.size() + 1);
    }
  }
}

/// What stays for good is a leak only where most steps leave it; else it is made at the first use
/// of something, and another step that needs it finds it there.
void FutureMaker::tell_leaks_from_caches() {
  using Key = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t>;
  const auto key_of = [](const Block& block) { return Key{block.bytes, block.stream, block.pool}; };
  std::map<Key, std::set<std::size_t>> left_by;
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    for (const Block& block : parts_[s].blocks) {
      if (block.once) left_by[key_of(block)].insert(s);
    }
  }
  const std::size_t steady = parts_.size() - steps_.steady;
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    for (Block& block : parts_[s].blocks) {
      if (block.once) block.once = steady == 1 || 2 * left_by[key_of(block)].size() < steady;
    }
  }
}

void FutureMaker::tell_constant_sizes() {
  std::map<std::uint64_t, std::set<std::size_t>> steps_with;
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    for (const Block& block : parts_[s].blocks) {
      steps_with[block.bytes].insert(s);
    }
  }
  const std::size_t steady = parts_.size() - steps_.steady;
  for (Step& step : parts_) {
    for (Block& block : step.blocks) {
      const auto found = steps_with.find(block.bytes);
      block.constant = found != steps_with.end() && 2 * found->second.size() > steady;
    }
  }
}

bool FutureMaker::stretches() const {
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    const std::vector<Block>& blocks = parts_[s].blocks;
    if (std::any_of(blocks.begin(), blocks.end(), [](const Block& b) { return !b.constant; }))
      return true;
  }
  return false;
}

/// Brings what differs in a step to a size between those of two recorded steps of its kind.
double FutureMaker::stretch_of(std::size_t step, std::uint64_t random) const {
  std::vector<double> totals;
  double own = 0;
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    if (steps_.kinds[s] != steps_.kinds[step]) continue;
    double total = 0;
    for (const Block& block : parts_[s].blocks) {
      if (!block.constant) total += static_cast<double>(block.bytes);
    }
    if (s == step) own = total;
    if (total > 0) totals.push_back(total);
  }
  if (own == 0 || totals.size() < 2) return 1;
  std::sort(totals.begin(), totals.end());
  const std::size_t gap = random % (totals.size() - 1);
  const double share = static_cast<double>(random >> 40) / (1 << 24);
  const double wanted = totals[gap] + share * (totals[gap + 1] - totals[gap]);
  return std::clamp(wanted / own, 1 / kMostStretch, kMostStretch);
}

void FutureMaker::fit_lengths() {
  std::map<std::uint32_t, std::vector<std::vector<std::uint64_t>>> by_kind;
  std::size_t steady = 0;
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s, ++steady) {
    std::vector<std::uint64_t> sizes;
    for (const Block& block : parts_[s].blocks) {
      sizes.push_back(block.bytes);
    }
    by_kind[steps_.kinds[s]].push_back(std::move(sizes));
  }
  for (const auto& [kind, sizes] : by_kind) {
    if (4 * sizes.size() < 3 * steady) continue;
    lengths_ = Lengths::fit(sizes);
    lengthened_kind_ = kind;
  }
}

bool FutureMaker::differ() const {
  if (parts_.size() <= steps_.steady) return false;
  const Step& first = parts_[steps_.steady];
  for (std::size_t s = steps_.steady + 1; s < parts_.size(); ++s) {
    const Step& step = parts_[s];
    const bool same =
        step.operations.size() == first.operations.size() &&
        std::equal(step.operations.begin(), step.operations.end(), first.operations.begin(),
                   [](const Operation& a, const Operation& b) {
                     return a.kind == b.kind && a.block == b.block && a.bytes == b.bytes &&
                            a.stream == b.stream;
                   });
    if (!same) return true;
  }
  return false;
}

Source FutureMaker::source_of(std::uint64_t number) const {
  if (number == 0) return Source::repeated;
  if (!steps_.repeats) return Source::pieces;
  return lengths_ && number % 2 == 0 ? Source::lengthened : Source::resampled;
}

}  // namespace ebb::replay

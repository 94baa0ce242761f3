// SPDX-License-Identifier: Apache-2.0
// What becomes of blocks whose end the recording does not show.
#include <algorithm>
#include <tuple>
#include <utility>

#include "replay/tune/futures.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

/// Earlier steps of its kind that a block's counterpart is looked for in: what a hostile recording
/// costs stays in proportion to its length.
constexpr std::size_t kStepsBack = 64;

}  // namespace

/// Finds the blocks of other steps that stand for one.
class FutureMaker::Counterparts {
 public:
  explicit Counterparts(const FutureMaker& maker) : maker_(maker), index_(maker.parts_.size()) {}

  /// The steps before this one that are of its kind, the latest first and not too many.
  std::vector<std::size_t> steps_before(std::size_t step) const {
    std::vector<std::size_t> before;
    if (step < maker_.steps_.steady) return before;
    const std::vector<std::size_t>& alike = maker_.alike_.at(maker_.steps_.kinds[step]);
    auto at = std::lower_bound(alike.begin(), alike.end(), step);
    while (at != alike.begin() && before.size() < kStepsBack) {
      before.push_back(*--at);
    }
    return before;
  }

  /// The block of step `other` that stands for this one of `step`: the same place where both
  /// allocate as often, else the first of the same size.
  const Block* find(std::size_t other, std::size_t step, const Block& block) {
    const std::vector<Block>& blocks = maker_.parts_[other].blocks;
    if (blocks.size() == maker_.parts_[step].blocks.size()) return &blocks[block.ordinal];
    std::vector<Entry>& entries = index_[other];
    if (entries.empty()) {
      for (const Block& each : blocks) {
        entries.push_back({each.bytes, each.stream, each.ordinal});
      }
      std::sort(entries.begin(), entries.end());
    }
    const auto same =
        std::lower_bound(entries.begin(), entries.end(), Entry{block.bytes, block.stream, 0});
    if (same == entries.end() || std::get<0>(*same) != block.bytes ||
        std::get<1>(*same) != block.stream)
      return nullptr;
    return &blocks[std::get<2>(*same)];
  }

 private:
  using Entry = std::tuple<std::uint64_t, std::uint16_t, std::uint32_t>;  ///< the last: ordinal

  const FutureMaker& maker_;
  std::vector<std::vector<Entry>> index_;  ///< by step; made when it is first asked for
};

/// Blocks that were in use when the recording ended are freed as their counterparts of earlier
/// steps were, where those lived long enough to explain it. The others stay.
void FutureMaker::foresee_ends(Counterparts& counterparts) {
  const std::size_t count = parts_.size();
  std::vector<std::vector<bool>> freed(count);  // in its own step
  for (std::size_t s = steps_.steady; s < count; ++s) {
    freed[s].resize(parts_[s].blocks.size());
    for (const Operation& op : parts_[s].operations) {
      if (op.kind == Kind::free || op.kind == Kind::free_later) freed[s][op.block] = true;
    }
    const std::vector<std::size_t> steps_before = counterparts.steps_before(s);
    for (Block& block : parts_[s].blocks) {
      if (freed[s][block.ordinal] || !block.fates.empty()) continue;
      block.once = true;
      for (const std::size_t before : steps_before) {
        const Block* same = counterparts.find(before, s, block);
        if (same == nullptr || same->once) continue;
        if (freed[before][same->ordinal]) {
          if (s + 1 < count) continue;
          block.fates = {{Kind::free, block.stream, block.pool, 1, 0}};
        } else if (s + same->fates.back().steps_later >= count) {
          block.fates = same->fates;
        } else {
          continue;
        }
        block.once = false;
        break;
      }
    }
  }
}

/// Blocks that other streams still used when the recording ended are done with as their
/// counterparts of earlier steps were, where that explains it; the others when the next step
/// begins. Whoever draws such a step again would else wait for good.
void FutureMaker::foresee_completions(Counterparts& counterparts) {
  const std::size_t count = parts_.size();
  const auto completion_of = [](const Block& block) {
    return std::find_if(block.fates.begin(), block.fates.end(),
                        [](const Fate& fate) { return fate.kind == Kind::complete; });
  };
  // Behind what the block is freed by.
  const auto complete = [](Block& block, Fate completion) {
    for (const Fate& fate : block.fates) {
      if (std::tie(completion.steps_later, completion.place) <
          std::tie(fate.steps_later, fate.place)) {
        completion.steps_later = fate.steps_later;
        completion.place = fate.place;
      }
    }
    block.fates.push_back(completion);
  };
  // Nobody observed these: no later step may take them for what became of a block.
  std::vector<std::pair<Block*, Fate>> invented;
  std::vector<bool> completes(count);  // some block of the step
  for (std::size_t s = 0; s < count; ++s) {
    std::vector<bool> awaited(parts_[s].blocks.size());
    for (const Operation& op : parts_[s].operations) {
      if (op.kind == Kind::free_later) awaited[op.block] = true;
      if (op.kind == Kind::complete) awaited[op.block] = false;
    }
    std::vector<std::size_t> steps_before = counterparts.steps_before(s);
    std::erase_if(steps_before, [&](std::size_t before) { return !completes[before]; });
    for (Block& block : parts_[s].blocks) {
      for (const Fate& fate : block.fates) {
        if (fate.kind == Kind::free_later) awaited[block.ordinal] = true;
      }
      if (!awaited[block.ordinal] || completion_of(block) != block.fates.end()) continue;
      const auto explains = [&](std::size_t before) {
        const Block* same = counterparts.find(before, s, block);
        return same != nullptr && completion_of(*same) != same->fates.end() &&
               s + completion_of(*same)->steps_later >= count;
      };
      const auto like = std::find_if(steps_before.begin(), steps_before.end(), explains);
      if (like != steps_before.end()) {
        complete(block, *completion_of(*counterparts.find(*like, s, block)));
      } else {
        invented.push_back(
            {&block,
             {Kind::complete, block.stream, block.pool, static_cast<std::uint32_t>(count - s), 0}});
      }
    }
    completes[s] = std::any_of(parts_[s].blocks.begin(), parts_[s].blocks.end(),
                               [&](const Block& b) { return completion_of(b) != b.fates.end(); });
  }
  for (const auto& [block, completion] : invented) {
    complete(*block, completion);
  }
}

void FutureMaker::foresee_fates() {
  Counterparts counterparts(*this);
  foresee_ends(counterparts);
  foresee_completions(counterparts);
}

}  // namespace ebb::replay

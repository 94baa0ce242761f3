// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "replay/tune/futures.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

/// Where the draws of a future's pool begin among its random numbers.
constexpr std::uint64_t kPoolDraws = std::uint64_t{1} << 40;

/// The n-th number of a sequence that `seed` names: SplitMix64, the same on every machine.
std::uint64_t random_number(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t z = seed * 0xD1342543DE82EF95ULL + (n + 1) * 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return z ^ (z >> 31);
}

}  // namespace

/// The steps that a future is drawn from: as many of each kind as were recorded, some of them
/// several times and others never, as another recording of the same job could have had them.
std::vector<std::size_t> FutureMaker::pool_of(std::uint64_t number) const {
  std::vector<std::size_t> pool(parts_.size());
  for (std::size_t s = steps_.steady; s < parts_.size(); ++s) {
    const std::vector<std::size_t>& all = alike_.at(steps_.kinds[s]);
    pool[s] = all[random_number(number, kPoolDraws + s) % all.size()];
  }
  return pool;
}

/// After a step comes one of the kind that came after it in the recording; which of them is chance.
std::size_t FutureMaker::next_step(const std::vector<std::size_t>& pool, std::size_t previous,
                                   std::uint64_t random) const {
  std::size_t successor = previous + 1;
  if (successor >= parts_.size() || successor < steps_.steady) successor = steps_.steady;
  const std::vector<std::size_t>& alike = alike_.at(steps_.kinds[successor]);
  return pool[alike[random % alike.size()]];
}

/// Writes steps one behind the other, with what earlier steps left to be freed in them.
class FutureMaker::Writer {
 public:
  Writer(const FutureMaker& maker, Future& future) : maker_(maker), future_(future) {}

  /// `length`: for a step of a size that was not recorded; `scale`: of sizes that differ.
  void write(std::size_t source, std::optional<std::int64_t> length, double scale = 1) {
    scale_ = scale;
    const Step& step = maker_.parts_[source];
    const bool again = !drawn_.insert(source).second;
    std::vector<Due> due = take_due();
    std::vector<std::uint32_t> names(step.blocks.size(), kNoBlock);
    std::size_t next = 0;
    const auto count = static_cast<double>(step.operations.size() + 1);
    for (std::size_t i = 0; i <= step.operations.size(); ++i) {
      const bool last = i == step.operations.size();
      while (next < due.size() && (last || due[next].place * count < static_cast<double>(i + 1))) {
        emit(due[next++].operation);
      }
      if (!last) copy(step, step.operations[i], again, length, names);
    }
    for (const Block& block : step.blocks) {
      if (names[block.ordinal] != kNoBlock) promise(block, names[block.ordinal]);
    }
    ++written_;
    future_.ends.push_back(static_cast<std::uint32_t>(future_.work.operations.size()));
  }

 private:
  struct Due {
    double place = 0;
    Operation operation;
  };
  static constexpr std::uint32_t kNoBlock = static_cast<std::uint32_t>(-1);

  std::vector<Due> take_due() {
    std::vector<Due> due;
    if (const auto found = due_.find(written_); found != due_.end()) {
      due = std::move(found->second);
      due_.erase(found);
    }
    std::stable_sort(due.begin(), due.end(),
                     [](const Due& a, const Due& b) { return a.place < b.place; });
    return due;
  }

  void copy(const Step& step, Operation op, bool again, std::optional<std::int64_t> length,
            std::vector<std::uint32_t>& names) {
    if (op.kind == Kind::allocate) {
      const Block& block = step.blocks[op.block];
      if (block.once && again) return;
      names[op.block] = future_.work.blocks;
      if (length && op.bytes != 0) {
        op.bytes = maker_.lengths_->size_at(block.ordinal, *length);
      } else if (!block.constant && scale_ != 1) {
        op.bytes = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(static_cast<double>(op.bytes) * scale_));
      }
      op.block = future_.work.blocks++;
    } else if (op.kind != Kind::empty_cache) {
      if (names[op.block] == kNoBlock) return;
      op.block = names[op.block];
    }
    emit(op);
  }

  void promise(const Block& block, std::uint32_t name) {
    for (const Fate& fate : block.fates) {
      Operation op;
      op.kind = fate.kind;
      op.stream = fate.stream;
      op.pool = fate.pool;
      op.block = name;
      due_[written_ + fate.steps_later].push_back({fate.place, op});
    }
  }

  void emit(const Operation& op) {
    future_.work.operations.push_back(op);
    if (op.kind == Kind::allocate || op.kind == Kind::free || op.kind == Kind::free_later) {
      ++future_.work.requests;
    }
  }

  const FutureMaker& maker_;
  Future& future_;
  std::uint64_t written_ = 0;
  double scale_ = 1;
  std::map<std::uint64_t, std::vector<Due>> due_;  ///< by step
  std::set<std::size_t> drawn_;
};

Future FutureMaker::make(std::uint64_t number, std::uint64_t operations) const {
  return draw(number, operations, false);
}

Future FutureMaker::stretch(std::uint64_t number, std::uint64_t operations) const {
  return draw(number, operations, true);
}

Future FutureMaker::draw(std::uint64_t number, std::uint64_t operations, bool stretched) const {
  Future future;
  future.work = frame_;
  future.source = source_of(number);
  Writer writer(*this, future);
  for (std::size_t s = 0; s < steps_.steady; ++s) {
    writer.write(s, std::nullopt);
  }
  if (steps_.steady >= parts_.size()) return future;
  const std::vector<std::size_t> pool = pool_of(number);
  std::size_t source = steps_.steady;
  for (std::uint64_t drawn = 0; future.work.operations.size() < operations; ++drawn) {
    if (number == 0) {
      source = steps_.steady + drawn % (parts_.size() - steps_.steady);
    } else {
      source =
          next_step(pool, drawn == 0 ? parts_.size() : source, random_number(number, 2 * drawn));
    }
    const std::uint64_t random = random_number(number, 2 * drawn + 1);
    std::optional<std::int64_t> length;
    double scale = 1;
    if (stretched) {
      scale = stretch_of(source, random);
    } else if (future.source == Source::lengthened && steps_.kinds[source] == lengthened_kind_) {
      length = lengths_->draw(random);
    }
    const std::size_t before = future.work.operations.size();
    writer.write(source, length, scale);
    if (future.work.operations.size() == before) break;
  }
  return future;
}

}  // namespace ebb::replay

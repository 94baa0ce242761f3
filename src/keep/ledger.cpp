// SPDX-License-Identifier: Apache-2.0
#include "keep/ledger.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"

namespace ebb::keep {
namespace {

/// Hands out what the kernel has counted, so that no byte is given twice.
class Account {
 public:
  explicit Account(std::uint64_t bytes) : left_(bytes) {}

  std::optional<std::uint64_t> take(const std::optional<std::uint64_t>& wanted) {
    if (!wanted) return std::nullopt;
    const std::uint64_t taken = std::min(*wanted, left_);
    left_ -= taken;
    return taken;
  }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

void add_private(std::span<const fact::PrivateAllocator> allocators, Account& anonymous,
                 fact::Ledger& ledger) {
  std::optional<std::uint64_t> counted = 0;
  std::string silent;
  for (const fact::PrivateAllocator& one : allocators) {
    if (one.live) {
      *counted += *one.live + one.retained.value_or(0);
    } else {
      silent += (silent.empty() ? "" : ", ") + fact::name_of(one);
    }
  }
  if (!silent.empty()) {
    ledger.notes.push_back("private: what " + silent + " may hold is not known; in unexplained");
    if (*counted == 0) counted.reset();
  }
  ledger.private_allocators = anonymous.take(counted);
}

}  // namespace

fact::MappedParts parts_of(const sense::MappingSums& sums) {
  return {sums.stacks, sums.pinned, sums.pinned_shared, sums.python};
}

fact::Ledger ledger_of(
    const fact::ProcessSample& memory,
    const std::optional<std::span<const fact::PrivateAllocator>>& private_allocators,
    const std::optional<fact::MappedParts>& mappings) {
  fact::Ledger ledger;
  if (!memory.rss) return ledger;
  ledger.total = *memory.rss + memory.swap.value_or(0);
  const fact::MappedParts sums = mappings.value_or(fact::MappedParts{});
  Account all(*ledger.total);
  // Pinned memory is shared memory or a file to the kernel, and counted in one of them there.
  Account shared(all.take(memory.shmem).value_or(0));
  Account file(all.take(memory.file).value_or(0));
  if (sums.pinned) {
    ledger.pinned = *shared.take(sums.pinned_shared) +
                    *file.take(*sums.pinned - std::min(*sums.pinned, sums.pinned_shared));
  }
  if (memory.shmem) ledger.shared = shared.left();
  if (memory.file) ledger.file = file.left();
  ledger.stacks = all.take(sums.stacks);
  ledger.python = all.take(sums.python);
  ledger.retained = all.take(memory.retained);
  if (private_allocators) add_private(*private_allocators, all, ledger);
  ledger.live = all.take(memory.live);
  if (ledger.live && *ledger.live < *memory.live) {
    ledger.notes.push_back("live: " + base::bytes_text(*memory.live - *ledger.live) +
                           " of it was never touched, or is counted in another part");
  }
  ledger.unexplained = all.left();
  if (!ledger.python)
    ledger.notes.emplace_back(
        "python: arenas of small objects, if any, are not told apart; in unexplained");
  if (!memory.live && ledger.unexplained > 0U)
    ledger.notes.emplace_back("live, retained: not known; in unexplained");
  return ledger;
}

}  // namespace ebb::keep

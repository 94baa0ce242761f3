// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "fl/card.h"

namespace ebb::fl {

/// A card in numbers.
class FakeCard final : public Card {
 public:
  CardMemory memory{.total = 100 * base::kGiB, .free = 100 * base::kGiB};
  bool is_readable = true;
  int emptied = 0;
  double waited = 0;

  /// What this process holds and keeps; nobody else is there.
  void hold(std::uint64_t used, std::uint64_t cached) {
    memory.reserved = used + cached;
    memory.cached = cached;
    memory.free = memory.total - memory.reserved;
  }

  std::uint32_t index() const override { return 0; }
  std::optional<CardMemory> read() override {
    return is_readable ? std::optional(memory) : std::nullopt;
  }
  void empty_cache() override {
    ++emptied;
    hold(memory.reserved - memory.cached, 0);
  }
  void wait(double seconds) override { waited += seconds; }
};

}  // namespace ebb::fl

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "keep/diagnosis.h"
#include "keep/memory_trends.h"
#include "keep/private_memory.h"

namespace ebb::keep {

/// What is known only as a difference must be larger: allocators keep books and round up.
inline constexpr trend::Effect kClearGrowth{0.05, 8 << 20};

/// A diagnosis as it is being made: what is known of the process, and what has been said so far.
class Draft {
 public:
  /// The series must outlive the draft.
  explicit Draft(const MemorySeries& known) : series(known), trends(series), beside(series) {}

  const MemorySeries& series;
  const MemoryTrends trends;
  const PrivateMemory beside;
  ProcessDiagnosis found;

  /// The first verdict is the verdict, later ones stand beside it. `growth` is what it rests on,
  /// one of `trends`; null where nothing grows.
  void decide(fact::Verdict verdict, const trend::Assessment* growth, std::string headline,
              fact::FixKind fix_kind, std::string fix);
  bool is_decided() const { return decided_; }
  const trend::Assessment* growth() const { return growth_; }

  void say(std::string finding) { found.findings.push_back(std::move(finding)); }

  /// The verdict names what may be, not what was seen, because of this.
  void call_it_a_guess(std::string why) { guess_ = std::move(why); }
  const std::optional<std::string>& guess() const { return guess_; }

  /// Whether a part grows for good. What may be a warm-up is a finding and no more: that `what`
  /// grew, and is too early to call `called`.
  bool grows_for_good(const trend::Assessment& part, const char* what, const char* called);

 private:
  bool decided_ = false;
  const trend::Assessment* growth_ = nullptr;
  std::optional<std::string> guess_;
};

/// Whether growth is so short and small that it may be the filling of pools and caches.
bool may_be_warm_up(const trend::Assessment& part);

}  // namespace ebb::keep

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "replay/tune/knobs.h"
#include "replay/tune/outlook.h"
#include "replay/tune/search.h"

namespace ebb::replay {

/// What is compared with in every future, whatever else is tried: PyTorch's default, expandable
/// segments, and these with three sizes of segments.
std::vector<Knobs> baselines_in(const SearchSpace& space, const cache::VersionProfile& profile);

/// Whether there is enough to tell by for strings that no baseline is: a limit that decides, steps
/// that never differ, or many of them.
bool trusts_longer_strings(const Outlook& outlook);

/// A setting chosen for what may come.
struct Choice {
  Knobs knobs;
  /// The largest cost in any future, as a multiple of the cheapest baseline there.
  double regret = 1;
  std::optional<double> held_out_regret;  ///< the same in futures that were not chosen by
};

/// Chooses among the baselines and the best of a search the one whose regret is least. Halves the
/// field on one future first. Whatever is chosen instead of plain expandable segments has a regret
/// that is smaller by 1 % and by more than it varies, and does better than these in every future
/// and in the recording; pages of another size may do 1 % worse there. Strings that no baseline is
/// are considered only where there is enough to tell by. A job whose peak was seen too seldom for
/// how little it holds keeps expandable segments as they are.
Choice choose(const Outlook& outlook, const std::vector<Knobs>& baselines,
              const std::vector<Trial>& candidates,
              const std::function<void(double share)>& progress);

}  // namespace ebb::replay

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "fact/diagnosis.h"
#include "fact/memory_split.h"
#include "fact/site.h"
#include "record/store.h"
#include "trend/slope.h"

namespace ebb::story {

/// A place in the code that holds memory of one process.
struct SiteStory {
  record::ProcessKey process;
  fact::SiteStack frames;     ///< innermost first; empty where the stack could not be read
  std::uint64_t bytes = 0;    ///< live at the end, as estimated from samples
  std::uint64_t samples = 0;  ///< that this rests on
  double share = 0;           ///< of all that its process held, 0 to 1
  double since = 0;           ///< when it was first seen to hold anything, in seconds of the run
  std::uint64_t of_late = 0;  ///< of its bytes, those that came in the second half of the looks
  /// Where it grows, and how sure that is.
  std::optional<trend::Slope> growth;
  double growth_share = 0;  ///< of the growth of all sites of its process, 0 to 1
  fact::Confidence confidence = fact::Confidence::low;
};

/// What sampling came to, of all processes together.
struct SamplingStory {
  std::uint64_t processes = 0;  ///< with a table
  std::uint64_t no_room = 0;    ///< processes that found no room for one
  std::uint64_t samples = 0;
  std::uint64_t dropped = 0;
  std::uint64_t no_python = 0;
  double spent_seconds = 0;
};

/// Sites of one process at one place in the code, whoever called it.
struct GrowingPlace {
  std::string text;
  double per_second = 0;  ///< bytes by which they grow
  double share = 0;       ///< of the growth of all sites of the process, 0 to 1
};

struct SitesStory {
  std::optional<SamplingStory> sampling;  ///< nothing where allocations were not sampled
  std::vector<SiteStory> sites;           ///< the largest growth first, then the most bytes

  /// Where memory of a process grows most; nothing where it grows nowhere.
  std::optional<GrowingPlace> growing_place(const record::ProcessKey& process) const;

  /// The places that hold most of its memory at the end, whoever called them; few, the most first.
  /// The one that grew most of late leads, if that is much: what was there for long, and may never
  /// have been touched, is not what memory ran out of.
  std::vector<fact::SiteShare> holding_places(const record::ProcessKey& process) const;
};

/// What is below noise is left out: few samples, or less than a hundredth and 1 MiB.
SitesStory sites_of(const record::RecordedRun& run);

/// The keys `sites` and `sampling` of a report; docs/sites.md has them.
void add_json(base::Json& json, const SitesStory& story);

}  // namespace ebb::story

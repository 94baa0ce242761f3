// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/card.h"

#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "replay/parallel.h"

namespace ebb::replay {
namespace {

/// What PyTorch takes at least from a device.
constexpr std::uint64_t kCardUnit = 2 * base::kMiB;
/// A page of expandable segments, by a part of which they may go beyond a limit.
constexpr std::uint64_t kExpandablePage = 20 * base::kMiB;
/// No card has more.
constexpr std::uint64_t kLargestCard = 2 * base::kTiB;
/// Sizes above the one that was found that have to do as well.
constexpr std::uint64_t kSpotChecks = 4;

/// What counts as going on.
enum class Service : std::uint8_t { at_once, after_retries };

/// What came of one future.
struct OnCard {
  bool fails = false;
  std::uint64_t retries = 0;
  std::uint64_t peak = 0;
  std::uint64_t steps = 0;
  double seconds = 0;  ///< in driver calls

  bool is(Service service) const {
    return !fails && (service == Service::after_retries || retries == 0);
  }
};

class CardSearch {
 public:
  CardSearch(const Outlook& outlook, std::size_t job, const std::string& conf)
      : outlook_(outlook), conf_(conf) {
    for (const Scenario& which : outlook.scenarios()) {
      if (which.job == job) futures_.push_back(which);
    }
  }

  std::vector<OnCard> run_all(std::uint64_t limit) {
    sizes_.insert(limit);
    std::vector<OnCard> all(futures_.size());
    for_all(futures_.size(), [&](std::size_t i) { all[i] = run(i, limit); });
    return all;
  }

  /// The smallest size above `too_small` that serves all futures, up to one that is known to.
  std::uint64_t smallest(Service service, std::uint64_t too_small, std::uint64_t enough) {
    const std::uint64_t most = enough;
    while (true) {
      const std::uint64_t found = bisect(service, too_small, most);
      const std::uint64_t failing = largest_failing(service, found, most);
      if (failing == 0) return found;
      too_small = failing;
    }
  }

  /// Has to be tried first: it decides most often.
  void start_with(std::size_t hardest) { hardest_ = hardest; }
  std::uint64_t futures() const { return futures_.size(); }
  std::uint64_t sizes_tried() const { return sizes_.size(); }

 private:
  OnCard run(std::size_t future, std::uint64_t limit) const {
    const Outcome outcome = outlook_.run(futures_[future], conf_, limit);
    return {outcome.oom.has_value(), outcome.retries, outcome.peak_reserved, outcome.steps.size(),
            outcome.calls.seconds};
  }

  /// In the hardest future alone; whoever asks for all of them looks at the rest afterwards.
  std::uint64_t bisect(Service service, std::uint64_t too_small, std::uint64_t enough) {
    while (too_small + kCardUnit < enough) {
      const std::uint64_t middle = too_small + (enough - too_small) / kCardUnit / 2 * kCardUnit;
      sizes_.insert(middle);
      (run(hardest_, middle).is(service) ? enough : too_small) = middle;
    }
    return enough;
  }

  /// Of `found` and some sizes between it and `most`, the largest that does not serve every future;
  /// 0 where all do.
  std::uint64_t largest_failing(Service service, std::uint64_t found, std::uint64_t most) {
    std::set<std::uint64_t> sizes;
    for (std::uint64_t part = 0; part < kSpotChecks; ++part) {
      sizes.insert(found + (most - found) / kCardUnit * part / kSpotChecks * kCardUnit);
    }
    sizes.erase(most);
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
      const std::vector<OnCard> all = run_all(*size);
      const auto failing = std::find_if(all.begin(), all.end(),
                                        [&](const OnCard& each) { return !each.is(service); });
      if (failing == all.end()) continue;
      hardest_ = static_cast<std::size_t>(failing - all.begin());
      return *size;
    }
    return 0;
  }

  const Outlook& outlook_;
  const std::string& conf_;
  std::vector<Scenario> futures_;
  std::set<std::uint64_t> sizes_;
  std::size_t hardest_ = 0;
};

bool all_are(const std::vector<OnCard>& all, Service service) {
  return std::all_of(all.begin(), all.end(), [&](const OnCard& each) { return each.is(service); });
}

std::uint64_t in_card_units(std::uint64_t bytes) {
  return (bytes + kCardUnit - 1) / kCardUnit * kCardUnit;
}

}  // namespace

std::optional<SmallestCard> smallest_card(const Outlook& outlook, std::size_t job,
                                          const std::string& conf) {
  CardSearch search(outlook, job, conf);
  const std::vector<OnCard> unlimited = search.run_all(cache::kUnlimited);
  const auto hardest =
      std::max_element(unlimited.begin(), unlimited.end(),
                       [](const OnCard& a, const OnCard& b) { return a.peak < b.peak; });
  search.start_with(static_cast<std::size_t>(hardest - unlimited.begin()));
  // No limit is felt above the peak, but for settings that act before it is reached.
  std::uint64_t enough = in_card_units(hardest->peak);
  for (std::uint64_t more = kExpandablePage;; more *= 2) {
    if (enough > kLargestCard) return std::nullopt;
    if (all_are(search.run_all(enough), Service::at_once)) break;
    enough += more;
  }
  const std::uint64_t live = outlook.most_live(job);
  const std::uint64_t too_small = live == 0 ? 0 : (live - 1) / kCardUnit * kCardUnit;
  SmallestCard card;
  card.without_retries = search.smallest(Service::at_once, too_small, enough);
  card.with_retries = search.smallest(Service::after_retries, too_small, card.without_retries);
  const std::vector<OnCard> tight = search.run_all(card.with_retries);
  for (std::size_t i = 0; i < tight.size(); ++i) {
    if (tight[i].retries <= card.retries) continue;
    card.retries = tight[i].retries;
    card.steps = tight[i].steps;
    card.seconds = std::max(0.0, tight[i].seconds - unlimited[i].seconds);
  }
  card.futures = search.futures();
  card.sizes_tried = search.sizes_tried();
  return card;
}

}  // namespace ebb::replay

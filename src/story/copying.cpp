// SPDX-License-Identifier: Apache-2.0
#include "story/copying.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "story/family.h"

namespace ebb::story {
namespace {

// Between two readings, less is unrest.
constexpr double kLeastStep = 256 * 1024;
constexpr std::uint64_t kLeastCopied = 32 * base::kMiB;
constexpr double kLeastShareCopied = 0.1;

/// A family at one moment: the readings of its members, null for those that are not there.
struct Moment {
  double seconds = 0;
  std::vector<const Share*> shares;
};

/// What two sums over a family are.
struct Sums {
  double saved = 0;
  double pss = 0;
};

/// From one set of workers to the next.
struct Stretch {
  double since = 0, until = 0;
  double held_before = 0, held_after = 0;
  double copied = 0;  ///< and not gone with whoever ended
  double most = 0;
  std::vector<std::pair<double, double>> steps;
  std::vector<Moment> moments;
};

class CopyingJudge {
 public:
  explicit CopyingJudge(const Family& family) : family_(family) {}

  Copying judge() {
    for (const double seconds : moments_of(family_)) {
      const auto now = moment_at(seconds);
      if (!now) continue;
      if (count_of(*now) < 2) {
        close();
      } else {
        take(*now);
      }
      before_ = *now;
    }
    close();
    return found_;
  }

 private:
  static std::vector<double> moments_of(const Family& family) {
    std::vector<double> moments;
    for (const Relative& one : family)
      for (const Share& share : one.shares)
        moments.push_back(share.seconds);
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    return moments;
  }

  static std::size_t count_of(const Moment& moment) {
    return moment.shares.size() - static_cast<std::size_t>(std::count(
                                      moment.shares.begin(), moment.shares.end(), nullptr));
  }

  static Sums sums_of(const Moment& moment) {
    Sums sums;
    for (const Share* share : moment.shares) {
      if (share == nullptr) continue;
      sums.saved += share->saved;
      sums.pss += share->pss();
    }
    return sums;
  }

  /// Nothing where somebody who is there was not read yet, or nobody knows of it: with n processes
  /// sharing saves each of them at most (n - 1) / n.
  std::optional<Moment> moment_at(double seconds) const {
    Moment moment{seconds, {}};
    for (const Relative& one : family_) {
      const Share* share = one.is_there(seconds) ? one.at(seconds) : nullptr;
      if (one.is_there(seconds) && share == nullptr) return std::nullopt;
      moment.shares.push_back(share);
    }
    const auto count = static_cast<double>(std::max<std::size_t>(count_of(moment), 1));
    for (const Share* share : moment.shares) {
      if (share != nullptr && share->saved > share->held * (count - 1) / count + base::kMiB)
        return std::nullopt;
    }
    return moment;
  }

  /// What the sums would be now if nobody had written to a shared page since `before_`. Nothing
  /// where that cannot be said.
  std::optional<Sums> expected_at(const Moment& now) const {
    Sums sums;
    for (std::size_t i = 0; i < family_.size(); ++i) {
      const Share* was = before_ ? before_->shares[i] : nullptr;
      const Share* is = now.shares[i];
      if (was != nullptr) {
        sums.saved += was->saved;
        sums.pss += was->pss();
        if (is == nullptr) {
          sums.saved -= was->held - was->own();
          sums.pss -= was->own();
        } else if (is->held < was->held / 2) {
          return std::nullopt;  // it has become another program
        }
      } else if (is != nullptr && family_[i].parent) {
        sums.saved += family_[i].inherited;
      } else if (is != nullptr) {
        if (before_ || family_[i].inherited == 0) return std::nullopt;
        sums.pss += family_[i].inherited;
      }
    }
    return sums;
  }

  void take(const Moment& now) {
    double gone = 0;
    double left = 0;  // with the workers that stay
    double began = now.seconds;
    for (std::size_t i = 0; i < family_.size(); ++i) {
      const Share* was = before_ ? before_->shares[i] : nullptr;
      if (was != nullptr && now.shares[i] == nullptr) gone += was->own();
      if (was != nullptr && now.shares[i] != nullptr && family_[i].parent) left += was->own();
      if (was == nullptr && now.shares[i] != nullptr && family_[i].parent)
        began = std::min(began, family_[i].began);
    }
    if (gone > 0) {
      left = stretch_ ? std::min(std::max(stretch_->copied - gone, 0.0), left) : 0;
      if (left < kLeastStep) {
        close();
      } else {
        stretch_->copied = left;
      }
    }
    const auto expected = expected_at(now);
    if (!stretch_) {
      stretch_.emplace();
      const double before = before_ ? before_->seconds : began;
      stretch_->since = began < now.seconds ? std::max(began, before) : before;
      stretch_->held_before = expected ? expected->pss : sums_of(now).pss;
    }
    stretch_->moments.push_back(now);
    if (!expected) return;
    const Sums sums = sums_of(now);
    const double copied = std::min(expected->saved - sums.saved, sums.pss - expected->pss);
    if (copied < kLeastStep) return;
    if (stretch_->steps.empty() && stretch_->moments.size() > 1) {
      stretch_->since = before_->seconds;
      stretch_->held_before = expected->pss;
    }
    stretch_->copied += copied;
    stretch_->steps.emplace_back(now.seconds, copied);
    if (stretch_->copied <= stretch_->most) return;
    stretch_->most = stretch_->copied;
    stretch_->until = now.seconds;
    stretch_->held_after = sums.pss;
  }

  /// The workers of this stretch are gone, or the record ends.
  void close() {
    const std::optional<Stretch> over = std::exchange(stretch_, std::nullopt);
    if (!over || over->steps.empty()) return;
    Copying one = copying_of(*over);
    const std::size_t times = found_.times + (one.matters() ? 1 : 0);
    if (one.copied > found_.copied) found_ = std::move(one);
    found_.times = times;
  }

  Copying copying_of(const Stretch& over) const {
    Copying one;
    one.copied = static_cast<std::uint64_t>(over.most);
    one.since = over.since;
    one.until = over.until;
    one.held_before = static_cast<std::uint64_t>(over.held_before);
    one.held_after = static_cast<std::uint64_t>(over.held_after);
    one.readings = over.moments.size();
    const double last = over.moments.back().seconds;
    const double late = over.since + (last - over.since) * 2 / 3;
    // One reading says how much was copied by then, and nothing of its end.
    for (std::size_t i = 1; i < over.moments.size(); ++i)
      if (over.moments[i].seconds > late) ++one.readings_late;
    for (const auto& [seconds, copied] : over.steps)
      if (seconds > late) one.copied_late += static_cast<std::uint64_t>(copied);
    one.still_shared = static_cast<std::uint64_t>(sums_of(over.moments.back()).saved);
    for (std::size_t i = 0; i < family_.size(); ++i)
      add_process(one, over, i);
    return one;
  }

  void add_process(Copying& one, const Stretch& over, std::size_t member) const {
    std::optional<double> first;
    double most = 0;
    for (const Moment& moment : over.moments) {
      const Share* share = moment.shares[member];
      if (share == nullptr) continue;
      if (!first) first = share->uss;
      most = std::max(most, share->uss);
    }
    if (!first) return;
    const Relative& relative = family_[member];
    const bool is_new = relative.parent && relative.began >= over.since - 1;
    const bool is_root =
        !relative.parent && std::any_of(family_.begin(), family_.end(), [&](const Relative& other) {
          return other.parent && *other.parent == member;
        });
    one.processes.push_back({relative.index, is_root,
                             static_cast<std::uint64_t>(is_new ? 0 : *first),
                             static_cast<std::uint64_t>(most)});
  }

  const Family& family_;
  std::optional<Moment> before_;
  std::optional<Stretch> stretch_;
  Copying found_;
};

}  // namespace

bool Copying::matters() const {
  return copied >= kLeastCopied &&
         static_cast<double>(copied) >= kLeastShareCopied * static_cast<double>(held_before);
}

std::vector<Copying> copying_in(const record::RecordedRun& run) {
  std::vector<Copying> found;
  for (const Family& family : families_of(run)) {
    Copying one = CopyingJudge(family).judge();
    if (one.copied > 0) found.push_back(std::move(one));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Copying& a, const Copying& b) { return a.copied > b.copied; });
  return found;
}

}  // namespace ebb::story

// SPDX-License-Identifier: Apache-2.0
#include "replay/tune/steps.h"

#include <algorithm>
#include <numeric>

#include "replay/lifetimes.h"

namespace ebb::replay {
namespace {

using Kind = Operation::Kind;

/// A valley is where no more than the first share of what steps add at most is left of one, and two
/// valleys are two only if more than the second share was live in between. Sharp ones first: a step
/// that has dips of its own is told from them, and a small step is seen beside a large one.
struct Relief {
  double valley;
  double hill;
};
constexpr Relief kReliefs[] = {{0.01, 0.05}, {0.03, 0.15}, {0.06, 0.20}};

/// What may be left in a valley where the others are empty.
constexpr double kDip = 0.002;

/// Steps that have to be alike, by their requests, for a job to be one that repeats itself.
constexpr double kAlike = 0.7;
/// Steps that differ are steps all the same where they share so little of what they allocate.
constexpr double kShared = 0.2;
constexpr std::size_t kLeastOwnSteps = 6;

constexpr std::size_t kMostPieces = 16;
constexpr std::size_t kLeastRequestsOfPiece = 16;

/// Two steps allocate about as often.
bool is_close(std::uint32_t fewer, std::uint32_t more) {
  return more - fewer <= 2 + fewer / 50;
}

/// What is live along a job, and how little will ever be live again.
struct Course {
  std::vector<std::uint64_t> live;    ///< after each operation
  std::vector<std::uint64_t> lowest;  ///< from each operation on
  std::uint64_t peak = 0;
  std::uint32_t end = 0;  ///< before the job is taken down

  double above(std::uint32_t at) const { return static_cast<double>(live[at] - lowest[at]); }
  double span(std::uint32_t at) const { return static_cast<double>(peak - lowest[at]); }
};

Course course_of(const Workload& job) {
  Course course;
  const Needs needs(job);
  std::vector<std::uint64_t> sizes(job.blocks);
  std::vector<std::uint32_t> allocations;  // the operation after each
  std::uint64_t live = 0;
  for (const Operation& op : job.operations) {
    if (op.kind == Kind::allocate) {
      live += sizes[op.block] = needs(op);
    } else if (op.kind == Kind::free || op.kind == Kind::free_later) {
      live -= sizes[op.block];
      sizes[op.block] = 0;
    }
    course.live.push_back(live);
    course.peak = std::max(course.peak, live);
    if (op.kind == Kind::allocate)
      allocations.push_back(static_cast<std::uint32_t>(course.live.size()));
  }
  // The end of a step is made of frees; the end of a job frees what all steps had in common, and
  // hardly allocates any more.
  const std::size_t stray = std::min(allocations.size() / 2, 4 + allocations.size() / 300);
  course.end = allocations.empty() ? 0 : allocations[allocations.size() - 1 - stray];
  if (course.end == 0) return course;
  const auto begin = course.live.begin();
  const std::uint64_t floor = *std::min_element(begin + course.end / 2, begin + course.end);
  while (course.end < course.live.size() && course.live[course.end] >= floor) {
    ++course.end;
  }
  course.live.resize(course.end);
  course.lowest = course.live;
  for (std::uint32_t at = course.end; at-- > 1;) {
    course.lowest[at - 1] = std::min(course.lowest[at - 1], course.lowest[at]);
  }
  return course;
}

/// The operations behind which a valley is deepest, in order: each is the last of the lowest.
std::vector<std::uint32_t> valleys_of(const Course& course, std::uint32_t from,
                                      const Relief& relief) {
  std::vector<std::uint32_t> valleys;
  bool climbed = true;  // what is live before the first operation is a valley's depth
  double depth = 0;
  for (std::uint32_t at = from; at < course.end; ++at) {
    const double above = course.above(at);
    const double span = course.span(at);
    if (above > relief.hill * span) climbed = true;
    if (above > relief.valley * span) continue;
    if (climbed) {
      valleys.push_back(at);
      depth = above;
      climbed = false;
    } else if (above <= depth) {
      valleys.back() = at;
      depth = above;
    }
  }
  return valleys;
}

/// Takes out what is no valley beside the others: a dip within a step.
void drop_dips(const Course& course, std::vector<std::uint32_t>& valleys) {
  if (valleys.size() < 4) return;
  std::vector<double> depths;
  for (const std::uint32_t valley : valleys) {
    depths.push_back(course.above(valley));
  }
  const auto middle = depths.begin() + static_cast<std::ptrdiff_t>(depths.size() / 2);
  std::nth_element(depths.begin(), middle, depths.end());
  const double usual = *middle;
  std::erase_if(valleys, [&](std::uint32_t valley) {
    return course.above(valley) > 4 * usual + kDip * course.span(valley);
  });
}

/// Takes out valleys at the end that are none: what is live when a recording ends is never lower
/// again, also in the middle of a step.
void drop_cut_step(const Course& course, std::vector<std::uint32_t>& valleys) {
  std::vector<double> rises;
  for (std::size_t i = valleys.size() / 2; i > 0 && i < valleys.size(); ++i) {
    rises.push_back(static_cast<double>(course.live[valleys[i]]) -
                    static_cast<double>(course.live[valleys[i - 1]]));
  }
  if (rises.size() < 3) return;
  std::vector<double> sorted = rises;
  std::sort(sorted.begin(), sorted.end());
  const double usual = std::max(0.0, sorted[sorted.size() / 2]);
  for (std::size_t dropped = 0; dropped < rises.size() / 2; ++dropped) {
    if (rises.back() <= 2 * usual + kDip * course.span(valleys.back())) break;
    valleys.pop_back();
    rises.pop_back();
  }
}

std::vector<std::uint32_t> allocations_of(const Workload& job, const Steps& steps) {
  std::vector<std::uint32_t> counts(steps.count());
  for (std::size_t step = 0; step < steps.count(); ++step) {
    for (std::uint32_t at = steps.begins[step]; at < steps.end_of(step); ++at) {
      if (job.operations[at].kind == Kind::allocate) ++counts[step];
    }
  }
  return counts;
}

/// Gives alike steps the same number.
void tell_kinds(Steps& steps, const std::vector<std::uint32_t>& allocations) {
  std::vector<std::size_t> order(steps.count() - 1);
  std::iota(order.begin(), order.end(), std::size_t{1});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return allocations[a] < allocations[b]; });
  steps.kinds.assign(steps.count(), 0);
  std::uint32_t kind = 1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && !is_close(allocations[order[i - 1]], allocations[order[i]])) ++kind;
    steps.kinds[order[i]] = kind;
  }
}

/// Whether most of the job is steps that have one alike.
bool are_alike(const Steps& steps) {
  if (steps.count() < 3) return false;
  std::vector<std::size_t> members(steps.count() + 1);
  for (std::size_t step = 1; step < steps.count(); ++step) {
    ++members[steps.kinds[step]];
  }
  double alike = 0;
  for (std::size_t step = 1; step < steps.count(); ++step) {
    if (members[steps.kinds[step]] > 1) alike += steps.end_of(step) - steps.begins[step];
  }
  return alike >= kAlike * (steps.end - steps.begins[1]);
}

/// Whether steps leave each other little but what they leave for good.
bool are_self_contained(const Workload& job, const Steps& steps) {
  if (steps.count() <= kLeastOwnSteps) return false;
  double own = 0;
  double shared = 0;
  std::size_t step = 0;
  for (const Lifetime& life : lifetimes_of(job)) {
    if (life.first >= steps.end || life.failed) break;
    while (life.first >= steps.end_of(step)) {
      ++step;
    }
    if (step == 0 || life.released >= steps.end) continue;
    (life.released < steps.end_of(step) ? own : shared) += static_cast<double>(life.bytes);
  }
  return shared <= kShared * own;
}

/// Bytes that each step allocated and the recording never saw freed.
std::vector<std::uint64_t> kept_by(const Workload& job, const Steps& steps) {
  std::vector<std::uint64_t> kept(steps.count());
  const std::vector<Lifetime> lives = lifetimes_of(job);
  std::size_t step = 0;
  for (std::uint32_t block = 0; block < job.blocks; ++block) {
    const Lifetime& life = lives[block];
    if (life.first >= steps.end) break;
    while (life.first >= steps.end_of(step)) {
      ++step;
    }
    if (life.released >= steps.end) kept[step] += life.bytes;
  }
  return kept;
}

/// The first step after those that keep more than usual: the usual is what the later half keeps,
/// less its last ones, whose blocks the next step may free.
std::size_t first_steady(const Workload& job, const Steps& steps, std::uint64_t peak) {
  const std::vector<std::uint64_t> kept = kept_by(job, steps);
  const std::size_t count = steps.count();
  if (count < 4) return 1;
  std::vector<std::uint64_t> later(kept.begin() + static_cast<std::ptrdiff_t>(count / 2),
                                   kept.end() - 1);
  std::nth_element(later.begin(), later.begin() + static_cast<std::ptrdiff_t>(later.size() / 2),
                   later.end());
  const std::uint64_t usual = later[later.size() / 2];
  std::size_t first = 1;
  for (std::size_t step = 1; step < count / 2; ++step) {
    if (kept[step] > 2 * usual + peak / 200) first = step + 1;
  }
  return first;
}

/// Cuts a job that does not repeat itself where least is live in each of some equal parts.
void cut_in_pieces(const Course& course, Steps& steps) {
  steps.begins = {0};
  const std::size_t pieces = std::min(kMostPieces, course.end / kLeastRequestsOfPiece);
  for (std::size_t piece = 1; piece < pieces; ++piece) {
    // The middle half of its part, so that no piece is shorter than half a part.
    const std::size_t from = (4 * piece - 1) * course.end / (4 * pieces);
    const std::size_t to = (4 * piece + 1) * course.end / (4 * pieces);
    const auto begin = course.live.begin();
    const auto least = std::min_element(begin + static_cast<std::ptrdiff_t>(from),
                                        begin + static_cast<std::ptrdiff_t>(to));
    const auto cut = static_cast<std::uint32_t>(least - begin) + 1;
    if (cut > steps.begins.back() && cut < course.end) steps.begins.push_back(cut);
  }
  steps.kinds.assign(steps.count(), 1);
  steps.end = course.end;
  steps.steady = steps.count() > 1 ? 1 : 0;
}

}  // namespace

Steps find_steps(const Workload& workload) {
  const Course course = course_of(workload);
  Steps steps;
  for (const Relief& relief : kReliefs) {
    steps.begins = {0};
    std::vector<std::uint32_t> valleys = valleys_of(course, workload.first_recorded, relief);
    drop_dips(course, valleys);
    drop_cut_step(course, valleys);
    for (const std::uint32_t valley : valleys) {
      steps.begins.push_back(valley + 1);
    }
    steps.end = steps.begins.back();
    if (steps.count() < 3) continue;
    steps.begins.pop_back();
    tell_kinds(steps, allocations_of(workload, steps));
    steps.repeats = are_alike(steps);
    if (!steps.repeats && are_self_contained(workload, steps)) {
      steps.repeats = true;
      steps.kinds.assign(steps.count(), 1);
    }
    if (!steps.repeats) continue;
    steps.steady = first_steady(workload, steps, course.peak);
    return steps;
  }
  cut_in_pieces(course, steps);
  return steps;
}

}  // namespace ebb::replay

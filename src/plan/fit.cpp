// SPDX-License-Identifier: Apache-2.0
#include "plan/fit.h"

#include <algorithm>
#include <functional>

#include "base/text.h"

namespace ebb::plan {
namespace {

// Reserved bytes follow from fragmentation, which the rehearsal only comes near to.
constexpr double kReservedError = 10;
constexpr std::size_t kMostChangesShown = 6;
constexpr std::size_t kMostChangesAtOnce = 3;

/// What a change is about. Two changes of the same aspect exclude each other.
enum class Aspect : std::uint8_t { attention, checkpoint, precision, optimizer, zero, batch };

struct Change {
  Aspect aspect;
  std::string text;
  double slowdown_percent = 0;
  bool changes_results = false;
  std::function<void(TransformerRequest&)> apply;
};

/// What could be changed about the request, single steps.
std::vector<Change> possible_changes(const TransformerRequest& request) {
  std::vector<Change> list;
  const TransformerTraining& training = request.training;
  if (training.attention == Attention::eager) {
    list.push_back({Aspect::attention, "--attention sdpa", 0, false,
                    [](TransformerRequest& to) { to.training.attention = Attention::sdpa; }});
    if (training.checkpoint == Checkpoint::none)
      list.push_back(
          {Aspect::checkpoint, "--checkpoint selective", 3, false,
           [](TransformerRequest& to) { to.training.checkpoint = Checkpoint::selective; }});
  }
  if (training.checkpoint != Checkpoint::full)
    list.push_back({Aspect::checkpoint, "--checkpoint full", 33, false,
                    [](TransformerRequest& to) { to.training.checkpoint = Checkpoint::full; }});
  if (training.precision == Precision::fp32)
    list.push_back({Aspect::precision, "--precision amp", 0, true,
                    [](TransformerRequest& to) { to.training.precision = Precision::amp; }});
  if (training.precision == Precision::fp32 || training.precision == Precision::amp)
    list.push_back({Aspect::precision, "--precision bf16", 0, true,
                    [](TransformerRequest& to) { to.training.precision = Precision::bf16; }});
  if (request.optimizer == Optimizer::adam || request.optimizer == Optimizer::adamw) {
    list.push_back({Aspect::optimizer, "--optimizer adam8bit", 2, true,
                    [](TransformerRequest& to) { to.optimizer = Optimizer::adam8bit; }});
    list.push_back({Aspect::optimizer, "--optimizer adafactor", 5, true,
                    [](TransformerRequest& to) { to.optimizer = Optimizer::adafactor; }});
  }
  const std::uint64_t replicas = request.gpus / (training.tensor_parallel * request.pipeline);
  for (int stage = request.zero + 1; stage <= 3 && replicas > 1; ++stage) {
    list.push_back({Aspect::zero, "--zero " + std::to_string(stage),
                    stage == 3 ? 15.0 : 2.0 * stage, false,
                    [stage](TransformerRequest& to) { to.zero = stage; }});
  }
  double slowdown = 4;
  for (std::uint64_t batch = training.batch / 2; batch > 0; batch /= 2, slowdown += 2) {
    const std::uint64_t sums = (training.batch + batch - 1) / batch;
    list.push_back({Aspect::batch,
                    base::format_text("--batch %llu --accumulate (%llu times)",
                                      static_cast<unsigned long long>(batch),
                                      static_cast<unsigned long long>(sums)),
                    slowdown, false, [batch](TransformerRequest& to) {
                      to.training.batch = batch;
                      to.accumulates = true;
                    }});
  }
  return list;
}

/// What goes on until it is done or stopped.
class Search {
 public:
  explicit Search(const Stops& stops) : stops_(stops) {}

  bool is_over() const {
    was_stopped_ = was_stopped_ || (stops_ && stops_());
    return was_stopped_;
  }
  base::Status end() const {
    if (!was_stopped_) return {};
    return base::error(base::Code::unavailable, "the search for what fits was stopped");
  }

 private:
  const Stops& stops_;
  mutable bool was_stopped_ = false;
};

class ChangeSearch {
 public:
  ChangeSearch(const TransformerRequest& request, std::uint64_t cap, const Search& search)
      : request_(request), cap_(cap), search_(search), changes_(possible_changes(request)) {}

  std::vector<FittingChange> run() {
    for (std::size_t size = 1; size <= kMostChangesAtOnce; ++size)
      extend(0, size);
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) {
      if (a.slowdown_percent != b.slowdown_percent) return a.slowdown_percent < b.slowdown_percent;
      if (a.changes_results != b.changes_results) return b.changes_results;
      return a.plan.device_total() < b.plan.device_total();
    });
    if (found_.size() > kMostChangesShown) found_.resize(kMostChangesShown);
    return std::move(found_);
  }

 private:
  void extend(std::size_t from, std::size_t wanted) {
    if (chosen_.size() == wanted) {
      consider();
      return;
    }
    for (std::size_t i = from; i < changes_.size(); ++i) {
      const bool excluded = std::any_of(chosen_.begin(), chosen_.end(), [&](std::size_t other) {
        return changes_[i].aspect == changes_[other].aspect;
      });
      if (excluded) continue;
      chosen_.push_back(i);
      extend(i + 1, wanted);
      chosen_.pop_back();
    }
  }

  /// Nothing is gained by more changes than are needed.
  bool contains_smaller() const {
    return std::any_of(sets_.begin(), sets_.end(), [&](const std::vector<std::size_t>& set) {
      return std::includes(chosen_.begin(), chosen_.end(), set.begin(), set.end());
    });
  }

  void consider() {
    if (search_.is_over() || contains_smaller()) return;
    TransformerRequest changed = request_;
    FittingChange change;
    for (const std::size_t i : chosen_) {
      changes_[i].apply(changed);
      change.changes.push_back(changes_[i].text);
      change.slowdown_percent += changes_[i].slowdown_percent;
      change.changes_results = change.changes_results || changes_[i].changes_results;
    }
    const auto result = plan(changed);
    if (!result || !fits(*result, cap_)) return;
    change.plan = *result;
    sets_.push_back(chosen_);
    found_.push_back(std::move(change));
  }

  const TransformerRequest& request_;
  const std::uint64_t cap_;
  const Search& search_;
  const std::vector<Change> changes_;
  std::vector<std::size_t> chosen_;
  std::vector<std::vector<std::size_t>> sets_;
  std::vector<FittingChange> found_;
};

/// The largest number from 1 to `most` for which `holds`, which is true up to some number and false
/// from there on; 0 when it never is.
std::uint64_t largest(std::uint64_t most, const std::function<bool(std::uint64_t)>& holds) {
  std::uint64_t good = 0, bad = 1;
  while (bad <= most && holds(bad)) {
    good = bad;
    bad *= 2;
  }
  bad = std::min(bad, most + 1);
  while (bad - good > 1) {
    const std::uint64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace

bool fits(const Plan& plan, std::uint64_t cap) {
  const std::uint64_t reserved =
      plan.device_total() - plan.surroundings.context - plan.surroundings.workspaces;
  const auto error =
      static_cast<std::uint64_t>(static_cast<double>(reserved) * kReservedError / 100);
  return plan.device_total() + std::max(plan.error_bytes(), error) <= cap;
}

base::Result<Fit> fit(const TransformerRequest& request, std::uint64_t cap, const Stops& stops) {
  const Search search(stops);
  auto asked = plan(request);
  if (!asked) return asked.error();
  Fit result;
  result.cap = cap;
  result.plan = std::move(*asked);
  result.fits = fits(result.plan, cap);
  const auto fits_with = [&](std::uint64_t batch, std::uint64_t sequence) {
    if (search.is_over()) return false;
    TransformerRequest changed = request;
    changed.training.batch = batch;
    changed.training.sequence = sequence;
    const auto planned = plan(changed);
    return planned && fits(*planned, cap);
  };
  result.largest_batch = largest(
      1 << 16, [&](std::uint64_t batch) { return fits_with(batch, request.training.sequence); });
  const auto model = request.model.completed();
  if (!model) return model.error();
  const std::uint64_t longest =
      model->max_positions > 0 ? model->max_positions : std::uint64_t{1} << 22;
  result.largest_sequence = largest(
      longest, [&](std::uint64_t sequence) { return fits_with(request.training.batch, sequence); });
  if (!result.fits) result.changes = ChangeSearch(request, cap, search).run();
  if (const base::Status end = search.end(); !end) return end.error();
  return result;
}

base::Result<NetworkFit> fit(const NetworkRequest& request, std::uint64_t cap, const Stops& stops) {
  const Search search(stops);
  auto asked = plan(request);
  if (!asked) return asked.error();
  NetworkFit result;
  result.cap = cap;
  result.plan = std::move(*asked);
  result.fits = fits(result.plan, cap);
  result.largest_batch = largest(1 << 20, [&](std::uint64_t batch) {
    if (search.is_over()) return false;
    NetworkRequest changed = request;
    changed.batch = batch;
    const auto planned = plan(changed);
    return planned && fits(*planned, cap);
  });
  if (const base::Status end = search.end(); !end) return end.error();
  return result;
}

base::Json to_json(const Fit& fit) {
  base::Json changes = base::Json::array();
  for (const FittingChange& change : fit.changes) {
    base::Json words = base::Json::array();
    for (const std::string& text : change.changes)
      words.push(text);
    base::Json unverified = base::Json::array();
    for (const std::string& what : change.plan.unverified)
      unverified.push(what);
    changes.push(base::Json::object({{"changes", std::move(words)},
                                     {"slowdown_percent", change.slowdown_percent},
                                     {"changes_results", change.changes_results},
                                     {"peak_bytes", change.plan.peak()},
                                     {"device_bytes", change.plan.device_total()},
                                     {"unverified", std::move(unverified)}}));
  }
  return base::Json::object({{"cap_bytes", fit.cap},
                             {"fits", fit.fits},
                             {"largest_batch", fit.largest_batch},
                             {"largest_sequence", fit.largest_sequence},
                             {"changes", std::move(changes)}});
}

base::Json to_json(const NetworkFit& fit) {
  return base::Json::object(
      {{"cap_bytes", fit.cap}, {"fits", fit.fits}, {"largest_batch", fit.largest_batch}});
}

base::Json plan_json(const Fit& fit) {
  base::Json json = to_json(fit.plan);
  json.set("fit", to_json(fit));
  return json;
}

base::Json plan_json(const NetworkFit& fit) {
  base::Json json = to_json(fit.plan);
  json.set("fit", to_json(fit));
  return json;
}

}  // namespace ebb::plan

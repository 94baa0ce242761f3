// SPDX-License-Identifier: Apache-2.0
#include "keep/cleanup.h"

#include <algorithm>
#include <new>

#include "base/bytes.h"
#include "base/text.h"
#include "sense/process.h"

namespace ebb::keep {
namespace {

constexpr std::uint64_t kWorthLookingBeside = 32ULL << 20;

void add_once(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

std::int64_t difference(const std::optional<std::uint64_t>& before,
                        const std::optional<std::uint64_t>& after) {
  if (!before || !after) return 0;
  return static_cast<std::int64_t>(*before) - static_cast<std::int64_t>(*after);
}

base::Json to_json(const fact::ProcessSample& sample) {
  return base::Json::object({{"rss_bytes", sample.rss},
                             {"live_bytes", sample.live},
                             {"retained_bytes", sample.retained}});
}

std::string text_of(const std::optional<std::uint64_t>& bytes) {
  return bytes ? base::bytes_text(*bytes) : "unknown";
}

}  // namespace

base::Json to_json(const CleanupReport& report) {
  const fact::Cleanup& measured = report.measured;
  base::Json steps = base::Json::array();
  for (const CleanupStep& step : report.steps) {
    steps.push(base::Json::object({{"name", step.name},
                                   {"ok", step.ok},
                                   {"returned_bytes", step.returned},
                                   {"seconds", step.seconds},
                                   {"detail", step.detail}}));
  }
  base::Json notes = base::Json::array();
  for (const std::string& note : report.notes)
    notes.push(note);
  return base::Json::object({{"allocator", heap::name_of(report.allocator)},
                             {"before", to_json(measured.before)},
                             {"after", to_json(measured.after)},
                             {"returned_bytes", measured.returned},
                             {"devices", fact::devices_json(measured.devices)},
                             {"seconds", measured.seconds},
                             {"depth", fact::name_of(measured.depth)},
                             {"steps", steps},
                             {"notes", notes},
                             {"coalesced", report.coalesced}});
}

bool is_worth_looking_beside(fact::ProcessSample memory) {
  const auto process = sense::read_process();
  if (!process) return false;
  memory.anon = process->anon;
  memory.swap = process->swap;
  return memory.beside().value_or(memory.held().value_or(0)) >= kWorthLookingBeside;
}

fact::ProcessSample sample_of(heap::HostAllocator& allocator, const RssSource& rss) {
  const heap::HeapReading heap = allocator.read();
  fact::ProcessSample sample;
  sample.rss = rss();
  sample.live = heap.live;
  sample.retained = heap.retained;
  return sample;
}

std::string summary_of(const CleanupReport& report) {
  const fact::Cleanup& measured = report.measured;
  return base::format_text("returned %s in %.0f ms: rss %s -> %s (%s, %s)",
                           fact::returned_text(measured.returned, measured.devices).c_str(),
                           measured.seconds * 1e3, text_of(measured.before.rss).c_str(),
                           text_of(measured.after.rss).c_str(), heap::name_of(report.allocator),
                           fact::name_of(measured.depth));
}

Cleaner::Cleaner(heap::HostAllocator& allocator, base::ReclaimerRegistry& reclaimers, RssSource rss,
                 const base::Clock& clock)
    : allocator_(allocator), reclaimers_(reclaimers), rss_(std::move(rss)), clock_(clock) {}

CleanupReport Cleaner::clean(const CleanupRequest& request) {
  std::uint64_t mine = 0;
  {
    base::Lock lock(mutex_);
    if (running_ != 0 && runner_ == std::this_thread::get_id()) {
      CleanupReport nested;
      nested.allocator = allocator_.kind();
      nested.notes.emplace_back("called from inside a cleanup: nothing was done");
      return nested;
    }
    while (running_ != 0) {
      const std::uint64_t awaited = generation_;
      while (running_ != 0 && generation_ == awaited)
        finished_.wait(mutex_);
      if (latest_.measured.trigger == fact::Trigger::card && !request.devices_alone) continue;
      CleanupReport shared = latest_;
      shared.coalesced = true;
      return shared;
    }
    mine = running_ = ++started_;
    runner_ = std::this_thread::get_id();
  }
  CleanupReport report;
  try {
    report = run(request);
  } catch (...) {
    // Whoever waits must not wait for ever.
    finish(mine, {});
    throw;
  }
  finish(mine, report);
  if (request.announce && observer_) observer_(report.measured);
  return report;
}

void Cleaner::finish(std::uint64_t mine, const CleanupReport& report) {
  base::Lock lock(mutex_);
  // In a child that a hook forked: what runs here by now is another cleanup.
  if (running_ != mine) return;
  const fact::Cleanup& measured = report.measured;
  if (measured.depth == fact::Depth::deep) beyond_reach_ = measured.after.retained.value_or(0);
  try {
    latest_ = report;
  } catch (const std::bad_alloc&) {
    latest_ = {};
  }
  ++generation_;
  running_ = 0;
  runner_ = {};
  finished_.notify_all();
}

CleanupReport Cleaner::run(const CleanupRequest& request) {
  CleanupReport report;
  report.allocator = allocator_.kind();
  fact::Cleanup& measured = report.measured;
  const std::int64_t start = clock_.now_ns();
  if (request.devices_alone) {
    measured.trigger = fact::Trigger::card;
    measured.before.rss = rss_();
    reclaim(request, report);
    measured.after.rss = rss_();
    measured.count_returned();
    measured.seconds = base::seconds_between(start, clock_.now_ns());
    return report;
  }
  measured.before = sample_of(allocator_, rss_);
  if (request.hooks) reclaim(request, report);
  if (request.beside) give_back_beside(report);
  give_back(fact::Depth::light, report);
  measured.after = sample_of(allocator_, rss_);
  if (request.deep || deep_is_worth_it(measured.after)) {
    give_back(fact::Depth::deep, report);
    measured.after = sample_of(allocator_, rss_);
  }
  measured.count_returned();
  measured.seconds = base::seconds_between(start, clock_.now_ns());
  return report;
}

void Cleaner::reclaim(const CleanupRequest& request, CleanupReport& report) {
  fact::Cleanup& measured = report.measured;
  std::optional<std::uint64_t> rss = measured.before.rss;
  const auto note = [&](const base::ReclaimerRegistry::Entry& entry,
                        const base::Reclaimed& reclaimed, double seconds) {
    const std::optional<std::uint64_t> now = rss_();
    report.steps.push_back(
        {entry.name, reclaimed.ok, difference(rss, now), seconds, reclaimed.detail});
    for (const base::DeviceChange& change : reclaimed.devices)
      measured.add(change);
    rss = now;
  };
  if (request.devices_alone) {
    reclaimers_.run_only(base::Stage::device_cache, note);
  } else {
    reclaimers_.run(request.cuda_empty_cache, note, request.collect_garbage);
  }
}

void Cleaner::give_back(fact::Depth depth, CleanupReport& report) {
  const std::optional<std::uint64_t> before = rss_();
  const std::int64_t start = clock_.now_ns();
  const heap::GiveBack done = allocator_.give_back(depth);
  const double seconds = base::seconds_between(start, clock_.now_ns());
  for (const std::string& note : done.notes)
    add_once(report.notes, note);
  if (!done.attempted) return;
  std::string calls;
  for (const std::string& step : done.steps)
    calls += (calls.empty() ? "" : ", ") + step;
  report.measured.depth = depth;
  report.steps.push_back(
      {std::string(heap::name_of(allocator_.kind())) + " " + fact::name_of(depth), true,
       difference(before, rss_()), seconds, calls});
}

void Cleaner::give_back_beside(CleanupReport& report) {
  if (beside_ == nullptr) {
    if (!is_worth_looking_beside(report.measured.before)) return;
    beside_ = std::make_unique<heap::PrivateAllocators>();
  }
  beside_->look();
  for (const auto& [name, bytes, seconds] : beside_->give_back(rss_))
    report.steps.push_back({name, true, bytes, seconds, ""});
}

bool Cleaner::deep_is_worth_it(const fact::ProcessSample& left) const {
  if (!left.retained) return false;
  base::Lock lock(mutex_);
  const std::uint64_t reachable = *left.retained - std::min(*left.retained, beyond_reach_);
  return reachable > kWorthGoingDeepBytes &&
         static_cast<double>(reachable) >
             kWorthGoingDeepShare * static_cast<double>(left.rss.value_or(0));
}

std::optional<int> Cleaner::trim() {
  fact::Cleanup trimmed;
  trimmed.before.rss = rss_();
  const std::int64_t start = clock_.now_ns();
  const heap::GiveBack done = allocator_.give_back(fact::Depth::light);
  if (!done.attempted) return std::nullopt;
  trimmed.seconds = base::seconds_between(start, clock_.now_ns());
  trimmed.after.rss = rss_();
  trimmed.count_returned();
  if (observer_) observer_(trimmed);
  if (done.native_result) return *done.native_result != 0 ? 1 : 0;
  return trimmed.returned > 0 ? 1 : 0;
}

void Cleaner::after_fork_in_child(void* self) EBB_ANNOTATION(no_thread_safety_analysis) {
  auto* cleaner = static_cast<Cleaner*>(self);
  cleaner->running_ = 0;
  // The parent may have been in the middle of them: not even fit to be destroyed.
  static_cast<void>(cleaner->beside_.release());
  cleaner->runner_ = {};
  cleaner->finished_.renew();
}

}  // namespace ebb::keep

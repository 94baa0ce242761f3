// SPDX-License-Identifier: Apache-2.0
#include "metrics/collector.h"

#include <unistd.h>

#include <algorithm>

#include "metrics/catalogue.h"

namespace ebb::metrics {
namespace {

// Of a run that is new here: allocators are asked every few minutes at the least.
constexpr double kBeginSeconds = 300;
constexpr double kJudgeSeconds = 15;
// Judging takes at most this share of the time.
constexpr double kJudgeShare = 0.02;

}  // namespace

base::Result<std::vector<Family>> Collector::collect(double unix_seconds) {
  Families families;
  families.add(kBuild, {{"version", EBB_VERSION}}, 1);
  if (::access(path_.c_str(), F_OK) != 0) return families.all();
  auto store = record::Store::open(path_);
  if (!store) return store.error();
  auto running = store->running();
  if (!running) return running.error();
  std::map<std::int64_t, Watched> before = std::move(runs_);
  runs_.clear();
  std::reverse(running->begin(), running->end());
  for (const record::RunSummary& one : *running) {
    const std::int64_t run = one.run.id;
    if (only_run_ && run != *only_run_) continue;
    auto known = before.extract(run);
    Watched& watched =
        known ? runs_.insert(std::move(known)).position->second
              : runs_.emplace(run, Watched{RunWatch(std::max(0.0, one.seconds - kBeginSeconds))})
                    .first->second;
    if (const auto done = refresh(*store, run, watched); !done) return done.error();
    watched.watch.add_to(families, unix_seconds);
  }
  return families.all();
}

base::Status Collector::refresh(record::Store& store, std::int64_t run, Watched& watched) const {
  const auto recent = store.recent(run, watched.watch.recent_from());
  if (!recent) return recent.error();
  watched.watch.take(*recent);
  const std::int64_t start = clock_->now_ns();
  if (start < watched.next_judged_ns) return {};
  const auto whole = store.read(run);
  if (!whole) return whole.error();
  watched.watch.judge(*whole);
  const std::int64_t end = clock_->now_ns();
  const double pause = std::max(kJudgeSeconds, base::seconds_between(start, end) / kJudgeShare);
  watched.next_judged_ns = end + static_cast<std::int64_t>(pause * 1e9);
  return {};
}

}  // namespace ebb::metrics

// SPDX-License-Identifier: Apache-2.0
#include "serve/analysis.h"

#include <new>

#include "base/text.h"
#include "show/snapshot_page.h"
#include "trace/snapshot_reader.h"

namespace ebb::serve {
namespace {

/// Thrown out of a reader that is to stop: it knows no other way.
struct ReadingStopped {};

base::Error stopped() {
  return base::error(base::Code::unavailable, "stopped");
}

base::Error no_memory(const std::string& name) {
  return base::error(base::Code::out_of_memory, "%s: not enough memory to look at it",
                     name.c_str());
}

}  // namespace

base::Status Analysis::read(std::unique_ptr<pack::ByteSource> source) try {
  trace::ReadOptions options;
  options.progress = [this](std::uint64_t done, std::uint64_t total) {
    if (watch_.stops()) throw ReadingStopped{};
    if (total > 0) watch_.progress(static_cast<double>(done) / static_cast<double>(total));
  };
  auto jobs = replay::read_jobs(*source, name_, std::nullopt, std::nullopt, options,
                                replay::History::optional);
  if (!jobs) return jobs.error();
  jobs_ = *std::move(jobs);
  return {};
} catch (const ReadingStopped&) {
  return stopped();
} catch (const std::bad_alloc&) {
  return no_memory(name_);
}

base::Status Analysis::diagnose() try {
  std::vector<page::Document> pages;
  for (const replay::Job& job : jobs_) {
    if (watch_.stops()) return stopped();
    const auto diagnosis = replay::diagnose(*job.snapshot, job.device, job.workload, {});
    if (!diagnosis) return diagnosis.error();
    if (watch_.stops()) return stopped();
    const auto replays = replay::replays_of(*diagnosis, job.workload, {});
    pages.push_back(show::page_of_diagnosis(job, *diagnosis, replays));
    pages.back().title = "Snapshot";
  }
  pages_ = std::move(pages);
  return {};
} catch (const std::bad_alloc&) {
  return no_memory(name_);
}

bool Analysis::can_tune() const {
  for (const replay::Job& job : jobs_)
    if (job.workload.requests == 0) return false;
  return !jobs_.empty();
}

base::Status Analysis::tune() try {
  std::vector<const replay::Workload*> workloads;
  for (const replay::Job& job : jobs_)
    workloads.push_back(&job.workload);
  replay::TuneOptions options;
  options.stops = watch_.stops;
  options.progress = watch_.progress;
  const auto result = replay::tune(workloads, options);
  if (!result) return result.error();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const replay::Row& best = result->jobs[i].best;
    const auto at_peak = replay::moment_of(jobs_[i].workload, best, best.outcome.peak_operation);
    show::add_tuning(pages_[i], jobs_[i], *result, i, at_peak);
  }
  return {};
} catch (const std::bad_alloc&) {
  return no_memory(name_);
}

std::string Analysis::link_text(std::size_t page) const {
  return base::format_text("Device %d", jobs_[page].device);
}

}  // namespace ebb::serve

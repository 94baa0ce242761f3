// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_pid.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/duration.h"
#include "cli/verb.h"
#include "cli/watch_loop.h"
#include "cli/watch_view.h"
#include "term/progress.h"

namespace ebb::cli {

bool names_a_process(const std::string& subject) {
  return !subject.empty() && subject.find_first_not_of("0123456789") == std::string::npos;
}

int diagnose_process(const ProcessQuestion& question) {
  const auto pid = parse_pid(question.pid, "process");
  if (!pid) return report(pid.error());
  if (!question.fail_on.empty() && !keep::verdict_of(question.fail_on)) {
    return report(base::error(base::Code::bad_input,
                              "--fail-on '%s': expected a verdict such as leak or retention",
                              question.fail_on.c_str()));
  }
  const auto length = base::parse_duration(question.length);
  if (!length) return report(length.error());
  auto watch = keep::ProcessWatch::of(*pid);
  if (!watch) return report(watch.error());
  WatchPlan plan;
  plan.length_seconds = *length;
  plan.interval_seconds = std::clamp(*length / 150, 0.01, 1.0);
  {
    term::Progress progress("observing");
    const auto ending = watch_process(*watch, plan, [&](const keep::WatchSample& sample) {
      progress.show(std::min(sample.seconds / *length, 1.0), "process " + question.pid);
    });
    if (!ending) return report(ending.error());
  }
  const keep::Diagnosis diagnosis = watch->diagnose();
  if (question.json) {
    std::puts(keep::to_json(diagnosis).text().c_str());
  } else {
    std::printf("process    %d  %s\n\n", *pid, heap::name_of(watch->allocator().kind()));
    for (const std::string& line :
         diagnosis_lines(diagnosis, term::Style::of_stream(STDOUT_FILENO)))
      std::printf("%s\n", line.c_str());
  }
  bool named = question.fail_on == keep::name_of(diagnosis.verdict);
  for (const keep::Verdict also : diagnosis.also)
    named = named || question.fail_on == keep::name_of(also);
  return named ? kFailed : kDone;
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "base/duration.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/fail_on.h"
#include "record/place.h"
#include "run/watch_loop.h"
#include "sense/process_number.h"
#include "show/environment_view.h"
#include "show/verdict.h"
#include "show/words.h"
#include "term/progress.h"

namespace ebb::cli {

bool names_a_process(const std::string& subject) {
  return !subject.empty() && subject.find_first_not_of("0123456789") == std::string::npos;
}

namespace {

/// Says how to ask for the run of that number, where there is one and no such process.
base::Error with_hint(base::Error error, pid_t pid) {
  if (error.code != base::Code::not_found) return error;
  const auto path = record::path_of("");
  if (!path) return error;
  auto store = record::Store::open(*path);
  if (!store) return error;
  const std::string number = std::to_string(pid);
  const auto run = store->find(number);
  if (run && run->run.id == pid)
    error.message +=
        "; for run " + number + ": ebb doctor " + number + " --db " + base::shell_word(*path);
  return error;
}

}  // namespace

int diagnose_process(const DoctorOptions& options) {
  const auto pid = sense::parse_pid(options.subject, "process");
  if (!pid) return complain(pid.error());
  if (const auto known =
          check_fail_on(options.fail_on, fact::kProcessVerdicts, "leak or retention");
      !known)
    return complain(known.error());
  const auto length = base::parse_duration(options.length);
  if (!length) return complain(length.error());
  auto watch = keep::ProcessWatch::of(*pid);
  if (!watch) return complain(with_hint(watch.error(), *pid));
  const keep::EnvironmentCheck environment =
      keep::check_environment_of(*pid, watch->allocator().kind());
  run::WatchPlan plan;
  plan.length_seconds = *length;
  plan.interval_seconds = std::clamp(*length / 150, 0.01, 1.0);
  {
    const run::LeaveSignals signals;
    term::Progress progress("observing");
    const auto ending =
        run::watch_process(*watch, plan, signals, [&](const keep::WatchSample& sample) {
          progress.show(std::min(sample.seconds / *length, 1.0), "process " + options.subject);
          return true;
        });
    if (!ending) return complain(ending.error());
  }
  const keep::ProcessDiagnosis diagnosis = watch->diagnose();
  if (options.shared.json) {
    base::Json json = fact::to_json(diagnosis);
    json.set("environment", keep::to_json(environment));
    answer_json(json);
  } else {
    answer(
        base::format_text("process    %d  %s\n\n", *pid, heap::name_of(watch->allocator().kind())));
    const term::Style style = term::Style::of_stream(STDOUT_FILENO);
    answer(show::text_of(show::diagnosis_lines(diagnosis, style)) +
           show::environment_text(environment, style));
  }
  return status_on(options.fail_on, diagnosis.verdict, diagnosis.also);
}

}  // namespace ebb::cli

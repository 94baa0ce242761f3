// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/fail_on.h"
#include "cli/page_file.h"
#include "cli/snapshot_file.h"
#include "replay/doctor/stats_diagnosis.h"
#include "show/device_site_view.h"
#include "show/doctor_view.h"
#include "show/snapshot_page.h"

namespace ebb::cli {

base::Options options_of(DoctorOptions& o) {
  return with_snapshot_options(
      {
          {"subject", &o.subject,
           "A file of torch.cuda.memory._dump_snapshot(), torch.cuda.memory_stats() as JSON, the "
           "number of a process, or the name of a recorded run (last: the newest; with --db its "
           "number)",
           "subject"},
          {"for", &o.length, "How long to observe a process"},
          {"db", &o.db, "The record to find a run in; a number is then that of a run"},
          {"cgroup", &o.cgroup,
           "In place of a subject: a control group, by its folder or its name as in "
           "/proc/PID/cgroup; what its memory is"},
          {"against", &o.against, "Another snapshot: names what grew from that one to this one"},
          {"card", base::Bytes{&o.shared.card},
           "Bytes that the device has in all, e.g. 80GiB: tells what other processes held"},
          {"pprof", &o.pprof, "Write who holds it to this file as a profile for pprof"},
          {"collapsed", &o.collapsed, "Write who holds it to this file as collapsed stacks"},
          {"fail_on", &o.fail_on, "Exit status 1 if this is the verdict or one of those in also"},
      },
      o.shared);
}

namespace {

int diagnose_snapshot(const DoctorOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return complain(circumstances.error());
  const auto jobs =
      read_jobs(options.subject, options.shared, *circumstances, replay::History::optional);
  if (!jobs) return complain(jobs.error());
  int status = kDone;
  std::vector<replay::SnapshotDiagnosis> diagnoses;
  std::vector<page::Document> pages;
  for (const Job& job : *jobs) {
    auto diagnosis = replay::diagnose(*job.snapshot, job.device, job.workload, *circumstances);
    if (!diagnosis) return complain(diagnosis.error());
    status = std::max(status, status_on(options.fail_on, diagnosis->verdict, diagnosis->also));
    diagnoses.push_back(std::move(*diagnosis));
    if (options.shared.html.empty()) continue;
    const auto replays = replay::replays_of(diagnoses.back(), job.workload, *circumstances);
    pages.push_back(show::page_of_diagnosis(job, diagnoses.back(), replays));
  }
  const auto sites =
      show::write_site_files(diagnoses, options.subject, options.pprof, options.collapsed);
  if (!sites) return complain(sites.error());
  const int written = write_pages(pages, options.shared.html);
  if (written != kDone) return written;
  if (options.shared.json) answer_json(replay::doctor_json(*jobs, diagnoses));
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  for (std::size_t i = 0; i < jobs->size() && !options.shared.json; ++i) {
    print_notes((*jobs)[i]);
    answer(show::diagnosis_text((*jobs)[i], diagnoses[i], style));
  }
  return status;
}

int compare_snapshots(const DoctorOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return complain(circumstances.error());
  const auto subject = read_snapshot_file(options.subject);
  if (!subject) return complain(subject.error());
  const auto other = read_snapshot_file(options.against);
  if (!other) return complain(other.error());
  const replay::Comparison comparison = replay::compare(*subject, *other, options.shared.device);
  if (options.shared.json) {
    answer_json(replay::to_json(comparison));
    return status_on(options.fail_on, comparison.verdict);
  }
  answer(show::comparison_text(options.subject, options.against, comparison,
                               term::Style::of_stream(STDOUT_FILENO)));
  return status_on(options.fail_on, comparison.verdict);
}

/// Options that a subject other than a snapshot has no use for; `subject` in words.
base::Status refuse_snapshot_options(const DoctorOptions& options, const std::string& subject) {
  if (options.against.empty() && options.shared.html.empty() && !options.asks_for_sites())
    return {};
  return base::error(base::Code::bad_input,
                     "%s: --against, --html, --pprof and --collapsed are for snapshots",
                     subject.c_str());
}

int run_doctor(const DoctorOptions& options) {
  if (!options.cgroup.empty()) {
    if (!options.subject.empty() || !options.against.empty() || !options.fail_on.empty() ||
        !options.shared.html.empty() || options.asks_for_sites()) {
      return complain(base::error(base::Code::bad_input,
                                  "--cgroup %s: expected no subject beside it, and of the other "
                                  "options --json alone",
                                  options.cgroup.c_str()));
    }
    return diagnose_group(options.cgroup, options.shared.json);
  }
  if (options.subject.empty()) {
    return complain(base::error(base::Code::bad_input,
                                "doctor needs a snapshot, the number of a process or the name of a "
                                "run (see ebb doctor --help)"));
  }
  // A record was named: then a number is that of a run.
  const bool in_record = !options.db.empty();
  if (names_a_process(options.subject) && !in_record) {
    const auto usable = refuse_snapshot_options(options, "process " + options.subject);
    if (!usable) return complain(usable.error());
    return diagnose_process(options);
  }
  if (names_a_run(options.subject) || names_a_process(options.subject)) {
    if (!options.against.empty()) {
      return complain(base::error(base::Code::bad_input, "run '%s': --against is for snapshots",
                                  options.subject.c_str()));
    }
    return diagnose_run(options);
  }
  if (const auto known =
          check_fail_on(options.fail_on, fact::kSnapshotVerdicts, "fragmentation or leak");
      !known)
    return complain(known.error());
  if (replay::may_be_stats(options.subject)) {
    const auto usable = refuse_snapshot_options(options, options.subject + " is JSON");
    if (!usable) return complain(usable.error());
    return diagnose_stats(options);
  }
  if (!options.against.empty() && options.asks_for_sites()) {
    return complain(base::error(base::Code::bad_input,
                                "--against %s: --pprof and --collapsed are for one snapshot",
                                options.against.c_str()));
  }
  if (!options.against.empty()) return compare_snapshots(options);
  return diagnose_snapshot(options);
}

}  // namespace

void add_doctor(Verb program) {
  program.add({"doctor", "Why a job ran out of memory or grows, and the smallest fix",
               "Examples:\n"
               "  ebb doctor snapshot.pickle\n"
               "  ebb doctor snapshot.pickle --html who.html --collapsed stacks.txt\n"
               "  ebb doctor stats.json                     of torch.cuda.memory_stats()\n"
               "  ebb doctor 4242 --for 1m\n"
               "  ebb doctor last --fail-on leak\n"
               "  ebb doctor 7 --db runs.db                 run 7, not process 7\n"
               "  ebb doctor --cgroup /system.slice/job.service\n"
               "  ebb doctor snapshot.pickle --cap 24GiB --json\n"
               "  ebb doctor now.pickle --against before.pickle --fail-on leak"},
              run_doctor);
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/doctor_pid.h"
#include "cli/doctor_run.h"
#include "cli/snapshot_file.h"
#include "cli/snapshot_page.h"
#include "cli/verb.h"
#include "replay/comparison.h"
#include "replay/doctor.h"
#include "term/style.h"
#include "term/table.h"

namespace ebb::cli {
namespace {

using base::bytes_text;

struct DoctorOptions {
  std::string subject;
  std::string against;
  std::string fail_on;
  std::string length = "15s";
  std::string db;
  SnapshotOptions shared;
};

term::Colour colour_of(replay::Verdict verdict) {
  switch (verdict) {
    case replay::Verdict::healthy:
      return term::Colour::green;
    case replay::Verdict::capacity:
    case replay::Verdict::leak:
      return term::Colour::red;
    default:
      return term::Colour::yellow;
  }
}

void print_diagnosis(const Job& job, const replay::Diagnosis& diagnosis) {
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::printf("%s\n\n", job.name.c_str());
  std::printf("verdict     %s (confidence %s)\n",
              style.paint(replay::name_of(diagnosis.verdict), colour_of(diagnosis.verdict)).c_str(),
              diagnosis.confidence.c_str());
  std::printf("            %s\n", diagnosis.headline.c_str());
  for (const replay::Verdict also : diagnosis.also) {
    std::printf("also        %s\n", replay::name_of(also));
  }
  for (const std::string& finding : diagnosis.findings) {
    std::printf("            - %s\n", finding.c_str());
  }
  if (!diagnosis.fix.text.empty()) {
    std::printf("fix         %s\n", style.paint(diagnosis.fix.text, term::Colour::bold).c_str());
  }
  if (diagnosis.origins.empty()) return;
  term::Table table({{"live then"}, {"blocks"}, {"allocated at", term::Align::left}});
  for (const replay::Origin& origin : diagnosis.origins) {
    table.add_row({bytes_text(origin.bytes), std::to_string(origin.blocks), origin.frames.front()});
  }
  std::printf("\n%s", table.text(style).c_str());
}

int exit_status(const DoctorOptions& options, replay::Verdict verdict,
                const std::vector<replay::Verdict>& also = {}) {
  const auto is_asked = [&](replay::Verdict one) {
    return options.fail_on == replay::name_of(one);
  };
  return is_asked(verdict) || std::any_of(also.begin(), also.end(), is_asked) ? kFailed : kDone;
}

int diagnose_snapshot(const DoctorOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return report(circumstances.error());
  const auto jobs = read_jobs(options.subject, options.shared, *circumstances);
  if (!jobs) return report(jobs.error());
  int status = kDone;
  std::vector<replay::Diagnosis> diagnoses;
  std::vector<page::Document> pages;
  for (const Job& job : *jobs) {
    auto diagnosis = replay::diagnose(*job.snapshot, job.device, job.workload, *circumstances);
    if (!diagnosis) return report(diagnosis.error());
    status = std::max(status, exit_status(options, diagnosis->verdict, diagnosis->also));
    diagnoses.push_back(std::move(*diagnosis));
    if (options.shared.html.empty()) continue;
    pages.push_back(page_of_diagnosis(job, diagnoses.back(), *circumstances));
  }
  const int written = write_pages(pages, options.shared.html);
  if (written != kDone) return written;
  if (options.shared.json) std::puts(replay::doctor_json(*jobs, diagnoses).text().c_str());
  for (std::size_t i = 0; i < jobs->size() && !options.shared.json; ++i) {
    print_notes((*jobs)[i]);
    print_diagnosis((*jobs)[i], diagnoses[i]);
  }
  return status;
}

int compare_snapshots(const DoctorOptions& options) {
  const auto circumstances = circumstances_of(options.shared);
  if (!circumstances) return report(circumstances.error());
  const auto subject = read_snapshot_file(options.subject);
  if (!subject) return report(subject.error());
  const auto other = read_snapshot_file(options.against);
  if (!other) return report(other.error());
  const replay::Comparison comparison = replay::compare(*subject, *other, options.shared.device);
  if (options.shared.json) {
    std::puts(replay::to_json(comparison).text().c_str());
    return exit_status(options, comparison.verdict);
  }
  const term::Style style = term::Style::of_stream(STDOUT_FILENO);
  std::printf("%s against %s\n\n", options.subject.c_str(), options.against.c_str());
  std::printf(
      "verdict     %s\n            %s\n\n",
      style.paint(replay::name_of(comparison.verdict), colour_of(comparison.verdict)).c_str(),
      comparison.headline.c_str());
  term::Table table(
      {{"change"}, {"here"}, {"there"}, {"blocks"}, {"allocated at", term::Align::left}});
  for (const replay::Change& change : comparison.changes) {
    table.add_row({base::signed_bytes_text(change.growth()), bytes_text(change.here),
                   bytes_text(change.there),
                   base::format_text("%+lld", static_cast<long long>(change.blocks)),
                   change.frames.front()});
  }
  std::fputs(table.text(style).c_str(), stdout);
  return exit_status(options, comparison.verdict);
}

int run_doctor(const DoctorOptions& options) {
  if (options.subject.empty()) {
    return report(base::error(base::Code::bad_input,
                              "doctor needs a snapshot, the number of a process or the name of a "
                              "run (see ebb doctor --help)"));
  }
  if (names_a_process(options.subject)) {
    if (!options.against.empty() || !options.shared.html.empty()) {
      return report(base::error(base::Code::bad_input,
                                "process %s: --against and --html are for snapshots",
                                options.subject.c_str()));
    }
    return diagnose_process(
        {options.subject, options.length, options.fail_on, options.shared.json});
  }
  if (names_a_run(options.subject)) {
    if (!options.against.empty()) {
      return report(base::error(base::Code::bad_input, "run '%s': --against is for snapshots",
                                options.subject.c_str()));
    }
    return diagnose_run(
        {options.subject, options.db, options.fail_on, options.shared.html, options.shared.json});
  }
  if (!options.fail_on.empty() && !replay::verdict_of(options.fail_on)) {
    return report(base::error(base::Code::bad_input,
                              "--fail-on '%s': expected a verdict such as fragmentation or leak",
                              options.fail_on.c_str()));
  }
  if (!options.against.empty()) return compare_snapshots(options);
  return diagnose_snapshot(options);
}

}  // namespace

void add_doctor(CLI::App& program, Action& action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* verb = program.add_subcommand(
      "doctor", "Why a job ran out of memory or grows, and the smallest fix");
  verb->add_option("subject", options->subject,
                   "A file of torch.cuda.memory._dump_snapshot(), the number of a process, or the "
                   "name of a recorded run (last: the newest)");
  verb->add_option("--for", options->length, "How long to observe a process (15s)");
  verb->add_option("--db", options->db, "The record to find a run in");
  verb->add_option("--against", options->against,
                   "Another snapshot: names what grew from that one to this one");
  verb->add_option("--fail-on", options->fail_on,
                   "Exit status 1 if this is the verdict or one of those in also");
  add_snapshot_options(*verb, options->shared);
  verb->footer(
      "Examples:\n"
      "  ebb doctor snapshot.pickle\n"
      "  ebb doctor 4242 --for 1m\n"
      "  ebb doctor last --fail-on leak\n"
      "  ebb doctor snapshot.pickle --cap 24GiB --json\n"
      "  ebb doctor now.pickle --against before.pickle --fail-on leak");
  verb->callback([options, &action] { action = [options] { return run_doctor(*options); }; });
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <filesystem>

#include "cli/answer.h"
#include "cli/doctor.h"
#include "cli/fail_on.h"
#include "cli/page_file.h"
#include "record/place.h"
#include "run/left_tables.h"
#include "show/report_page.h"
#include "show/report_view.h"
#include "show/site_files.h"
#include "story/run_story.h"

namespace ebb::cli {

bool names_a_run(const std::string& subject) {
  if (subject.empty() || names_a_process(subject)) return false;
  // A snapshot that is not there is a mistake about a file, not a run of that name.
  if (subject.find('/') != std::string::npos) return false;
  for (const char* end : {".pickle", ".pkl", ".gz", ".json"})
    if (subject.ends_with(end)) return false;
  std::error_code failure;
  return !std::filesystem::exists(subject, failure);
}

int diagnose_run(const DoctorOptions& options) {
  if (const auto known =
          check_fail_on(options.fail_on, fact::kProcessVerdicts, "leak or retention");
      !known)
    return complain(known.error());
  run::fold_left_tables(run::kFoldBeforeAnswer);
  const auto recorded = record::read_run(options.subject, options.db);
  if (!recorded && recorded.error().code == base::Code::not_found) {
    return complain(base::error(base::Code::not_found, "%s; and no file of that name",
                                recorded.error().message.c_str()));
  }
  if (!recorded) return complain(recorded.error());
  const story::RunStory story = story::story_of(*recorded);
  const auto sites =
      show::write_site_files(story.sites, options.subject, options.pprof, options.collapsed);
  if (!sites) return complain(sites.error());
  if (!options.shared.html.empty()) {
    const int written = write_pages({show::page_of_run(*recorded, story)}, options.shared.html);
    if (written != kDone) return written;
  }
  if (options.shared.json) {
    answer_json(story::verdict_json(*recorded, story));
  } else {
    answer(show::verdict_text(*recorded, story, term::Style::of_stream(STDOUT_FILENO)));
  }
  return status_on(options.fail_on, story.diagnosis.verdict, story.diagnosis.also);
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_run.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "cli/doctor_pid.h"
#include "cli/report_page.h"
#include "cli/report_view.h"
#include "cli/run_store.h"
#include "cli/verb.h"
#include "page/render.h"

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

int diagnose_run(const RunQuestion& question) {
  if (!question.fail_on.empty() && !keep::verdict_of(question.fail_on)) {
    return report(base::error(base::Code::bad_input,
                              "--fail-on '%s': expected a verdict such as leak or retention",
                              question.fail_on.c_str()));
  }
  const auto recorded = read_run(question.run, question.db);
  if (!recorded && recorded.error().code == base::Code::not_found) {
    return report(base::error(base::Code::not_found, "%s; and no file of that name",
                              recorded.error().message.c_str()));
  }
  if (!recorded) return report(recorded.error());
  const story::RunStory story = story::story_of(*recorded);
  if (!question.html.empty()) {
    if (const auto written = page::write(page_of_run(*recorded, story), question.html); !written)
      return report(written.error());
    std::fprintf(stderr, "wrote %s\n", question.html.c_str());
  }
  if (question.json) {
    std::puts(story::verdict_json(*recorded, story).text().c_str());
  } else {
    std::fputs(verdict_text(*recorded, story, term::Style::of_stream(STDOUT_FILENO)).c_str(),
               stdout);
  }
  const auto is_asked = [&](keep::Verdict verdict) {
    return question.fail_on == keep::name_of(verdict);
  };
  const keep::Diagnosis& found = story.diagnosis;
  return is_asked(found.verdict) || std::any_of(found.also.begin(), found.also.end(), is_asked)
             ? kFailed
             : kDone;
}

}  // namespace ebb::cli

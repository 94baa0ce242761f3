// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "cli/answer.h"
#include "cli/page_file.h"
#include "cli/verb.h"
#include "record/place.h"
#include "run/left_tables.h"
#include "show/report_page.h"
#include "show/report_view.h"
#include "show/site_files.h"
#include "story/run_story.h"

namespace ebb::cli {
namespace {

struct ReportOptions {
  std::string run = "last";
  std::string db;
  std::string html;
  std::string pprof;
  std::string collapsed;
  bool json = false;
};

base::Options options_of(ReportOptions& o) {
  return {
      {"run", &o.run, "Its number, its name (the newest of that name) or last", "run"},
      {"db", &o.db, "The record to read"},
      {"html", &o.html, "Write it to this file as a page with plots"},
      {"pprof", &o.pprof, "Write the sites to this file as a profile for pprof (docs/sites.md)"},
      {"collapsed", &o.collapsed, "Write the sites to this file as collapsed stacks"},
      {"json", &o.json, "One JSON object (docs/report.md)"},
  };
}

int run_report(const ReportOptions& options) {
  run::fold_left_tables(run::kFoldBeforeAnswer);
  const auto recorded = record::read_run(options.run, options.db);
  if (!recorded) return complain(recorded.error());
  const story::RunStory story = story::story_of(*recorded);
  const auto sites =
      show::write_site_files(story.sites, options.run, options.pprof, options.collapsed);
  if (!sites) return complain(sites.error());
  if (!options.html.empty()) {
    const int written = write_pages({show::page_of_run(*recorded, story)}, options.html);
    if (written != kDone) return written;
  }
  if (options.json) {
    answer_json(story::report_json(*recorded, story));
  } else if (options.html.empty() && options.pprof.empty() && options.collapsed.empty()) {
    answer(show::report_text(*recorded, story, term::Style::of_stream(STDOUT_FILENO)));
  }
  return kDone;
}

}  // namespace

void add_report(Verb program) {
  program.add({"report", "What a recorded run did with its memory, and why",
               "Examples:\n"
               "  ebb report\n"
               "  ebb report nightly --html nightly.html\n"
               "  ebb report 7 --json"},
              run_report);
}

}  // namespace ebb::cli

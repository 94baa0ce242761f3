// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/page_file.h"
#include "cli/run_store.h"
#include "cli/verb.h"
#include "show/report_page.h"
#include "show/report_view.h"
#include "story/run_story.h"

namespace ebb::cli {
namespace {

struct ReportOptions {
  std::string run = "last";
  std::string db;
  std::string html;
  bool json = false;
};

int run_report(const ReportOptions& options) {
  const auto recorded = read_run(options.run, options.db);
  if (!recorded) return complain(recorded.error());
  const story::RunStory story = story::story_of(*recorded);
  if (!options.html.empty()) {
    const int written = write_pages({show::page_of_run(*recorded, story)}, options.html);
    if (written != kDone) return written;
  }
  if (options.json) {
    std::puts(story::report_json(*recorded, story).text().c_str());
  } else if (options.html.empty()) {
    std::fputs(show::report_text(*recorded, story, term::Style::of_stream(STDOUT_FILENO)).c_str(),
               stdout);
  }
  return kDone;
}

}  // namespace

void add_report(CLI::App& program, Action& action) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* verb =
      program.add_subcommand("report", "What a recorded run did with its memory, and why");
  verb->add_option("run", options->run, "Its number, its name (the newest of that name) or last");
  verb->add_option("--db", options->db, "The record to read");
  verb->add_option("--html", options->html, "Write it to this file as a page with plots");
  verb->add_flag("--json", options->json, "One JSON object (docs/report.md)");
  verb->footer(
      "Examples:\n"
      "  ebb report\n"
      "  ebb report nightly --html nightly.html\n"
      "  ebb report 7 --json");
  verb->callback([options, &action] { action = [options] { return run_report(*options); }; });
}

}  // namespace ebb::cli

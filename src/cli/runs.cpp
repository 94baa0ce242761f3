// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/duration.h"
#include "cli/run_store.h"
#include "cli/verb.h"
#include "show/runs_view.h"
#include "story/run_story.h"

namespace ebb::cli {
namespace {

struct ListOptions {
  std::string db;
  bool json = false;
};

struct RemoveOptions {
  std::vector<std::string> runs;
  std::string older_than;
  bool all = false;
  std::string db;
  bool json = false;
};

/// All runs; none where the default file is not there yet.
base::Result<std::vector<record::RunSummary>> listed(const std::string& path, bool may_be_missing) {
  auto store = record::Store::open(path);
  if (!store && may_be_missing && store.error().code == base::Code::not_found)
    return std::vector<record::RunSummary>{};
  if (!store) return store.error();
  return store->runs();
}

int list(const ListOptions& options) {
  const auto path = record_path(options.db);
  if (!path) return complain(path.error());
  const auto runs = listed(*path, options.db.empty());
  if (!runs) return complain(runs.error());
  if (options.json) {
    base::Json array = base::Json::array();
    for (const record::RunSummary& run : *runs)
      array.push(story::to_json(run));
    std::puts(base::Json::object({{"db", *path}, {"runs", std::move(array)}}).text().c_str());
    return kDone;
  }
  if (runs->empty()) {
    std::printf("no runs are recorded in %s\n", path->c_str());
    return kDone;
  }
  std::fputs(show::runs_text(*runs, term::Style::of_stream(STDOUT_FILENO)).c_str(), stdout);
  return kDone;
}

/// When nobody was writing to it any more, in unix seconds.
double end_of(const record::RunSummary& run) {
  return run.run.ended.value_or(run.run.started + run.seconds);
}

base::Result<std::vector<std::int64_t>> chosen(record::Store& store, const RemoveOptions& options) {
  std::vector<std::int64_t> ids;
  for (const std::string& name : options.runs) {
    const auto run = store.find(name);
    if (!run) return run.error();
    ids.push_back(run->run.id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  if (!options.runs.empty()) return ids;
  double latest = std::numeric_limits<double>::infinity();
  if (!options.older_than.empty()) {
    const auto age = base::parse_duration(options.older_than);
    if (!age) return age.error();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    latest = std::chrono::duration<double>(now).count() - *age;
  }
  const auto runs = store.runs();
  if (!runs) return runs.error();
  for (const record::RunSummary& run : *runs)
    if (run.state != record::State::running && end_of(run) < latest) ids.push_back(run.run.id);
  return ids;
}

int remove(const RemoveOptions& options) {
  const int ways =
      (options.runs.empty() ? 0 : 1) + (options.older_than.empty() ? 0 : 1) + (options.all ? 1 : 0);
  if (ways != 1) {
    return complain(base::error(base::Code::bad_input,
                                "runs rm: expected either runs, or --older-than, or --all"));
  }
  const auto path = record_path(options.db);
  if (!path) return complain(path.error());
  auto store = record::Store::open(*path);
  if (!store) return complain(store.error());
  const auto ids = chosen(*store, options);
  if (!ids) return complain(ids.error());
  if (const auto removed = store->remove(*ids); !removed) return complain(removed.error());
  if (options.json) {
    base::Json array = base::Json::array();
    for (const std::int64_t id : *ids)
      array.push(id);
    std::puts(base::Json::object({{"removed", std::move(array)}}).text().c_str());
  } else {
    std::printf("removed %zu %s\n", ids->size(), ids->size() == 1 ? "run" : "runs");
  }
  return kDone;
}

/// What was said before `rm` counts for it too: `ebb runs --db FILE rm 7`.
void add_remove(CLI::App& verb, const std::shared_ptr<ListOptions>& before, Action& action) {
  auto options = std::make_shared<RemoveOptions>();
  CLI::App* remove_verb =
      verb.add_subcommand("rm", "Removes runs from the record; those that are running stay");
  remove_verb->add_option("run", options->runs, "Numbers, names (the newest of that name) or last");
  remove_verb->add_option("--older-than", options->older_than,
                          "All runs that ended longer ago than this (30d)");
  remove_verb->add_flag("--all", options->all, "All runs that are not running");
  remove_verb->add_option("--db", options->db, "The record to remove from");
  remove_verb->add_flag("--json", options->json, "One JSON object (docs/report.md)");
  remove_verb->callback([options, before, &action] {
    if (options->db.empty()) options->db = before->db;
    options->json = options->json || before->json;
    action = [options] { return remove(*options); };
  });
}

}  // namespace

void add_runs(CLI::App& program, Action& action) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* verb = program.add_subcommand("runs", "Lists recorded runs, and removes them");
  verb->add_option("--db", options->db, "The record to read");
  verb->add_flag("--json", options->json, "One JSON object (docs/report.md)");
  verb->require_subcommand(0, 1);
  verb->footer(
      "Examples:\n"
      "  ebb runs\n"
      "  ebb runs rm 7 nightly\n"
      "  ebb runs rm --older-than 30d");
  add_remove(*verb, options, action);
  verb->callback([options, verb, &action] {
    // `rm` has said what to do already.
    if (verb->get_subcommands().empty()) action = [options] { return list(*options); };
  });
}

}  // namespace ebb::cli

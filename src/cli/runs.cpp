// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <limits>

#include "archive/import.h"
#include "base/duration.h"
#include "base/plain_text.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verb.h"
#include "record/place.h"
#include "run/left_tables.h"
#include "show/runs_view.h"
#include "story/run_story.h"

namespace ebb::cli {
namespace {

struct RunsOptions {
  std::string db;
  bool json = false;
  // Of `rm`.
  std::vector<std::string> runs;
  std::string older_than;
  bool all = false;
  // Of `import`.
  std::vector<std::string> folders;
};

base::Options options_of(RunsOptions& o) {
  return {
      {"db", &o.db, "The record to use"},
      {"json", &o.json, "One JSON object (docs/report.md)"},
  };
}

base::Options options_of_remove(RunsOptions& o) {
  // What was said before `rm` counts for it too: `ebb runs --db FILE rm 7`.
  base::Options options = options_of(o);
  options.push_back({"run", &o.runs, "Numbers, names (the newest of that name) or last", "run"});
  options.push_back(
      {"older_than", &o.older_than, "All runs that ended longer ago than this, e.g. 30d"});
  options.push_back({"all", &o.all, "All runs that are not running"});
  return options;
}

base::Options options_of_import(RunsOptions& o) {
  base::Options options = options_of(o);
  options.push_back(
      {"folder", &o.folders, "Folders that ebb simulate or ebb compare wrote", "folder"});
  return options;
}

std::string text_of(const archive::Imported& one) {
  return base::format_text(
      "%s %s as run %lld: %s, %zu of %u rounds\n", one.was_there ? "known" : "imported",
      base::plain_line(one.folder).c_str(), static_cast<long long>(one.run),
      one.result.config.method.c_str(), one.result.rounds.size(), one.result.config.rounds);
}

int import(const RunsOptions& options) {
  if (options.folders.empty())
    return complain(base::error(base::Code::bad_input, "runs import: expected a folder"));
  const auto path = record::path_of(options.db);
  if (!path) return complain(path.error());
  const auto all = archive::import_simulations(*path, options.folders);
  if (!all) return complain(all.error());
  if (options.json) answer_json(archive::to_json(*all));
  for (const archive::Imported& one : *all)
    if (!options.json) answer(text_of(one));
  return kDone;
}

int list(const RunsOptions& options) {
  const auto path = record::path_of(options.db);
  if (!path) return complain(path.error());
  run::fold_left_tables(run::kFoldBeforeAnswer);
  const auto runs = record::list_runs(*path, options.db.empty());
  if (!runs) return complain(runs.error());
  if (options.json) {
    answer_json(story::runs_json(*path, *runs));
  } else if (runs->empty()) {
    answer("no runs are recorded in " + *path + "\n");
  } else {
    answer(show::runs_text(*runs, term::Style::of_stream(STDOUT_FILENO)));
  }
  return kDone;
}

base::Result<std::vector<std::int64_t>> chosen(record::Store& store, const RunsOptions& options) {
  if (!options.runs.empty()) return record::find_runs(store, options.runs);
  double latest = std::numeric_limits<double>::infinity();
  if (!options.older_than.empty()) {
    const auto age = base::parse_duration(options.older_than);
    if (!age) return age.error();
    latest = base::unix_seconds() - *age;
  }
  return store.ended_before(latest);
}

int remove(const RunsOptions& options) {
  const int ways =
      (options.runs.empty() ? 0 : 1) + (options.older_than.empty() ? 0 : 1) + (options.all ? 1 : 0);
  if (ways != 1) {
    return complain(base::error(base::Code::bad_input,
                                "runs rm: expected either runs, or --older-than, or --all"));
  }
  const auto path = record::path_of(options.db);
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
    answer_json(base::Json::object({{"removed", std::move(array)}}));
  } else {
    answer(base::format_text("removed %zu %s\n", ids->size(), ids->size() == 1 ? "run" : "runs"));
  }
  return kDone;
}

}  // namespace

void add_runs(Verb program) {
  auto options = std::make_shared<RunsOptions>();
  Verb runs =
      program.add({"runs", "Lists recorded runs, removes them, takes in simulations from elsewhere",
                   "Examples:\n"
                   "  ebb runs\n"
                   "  ebb runs rm 7 nightly\n"
                   "  ebb runs rm --older-than 30d\n"
                   "  ebb runs import ebb-runs/20261118-101500-compare"},
                  options_of(*options), [options] { return list(*options); });
  runs.add(
      {"import", "Takes in what a simulation left in its folder on a machine without a record"},
      options_of_import(*options), [options] { return import(*options); });
  runs.add({"rm", "Removes runs from the record; those that are running stay"},
           options_of_remove(*options), [options] { return remove(*options); });
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/order.h"

#include <filesystem>

#include "base/file.h"
#include "cli/simulate/outlets.h"
#include "keep/settings.h"

namespace ebb::cli {
namespace {

using base::Code;

base::Status set_folder(const SimulateWords& words, SimulateOrder& order) {
  namespace files = std::filesystem;
  const int given = int{words.no_folder} + int{!words.folder.empty()} + int{!words.resume.empty()};
  if (given > 1)
    return base::error(Code::bad_input,
                       "--folder, --resume and --no-folder: expected one of the three");
  order.writes_folder = !words.no_folder;
  order.folder = words.resume.empty() ? words.folder : words.resume;
  if (words.folder.empty()) return {};
  std::error_code failure;
  for (const char* name : {fl::kComparisonFile, "config.json"}) {
    if (files::exists(files::path(words.folder) / name, failure))
      return base::error(Code::bad_input,
                         "--folder '%s': it holds a simulation already (--resume goes on with it)",
                         words.folder.c_str());
  }
  return {};
}

base::Status set_record(const SimulateWords& words, SimulateOrder& order) {
  if (words.no_record) return {};
  const auto place = place_of_simulations(words.db);
  if (!place) return place.error();
  order.record_path = place->path;
  order.record_trouble = place->trouble;
  order.db = words.db;
  return {};
}

}  // namespace

base::Options options_of(SimulateWords& words) {
  base::Options options = fl::options_of(static_cast<fl::SweepWords&>(words));
  for (base::Option& option : fl::options_of(words.execution))
    options.push_back(std::move(option));
  for (const base::Option& option : base::Options{
           {"folder", &words.folder, "Folder for the run's files (a new one below ebb-runs)"},
           {"no_folder", &words.no_folder, "Write no files: nothing can be resumed"},
           {"html", &words.html, "Also writes one self-contained page"},
           {"db", &words.db, "File of the record (docs/record.md)"},
           {"no_record", &words.no_record, "Record nothing"},
           {"json", &words.json, "One JSON object (docs/simulate.md)"},
           {"stream", &words.stream, "With --json: a line for each round first, when it ends"},
           {"list", &words.list, "Methods, models and data sets"},
           {"dry_run", &words.dry_run, "The memory plan and the configuration, no round"},
           {"quiet", &words.quiet, "Print only errors on stderr"},
       })
    options.push_back(option);
  return options;
}

base::Result<SimulateOrder> order_from(const SimulateWords& words) {
  auto sweep = fl::sweep_from(words);
  if (!sweep) return sweep.error();
  SimulateOrder order;
  static_cast<fl::Sweep&>(order) = *std::move(sweep);
  order.compare = words.compare;
  order.execution = words.execution;
  order.execution.resume = !words.resume.empty();
  fl::add_missing(order.nvflare, order.execution.nvflare);
  if (const auto sound = fl::check(order.execution, order.config.workflow); !sound)
    return sound.error();
  const auto settings = keep::settings_from(keep::process_environment);
  if (!settings) return settings.error();
  order.execution.markers =
      !settings->disabled && keep::wants_memory_profile(keep::Role::simulator, *settings);
  order.html = words.html;
  order.json = words.json;
  if (words.stream && !words.json)
    return base::error(Code::bad_input, "--stream: expected --json with it");
  order.streams = words.stream;
  order.dry_run = words.dry_run;
  order.quiet = words.quiet;
  if (!order.html.empty()) {
    if (const auto can = can_write_pages(); !can) return can.error();
    if (const auto can = base::can_write_file(order.html); !can) return can.error();
  }
  if (const auto set = set_folder(words, order); !set) return set.error();
  if (const auto set = set_record(words, order); !set) return set.error();
  return order;
}

}  // namespace ebb::cli

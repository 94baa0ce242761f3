// SPDX-License-Identifier: Apache-2.0
#include "cli/runs_import.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/plain_text.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verb.h"
#include "fl/recorded.h"
#include "record/run_file.h"
#include "record/store.h"

namespace ebb::cli {
namespace {

using base::Json;

/// A simulation of a folder, as it is written to a record.
struct Imported {
  fl::KeptSimulation kept;
  fl::SimulationResult result;
  record::Simulation simulation;
  std::int64_t run = 0;
  bool was_there = false;
};

std::string name_of(const Imported& one, bool has_seeds) {
  const fl::Config& config = one.result.config;
  if (!has_seeds) return config.method;
  return config.method +
         base::format_text(", seed %llu", static_cast<unsigned long long>(config.seed));
}

base::Result<std::vector<Imported>> read_folder(const std::string& folder) {
  auto kept = fl::simulations_in(folder);
  if (!kept) return kept.error();
  std::error_code failure;
  const auto path = std::filesystem::canonical(folder, failure);
  std::vector<Imported> found;
  for (fl::KeptSimulation& one : *kept) {
    auto result = fl::simulation_from(one.beginning, one.rounds);
    if (!result) return result.error();
    record::Simulation simulation;
    simulation.sweep = "folder:" + (failure ? folder : path.string());
    simulation.part = static_cast<std::uint32_t>(found.size());
    simulation.parts = static_cast<std::uint32_t>(kept->size());
    simulation.about = one.beginning.text();
    found.push_back({std::move(one), *std::move(result), std::move(simulation)});
  }
  return found;
}

/// The same configuration that came to the same last round.
bool is_same(const Imported& one, const record::RecordedSimulation& other) {
  const auto about = base::parse_json(other.simulation.about);
  if (!about || one.kept.rounds.empty() || other.rounds.empty()) return false;
  const Json* config = about->find("config");
  return config != nullptr && config->text() == one.kept.beginning.find("config")->text() &&
         other.rounds.back().json == one.kept.rounds.back();
}

base::Status find_known(const std::string& path, std::vector<Imported>& all) {
  std::error_code failure;
  if (!std::filesystem::exists(path, failure)) return {};
  auto store = record::Store::open(path);
  if (!store) return store.error();
  const auto runs = store->runs();
  if (!runs) return runs.error();
  for (const record::RunSummary& run : *runs) {
    if (run.sweep.empty()) continue;
    const auto simulation = store->simulation(run.run.id);
    if (!simulation) return simulation.error();
    for (Imported& one : all) {
      if (one.was_there || !is_same(one, *simulation)) continue;
      one.was_there = true;
      one.run = run.run.id;
    }
  }
  return {};
}

/// The process that simulated, as far as its rounds tell of it: its memory at the end of each.
record::Batch batch_of(const Imported& one) {
  record::Batch batch;
  record::Process process;
  process.start = 1;  // nobody knows its pid
  process.command = "ebb-simulate " + one.result.config.method;
  batch.processes.push_back(process);
  batch.simulations.push_back(one.simulation);
  double seconds = 0;
  for (std::size_t i = 0; i < one.result.rounds.size(); ++i) {
    const fl::RoundReport& round = one.result.rounds[i];
    seconds += round.wall_seconds;
    if (round.memory.now.rss) {
      record::Sample sample;
      sample.process = process.key();
      sample.seconds = seconds;
      sample.memory = round.memory.now;
      batch.samples.push_back(sample);
    }
    batch.rounds.push_back({process.key(), seconds, round.round});
    batch.simulated.push_back({round.round, one.kept.rounds[i]});
  }
  batch.ended.emplace_back(process.key(), seconds);
  return batch;
}

base::Status write(const std::string& path, const std::string& name, Imported& one) {
  record::Run run;
  run.name = name;
  run.command = {"ebb", "simulate", "--resume", one.kept.folder};
  run.role = "simulator";
  run.started = one.kept.began;
  auto file = record::RunFile::begin(path, run);
  if (!file) return file.error();
  if (const auto written = file->write(batch_of(one)); !written) return written;
  run.ended = one.kept.ended;
  if (!one.result.stopped) {
    run.exit_code = 0;
    run.ending = fact::RunEnd::exit;
  }
  one.run = file->run_id();
  return file->finish(run);
}

Json json_of(const std::vector<Imported>& all) {
  Json imported = Json::array();
  Json known = Json::array();
  for (const Imported& one : all)
    (one.was_there ? known : imported).push(one.run);
  return Json::object({{"imported", std::move(imported)}, {"known", std::move(known)}});
}

std::string text_of(const std::vector<Imported>& all) {
  std::string text;
  for (const Imported& one : all) {
    text += base::format_text(
        "%s %s as run %lld: %s, %zu of %u rounds\n", one.was_there ? "known" : "imported",
        base::plain_line(one.kept.folder).c_str(), static_cast<long long>(one.run),
        one.result.config.method.c_str(), one.result.rounds.size(), one.result.config.rounds);
  }
  return text;
}

}  // namespace

int import_simulations(const std::string& path, const std::vector<std::string>& folders,
                       bool json) {
  std::vector<Imported> all;
  for (const std::string& folder : folders) {
    auto found = read_folder(folder);
    if (!found) return complain(found.error());
    for (Imported& one : *found)
      all.push_back(std::move(one));
  }
  if (const auto known = find_known(path, all); !known) return complain(known.error());
  for (Imported& one : all) {
    const bool has_seeds = std::any_of(all.begin(), all.end(), [&](const Imported& other) {
      return other.result.config.seed != one.result.config.seed;
    });
    if (one.was_there) continue;
    if (const auto written = write(path, name_of(one, has_seeds), one); !written)
      return complain(written.error());
  }
  if (json) {
    answer_json(json_of(all));
  } else {
    answer(text_of(all));
  }
  return kDone;
}

}  // namespace ebb::cli

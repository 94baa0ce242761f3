// SPDX-License-Identifier: Apache-2.0
#include "fl/recorded.h"

#include <sys/stat.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"
#include "fl/checkpoint.h"
#include "fl/run_folder.h"
#include "fl/sweep.h"

namespace ebb::fl {
namespace {

using base::Code;
using base::Json;

constexpr std::uint64_t kMostKeptBytes = std::uint64_t{256} << 20;
// Somebody may count for each of them.
constexpr std::uint32_t kMostClients = 10'000'000;

/// When a file was last written, in unix seconds; 0 where it is not there.
double written_at(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return 0;
  return static_cast<double>(about.st_mtim.tv_sec) +
         static_cast<double>(about.st_mtim.tv_nsec) * 1e-9;
}

bool is_there(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0;
}

base::Result<Json> read_json(const std::string& path) {
  if (const auto file = expect_file(path); !file) return file.error();
  const auto text = base::read_file(path, kMostKeptBytes);
  if (!text) return text.error();
  auto json = base::parse_json(*text);
  if (!json)
    return base::error(Code::bad_input, "%s: %s", path.c_str(), json.error().message.c_str());
  return json;
}

/// What the checkpoint says of the rounds before it; nothing where there is none, or an earlier
/// Ebb's.
base::Result<std::optional<RoundsSeal>> seal_in(const RunFolder& folder) {
  const std::string path = folder.checkpoint_path();
  if (!is_there(path)) return std::optional<RoundsSeal>();
  if (const auto file = expect_file(path); !file) return file.error();
  const auto bytes = base::read_file(path, kMostCheckpointBytes);
  if (!bytes) return bytes.error();
  const auto checkpoint = unpack_checkpoint(*bytes, path);
  if (!checkpoint) return checkpoint.error();
  return rounds_seal_from(checkpoint->header.find("lines"));
}

base::Result<KeptSimulation> read_one(const std::string& folder) {
  KeptSimulation kept;
  kept.folder = folder;
  const std::string config_path = folder + "/config.json";
  const std::string rounds_path = folder + "/rounds.jsonl";
  if (!is_there(config_path))
    return base::error(Code::bad_input, "%s: no simulation, expected config.json or %s in it",
                       folder.c_str(), kComparisonFile);
  auto config = read_json(config_path);
  if (!config) return config.error();
  kept.beginning = Json::object({{"config", *std::move(config)}, {"untrained", Json()}});
  kept.began = written_at(config_path);
  kept.ended = kept.began;
  // Before the rounds, to which a simulation under way adds.
  const RunFolder files(folder);
  const auto seal = seal_in(files);
  if (!seal) return seal.error();
  if (is_there(rounds_path)) {
    if (const auto file = expect_file(rounds_path); !file) return file.error();
    const auto text = base::read_file(rounds_path, kMostKeptBytes);
    if (!text) return text.error();
    if (*seal)
      if (const auto same = files.check_rounds(*text, **seal); !same) return same.error();
    // What follows the last end of a line was cut off.
    const std::size_t whole = text->rfind('\n');
    for (const std::string_view line : base::split(
             std::string_view(*text).substr(0, whole == std::string::npos ? 0 : whole), '\n'))
      if (!line.empty()) kept.rounds.emplace_back(line);
    kept.ended = std::max(kept.ended, written_at(rounds_path));
  } else if (*seal) {
    if (const auto none = files.check_rounds("", **seal); !none) return none.error();
  }
  // Only a simulation that has ended says what its model could do before.
  if (const auto result = read_json(folder + "/" + kResultFile)) {
    if (const Json* untrained = result->find("untrained"))
      kept.beginning.set("untrained", *untrained);
  }
  if (const auto simulation = simulation_from(kept.beginning, kept.rounds); !simulation)
    return base::error(Code::bad_input, "%s: %s", folder.c_str(),
                       simulation.error().message.c_str());
  return kept;
}

}  // namespace

Json beginning_json(const SimulationResult& so_far) {
  return Json::object(
      {{"config", to_json(so_far.config)}, {"untrained", scores_json(so_far.untrained)}});
}

base::Result<SimulationResult> simulation_from(const Json& beginning,
                                               const std::vector<std::string>& rounds) {
  const Json* config = beginning.find("config");
  const Json* untrained = beginning.find("untrained");
  if (config == nullptr || untrained == nullptr)
    return base::error(Code::bad_input, "expected a configuration and what the model could do");
  SimulationResult result;
  auto read = config_from(*config);
  if (!read) return read.error();
  result.config = *std::move(read);
  if (result.config.clients > kMostClients)
    return base::error(Code::bad_input, "clients: %u, expected at most %u", result.config.clients,
                       kMostClients);
  auto scores = scores_from(*untrained);
  if (!scores) return scores.error();
  result.untrained = *scores;
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    const auto json = base::parse_json(rounds[i]);
    auto report = json ? round_report_from(*json) : base::Result<RoundReport>(json.error());
    if (!report)
      return base::error(Code::bad_input, "round %zu: %s", i + 1, report.error().message.c_str());
    const bool is_later = result.rounds.empty() || result.rounds.back().round < report->round;
    if (!is_later || report->round >= result.config.rounds)
      return base::error(Code::bad_input, "round %zu: numbered %u, expected a later one below %u",
                         i + 1, report->round, result.config.rounds);
    result.peak_rss = std::max(result.peak_rss, report->memory.peak);
    result.rounds.push_back(*std::move(report));
  }
  const bool has_last =
      !result.rounds.empty() && result.rounds.back().round + 1 == result.config.rounds;
  result.stopped = !has_last;
  return result;
}

base::Result<std::vector<KeptSimulation>> simulations_in(const std::string& folder) {
  std::vector<KeptSimulation> found;
  const std::string comparison = folder + "/" + kComparisonFile;
  if (!is_there(comparison)) {
    auto one = read_one(folder);
    if (!one) return one.error();
    found.push_back(*std::move(one));
    return found;
  }
  if (const auto file = expect_file(comparison); !file) return file.error();
  const auto sweep = read_sweep(comparison);
  if (!sweep) return sweep.error();
  for (const std::string& method : sweep->methods) {
    if (method.find('/') != std::string::npos)
      return base::error(Code::bad_input, "%s: '%s' is no method", comparison.c_str(),
                         method.c_str());
    for (const std::uint64_t seed : sweep->seeds) {
      const std::string path = folder + "/" + folder_name_of(method, seed);
      if (!is_there(path + "/config.json")) continue;
      auto one = read_one(path);
      if (!one) return one.error();
      found.push_back(*std::move(one));
    }
  }
  return found;
}

}  // namespace ebb::fl

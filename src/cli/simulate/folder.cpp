// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/folder.h"

#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "base/text.h"

namespace ebb::cli {
namespace {

namespace files = std::filesystem;

constexpr const char* kRuns = "ebb-runs";
constexpr int kMostOfOneSecond = 1000;

std::string stem_of(const SimulateOrder& order) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "run";
  if (::localtime_r(&now, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  const std::string what = order.compare ? "compare" : order.methods.front();
  return std::string(kRuns) + "/" + text + "-" + what;
}

base::Status make(const std::string& path) {
  std::error_code failure;
  files::create_directories(path, failure);
  if (failure)
    return base::system_error(failure.value(), "cannot make the folder %s", path.c_str());
  return {};
}

/// Making a folder succeeds for one process only, whoever else starts in the same second.
base::Result<std::string> make_new(const SimulateOrder& order) {
  if (const auto made = make(kRuns); !made) return made.error();
  const std::string stem = stem_of(order);
  for (int i = 1; i <= kMostOfOneSecond; ++i) {
    const std::string path = i == 1 ? stem : stem + base::format_text("-%d", i);
    std::error_code failure;
    if (files::create_directory(path, failure)) return path;
    if (failure)
      return base::system_error(failure.value(), "cannot make the folder %s", path.c_str());
  }
  return base::error(base::Code::io, "cannot make a folder %s: there are %d of that name",
                     stem.c_str(), kMostOfOneSecond);
}

base::Result<std::string> prepare(const SimulateOrder& order) {
  base::Result<std::string> path = order.folder;
  if (order.folder.empty()) {
    path = make_new(order);
  } else if (const auto made = make(order.folder); !made) {
    path = made.error();
  }
  if (!path || order.is_single()) return path;
  const auto written = base::write_file_atomically(*path + "/" + kComparisonFile,
                                                   comparison_json(order).text(true) + "\n");
  if (!written) return written.error();
  return path;
}

}  // namespace

base::Result<SimulateFolder> SimulateFolder::open(const SimulateOrder& order, fl::Ranks& ranks) {
  SimulateFolder folder;
  if (!order.writes_folder) return folder;
  folder.is_new_ = order.folder.empty();
  base::Result<std::string> made = order.folder;
  if (ranks.is_first()) made = prepare(order);
  if (ranks.size() > 1) {
    // An empty name: rank 0 could not, and says why.
    std::array<char, 4096> name{};
    if (made) std::strncpy(name.data(), made->c_str(), name.size() - 1);
    const auto told = ranks.broadcast(std::as_writable_bytes(std::span(name)));
    if (!told) return told.error();
    if (!ranks.is_first()) made = std::string(name.data());
    if (made && made->empty())
      return base::error(base::Code::io, "rank 0 could not make the folder of the simulation");
  }
  if (!made) return made.error();
  folder.path_ = *std::move(made);
  return folder;
}

std::string SimulateFolder::of(const SimulateOrder& order, std::size_t method,
                               std::size_t seed) const {
  if (path_.empty() || order.is_single()) return path_;
  return path_ + "/" + order.methods[method] +
         base::format_text("-seed%llu", static_cast<unsigned long long>(order.seeds[seed]));
}

void SimulateFolder::drop_if_empty() const {
  if (!is_new_ || path_.empty()) return;
  std::error_code ignored;
  // What a comparison would be resumed from is no result.
  for (const auto& entry : files::directory_iterator(path_, ignored))
    if (entry.path().filename() != kComparisonFile) return;
  files::remove(files::path(path_) / kComparisonFile, ignored);
  files::remove(path_, ignored);
  files::remove(kRuns, ignored);
}

bool can_be_resumed(const std::string& folder) {
  std::error_code ignored;
  return files::exists(files::path(folder) / "checkpoint", ignored);
}

void forget_beginning(const std::string& folder) {
  std::error_code ignored;
  for (const char* name : {"config.json", "rounds.jsonl"})
    files::remove(files::path(folder) / name, ignored);
}

}  // namespace ebb::cli

// SPDX-License-Identifier: Apache-2.0
#include "fl/sweep.h"

#include <array>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <span>

#include "base/file.h"
#include "base/folder.h"
#include "base/text.h"

namespace ebb::fl {
namespace {

namespace files = std::filesystem;

constexpr const char* kRuns = "ebb-runs";
constexpr int kMostOfOneSecond = 1000;

std::string stem_of(const std::string& name) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  char text[32] = "run";
  if (::localtime_r(&now, &parts) != nullptr)
    std::strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
  return std::string(kRuns) + "/" + text + "-" + name;
}

base::Status make_folder(const std::string& path) {
  std::error_code failure;
  files::create_directories(path, failure);
  if (failure)
    return base::system_error(failure.value(), "cannot make the folder %s", path.c_str());
  return {};
}

/// Making a folder succeeds for one process only, whoever else starts in the same second.
base::Result<std::string> make_new_folder(const std::string& name) {
  if (const auto made = make_folder(kRuns); !made) return made.error();
  const std::string stem = stem_of(name);
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

base::Result<std::string> prepare(const Sweep& sweep, const std::string& given,
                                  const std::string& name) {
  base::Result<std::string> path = given;
  if (given.empty()) {
    path = make_new_folder(name);
  } else if (const auto made = make_folder(given); !made) {
    path = made.error();
  }
  if (!path) return path;
  for (const char* written : {kComparisonFile, kResultFile})
    base::remove_unfinished(*path + "/" + written);
  if (sweep.is_single()) return path;
  const auto written =
      base::write_file_atomically(*path + "/" + kComparisonFile, to_json(sweep).text(true) + "\n");
  if (!written) return written.error();
  return path;
}

}  // namespace

base::Result<SweepFolder> SweepFolder::open(const Sweep& sweep, const std::string& path,
                                            const std::string& name, Ranks& ranks) {
  SweepFolder folder;
  folder.is_new_ = path.empty();
  base::Result<std::string> made = path;
  if (ranks.is_first()) made = prepare(sweep, path, name);
  if (ranks.size() > 1) {
    // An empty name: rank 0 could not, and says why.
    std::array<char, 4096> told_path{};
    if (made) std::strncpy(told_path.data(), made->c_str(), told_path.size() - 1);
    const auto told = ranks.broadcast(std::as_writable_bytes(std::span(told_path)));
    if (!told) return told.error();
    if (!ranks.is_first()) made = std::string(told_path.data());
    if (made && made->empty())
      return base::error(base::Code::io, "rank 0 could not make the folder of the simulation");
  }
  if (!made) return made.error();
  folder.path_ = *std::move(made);
  return folder;
}

std::string folder_name_of(const std::string& method, std::uint64_t seed) {
  return method + base::format_text("-seed%llu", static_cast<unsigned long long>(seed));
}

std::string SweepFolder::of(const Sweep& sweep, std::size_t method, std::size_t seed) const {
  if (path_.empty() || sweep.is_single()) return path_;
  return path_ + "/" + folder_name_of(sweep.methods[method], sweep.seeds[seed]);
}

void SweepFolder::drop_if_empty() const {
  if (!is_new_ || path_.empty()) return;
  std::error_code ignored;
  // What a comparison would be resumed from is no result.
  for (const base::FolderEntry& entry : base::read_folder(path_).value_or(base::FolderEntries{}))
    if (entry.name != kComparisonFile) return;
  files::remove(files::path(path_) / kComparisonFile, ignored);
  files::remove(path_, ignored);
  files::remove(kRuns, ignored);
}

bool can_be_resumed(const std::string& folder) {
  std::error_code ignored;
  return files::exists(files::path(folder) / "checkpoint", ignored);
}

}  // namespace ebb::fl

// SPDX-License-Identifier: Apache-2.0
#include "fl/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/text.h"

namespace ebb::fl {
namespace {

/// A line has some kilobytes: no simulation has enough rounds to reach this.
constexpr std::uint64_t kMostBytes = 4ULL << 30;

constexpr std::size_t kMarkDigits = 8;

std::string mark_of(std::string_view line) {
  base::Sha256 hash;
  hash.add(line.data(), line.size());
  return base::hex_text(hash.finish()).substr(0, kMarkDigits);
}

}  // namespace

base::Json to_json(const RoundsSeal& seal) {
  return base::Json::object({{"sha256", seal.sha256}, {"marks", seal.marks}});
}

std::optional<RoundsSeal> rounds_seal_from(const base::Json* json) {
  const base::Json* sha256 = json != nullptr ? json->find("sha256") : nullptr;
  const base::Json* marks = json != nullptr ? json->find("marks") : nullptr;
  if (sha256 == nullptr || sha256->as_string() == nullptr || marks == nullptr ||
      marks->as_string() == nullptr)
    return std::nullopt;
  return RoundsSeal{*sha256->as_string(), *marks->as_string()};
}

base::Status expect_file(const std::string& path) {
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return {};
  return base::error(base::Code::bad_input, "%s: is no file, expected one of a simulation",
                     path.c_str());
}

RoundsSeal RunFolder::seal() const {
  return {base::hex_text(base::Sha256(lines_).finish()), marks_};
}

void RunFolder::add_to_seal(std::string_view line) {
  lines_.add(line.data(), line.size());
  marks_ += mark_of(line);
}

base::Status RunFolder::begin(const base::Json& config, bool begins_again) {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed)
    return base::error(base::Code::io, "%s: cannot make the folder: %s", path_.c_str(),
                       failed.message().c_str());
  if (std::filesystem::exists(config_path(), failed)) {
    if (!begins_again)
      return base::error(base::Code::bad_input,
                         "%s: has a simulation in it already, expected another folder or --resume",
                         path_.c_str());
    if (auto taken = take(); !taken) return taken;
  }
  // The lock is on the file that is replaced: nobody gets between the old one and the new.
  const base::FileDescriptor before = std::move(lock_);
  if (auto written = base::write_file_atomically(config_path(), config.text(true) + "\n"); !written)
    return written;
  if (auto taken = take(); !taken) return taken;
  return base::write_file_atomically(rounds_path(), "");
}

base::Status RunFolder::take() {
  for (const std::string& path : {config_path(), rounds_path(), checkpoint_path()})
    if (auto found = expect_file(path); !found) return found;
  base::FileDescriptor file(::open(config_path().c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open())
    return base::system_error(errno, "%s: cannot be opened", config_path().c_str());
  // Goes with the process, however that ends.
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return base::error(base::Code::bad_input, "%s: another simulation works in it", path_.c_str());
  lock_ = std::move(file);
  for (const std::string& path : {config_path(), rounds_path(), checkpoint_path()})
    base::remove_unfinished(path);
  return {};
}

base::Status RunFolder::expect_sealed(const RoundsSeal& seal) const {
  if (seal.sha256 == this->seal().sha256) return {};
  std::size_t line = 0;
  while ((line + 1) * kMarkDigits <= std::min(seal.marks.size(), marks_.size()) &&
         seal.marks.compare(line * kMarkDigits, kMarkDigits, marks_, line * kMarkDigits,
                            kMarkDigits) == 0)
    ++line;
  return base::error(base::Code::bad_input,
                     "%s: line %zu: not as it was written, expected the rounds that belong to %s",
                     rounds_path().c_str(), line + 1, checkpoint_path().c_str());
}

base::Status RunFolder::check_rounds(std::string_view content, const RoundsSeal& seal) const {
  RunFolder found(path_);
  for (std::size_t lines = seal.marks.size() / kMarkDigits; lines > 0; --lines) {
    const std::size_t stop = content.find('\n');
    if (stop == std::string_view::npos) break;
    found.add_to_seal(content.substr(0, stop + 1));
    content.remove_prefix(stop + 1);
  }
  return found.expect_sealed(seal);
}

base::Result<std::vector<base::Json>> RunFolder::keep_rounds(
    std::uint32_t rounds, const std::optional<RoundsSeal>& seal) {
  const auto content = base::read_file(rounds_path(), kMostBytes);
  if (!content) return content.error();
  std::vector<base::Json> kept;
  std::size_t end = 0;
  while (kept.size() < rounds) {
    const std::size_t stop = content->find('\n', end);
    auto line = stop == std::string::npos
                    ? base::Result<base::Json>(base::Error{})
                    : base::parse_json(std::string_view(*content).substr(end, stop - end));
    if (!line)
      return base::error(base::Code::bad_input, "%s: line %zu: expected the report of round %zu",
                         rounds_path().c_str(), kept.size() + 1, kept.size());
    kept.push_back(std::move(*line));
    add_to_seal(std::string_view(*content).substr(end, stop + 1 - end));
    end = stop + 1;
  }
  if (seal)
    if (const auto same = expect_sealed(*seal); !same) return same.error();
  // The run was stopped between the line of a round and its checkpoint: the round runs again.
  if (end < content->size()) {
    if (auto written = base::write_file_atomically(rounds_path(), content->substr(0, end));
        !written)
      return written.error();
  }
  return kept;
}

base::Status RunFolder::add_round(const base::Json& report) {
  const base::FileDescriptor file(::open(rounds_path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  if (!file.is_open())
    return base::system_error(errno, "%s: cannot be opened", rounds_path().c_str());
  const std::string line = report.text() + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(file.get(), line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return base::system_error(count < 0 ? errno : ENOSPC, "%s: cannot be written",
                                rounds_path().c_str());
    written += static_cast<std::size_t>(count);
  }
  if (::fdatasync(file.get()) != 0)
    return base::system_error(errno, "%s: cannot be written", rounds_path().c_str());
  add_to_seal(line);
  return {};
}

}  // namespace ebb::fl
